#include "tests/cli/command.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/catch.h"

using memwall::test::Output;
using memwall::test::run_memwall;
using Json = nlohmann::json;

namespace {

/// Runs, expects success, parses.
Json json_of(const std::string& arguments) {
    const Output o = run_memwall(arguments);
    INFO(arguments << ": " << o.err);
    REQUIRE(o.status == 0);
    return Json::parse(o.out);
}

std::size_t widest_line(const std::string& text) {
    std::size_t widest = 0, columns = 0;
    for (const char c : text) {
        columns = c == '\n' ? 0 : columns + ((static_cast<unsigned char>(c) & 0xC0) != 0x80);
        widest = std::max(widest, columns);
    }
    return widest;
}

const std::string kPlan = "plan qwen2.5-7b --quant Q4_K_M --device raspberry-pi-5:8GiB --context 4096";

}  // namespace

TEST_CASE("the README's plan fits a screen and says what dominates", "[cli]") {
    const Output o = run_memwall(kPlan);
    REQUIRE(o.status == 0);
    CHECK(o.err.empty());
    CHECK(std::count(o.out.begin(), o.out.end(), '\n') <= 36);
    CHECK(widest_line(o.out) <= 100);
    CHECK_THAT(o.out,
               Catch::Contains("4.36 GiB") && Catch::Contains("224.0 MiB") && Catch::Contains("tokens/s"));
    CHECK(o.out.find('\033') == std::string::npos);  // colours only on a terminal
}

TEST_CASE("the article's case: a real KV cache is 119 MiB, not 1 GB", "[cli]") {
    const Json p = json_of(
        "plan qwen2.5-7b --quant Q4_K_M --kv q8_0 --context 4096 --draft qwen2.5-1.5b:Q4_K_M --device "
        "ram=8GiB,bandwidth=68GB/s,class=phone_cpu --json");
    CHECK(p["memory"]["kv_cache_bytes"]["central"] == 124780544);
    CHECK(p["memory"]["draft_bytes"]["central"].get<double>() > 986e6);  // the 1.5B file is 986 MB
}

TEST_CASE("bad input is one line, exit status 2 and nothing on standard output", "[cli]") {
    const std::pair<const char*, const char*> cases[] = {
        {"plan qwen2.5-7c", "qwen2.5-7b"},
        {"plan qwen2.5-7b --quant Q4_K_X", "Q4_K"},
        {"plan qwen2.5-7b --device raspberry-pi-6", "raspberry-pi-5"},
        {"plan qwen2.5-7b --device raspberry-pi-5", "8GiB"},
        {"plan qwen2.5-7b --kv q9_0", "q8_0"},
        {"plan qwen2.5-7b --context 0", "--context"},
        {"plan qwen2.5-7b --context -3", "--context"},
        {"plan qwen2.5-7b --runtime ollama", "llama.cpp"},
        {"plan qwen2.5-7b --runtime-option foo=1", "n_ctx"},
        {"plan qwen2.5-7b --set model.kv_headz=4", "--set"},
        {"plan qwen2.5-7b --set kv_heads", "--set"},
        {"plan qwen2.5-7b --flash-attention off --kv q8_0", "--flash-attention"},
        {"plan qwen2.5-7b --kv-k q8_0 --images 2", "image"},
        {"plan /nonexistent.gguf", "nonexistent"},
        {"plan", "MODEL"},
        {"explain qwen2.5-7b kv_cash", "kv_cache"},
        {"inspect /dev/null", "/dev/null"},
        {"nonsense", "nonsense"},
    };
    for (const auto& [arguments, word] : cases) {
        const Output o = run_memwall(std::string(arguments) +
                                     (std::string(arguments).find("--device") == std::string::npos &&
                                              std::string(arguments).starts_with("plan q")
                                          ? " --device rtx-4090"
                                          : ""));
        INFO(arguments << ": " << o.err);
        CHECK(o.status == 2);
        CHECK(o.out.empty());
        CHECK(std::count(o.err.begin(), o.err.end(), '\n') == 1);
        CHECK_THAT(o.err, Catch::Contains(word));
    }
}

