// The whole way from a file to a plan against what llama.cpp 0.5.0 allocated in 647 processes.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "core/model/gguf.h"
#include "core/plan/placement.h"
#include "core/plan/prepare.h"
#include "tests/catch.h"
#include "tests/model/gguf_shapes.h"
#include "tests/plan/planned.h"
#include "tests/runtime/shapes.h"

using namespace memwall;
using namespace memwall::plan;

namespace {

/// The host of the measurements: x86 with AVX-512, two cores.
device::Device measuring_host() {
    device::Device d;
    d.id = d.name = "measuring-host";
    device::Processor cpu;
    cpu.kind = device::ProcessorKind::cpu;
    cpu.cores = 2;
    cpu.isa = {"avx2", "avx512f", "avx512_vnni"};
    cpu.pool = "ram";
    d.processors = {cpu};
    device::Pool ram;
    ram.name = "ram";
    ram.capacity = ram.usable = Bytes(64 * kGiB);
    d.pools = {ram};
    return d;
}

class Files {
  public:
    Files()
        : folder_(std::filesystem::temp_directory_path() / ("memwall-rows-" + std::to_string(::getpid()))) {
        std::filesystem::create_directories(folder_);
        const nlohmann::json shapes = test::read_json("gguf_shapes.json");
        for (const auto& row : shapes["rows"]) rows_[key(row["model"], row["quant"])] = row;
    }
    ~Files() { std::filesystem::remove_all(folder_); }
    Files(const Files&) = delete;
    Files& operator=(const Files&) = delete;

    const model::Model& model(const std::string& name, const std::string& quant) {
        const std::string k = key(name, quant);
        auto it = models_.find(k);
        if (it == models_.end()) {
            const std::string path = (folder_ / "model.gguf").string();
            test::write_shape_gguf(path, rows_.at(k));
            it = models_.emplace(k, model::read_gguf(path)).first;
        }
        return it->second;
    }

  private:
    static std::string key(const std::string& name, const std::string& quant) { return name + "/" + quant; }
    std::filesystem::path folder_;
    std::map<std::string, nlohmann::json> rows_;
    std::map<std::string, model::Model> models_;
};

Deployment deployment(const test::EngineRows& rows, std::size_t i) {
    Deployment d;
    d.model = rows.text(i, "model");
    d.sequences = rows.number(i, "n_seq");
    d.batch = rows.number(i, "n_batch");
    d.ubatch = rows.number(i, "n_ubatch");
    d.kv_k = rows.text(i, "type_k");
    d.kv_v = rows.text(i, "type_v");
    d.flash_attention = rows.text(i, "flash_attn") == "off" ? Switch::off : Switch::automatic;
    const auto option = [&](const char* name, const char* column) {
        d.runtime_options[name] = std::to_string(rows.number(i, column));
    };
    option("n_ctx", "n_ctx_requested");
    option("kv_unified", "kv_unified");
    option("swa_full", "swa_full");
    option("n_outputs_max", "n_outputs_max");
    return d;
}

std::int64_t central(const Memory& m, Item item) {
    return m.items[static_cast<std::size_t>(item)].central.value;
}

}  // namespace

TEST_CASE("state, compute buffer, weights and copies equal the engine's in all measured rows",
          "[plan][engine]") {
    const test::EngineRows rows("llamacpp_memory.json");
    REQUIRE(rows.size() == 647);
    Files files;
    std::vector<double> resident_errors;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Deployment d = deployment(rows, i);
        INFO("row " << i << ": " << d.model << " " << rows.text(i, "quant") << " n_ctx "
                    << rows.number(i, "n_ctx_requested") << " x " << d.sequences << " " << d.kv_k
                    << " ubatch " << d.ubatch);
        const Prepared p = prepare(files.model(d.model, rows.text(i, "quant")), d);
        const Target t = aim(p, measuring_host());
        const Memory m = evaluate(p, resolve_knobs(p, t), t).memory;
        CHECK(central(m, Item::kv_cache) + central(m, Item::recurrent_state) ==
              rows.number(i, "context_bytes"));
        CHECK(central(m, Item::compute_buffer) == rows.number(i, "compute_bytes"));
        CHECK(m.items[static_cast<std::size_t>(Item::compute_buffer)].is_exact());
        CHECK(central(m, Item::output_buffer) == rows.number(i, "output_bytes"));
        CHECK(central(m, Item::weights) == rows.number(i, "weight_bytes"));
        CHECK(central(m, Item::repacked) == rows.number(i, "repacked_bytes"));
        // One token touches only what its own graph needs of the buffer; a whole prompt all of it but unasked
        // logits.
        std::int64_t resident = m.resident.central.value;
        if (rows.number(i, "decoded_tokens") == 1) {
            const auto settings = engine_settings(resolve_knobs(p, t));
            resident +=
                p.replay->model().token_graph_bytes(settings).value - p.replay->at(settings)->touched.value;
        }
        resident_errors.push_back(
            std::abs(static_cast<double>(resident) / 1048576 / rows.real(i, "rss_mib") - 1));
    }
    std::sort(resident_errors.begin(), resident_errors.end());
    INFO("median " << resident_errors[resident_errors.size() / 2] << ", p95 "
                   << resident_errors[resident_errors.size() * 95 / 100] << " of " << resident_errors.size());
    CHECK(resident_errors[resident_errors.size() * 95 / 100] < 0.05);
}

TEST_CASE("the engine key isa decides copies, and names no instruction set it does not know", "[plan]") {
    const char* device = "ram=16GiB,bandwidth=50GB/s,class=pc_cpu";
    const auto repacked = [&](const char* isa) {
        const auto t = test::make_test_plan(
            "qwen2.5-7b", device, {{"quant", "Q4_0"}, {"runtime-option", std::string("isa=") + isa}});
        return t.plan.memory.pools.at(0).items.at(static_cast<std::size_t>(Item::repacked));
    };
    CHECK(repacked("none").high == Bytes(0));
    CHECK(repacked("avx2").is_exact());
    CHECK(repacked("avx2").central > Bytes(3'000'000'000));
    CHECK(repacked("dotprod+avx512f").central == repacked("avx512f").central);
    CHECK_THROWS_WITH(repacked("avx512"), Catch::Contains("avx512f, avx2"));
}
