// Files of the shapes on which the engine was measured: counts, bytes and layer kinds must be the engine's.
#include "tests/model/gguf_shapes.h"

#include <fstream>

#include "tests/catch.h"

using namespace memwall;
using namespace memwall::model;

namespace {

nlohmann::json shape_rows() {
    std::ifstream in(MEMWALL_TEST_DATA "/gguf_shapes.json");
    return nlohmann::json::parse(in).at("rows");
}

}  // namespace

TEST_CASE("parameters, weight bytes and file bytes of every measured shape", "[gguf]") {
    const nlohmann::json rows = shape_rows();
    REQUIRE(rows.size() == 22);
    for (const auto& row : rows) {
        INFO(row.at("model").get<std::string>() << " " << row.at("quant").get<std::string>());
        const test::GgufWriter w =
            test::shape_gguf(row.at("model"), row.at("arch"), row.at("shape"), row.at("quant"));
        const GgufFile file = test::parse(w.header());
        std::int64_t bytes = 0;
        for (const GgufTensor& t : file.tensors) bytes += t.bytes;
        CHECK(bytes == row.at("weight_bytes").get<std::int64_t>());

        const Model m = model_from_gguf(file, "shape");
        std::int64_t parameters = 0, sized = 0;
        for (const Tensor& t : m.tensors) {
            parameters += t.elements();
            sized += quant::tensor_bytes(t.format, t.dims).value;
        }
        CHECK(parameters == row.at("n_params").get<std::int64_t>());
        CHECK(sized == bytes);
        // Some of the measured files had one short key less: one step of padding.
        const std::uint64_t measured = row.at("file_bytes");
        CHECK((m.file_bytes == measured || m.file_bytes == measured + 32));
        CHECK(m.metadata_bytes == m.file_bytes - w.data_bytes());
        CHECK(m.tensors_from_file);
        CHECK(m.vocabulary == row.at("shape").at("n_vocab").get<std::int64_t>());
        CHECK((m.output == TiedOutput::tied) == (row.at("shape").at("tied") == 1));
        CHECK(m.trained_context == row.at("shape").at("n_ctx_train").get<std::int64_t>());
        for (const Tensor& t : m.tensors) {
            INFO(t.name);
            CHECK(t.role != Role::other);
        }
    }
}

TEST_CASE("layers with a full and with a windowed cache are those the engine logs", "[gguf]") {
    for (const auto& row : shape_rows()) {
        INFO(row.at("model").get<std::string>());
        const Model m = model_from_gguf(
            test::parse(
                test::shape_gguf(row.at("model"), row.at("arch"), row.at("shape"), row.at("quant")).header()),
            "shape");
        int full = 0, windowed = 0;
        for (const Layer& layer : m.layers)
            if (layer.attention) ++(layer.attention->window > 0 ? windowed : full);
        // Phi-3's file names a window for all layers; that the engine ignores it is the engine profile's
        // part.
        if (row.at("arch") == "phi3") std::swap(full, windowed);
        CHECK(full == row.at("full_layers").get<int>());
        CHECK(windowed == row.at("window_layers").get<int>());
    }
}

TEST_CASE("a shape written as a file reads like the one in memory", "[gguf]") {
    const test::TempDir dir;
    const nlohmann::json row = shape_rows().at(6);
    test::write_shape_gguf(dir.path("qwen3.gguf"), row);
    const Model m = read_gguf(dir.path("qwen3.gguf"));
    CHECK(m.id == "qwen3");
    CHECK(m.warnings.empty());
    CHECK(m.file_bytes == std::filesystem::file_size(dir.path("qwen3.gguf")));
    CHECK(m.stored_recipe == "Q8_0");
}
