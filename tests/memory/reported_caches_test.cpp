// Cache sizes that engines printed in public reports, from the facts of each report alone.
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "core/memory/kv_cache.h"
#include "core/model/catalog.h"
#include "core/runtime/engine_cells.h"
#include "core/runtime/operator_tables.h"
#include "tests/catch.h"
#include "tests/runtime/shapes.h"

using namespace memwall;
using Json = nlohmann::json;

namespace {

// Reports that another rule produced, and which one.
const std::map<std::string, std::string> kOtherRules = {
    {"mem-dsv3-q4kv-mla-k-and-v", "a build of mid-2025 stored a 512-wide V beside the latent row"},
    {"mem-gptoss20-vulkan-b6182", "older padding: 128 + 512 = 640 cells, now rounded up to 768"},
    {"mem-gptoss20-hexagon-q8kv", "micro-batch of the run was 128 or less and is not printed"},
    {"est-dsv3-mha-expansion", "engine of February 2025, before it cached the latent row: expanded heads"},
    {"est-dsv31-mla-as-gqa", "printed as 10.72 GiB, two decimals of GiB"},
    {"est-gemma3-27b-swa-headdim", "printed in GiB by an engine that allocates the window alone"},
};

model::Model model_of(const Json& row) {
    model::Model m;
    m.architecture = row.contains("window") ? (row["period"] == 2 ? "gpt-oss" : "gemma3") : "llama";
    m.hidden = row["heads"].get<std::int64_t>() * row["head_dim"].get<std::int64_t>();
    for (int i = 0; i < row["layers"].get<int>(); ++i) {
        model::Layer layer;
        model::Attention a;
        a.heads = row["heads"];
        a.kv_heads = row.contains("kv_heads_of_layers")
                         ? row["kv_heads_of_layers"][static_cast<std::size_t>(i)].get<std::int64_t>()
                         : row["kv_heads"].get<std::int64_t>();
        a.key_dim = a.value_dim = row["head_dim"];
        if (row.contains("latent")) {
            a.latent_rank = row["latent"];
            a.latent_rope_dim = row["latent_rope"];
            a.nope_dim = row["nope"];
            a.value_dim = row["value_dim"];
        }
        if (row.contains("window") && i % row["period"].get<int>() != row["period"].get<int>() - 1)
            a.window = row["window"];
        const bool keeps_cache = !row.contains("interval") || (i + 1) % row["interval"].get<int>() == 0;
        if (keeps_cache && a.kv_heads > 0) layer.attention = a;
        m.layers.push_back(layer);
    }
    return m;
}

double cache_mib(const Json& row, bool latent_cache) {
    const model::Model m = model_of(row);
    runtime::EngineSettings s;
    s.n_ctx = row["n_ctx"];
    s.n_seq = row["n_seq"];
    s.n_ubatch = row.value("n_ubatch", 512);
    s.kv_unified = row.value("unified", false);
    const auto& rules = runtime::operator_tables("0.5.0").cell_rules();
    const runtime::EngineCells e = runtime::resolve_cells(m, s, rules);
    memory::KvCells cells;
    cells.full = e.cells;
    cells.streams = e.streams;
    cells.window_multiple = s.kv_unified ? s.n_seq : 1;
    cells.window_extra = s.n_ubatch;
    cells.padding = rules.padding;
    return memory::kv_cache_bytes(memory::kv_groups(m, latent_cache), cells,
                                  *quant::parse_kv_type(row["type_k"].get<std::string>()),
                                  *quant::parse_kv_type(row["type_v"].get<std::string>()))
               .as_double() /
           1048576;
}

}  // namespace

TEST_CASE("caches of public reports come out to the printed digit", "[memory]") {
    const Json data = test::read_json("reported_caches.json");
    std::size_t equal = 0;
    for (const Json& row : data["rows"]) {
        const std::string id = row["id"];
        const double printed = row["kv_mib"], computed = cache_mib(row, true);
        INFO(id << ": printed " << printed << ", computed " << computed);
        if (kOtherRules.count(id)) {
            // est-dsv3-mha-expansion is our other rule, so it can be checked too.
            if (id == "est-dsv3-mha-expansion") CHECK(std::abs(cache_mib(row, false) - printed) < 0.006);
            continue;
        }
        CHECK(std::abs(computed - printed) < 0.006);
        ++equal;
    }
    CHECK(equal + kOtherRules.size() == data["rows"].size());
    CHECK(equal >= 48);
}

TEST_CASE("recurrent states of public reports come out to the printed digit", "[memory]") {
    const Json data = test::read_json("reported_caches.json");
    for (const Json& row : data["states"]) {
        INFO(row["id"].get<std::string>());
        const auto m = model::load_catalog_model(row["model"].get<std::string>());
        REQUIRE(m);
        const double mib =
            memory::recurrent_state_bytes(*m).as_double() * row["sequences"].get<int>() / 1048576;
        CHECK(std::abs(mib - row["printed_mib"].get<double>()) < 0.006);
    }
    // Mamba-1.4B is not in the catalogue: 48 layers of 4,096 x (3 + 16) values; the second report
    // printed 14.25.
    CHECK(
        48 * 4 *
            memory::recurrent_state_elements(
                {.kind = model::RecurrentKind::mamba1, .inner = 4096, .state = 16, .conv_kernel = 4}, 2048) ==
        static_cast<std::int64_t>(14.25 * 1048576));
}

// Engines that page their cache print the bytes of the pool and the tokens that it holds.
TEST_CASE("pools of public reports hold as many tokens as printed", "[memory]") {
    const Json data = test::read_json("reported_caches.json");
    const quant::KvType f16 = *quant::parse_kv_type("f16");
    for (const Json& row : data["pools"]) {
        INFO(row["id"].get<std::string>());
        const auto m = model::load_catalog_model(row["model"].get<std::string>());
        REQUIRE(m);
        double bytes = 0;
        for (const memory::KvGroup& g : memory::kv_groups(*m, true))
            bytes += memory::kv_token_bytes(g, f16, f16).as_double() * g.layers;
        const double gib = bytes * row["tokens"].get<double>() / row["shards"].get<double>() / 1073741824;
        CHECK(std::abs(gib - row["printed_gib"].get<double>()) < row.value("tolerance", 0.0056));
    }
    CHECK(data["pools"].size() >= 10);
}
