// Split sets: found from any shard, added up, and honest about what is missing.
#include <fmt/format.h>

#include "core/base/error.h"
#include "tests/catch.h"
#include "tests/model/gguf_writer.h"

using namespace memwall;
using namespace memwall::model;
using memwall::test::GgufWriter;
using memwall::test::TempDir;

namespace {

/// Three shards of one model: keys and the token table in the first, one layer in each of the others.
struct Set {
    TempDir dir;
    std::int64_t tensor_bytes = 0;

    std::string path(int number, const char* stem = "model") const {
        return dir.path(fmt::format("{}-{:05d}-of-00003.gguf", stem, number));
    }
    explicit Set(int claimed_no_of_second = 1) {
        for (int i = 0; i < 3; ++i) {
            GgufWriter w;
            if (i == 0) {
                w.text("general.architecture", "llama").integer("llama.block_count", 2);
                w.integer("llama.embedding_length", 64).integer("llama.feed_forward_length", 96);
                w.integer("llama.attention.head_count", 4).integer("llama.context_length", 512);
                w.tensor("token_embd.weight", {64, 100});
            } else {
                w.tensor(fmt::format("blk.{}.attn_q.weight", i - 1), {64, 64}, "Q8_0");
                w.tensor(fmt::format("blk.{}.ffn_down.weight", i - 1), {96, 64});
            }
            if (i == 2) w.tensor("output.weight", {64, 100});
            using T = GgufType;
            w.integer("split.no", i == 1 ? claimed_no_of_second : i, T::u16)
                .integer("split.count", 3, T::u16);
            w.integer("split.tensors.count", 6, T::i32);
            w.write(path(i + 1));
            tensor_bytes += w.weight_bytes();
        }
    }
};

std::int64_t bytes_of(const Model& m) {
    std::int64_t total = 0;
    for (const Tensor& t : m.tensors) total += quant::tensor_bytes(t.format, t.dims).value;
    return total;
}

}  // namespace

TEST_CASE("any shard leads to the whole set", "[gguf]") {
    const Set set;
    for (const int number : {1, 2, 3}) {
        const Model m = read_gguf(set.path(number));
        INFO(number);
        CHECK(m.id == "model");
        CHECK(m.warnings.empty());
        CHECK(m.tensors.size() == 6);
        CHECK(bytes_of(m) == set.tensor_bytes);
        CHECK(m.layers.size() == 2);
        CHECK(m.output == TiedOutput::untied);
        std::uint64_t files = 0;
        for (const int i : {1, 2, 3}) files += std::filesystem::file_size(set.path(i));
        CHECK(m.file_bytes == files);
    }
    const GgufFile f = open_gguf(set.path(2));
    CHECK(f.tensors.front().shard == 0);
    CHECK(f.tensors.back().shard == 2);
}

TEST_CASE("a missing shard is a warning with numbers; the plan goes on", "[gguf]") {
    const Set set;
    std::filesystem::remove(set.path(3));
    const Model m = read_gguf(set.path(1));
    REQUIRE(m.warnings.size() >= 1);
    CHECK_THAT(m.warnings[0], Catch::Contains("1 of 3 shards are missing") &&
                                  Catch::Contains("model-00003-of-00003.gguf") &&
                                  Catch::Contains("3 of 6 tensors"));
    CHECK(m.layers.size() == 2);  // the layer of the missing shard is known from the keys
    CHECK(m.layers[1].feed_forward->width == 96);
    CHECK_THAT(m.warnings.back(), Catch::Contains("output.weight may be in a missing shard"));
}

TEST_CASE("without the first shard there are no keys to plan from", "[gguf]") {
    const Set set;
    std::filesystem::remove(set.path(1));
    CHECK_THROWS_WITH(read_gguf(set.path(2)), Catch::Contains("put the first shard"));
}

TEST_CASE("a renamed shard is told from its siblings", "[gguf]") {
    const Set set;
    std::filesystem::rename(set.path(1), set.dir.path("other.gguf"));
    const Model m = read_gguf(set.dir.path("other.gguf"));
    CHECK(m.id == "other");
    CHECK_THAT(m.warnings[0],
               Catch::Contains("the others cannot be found") && Catch::Contains("1 of 6 tensors"));

    const Set twisted(2);
    CHECK_THROWS_WITH(read_gguf(twisted.path(1)), Catch::Contains("2 of 3") && Catch::Contains("1 of 3"));
}

TEST_CASE("a path that is no file or no GGUF says so", "[gguf]") {
    const TempDir dir;
    CHECK_THROWS_WITH(read_gguf(dir.path("absent.gguf")), Catch::Contains("cannot open"));
    CHECK_THROWS_AS(read_gguf(dir.path("")), Error);
}
