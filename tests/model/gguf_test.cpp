// The container: what is read, and what is refused before it costs memory.
#include <limits>

#include "core/base/error.h"
#include "tests/catch.h"
#include "tests/model/gguf_writer.h"

using namespace memwall;
using namespace memwall::model;
using memwall::test::GgufBytes;
using memwall::test::GgufWriter;

namespace {

constexpr std::uint64_t k2To63 = std::uint64_t{1} << 63;

std::int64_t integer(const GgufFile& f, const char* key) {
    return std::get<std::int64_t>(f.find(key)->value.value);
}

/// A file with one tensor entry of `dims` in `type` at `offset`.
std::string one_tensor(const std::vector<std::uint64_t>& dims, std::uint32_t type, std::uint64_t offset = 0) {
    GgufBytes b;
    b.begin(1, 0).text("t").u32(static_cast<std::uint32_t>(dims.size()));
    for (const std::uint64_t d : dims) b.u64(d);
    b.u32(type).u64(offset);
    return b.str();
}

/// One u32 key with this value and nothing else, padded to `size` bytes.
std::string one_key(const char* key, std::uint32_t value, std::size_t size) {
    std::string bytes = GgufBytes().begin(0, 1).text(key).u32(4).u32(value).str();
    bytes.resize(std::max(size, bytes.size()));
    return bytes;
}

std::string why(const std::string& bytes) {
    try {
        test::parse(bytes);
    } catch (const Error& e) {
        return e.what();
    }
    return "accepted";
}

}  // namespace

TEST_CASE("both versions and byte orders give the same file", "[gguf]") {
    for (const int version : {2, 3})
        for (const bool big : {false, true}) {
            GgufWriter w(version, big);
            using T = GgufType;
            w.integer("u8", 200, T::u8).integer("i8", -7, T::i8).integer("u16", 60000, T::u16);
            w.integer("i16", -300, T::i16).integer("u32", 4000000000, T::u32).integer("i32", -5, T::i32);
            w.integer("i64", -9000000000, T::i64).integer("u64", 9000000000, T::u64).flag("flag", true);
            w.real("f32", 0.5).real("f64", 0.1, T::f64).text("text", "Qwen");
            w.integers("layers", {1, 2, 3}, T::i16).reals("scores", {0.25, -1});
            w.texts("tokens", {"<s>", "", "word"});
            w.tensor("a", {32, 2}, "Q4_0").tensor("b", {5});

            const GgufFile f = test::parse(w.header() + std::string(w.data_bytes(), '\0'));
            CHECK(f.version == version);
            CHECK(f.big_endian == big);
            CHECK(integer(f, "u8") == 200);
            CHECK(integer(f, "i8") == -7);
            CHECK(integer(f, "u16") == 60000);
            CHECK(integer(f, "i16") == -300);
            CHECK(integer(f, "u32") == 4000000000);
            CHECK(integer(f, "i32") == -5);
            CHECK(integer(f, "i64") == -9000000000);
            CHECK(integer(f, "u64") == 9000000000);
            CHECK(integer(f, "flag") == 1);
            CHECK(std::get<double>(f.find("f32")->value.value) == 0.5);
            CHECK(std::get<double>(f.find("f64")->value.value) == 0.1);
            CHECK(std::get<std::string>(f.find("text")->value.value) == "Qwen");
            CHECK(std::get<std::vector<std::int64_t>>(f.find("layers")->value.value) ==
                  std::vector<std::int64_t>{1, 2, 3});
            CHECK(std::get<std::vector<double>>(f.find("scores")->value.value) ==
                  std::vector<double>{0.25, -1});
            const GgufValue& tokens = f.find("tokens")->value;
            CHECK(tokens.element == GgufType::string);
            CHECK(tokens.count == 3);
            CHECK(std::holds_alternative<std::monostate>(tokens.value));
            REQUIRE(f.tensors.size() == 2);
            CHECK(f.tensors[0].bytes == 36);
            CHECK(f.tensors[0].dims == std::array<std::int64_t, 4>{32, 2, 1, 1});
            CHECK(f.tensors[1].offset == 64);  // 36 bytes, padded to 32
            CHECK(f.data_bytes == 96);
            CHECK_FALSE(f.truncated);
            CHECK(f.warnings.empty());
        }
}

