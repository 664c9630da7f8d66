#include "core/model/open_model.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/error.h"
#include "core/quant/recipe.h"
#include "tests/catch.h"
#include "tests/model/gguf_writer.h"
#include "tests/model/safetensors_writer.h"

using namespace memwall;
using namespace memwall::model;
using namespace memwall::test;

namespace {

/// config.json of Qwen2.5-0.5B-Instruct and Qwen3-0.6B, without what no reader asks for.
constexpr const char* kQwen25Config =
    R"({"model_type":"qwen2","hidden_size":896,"intermediate_size":4864,"max_position_embeddings":32768,
        "num_attention_heads":14,"num_hidden_layers":24,"num_key_value_heads":2,"tie_word_embeddings":true,
        "torch_dtype":"bfloat16","use_sliding_window":false,"sliding_window":32768,"vocab_size":151936})";
constexpr const char* kQwen3Config =
    R"({"model_type":"qwen3","attention_bias":false,"head_dim":128,"hidden_size":1024,"intermediate_size":3072,
        "max_position_embeddings":40960,"num_attention_heads":16,"num_hidden_layers":28,"num_key_value_heads":8,
        "tie_word_embeddings":true,"torch_dtype":"bfloat16","vocab_size":151936})";

std::int64_t stored_bytes(const Model& model) {
    std::int64_t sum = 0;
    for (const Tensor& t : model.tensors) sum += quant::tensor_bytes(t.format, t.dims).value;
    return sum;
}

std::string with_quantization(const char* config, const std::string& block) {
    auto json = nlohmann::json::parse(config);
    json["quantization_config"] = nlohmann::json::parse(block);
    return json.dump();
}

std::string refusal(const std::string& argument) {
    try {
        open_model(argument);
    } catch (const Error& e) {
        return e.what();
    }
    return "opened";
}

/// Sets XDG_CONFIG_HOME for one test.
class ConfigHome {
  public:
    explicit ConfigHome(const std::string& folder) {
        if (const char* old = std::getenv("XDG_CONFIG_HOME")) old_ = old;
        setenv("XDG_CONFIG_HOME", folder.c_str(), 1);
    }
    ~ConfigHome() { old_ ? setenv("XDG_CONFIG_HOME", old_->c_str(), 1) : unsetenv("XDG_CONFIG_HOME"); }
    ConfigHome(const ConfigHome&) = delete;
    ConfigHome& operator=(const ConfigHome&) = delete;

  private:
    std::optional<std::string> old_;
};

}  // namespace

TEST_CASE("a checkpoint opens from its folder, its config and its weights alike", "[open_model]") {
    const TempDir folder;
    write_file(folder.path("config.json"), kQwen25Config);
    write_safetensors(folder.path("model.safetensors"), qwen_tensors(kQwen25_05b));
    const std::filesystem::path plain =
        std::filesystem::path(folder.path("x")).parent_path();  // no '/' at its end
    for (const std::string& argument :
         {plain.string(), folder.path(""), folder.path("config.json"), folder.path("model.safetensors")}) {
        INFO(argument);
        const OpenedModel opened = open_model(argument);
        CHECK(opened.kind == "checkpoint");
        CHECK(opened.path == folder.path("model.safetensors"));
        CHECK(opened.model.id == plain.filename().string());
        CHECK(opened.model.tensors_from_file);
        CHECK(stored_bytes(opened.model) == 2 * 494032768);
        CHECK(text_parameters(opened.model) == 494032768);
        CHECK(opened.model.layers.size() == 24);
        CHECK(opened.model.stored_recipe == "BF16");
        CHECK(opened.model.file_bytes == std::filesystem::file_size(folder.path("model.safetensors")));
        CHECK(opened.model.warnings.empty());
    }
}

TEST_CASE("a tied matrix that the files store twice is counted twice", "[open_model]") {
    const TempDir folder;
    write_file(folder.path("config.json"), kQwen3Config);
    CHECK(text_parameters(open_model(folder.path("")).model) == 596049920);
    const auto all = qwen_tensors(kQwen3_06b);
    const auto middle = all.begin() + 100;
    write_sharded(folder.path(""), {{all.begin(), middle}, {middle, all.end()}}, 2 * 751632384);
    const OpenedModel opened = open_model(folder.path("model.safetensors.index.json"));
    CHECK(stored_bytes(opened.model) == 2 * 751632384);
    CHECK(opened.model.output == TiedOutput::tied_stored_twice);
    CHECK(opened.model.warnings.empty());
}

