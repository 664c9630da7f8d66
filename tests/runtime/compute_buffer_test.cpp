#include "core/runtime/compute_buffer.h"

#include <map>
#include <numeric>

#include "core/base/error.h"
#include "tests/catch.h"
#include "tests/runtime/shapes.h"

using namespace memwall;
using namespace memwall::runtime;

namespace {

/// Compares every row of a file; each model is prepared once.
template <class Check>
void check_rows(const test::EngineRows& rows, Check check) {
    std::map<std::string, ReplayModel> models;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::string name = rows.text(i, "model");
        auto known = models.find(name);
        if (known == models.end())
            known = models.emplace(name, ReplayModel(operator_tables(), rows.model(i))).first;
        INFO("row " << i << ", " << name);
        check(i, known->second);
    }
}

}  // namespace

TEST_CASE("every measured compute buffer is equal to the byte", "[replay]") {
    const test::EngineRows rows("llamacpp_memory.json");
    REQUIRE(rows.size() == 647);
    check_rows(rows, [&](std::size_t i, const ReplayModel& model) {
        const ComputeBuffer b = model.compute_buffer(rows.settings(i));
        CHECK(b.bytes.is_exact());
        CHECK(b.bytes.basis == kExact);
        CHECK(b.bytes.central.value == rows.number(i, "compute_bytes"));
        CHECK(b.nodes == rows.number(i, "graph_nodes"));
    });
}

TEST_CASE("random shapes give what an independent replay gives", "[replay]") {
    const test::EngineRows rows("compute_buffers_random.json");
    REQUIRE(rows.size() >= 200);
    check_rows(rows, [&](std::size_t i, const ReplayModel& model) {
        const ComputeBuffer b = model.compute_buffer(rows.settings(i));
        CHECK(b.bytes.basis == kExact);
        CHECK(b.bytes.central.value == rows.number(i, "compute_bytes"));
        CHECK(b.nodes == rows.number(i, "graph_nodes"));
        CHECK(model.token_graph_bytes(rows.settings(i)).value == rows.number(i, "token_graph_bytes"));
    });
}
