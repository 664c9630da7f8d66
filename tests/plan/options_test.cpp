#include "core/plan/options.h"

#include <set>

#include "core/base/error.h"
#include "tests/catch.h"

using namespace memwall;
using namespace memwall::plan;

namespace {

/// A good value for every option, by name.
std::string sample(std::string_view name) {
    const std::pair<std::string_view, const char*> samples[] = {
        {"device", "raspberry-pi-5:8GiB"},
        {"processor", "cpu"},
        {"threads", "4"},
        {"quant", "Q4_K_M"},
        {"group-size", "64"},
        {"activations", "a8"},
        {"context", "8192"},
        {"kv", "q8_0"},
        {"kv-k", "q8_0"},
        {"kv-v", "q4_0"},
        {"sequences", "2"},
        {"batch", "1024"},
        {"ubatch", "256"},
        {"flash-attention", "off"},
        {"window", "1024"},
        {"sinks", "4"},
        {"prompt", "2000"},
        {"cached-prompt", "1000"},
        {"generate", "300"},
        {"runtime", "llama.cpp@0.5.0"},
        {"runtime-option", "n_ctx=8192"},
        {"gpu-layers", "20"},
        {"kv-pool", "host"},
        {"expert-pool", "host"},
        {"offload", "auto"},
        {"draft", "qwen2.5-0.5b"},
        {"draft-tokens", "5"},
        {"acceptance", "0.7"},
        {"projector", "none"},
        {"images", "1"},
        {"lora", "100MiB"},
        {"reserve", "1GiB"},
        {"budget", "4GiB"},
        {"measured", "qwen2.5-7b Q4_K_M pp=20 tg=2.1"},
        {"evidence", "own.yaml"},
        {"set", "device.bandwidth=+8GB/s"}};
    for (const auto& [option, value] : samples)
        if (option == name) return value;
    FAIL("no sample for --" << name);
    return "";
}

}  // namespace

TEST_CASE("every option survives deployment files", "[plan]") {
    for (const Option& o : options()) {
        INFO("--" << o.name);
        Deployment d;
        d.model = "qwen2.5-7b";
        CHECK(o.get(d).empty());
        o.set(d, sample(o.name), "--" + std::string(o.name));
        const std::string text = o.get(d);
        CHECK_FALSE(text.empty());
        const Deployment again = read_deployment(write_deployment(d), "d.yaml");
        CHECK(o.get(again) == text);
        CHECK(write_deployment(again) == write_deployment(d));
    }
}

TEST_CASE("keys and values typed apart print as a command again", "[plan]") {
    Deployment d;
    d.model = "my model.gguf";
    find_option("kv-k")->set(d, "q8_0", "");
    find_option("set")->set(d, "model.kv_heads=4", "");
    find_option("set")->set(d, "device.bandwidth=+8GB/s", "");
    CHECK(command_line(d) ==
          "memwall plan 'my model.gguf' --kv-k q8_0 --set model.kv_heads=4 --set device.bandwidth=+8GB/s");
}

TEST_CASE("a broken deployment file names its line", "[plan]") {
    const std::pair<const char*, const char*> cases[] = {
        {"model: x\n", "d.yaml:1: no deployment; expected 'schema: memwall/deployment/1'"},
        {"schema: memwall/deployment/1\nmodel: x\ncontxt: 4\n",
         "d.yaml:3: unknown key 'contxt'; expected an option of 'memwall plan --help' with underscores"},
        {"schema: memwall/deployment/1\nmodel: x\ncontext: [1, 2]\n",
         "d.yaml:3: a list; expected a single value"},
        {"schema: memwall/deployment/1\nmodel: x\ncontext: -5\n",
         "d.yaml:3: '-5'; expected a whole number such as 4096, 32k or 32Ki"},
        {"schema: memwall/deployment/1\ncontext: 5\n", "d.yaml:1: no 'model:'; expected the model to plan"},
    };
    for (const auto& [text, message] : cases) {
        INFO(text);
        CHECK_THROWS_WITH(read_deployment(text, "d.yaml"), message);
    }
    CHECK_THROWS_AS(read_deployment("a: [", "d.yaml"), Error);
    CHECK_THROWS_AS(read_deployment("", "d.yaml"), Error);
}

TEST_CASE("option names are unique and found with underscores too", "[plan]") {
    std::set<std::string_view> names;
    for (const Option& o : options()) {
        CHECK(names.insert(o.name).second);
        CHECK(find_option(o.name) == &o);
    }
    CHECK(find_option("kv_k") == find_option("kv-k"));
    CHECK(find_option("contexts") == nullptr);
}