TEST_CASE("long arrays of numbers are summarized, entries keep their order and offset", "[gguf]") {
    GgufWriter w;
    w.integer("first", 1).integers("long", std::vector<std::int64_t>(5000, 7)).integer("last", 2);
    const GgufFile f = test::parse(w.header());
    REQUIRE(f.metadata.size() == 3);
    CHECK(f.metadata[0].offset == 24);
    CHECK(f.metadata[2].key == "last");
    const auto& v = f.find("long")->value;
    CHECK(v.count == 5000);
    CHECK(std::get<std::vector<std::int64_t>>(v.value).size() == GgufValue::kShownElements);
    CHECK(integer(f, "last") == 2);
}

TEST_CASE("every published block format is sized", "[gguf]") {
    GgufWriter w;
    std::int64_t expected = 0;
    for (const quant::BlockFormat& f : quant::block_formats()) {
        w.tensor(std::string(f.name), {f.block_len * 2, 3}, f.name);
        expected += 2 * 3 * f.block_bytes;
    }
    std::int64_t total = 0;
    for (const GgufTensor& t : test::parse(w.header()).tensors) total += t.bytes;
    CHECK(total == expected);
}

TEST_CASE("alignment moves tensors and the data section", "[gguf]") {
    GgufWriter w;
    w.alignment(4096).tensor("a", {8}).tensor("b", {8});
    const GgufFile f = test::parse(w.header());
    CHECK(f.alignment == 4096);
    CHECK(f.data_offset % 4096 == 0);
    CHECK(f.tensors[1].offset == 4096);
}

TEST_CASE("a file cut after its header still reads, with a warning; one cut inside does not", "[gguf]") {
    const GgufWriter w = test::small_llama();
    const std::string header = w.header();
    const GgufFile f = test::parse(header);
    CHECK(f.truncated);
    REQUIRE(f.warnings.size() == 1);
    CHECK_THAT(f.warnings[0], Catch::Contains(std::to_string(header.size() + w.data_bytes())));
    CHECK(f.data_bytes == w.data_bytes());

    // Every shorter prefix is an error in words, none is a crash. (The padding is no part of the header.)
    const std::size_t last = header.find_last_not_of('\0');
    for (std::size_t n = 0; n <= last; ++n) {
        INFO(n << " bytes");
        CHECK_THROWS_AS(test::parse(header.substr(0, n)), Error);
    }
    CHECK_THAT(why(header.substr(0, 300)), Catch::Contains("fetch its whole header"));
}

// Files of public bug reports: each made some reader crash, spin or allocate without bound.

TEST_CASE("absurd alignments are refused", "[gguf]") {
    CHECK_THAT(why(one_key("general.alignment", 1u << 30, 160)),
               Catch::Contains("general.alignment = 1073741824"));
    for (const std::uint32_t bad : {0u, 3u, 48u, 1u << 21})
        CHECK_THAT(why(one_key("general.alignment", bad, 64)), Catch::Contains("a power of two"));
    CHECK(why(one_key("general.alignment", 1u << 20, 64)) == "accepted");
    CHECK_THAT(why(GgufWriter().text("general.alignment", "32").header()), Catch::Contains("no integer"));
}

TEST_CASE("counts and lengths beyond the file are refused at once", "[gguf]") {
    const auto array = [](std::uint32_t element, std::uint64_t count) {
        return GgufBytes().begin(0, 1).text("k").u32(9).u32(element).u64(count).str();
    };
    CHECK_THAT(why(array(8, k2To63)), Catch::Contains("array elements"));
    CHECK_THAT(why(array(0, k2To63)), Catch::Contains("9223372036854775808 array elements"));
    CHECK_THAT(why(array(9, std::uint64_t{1} << 62)), Catch::Contains("an array of arrays"));
    CHECK_THAT(why(GgufBytes().begin(0, k2To63).str()), Catch::Contains("metadata keys"));
    CHECK_THAT(why(GgufBytes().begin(k2To63, 0).str()), Catch::Contains("tensors"));
    CHECK_THAT(why(GgufBytes().begin(0, 1).text("k").u32(8).u64(k2To63).str()),
               Catch::Contains("a string of"));
    CHECK_THAT(why(GgufBytes().begin(0, 1).text("k").u32(8).u64(1000).raw("short").str()),
               Catch::Contains("1000 bytes, 5 left"));

    const std::string bytes43 = array(0, k2To63 + 1).substr(0, 43);
    CHECK_THROWS_AS(test::parse(bytes43), Error);
    const std::string bytes32 = GgufBytes().begin(0, 1).u64(0xFFFFFFFFFFFF).str();
    REQUIRE(bytes32.size() == 32);
    CHECK_THAT(why(bytes32), Catch::Contains("1 metadata keys, 8 bytes left"));
    CHECK_THAT(why(bytes32 + std::string(8, 'x')),
               Catch::Contains("test.gguf@24: a key of 281474976710655 bytes, 8 left"));
    CHECK_THAT(why(GgufBytes().begin(0, 1).u64(70000).raw(std::string(70000, 'x')).str()),
               Catch::Contains("at most 65535"));
}