TEST_CASE("the ledger shows where each input of the cache came from", "[cli]") {
    const Output o = run_memwall("explain qwen2.5-7b kv_cache --device raspberry-pi-5:8GiB --kv q8_0");
    REQUIRE(o.status == 0);
    CHECK_THAT(o.out, Catch::Contains("layers x streams x cells") && Catch::Contains("kv_heads") &&
                          Catch::Contains("34 bytes per 32 values"));
}

TEST_CASE("exit status says the verdict only where a decision is asked for", "[cli]") {
    const std::string huge = "plan llama-3.1-70b --quant Q8_0 --device raspberry-pi-5:8GiB ";
    CHECK(run_memwall(huge).status == 0);
    CHECK(run_memwall(huge + "--require-fit").status == 1);
    CHECK(run_memwall(kPlan + " --require-fit").status == 0);
    const std::string unknown = "plan llama-3.2-1b --device rtx-4090 --require-fit --budget ";
    const auto needed = json_of("plan llama-3.2-1b --device rtx-4090 --json")["memory"]["needed_bytes"];
    const std::string between =
        std::to_string((needed["low"].get<std::int64_t>() + needed["high"].get<std::int64_t>()) / 2);
    CHECK(run_memwall(unknown + between).status == 3);
    CHECK(run_memwall(unknown + between + " --undecided pass").status == 0);
    CHECK(run_memwall(unknown + between + " --undecided fail").status == 1);
}

TEST_CASE("a deployment file gives the plan of the same options, and options override it", "[cli]") {
    const auto path = std::filesystem::temp_directory_path() / "memwall-deployment-test.yaml";
    std::ofstream(path) << "schema: memwall/deployment/1\nmodel: qwen2.5-7b\nquant: Q4_K_M\ndevice: "
                           "raspberry-pi-5:8GiB\ncontext: 4096\n";
    Json from_file = json_of("plan " + path.string() + " --json");
    CHECK(from_file == json_of(kPlan + " --json"));
    CHECK(json_of("plan " + path.string() + " --context 8192 --json")["deployment"]["context"] == 8192);
    std::filesystem::remove(path);
}

TEST_CASE("suggested changes do make it fit", "[cli]") {
    const std::string tight = "plan llama-3.1-8b --quant Q8_0 --device iphone-16-pro --context 16384";
    const Json p = json_of(tight + " --json");
    REQUIRE(p["verdict"] == "does_not_fit");
    REQUIRE_FALSE(p["suggestions"].empty());
    for (const Json& s : p["suggestions"]) {
        const std::string changed =
            tight + " " + s["option"].get<std::string>() + " " + s["to"].get<std::string>();
        INFO(changed);
        CHECK(json_of(changed + " --json")["verdict"] == "fits");
    }
}

TEST_CASE("the largest context fits and one token more does not", "[cli]") {
    const std::string base =
        "plan llama-3.1-8b --quant Q4_K_M --device rtx-4060-laptop-8gb --json --context ";
    const std::int64_t most = json_of(base + "4096")["max_context_tokens"];
    REQUIRE(most > 256);
    REQUIRE(most < 131072);
    CHECK(json_of(base + std::to_string(most))["verdict"] == "fits");
    CHECK(json_of(base + std::to_string(most + 1))["verdict"] != "fits");
}

TEST_CASE("what-ifs change what they name", "[cli]") {
    const std::string base = "plan qwen2.5-7b --device raspberry-pi-5:8GiB --json";
    const Json plain = json_of(base), faster = json_of(base + " --set device.bandwidth=+8GB/s"),
               wider = json_of(base + " --set model.kv_heads=28");
    CHECK(faster["speed"]["decode_tokens_per_second"]["central"] >
          plain["speed"]["decode_tokens_per_second"]["central"]);
    CHECK(wider["memory"]["kv_cache_bytes"]["central"] ==
          7 * plain["memory"]["kv_cache_bytes"]["central"].get<std::int64_t>());
}