TEST_CASE("a config alone is sized by the recipe that it names", "[open_model]") {
    const TempDir folder;
    const auto open_with = [&](const std::string& config) {
        write_file(folder.path("config.json"), config);
        return open_model(folder.path("config.json"));
    };
    const OpenedModel plain = open_with(kQwen25Config);
    CHECK(plain.kind == "config");
    CHECK_FALSE(plain.model.tensors_from_file);
    CHECK(plain.recipe_hint == "16bit");
    const auto bytes = [](const OpenedModel& o) {
        return quant::weights_bytes(o.model, quant::assign(quant::parse_recipe(o.recipe_hint), o.model))
            .value;
    };
    CHECK(bytes(plain) == 2 * 494032768);

    // The recipe's bytes are those of the tensors that a quantizer writes.
    const OpenedModel gptq =
        open_with(with_quantization(kQwen25Config, R"({"quant_method":"gptq","bits":4,"group_size":128})"));
    CHECK(gptq.recipe_hint == "gptq-4bit-128g");
    CHECK(gptq.quantization == "GPTQ, 4 bit, groups of 128");
    std::vector<WrittenTensor> stored;
    for (const WrittenTensor& t : qwen_tensors(kQwen25_05b)) {
        const std::size_t at = t.name.find("_proj.weight");
        if (at == std::string::npos)
            stored.push_back(t);
        else
            for (WrittenTensor& part : gptq_linear(t.name.substr(0, at + 5), t.shape[1], t.shape[0], 4, 128))
                stored.push_back(std::move(part));
    }
    CHECK(bytes(gptq) == data_bytes(stored));
    write_safetensors(folder.path("model.safetensors"), stored);
    const OpenedModel with_weights = open_model(folder.path(""));
    CHECK(with_weights.model.stored_recipe == "gptq-4bit-128g");
    CHECK(stored_bytes(with_weights.model) == data_bytes(stored));
    std::filesystem::remove(folder.path("model.safetensors"));

    const OpenedModel unknown = open_with(with_quantization(kQwen25Config, R"({"quant_method":"vptq"})"));
    CHECK(unknown.recipe_hint == "16bit");
    CHECK_THAT(unknown.model.warnings.at(0), Catch::Contains("unknown method 'vptq' has no recipe here"));
}

TEST_CASE("an index without any shard leaves the generated tensors and says so", "[open_model]") {
    const TempDir folder;
    write_file(folder.path("config.json"), kQwen25Config);
    write_sharded(folder.path(""), {qwen_tensors(kQwen25_05b)}, 2 * 494032768);
    std::filesystem::remove(folder.path("model-00001-of-00001.safetensors"));
    const OpenedModel opened = open_model(folder.path(""));
    CHECK(opened.kind == "config");
    CHECK_FALSE(opened.model.tensors_from_file);
    CHECK_THAT(opened.model.warnings.at(0),
               Catch::Contains("1 of 1 shards are missing") && Catch::Contains("they hold 988065536 bytes"));
}

TEST_CASE("a folder's weights are those that a loader would take", "[open_model]") {
    const TempDir folder;
    write_file(folder.path("config.json"), kQwen25Config);
    const auto path_of = [&] { return std::filesystem::path(open_model(folder.path("")).path).filename(); };
    write_safetensors(folder.path("adapter_model.safetensors"), {{"lora", "F32", {1}}});
    write_safetensors(folder.path("consolidated.safetensors"), {{"tok_embeddings.weight", "F32", {1}}});
    CHECK(path_of() == "config.json");
    write_safetensors(folder.path("weights.safetensors"), {{"model.norm.weight", "F32", {1}}});
    CHECK(path_of() == "weights.safetensors");
    write_safetensors(folder.path("other.safetensors"), {{"model.norm.weight", "F32", {1}}});
    CHECK(path_of() == "config.json");  // two files that are no set: nobody can tell
    write_safetensors(folder.path("model.safetensors"), {{"model.norm.weight", "F32", {1}}});
    CHECK(path_of() == "model.safetensors");
}

TEST_CASE("GGUF files open by name, from their folder and without a suffix", "[open_model]") {
    const TempDir folder;
    small_llama().write(folder.path("m-Q8_0.gguf"));
    write_file(folder.path("mmproj-m.gguf"), "a projector is a part, no model of its own");
    std::filesystem::copy_file(folder.path("m-Q8_0.gguf"), folder.path("3f786850e387550f"));
    for (const char* argument : {"m-Q8_0.gguf", "", "3f786850e387550f"}) {
        INFO(argument);
        const OpenedModel opened = open_model(folder.path(argument));
        CHECK(opened.kind == "gguf");
        CHECK(opened.model.layers.size() == 2);
        CHECK(opened.model.tensors_from_file);
    }
    // Shards are one model; a second model is a choice that only the user can make.
    small_llama().write(folder.path("n-00001-of-00002.gguf"));
    CHECK_THAT(refusal(folder.path("")), Catch::Contains("2 models (m-Q8_0.gguf, n)") &&
                                             Catch::Contains("give the file instead of the folder"));
    std::filesystem::remove(folder.path("m-Q8_0.gguf"));
    CHECK(open_model(folder.path("")).path == folder.path("n-00001-of-00002.gguf"));
}

