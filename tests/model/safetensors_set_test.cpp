#include "core/model/safetensors_set.h"

#include <filesystem>

#include "core/base/error.h"
#include "tests/catch.h"
#include "tests/model/gguf_writer.h"
#include "tests/model/safetensors_writer.h"

using namespace memwall;
using namespace memwall::model;
using namespace memwall::test;

namespace {

/// Qwen3-0.6B in three shards: embedding, half of the layers, the rest.
std::vector<std::vector<WrittenTensor>> three_shards() {
    const auto all = qwen_tensors(kQwen3_06b);
    const auto half = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    return {{all.begin(), all.begin() + 1}, {all.begin() + 1, half}, {half, all.end()}};
}

constexpr std::int64_t kTotal = 2 * 751632384LL;

}  // namespace

TEST_CASE("a set of shards is found from its index and from any shard", "[safetensors]") {
    const TempDir folder;
    write_sharded(folder.path(""), three_shards(), kTotal);
    for (const char* name : {"model.safetensors.index.json", "model-00001-of-00003.safetensors",
                             "model-00003-of-00003.safetensors"}) {
        INFO(name);
        const auto set = read_safetensors_set(folder.path(name));
        CHECK(set.files.size() == 3);
        CHECK(set.data_bytes() == kTotal);
        CHECK(set.warnings.empty());
        CHECK(set.missing_shard_bytes == 0);
    }
    std::filesystem::remove(folder.path("model.safetensors.index.json"));
    CHECK(read_safetensors_set(folder.path("model-00002-of-00003.safetensors")).data_bytes() == kTotal);
}

TEST_CASE("a missing shard is counted from the index and named", "[safetensors]") {
    const TempDir folder;
    const auto shards = three_shards();
    write_sharded(folder.path(""), shards, kTotal);
    std::filesystem::remove(folder.path("model-00002-of-00003.safetensors"));
    const auto set = read_safetensors_set(folder.path("model.safetensors.index.json"));
    CHECK(set.missing_shards == std::vector<std::string>{"model-00002-of-00003.safetensors"});
    CHECK(set.missing_shard_bytes == static_cast<std::uint64_t>(data_bytes(shards[1])));
    CHECK(set.data_bytes() + set.missing_shard_bytes == kTotal);
    REQUIRE(set.warnings.size() == 1);
    CHECK_THAT(set.warnings[0],
               Catch::Contains("1 of 3 shards are missing (model-00002-of-00003.safetensors)"));

    write_sharded(folder.path(""), shards, 0);
    std::filesystem::remove(folder.path("model-00003-of-00003.safetensors"));
    const auto unsized_set = read_safetensors_set(folder.path("model.safetensors.index.json"));
    CHECK(unsized_set.missing_shard_bytes == 0);
    CHECK_THAT(unsized_set.warnings.at(0), Catch::Contains("their size is unknown"));

    for (int i = 1; i <= 3; ++i)
        std::filesystem::remove(folder.path("model-0000" + std::to_string(i) + "-of-00003.safetensors"));
    CHECK(read_safetensors_set(folder.path("model.safetensors.index.json")).files.empty());
}

TEST_CASE("an index and its shards are held against each other", "[safetensors]") {
    const TempDir folder;
    write_safetensors(folder.path("a.safetensors"), {{"x", "U8", {4}}, {"y", "U8", {4}}});
    write_safetensors(folder.path("b.safetensors"), {{"z", "U8", {4}}});
    write_file(folder.path("m.safetensors.index.json"),
               R"({"metadata":{"total_size":12.0},"weight_map":{"x":"a.safetensors","w":"b.safetensors"}})");
    const auto set = read_safetensors_set(folder.path("m.safetensors.index.json"));
    REQUIRE(set.warnings.size() == 2);
    CHECK_THAT(set.warnings[0], Catch::Contains("1 tensors are not in the shard that it names"));
    CHECK_THAT(set.warnings[1], Catch::Contains("2 stored tensors are not in it"));

    write_safetensors(folder.path("b.safetensors"), {{"x", "U8", {4}}});
    CHECK_THROWS_WITH(read_safetensors_set(folder.path("m.safetensors.index.json")),
                      Catch::Contains("tensor 'x' in two shards"));
}

TEST_CASE("an index leads nowhere but into its own folder", "[safetensors]") {
    for (const char* name : {"../secret.safetensors", "/etc/passwd", "a/b.safetensors", "..", "", "x.bin",
                             "..\\\\x.safetensors", "a\\u0000.safetensors"}) {
        INFO(name);
        const std::string index = std::string(R"({"weight_map":{"t":")") + name + R"("}})";
        CHECK_THROWS_WITH(parse_safetensors_index(index, "i.json"),
                          Catch::Contains("expected a .safetensors file in the same folder"));
    }
}

TEST_CASE("an index that is none is refused", "[safetensors]") {
    for (const char* text :
         {"", "[", "[]", "7", "{}", R"({"weight_map":[]})", R"({"weight_map":7})",
          R"({"weight_map":{"t":7}})", R"({"weight_map":{"t":{}}})", R"({"weight_map":{"t":[]}})",
          R"({"metadata":{"total_size":18446744073709551615},"weight_map":{}})"}) {
        INFO(text);
        CHECK_THROWS_AS(parse_safetensors_index(text, "i.json"), Error);
    }
    const std::string deep = R"({"metadata":)" + std::string(5000, '[') + std::string(5000, ']') + "}";
    CHECK_THROWS_WITH(parse_safetensors_index(deep, "i.json"), Catch::Contains("nested"));
    const auto index = parse_safetensors_index(
        R"({"metadata":{"total_size":8,"more":[{"total_size":9}]},"weight_map":{"b":"2.safetensors","a":"1.safetensors"}})",
        "i.json");
    CHECK(index.total_size == 8);
    CHECK(index.shards == std::vector<std::string>{"1.safetensors", "2.safetensors"});
    CHECK(index.tensors.at(0) == std::pair<std::string, std::uint32_t>{"a", 0});
}