TEST_CASE("typing errors are answered with what was meant", "[cli]") {
    const std::pair<const char*, const char*> cases[] = {
        {"plna qwen3-8b", "did you mean plan?"},
        {"plan qwen3-8b --devcie host", "unknown option '--devcie'; did you mean --device?"},
        {"plan qwen3-8b --contxt=4096", "unknown option '--contxt'; did you mean --context?"},
        {"plan qwen3-8b --quite-another-thing", "see 'memwall plan --help'"},
        {"explain qwen3-8b memory more", "'more' is one argument too many"},
        {"plan qwen3-8b --sequences 100000 --device apple-m4:16GiB",
         "--sequences: 100000; expected a count from 1"},
    };
    for (const auto& [arguments, words] : cases) {
        const Output o = run_memwall(arguments);
        INFO(arguments << "\n" << o.err);
        CHECK(o.status == 2);
        CHECK_THAT(o.err, Catch::Contains(words));
        CHECK(std::count(o.err.begin(), o.err.end(), '\n') == 1);
    }
}

TEST_CASE("what cannot be written is no success", "[cli]") {
    // What follows is cut from the shell line, so the command keeps these outputs.
    CHECK(run_memwall("models --csv 2>/dev/null >/dev/full #").status == 70);
    CHECK(run_memwall("plan qwen3-8b --device apple-m4:16GiB 2>/dev/null >&- #").status == 70);
}

TEST_CASE("engine flags say the plan again", "[cli]") {
    const Output o = run_memwall(
        "plan llama-3.1-8b --quant Q4_K_M --device rtx-4090 --kv q8_0 --context 8192 --sequences 2 --emit "
        "llama.cpp");
    CHECK(o.out ==
          "-m llama-3.1-8b-Q4_K_M.gguf -c 16384 -b 2048 -ub 512 -np 2 -ctk q8_0 -ctv q8_0 -fa on -ngl 33\n");
    // Names that release 0.5.0 takes: --draft-max and --no-mmap were removed before it.
    CHECK(run_memwall("plan llama-3.1-8b --device raspberry-pi-5:8GiB --kv q8_0 --draft llama-3.2-1b "
                      "--runtime-option mmap=off --emit llama.cpp")
              .out ==
          "-m llama-3.1-8b-Q4_K_M.gguf -c 4096 -b 2048 -ub 512 -np 1 -ctk q8_0 -ctv q8_0 -fa on --load-mode "
          "none "
          "-ngl 0 --spec-type draft-simple -md llama-3.2-1b-Q4_K_M.gguf --spec-draft-n-max 4 -ngld 0 -ctkd "
          "q8_0 "
          "-ctvd q8_0\n");
}

TEST_CASE("catalogues list, search and show", "[cli]") {
    CHECK(json_of("models --json")["models"].size() >= 154);
    CHECK(json_of("devices --json")["devices"].size() >= 111);
    CHECK_THAT(run_memwall("models qwen3-next").out, Catch::Contains("qwen3-next-80b-a3b"));
    CHECK_THAT(run_memwall("devices iphone-16-pro").out, Catch::Contains("apple-a18-pro"));
    CHECK(json_of("devices show raspberry-pi-5:8GiB --json")["pools"][0]["capacity_bytes"] == 8589934592);
    CHECK(json_of("models show deepseek-v3 --json")["kv_f16_bytes_per_token"] == 70272);
    CHECK(run_memwall("models zzzz").status == 1);
    CHECK_THAT(run_memwall("runtimes").out, Catch::Contains("llama.cpp") && Catch::Contains("executorch"));
    CHECK_THAT(run_memwall("compare qwen2.5-7b llama-3.1-8b --device rtx-4090 --markdown").out,
               Catch::Contains("| KV cache |"));
}