TEST_CASE("what cannot be opened says what to do instead", "[open_model]") {
    const TempDir folder;
    CHECK_THAT(refusal(""), Catch::StartsWith("MODEL: an empty name"));
    CHECK_THAT(refusal("https://example.org/m.gguf"),
               Catch::Contains("not fetched yet") && Catch::Contains("download"));
    CHECK_THAT(refusal("hf:Qwen/Qwen3-0.6B"), Catch::Contains("not fetched yet"));
    CHECK_THAT(refusal("no/such/model.gguf"),
               Catch::StartsWith("no/such/model.gguf: no such file or folder"));
    CHECK_THAT(refusal("missing.safetensors"), Catch::Contains("no such file or folder"));
    CHECK_THAT(refusal("qwen2.5-7c"), Catch::Contains("did you mean") && Catch::Contains("qwen2.5-7b"));
    CHECK_THAT(refusal("zzzzzzzzzz"), Catch::Contains("memwall models lists the ids"));
    CHECK_THAT(refusal(std::string(100000, 'x')), Catch::Contains("neither a file nor an id"));
    CHECK_THAT(refusal(folder.path("")), Catch::Contains("a folder without a model"));

    write_safetensors(folder.path("model.safetensors"), qwen_tensors(kQwen25_05b));
    CHECK_THAT(refusal(folder.path("")), Catch::Contains("weights without a config.json"));
    CHECK_THAT(refusal(folder.path("model.safetensors")),
               Catch::Contains("weights without a config.json") && Catch::Contains("memwall inspect"));
    write_file(folder.path("pytorch_model.bin"), "PK");
    CHECK_THAT(refusal(folder.path("pytorch_model.bin")), Catch::Contains("PyTorch files are not read"));
    write_file(folder.path("config.json"), "{");
    CHECK_THAT(refusal(folder.path("")), Catch::Contains("config.json"));
}

TEST_CASE("ids lead to the user's catalogue first, then to the built-in one", "[open_model]") {
    const TempDir folder;
    const ConfigHome home(folder.path(""));
    const OpenedModel built_in = open_model("qwen2.5-7b");
    CHECK(built_in.kind == "catalogue");
    CHECK(text_parameters(built_in.model) == 7615616512);
    CHECK(open_model("Qwen/Qwen2.5-7B-Instruct").model.id == "qwen2.5-7b");

    std::filesystem::create_directories(folder.path("memwall/models"));
    const std::string mine =
        "schema: memwall/model/1\nid: mine\nhidden: 64\nvocabulary: 100\noutput: tied\n"
        "kinds:\n  plain:\n    attention: {heads: 4, kv_heads: 2, head_dim: 16}\n    feed_forward: {width: "
        "128}\n"
        "layers: 2 plain\n";
    write_file(folder.path("memwall/models/qwen2.5-7b.yaml"), mine);
    write_file(folder.path("memwall/models/mine.yaml"), mine);
    CHECK(open_model("qwen2.5-7b").kind == "user catalogue");
    CHECK(open_model("mine").model.hidden == 64);
    CHECK(open_model(folder.path("memwall/models/mine.yaml")).kind == "model file");
    CHECK_THAT(refusal("../models/mine"), Catch::Contains("no such file or folder"));
}

TEST_CASE("what is no model says what it is", "[open_model]") {
    const TempDir folder;
    // What a failed or half-done download leaves.
    write_file(folder.path("pointer.gguf"),
               "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n");
    CHECK_THAT(refusal(folder.path("pointer.gguf")), Catch::Contains("a Git LFS pointer"));
    write_file(folder.path("page.gguf"), "<!DOCTYPE html><html>Entry not found</html>");
    CHECK_THAT(refusal(folder.path("page.gguf")), Catch::Contains("a web page"));
    const TempDir adapter;
    write_file(adapter.path("adapter_config.json"), R"({"peft_type": "LORA", "r": 8})");
    const std::string text = refusal(adapter.path(""));
    CHECK_THAT(text, Catch::Contains("a LoRA adapter without its base model"));
    CHECK_THAT(text, Catch::Contains("--lora"));
}

TEST_CASE("files that lack a layer of the configuration are named", "[open_model]") {
    const TempDir folder;
    auto json = nlohmann::json::parse(kQwen25Config);
    write_file(folder.path("model.safetensors"), safetensors_header(qwen_tensors(kQwen25_05b)));
    json["num_hidden_layers"] = 25;
    write_file(folder.path("config.json"), json.dump());
    const OpenedModel opened = open_model(folder.path(""));
    const auto& warnings = opened.model.warnings;
    CHECK(std::count(warnings.begin(), warnings.end(),
                     "config.json has 25 layers, the files hold tensors of 24") == 1);
}

TEST_CASE("ModelOpt's file beside config.json names the recipe", "[open_model]") {
    const TempDir folder;
    write_file(folder.path("config.json"), kQwen25Config);
    write_file(
        folder.path("hf_quant_config.json"),
        R"({"quantization": {"quant_algo": "NVFP4", "exclude_modules": ["lm_head", "*.self_attn.*"]}})");
    const OpenedModel opened = open_model(folder.path(""));
    CHECK(opened.quantization == "ModelOpt NVFP4");
    CHECK(opened.recipe_hint ==
          "nvfp4,attn_q.weight=BF16,attn_k.weight=BF16,attn_v.weight=BF16,attn_output.weight=BF16");
    // What config.json says itself comes first.
    write_file(folder.path("config.json"), with_quantization(kQwen25Config, R"({"quant_method":"fp8"})"));
    CHECK(open_model(folder.path("")).recipe_hint == "fp8-tensor");
}