TEST_CASE("impossible tensors are refused", "[gguf]") {
    CHECK_THAT(why(one_tensor({~std::uint64_t{0}, 2, 1, 1}, 0)), Catch::Contains("at most 2^56"));
    CHECK_THAT(why(one_tensor({std::uint64_t{1} << 40, std::uint64_t{1} << 40}, 0)),
               Catch::Contains("at most 2^56"));
    CHECK_THAT(why(one_tensor({std::uint64_t{1} << 62}, 0)), Catch::Contains("at most 2^56"));
    CHECK_THAT(why(one_tensor(std::vector<std::uint64_t>(9, 1), 0)), Catch::Contains("9 dimensions"));
    CHECK_THAT(why(one_tensor({32}, 4)), Catch::Contains("type 4"));      // Q4_2, removed
    CHECK_THAT(why(one_tensor({32}, 300)), Catch::Contains("type 300"));  // not 300 mod 256
    CHECK_THAT(why(one_tensor({33}, 2)), Catch::Contains("a multiple of 32"));
    CHECK_THAT(why(one_tensor({32}, 2, 32)), Catch::Contains("data offset 32; expected 0"));
    CHECK(why(one_tensor({}, 0)) == "accepted");   // one value
    CHECK(why(one_tensor({0}, 0)) == "accepted");  // none
}

TEST_CASE("2^42 rows disagree with the next tensor's offset", "[gguf]") {
    // Rows x stride wraps to a plausible size when it is computed without care (gemma-3-1b, Q8_0).
    GgufBytes b;
    b.begin(2, 0);
    b.text("token_embd.weight").u32(2).u64(1152).u64(4398046511105).u32(8).u64(0);
    b.text("output_norm.weight").u32(1).u64(1152).u32(0).u64(std::uint64_t{1152} / 32 * 34 * 262144);
    CHECK_THAT(why(b.str()), Catch::Contains("'output_norm.weight' at data offset 320864256"));
}

TEST_CASE("2^42 rows are no vocabulary, even where no offset disagrees", "[gguf]") {
    GgufBytes b;
    b.begin(1, 5);
    b.text("general.architecture").u32(8).text("llama");
    for (const char* key : {"block_count", "embedding_length", "attention.head_count", "context_length"})
        b.text(std::string("llama.") + key).u32(4).u32(1);
    b.text("token_embd.weight").u32(2).u64(1152).u64(4398046511105).u32(8).u64(0);
    CHECK_THROWS_WITH(model_from_gguf(test::parse(b.str()), "x"),
                      Catch::Contains("dimension of 4398046511105"));
}

TEST_CASE("large but true sizes are accepted", "[gguf]") {
    // A loader with a wrong Q5_K size refused this tensor of a real 16.8 GB file.
    const GgufFile f =
        test::parse(GgufWriter().tensor("blk.56.ssm_out.weight", {6144, 5120}, "Q5_K").header());
    CHECK(f.tensors[0].bytes == 21626880);
}

TEST_CASE("duplicates, strange magic and versions are refused", "[gguf]") {
    CHECK_THAT(why(GgufWriter().integer("a", 1).integer("a", 2).header()),
               Catch::Contains("'a' occurs twice"));
    CHECK_THAT(why(GgufWriter().tensor("t", {1}).tensor("t", {1}).header()),
               Catch::Contains("'t' occurs twice"));
    CHECK_THAT(why("ggml is something else entirely"), Catch::Contains("67 67 6d 6c"));
    CHECK_THAT(why(GgufBytes().begin(0, 0, 1).str()), Catch::Contains("convert the model again"));
    CHECK_THAT(why(GgufBytes().begin(0, 0, 4).str()), Catch::Contains("GGUF version 4"));
    CHECK_THAT(why(GgufBytes().begin(0, 1).text("k").u32(13).u32(0).str()), Catch::Contains("value type 13"));
    CHECK_THAT(why(GgufWriter().integer("a\x1b[31m", 1).header()), Catch::Contains("control characters"));
    CHECK_THAT(why(""), Catch::Contains("4 bytes") || Catch::Contains("1 bytes wanted, 0 left"));
}