TEST_CASE("decisions name the number that was compared, and what is in the way", "[cli][decisions]") {
    const std::string pi = " --device raspberry-pi-5:8GiB --context 4096 ";
    const struct {
        std::string arguments;
        int status;
        std::vector<std::string> words;
    } cases[] = {
        // 2.13 tokens/s is the centre: what 95 of 100 reach is less, and that is what was compared.
        {"recommend qwen2.5-7b --quant Q4_K_M --kv f16 --draft none --min-decode 2 --confidence 95%" + pi,
         1,
         {"decodes 1.59 tokens/s with 95 % confidence, 2 asked"}},
        {"recommend qwen2.5-7b --quant Q4_K_M --max-memory 1GiB" + pi,
         1,
         {"needs 4.6", ", 1.00 GiB allowed"}},
        {"recommend llama-3.2-3b --device apple-m4:16GiB --context 8192 --axis runtime=llama.cpp,vllm",
         0,
         {"vllm", "does not run on this processor"}},
        {"require qwen2.5-7b --quant Q3_K_M --min-quality 99.9%" + pi, 1, {"Out of reach", "99.9 % asked"}},
        {"require qwen2.5-7b --max-memory 1GiB" + pi, 1, {"Out of reach", "1.00 GiB allowed"}},
        {"require llama-3.1-8b --min-decode 100000" + pi, 1, {"100,000 asked", "(overhead of"}},
        {"require llama-3.1-8b --min-decode 20 --device pixel-9-pro", 1, {"unpacking the weights"}},
        // The catalogue does not know what is around a card; nothing is assumed to be there.
        {"fit kimi-k2 --device rtx-3060-12gb", 1, {"0 of 1", "--set device.ram=32GiB"}},
        {"recommend qwen3-30b-a3b --context 4096 --device rtx-3060-12gb --quant Q8_0",
         1,
         {"--set device.ram=32GiB"}},
        {"recommend qwen3-30b-a3b --context 4096 --device rtx-3060-12gb --quant Q8_0 --set device.ram=64GiB",
         0,
         {"--offload auto"}},
        {"recommend llama-3.2-1b --mixed" + pi, 0, {"no mixed recipe: Q8_0 for every matrix"}},
        {"fit --images 1 --allow-unknown-quality on --device apple-m4:16GiB", 0, {"llava-1.5-7b"}},
        // Trained in MXFP4: published files hold that, and nothing larger keeps more.
        {"recommend gpt-oss-20b --device rtx-4090 --context 8192", 0, {"--quant MXFP4_MOE"}},
        {"compare llama-3.1-70b" + pi, 0, {"does not fit"}},
        {"report qwen2.5-7b --markdown --max-memory 1GiB" + pi,
         0,
         {"The closest is IQ3_XXS", "--quant IQ3_XXS"}},
        {"runtimes --help", 0, {"memwall runtimes [OPTIONS]"}},
    };
    for (const auto& c : cases) {
        const Output o = run_memwall(c.arguments);
        INFO(c.arguments << "\n" << o.out << o.err);
        CHECK(o.status == c.status);
        for (const std::string& word : c.words) CHECK_THAT(o.out, Catch::Contains(word));
    }
    const std::string search = "recommend llama-3.2-1b --device raspberry-pi-5:8GiB ";
    for (const std::string& refused :
         {std::string("fit no-such-model"), std::string("fit --limit 0"), std::string("fit --limit -1"),
          std::string("fit qwen3 --evidence no-such-file"), search + "--evidence no-such-file",
          search + "--quant no-such-recipe", search + "--draft no-such-model", search + "--kv no-such-type",
          search + "--min-quality 0"}) {
        const Output o = run_memwall(refused);
        INFO(refused << "\n" << o.out << o.err);
        CHECK(o.status == 2);
        CHECK(o.out.empty());
        CHECK(std::count(o.err.begin(), o.err.end(), '\n') == 1);
    }
    const Output table = run_memwall("fit llama-3.2-3b --device raspberry-pi-5:8GiB --csv");
    CHECK_THAT(table.out, Catch::StartsWith("model,parameters,quant,") &&
                              Catch::Contains(",3212749824,Q8_0,f16,f16,4096,"));
}

TEST_CASE("--kv takes keys and values as tables print them", "[cli]") {
    Json both = json_of(kPlan + " --kv q8_0/q4_0 --json");
    CHECK(both == json_of(kPlan + " --kv-k q8_0 --kv-v q4_0 --json"));
    CHECK_THAT(run_memwall(kPlan + " --kv q9_0").err, Catch::Contains("--kv: 'q9_0'"));
    CHECK_THAT(run_memwall(kPlan + " --kv q8_0/q9_0").err, Catch::Contains("--kv-v: 'q9_0'"));
}
