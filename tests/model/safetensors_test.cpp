#include "core/model/safetensors.h"

#include <cstring>
#include <random>

#include "core/base/error.h"
#include "core/model/safetensors_set.h"
#include "tests/catch.h"
#include "tests/model/gguf_writer.h"
#include "tests/model/safetensors_writer.h"

using namespace memwall;
using namespace memwall::model;
using namespace memwall::test;

namespace {

SafetensorsFile header_of(const std::string& bytes) {
    return parse_safetensors(*bytes_source(std::as_bytes(std::span(bytes)), "x.safetensors"));
}

/// A header text and enough zeros behind it.
SafetensorsFile parse_text(const std::string& header, std::size_t data) {
    return header_of(with_length(header) + std::string(data, '\0'));
}

std::string refusal(const std::string& header, std::size_t data) {
    try {
        parse_text(header, data);
    } catch (const Error& e) {
        return e.what();
    }
    return "accepted";
}

std::string refusal(const std::string& bytes) {
    try {
        header_of(bytes);
    } catch (const Error& e) {
        return e.what();
    }
    return "accepted";
}

}  // namespace

TEST_CASE("a header gives names, types, shapes and places", "[safetensors]") {
    const auto file = parse_text(
        R"({"__metadata__":{"format":"pt"},"b":{"dtype":"I8","shape":[3],"data_offsets":[12,15]},)"
        R"("a":{"data_offsets":[0,12],"shape":[2,3],"dtype":"BF16"},"scalar":{"dtype":"F32","shape":[],)"
        R"("data_offsets":[15,19],"later":{"x":[1,{"y":null}]}}}  )",
        19);
    REQUIRE(file.tensors.size() == 3);
    CHECK(file.tensors[0].name == "a");  // in the order of the data
    CHECK(file.tensors[0].shape == std::vector<std::int64_t>{2, 3});
    CHECK(file.tensors[0].dtype->name == "BF16");
    CHECK(file.tensors[1].begin == 12);
    CHECK(file.tensors[2].shape.empty());
    CHECK(file.metadata.at("format") == "pt");
    CHECK(file.data_bytes == 19);
    CHECK(file.missing_bytes == 0);
}

TEST_CASE("every type of the format has its size", "[safetensors]") {
    // Bits a value: safetensors/src/tensor.rs, bitsize().
    const std::pair<const char*, int> known[] = {
        {"BOOL", 8},    {"U8", 8},      {"I8", 8},          {"F8_E5M2", 8},    {"F8_E4M3", 8}, {"F8_E8M0", 8},
        {"U16", 16},    {"I16", 16},    {"F16", 16},        {"BF16", 16},      {"U32", 32},    {"I32", 32},
        {"F32", 32},    {"U64", 64},    {"I64", 64},        {"F64", 64},       {"C64", 64},    {"F4", 4},
        {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}};
    CHECK(safetensors_dtypes().size() == std::size(known));
    for (const auto& [name, bits] : known) {
        INFO(name);
        const std::string header = R"({"t":{"dtype":")" + std::string(name) +
                                   R"(","shape":[2,8],"data_offsets":[0,)" + std::to_string(2 * bits) + "]}}";
        const auto file = parse_text(header, static_cast<std::size_t>(2 * bits));
        REQUIRE(file.tensors.size() == 1);
        const auto format = storage_format(*file.tensors[0].dtype);
        CHECK(quant::tensor_bytes(format, {8, 2, 1, 1}).value == 2 * bits);
    }
}

TEST_CASE("a real checkpoint's bytes are its parameters' bytes", "[safetensors]") {
    // Published totals: Qwen2.5-0.5B 494,032,768; Qwen3-0.6B 751,632,384 with the tied matrix stored twice.
    const TempDir folder;
    for (const auto& [shape, parameters] : {std::pair{kQwen25_05b, 494032768}, {kQwen3_06b, 751632384}}) {
        write_safetensors(folder.path("model.safetensors"), qwen_tensors(shape));
        const auto set = read_safetensors_set(folder.path("model.safetensors"));
        REQUIRE(set.files.size() == 1);
        CHECK(set.data_bytes() == 2 * static_cast<std::uint64_t>(parameters));
        CHECK(set.file_bytes() == std::filesystem::file_size(folder.path("model.safetensors")));
        CHECK(set.header_bytes() > 20000);
        CHECK(set.warnings.empty());
    }
    CHECK(751632384 == 596049920 + 151936 * 1024);
}

TEST_CASE("quantized layers take the worked bytes of a 4096 x 4096 matrix", "[safetensors]") {
    // Tensor layouts and totals: AutoGPTQ / GPTQModel, AutoAWQ (as exported by intel/auto-round) and
    // DeepSeek-V3 README_WEIGHTS.md, worked for out = in = 4096.
    const auto bytes = [](const std::vector<WrittenTensor>& tensors) {
        return header_of(safetensors_header(tensors)).data_bytes;
    };
    CHECK(bytes(gptq_linear("q_proj", 4096, 4096, 4, 128)) == 8732672);
    CHECK(bytes(gptq_linear("q_proj", 4096, 4096, 4, 4096)) == 8415232);
    CHECK(bytes(gptq_linear("q_proj", 4096, 4096, 4, 32)) == 9715712);
    CHECK(bytes(gptq_linear("q_proj", 4096, 4096, 3, 128)) == 6619136);
    CHECK(bytes(gptq_linear("q_proj", 4096, 4096, 8, 128)) == 17186816);
    CHECK(bytes(gptq_linear("q_proj", 4096, 4096, 2, 64)) == 4800512);
    CHECK(bytes(awq_linear("q_proj", 4096, 4096, 128)) == 8716288);
    CHECK(bytes(fp8_block_linear("q_proj", 4096, 4096)) == 16781312);
    CHECK(bytes({{"q_proj.weight", "U8", {8388608, 1}},  // bitsandbytes NF4
                 {"q_proj.weight.absmax", "F32", {262144}},
                 {"q_proj.weight.quant_map", "F32", {16}}}) == 9437248);
    CHECK(bytes({{"q_proj.weight_packed", "I32", {4096, 512}},  // compressed-tensors W4A16 g128
                 {"q_proj.weight_scale", "BF16", {4096, 32}},
                 {"q_proj.weight_shape", "I64", {2}}}) == 8650768);
}

TEST_CASE("a file cut after its header is sized as the whole one", "[safetensors]") {
    const auto tensors = qwen_tensors(kQwen25_05b);
    const std::string header = safetensors_header(tensors);
    const auto file = header_of(header + std::string(1000, '\0'));
    CHECK(file.data_bytes == 988065536);
    CHECK(file.missing_bytes == 988064536);
    CHECK(file.file_bytes() == header.size() + 988065536);

    const TempDir folder;
    write_file(folder.path("cut.safetensors"), header);
    const auto set = read_safetensors_set(folder.path("cut.safetensors"));
    REQUIRE(set.warnings.size() == 1);
    CHECK_THAT(set.warnings[0], Catch::Contains("the last 988065536 of"));

    CHECK_THAT(refusal(header.substr(0, 1000)),
               Catch::Contains("x.safetensors@0: a header of") &&
                   Catch::Contains("fetch the first " + std::to_string(header.size())));
}

TEST_CASE("what the format forbids is refused with the place and the reason", "[safetensors]") {
    const auto one = [](const std::string& fields) { return R"({"t":{)" + fields + "}}"; };
    const std::string dtype = R"("dtype":"F32",)", shape = R"("shape":[2],)",
                      range = R"("data_offsets":[0,8])";
    REQUIRE(refusal(one(dtype + shape + range), 8) == "accepted");

    CHECK_THAT(refusal(""), Catch::Contains("a file of 0 bytes"));
    CHECK_THAT(refusal("version https://git-lfs.github.com/spec/v1\noid sha256:0\n"),
               Catch::Contains("git lfs pull"));
    CHECK_THAT(refusal(std::string(8, '\xff') + "{}"),
               Catch::Contains("a header of 18446744073709551615 bytes"));
    CHECK_THAT(refusal(std::string("\x00\xe1\xf5\x05\0\0\0\0", 8)),
               Catch::Contains("a header of 100000000 bytes in a file of 8"));
    CHECK_THAT(refusal(std::string("\x01\xe1\xf5\x05\0\0\0\0", 8)), Catch::Contains("at most 100000000"));
    CHECK_THAT(refusal("", 0), Catch::Contains("does not start with '{'"));
    CHECK_THAT(refusal("[]", 0), Catch::Contains("does not start with '{'"));
    CHECK_THAT(refusal(" {}", 0), Catch::Contains("does not start with '{'"));
    CHECK_THAT(refusal("{", 0), Catch::StartsWith("x.safetensors@9: a header that is not JSON"));
    CHECK_THAT(refusal("{}}", 0), Catch::Contains("not JSON"));
    CHECK_THAT(refusal("{\"\xff\":1}", 0), Catch::Contains("not JSON"));

    CHECK_THAT(refusal(R"({"t":5})", 0),
               Catch::Contains("tensor 't': a number; expected an object with dtype"));
    CHECK_THAT(refusal(R"({"t":[]})", 0), Catch::Contains("an array"));
    CHECK_THAT(refusal(R"({"__metadata__":{"n":1}})", 0), Catch::Contains("a number; expected a string"));
    CHECK_THAT(refusal(R"({"__metadata__":{"n":{}}})", 0), Catch::Contains("an object; expected a string"));
    CHECK_THAT(refusal(one(shape + range), 8), Catch::Contains("no dtype"));
    CHECK_THAT(refusal(one(dtype + range), 8), Catch::Contains("no shape"));
    CHECK_THAT(refusal(one(dtype + R"("shape":[2])"), 8), Catch::Contains("no data_offsets"));
    CHECK_THAT(refusal(one(dtype + shape + R"("data_offsets":[0])"), 8), Catch::Contains("no data_offsets"));
    CHECK_THAT(refusal(one(dtype + shape + R"("data_offsets":[0,8,8])"), 8),
               Catch::Contains("more than two"));
    CHECK_THAT(refusal(one(dtype + shape + shape + range), 8), Catch::Contains("'shape' twice"));
    CHECK_THAT(refusal(one(R"("dtype":"F33",)" + shape + range), 8),
               Catch::StartsWith("x.safetensors@9: tensor 't': dtype 'F33'; expected a type of the format"));
    CHECK_THAT(refusal(one(R"("dtype":7,)" + shape + range), 8),
               Catch::Contains("expected the name of a type"));
    CHECK_THAT(refusal(one(dtype + R"("shape":[-2],)" + range), 8), Catch::Contains("a negative number"));
    CHECK_THAT(refusal(one(dtype + R"("shape":[2.0],)" + range), 8), Catch::Contains("a fraction"));
    CHECK_THAT(refusal(one(dtype + R"("shape":[[2]],)" + range), 8), Catch::Contains("an array"));
    CHECK_THAT(refusal(one(dtype + R"("shape":null,)" + range), 8), Catch::Contains("null"));
    CHECK_THAT(refusal(one(dtype + R"("shape":[18446744073709551616],)" + range), 8),
               Catch::Contains("above 2^64"));
    CHECK_THAT(refusal(one(dtype + R"("shape":[18446744073709551615],)" + range), 8),
               Catch::Contains("at most 2^56"));
    CHECK_THAT(refusal(one(dtype + R"("shape":[4294967296,4294967296,2],)" + range), 8),
               Catch::Contains("more than 2^56 values"));  // the product wraps to 0 in 64 bits
    CHECK_THAT(refusal(one(dtype + shape + R"("data_offsets":[0,4])"), 4),
               Catch::Contains("data_offsets [0, 4]; expected 8 bytes for 2 values of F32"));
    CHECK_THAT(refusal(one(dtype + shape + R"("data_offsets":[8,0])"), 8),
               Catch::Contains("data_offsets [8, 0]"));
    CHECK_THAT(refusal(one(R"("dtype":"F4","shape":[3],"data_offsets":[0,2])"), 2),
               Catch::Contains("whole bytes"));
    CHECK_THAT(refusal(one(dtype + shape + R"("data_offsets":[4,12])"), 12),
               Catch::Contains("with a hole after"));
    CHECK_THAT(refusal(one(dtype + shape + range), 9), Catch::Contains("1 bytes after the last tensor"));
}

TEST_CASE("tensors may neither overlap nor share a name", "[safetensors]") {
    const auto two = [](const std::string& a, int from, const std::string& b, int to) {
        const auto entry = [](const std::string& name, int at) {
            return '"' + name + R"(":{"dtype":"U8","shape":[4],"data_offsets":[)" + std::to_string(at) + "," +
                   std::to_string(at + 4) + "]}";
        };
        return "{" + entry(a, from) + "," + entry(b, to) + "}";
    };
    CHECK(refusal(two("a", 0, "b", 4), 8) == "accepted");
    CHECK_THAT(refusal(two("a", 0, "b", 2), 6),
               Catch::Contains("tensor 'b': data from 2 on, inside the tensor before"));
    CHECK_THAT(refusal(two("a", 0, "b", 5), 9), Catch::Contains("expected data from 4 on"));
    CHECK_THAT(refusal(two("a", 0, "a", 4), 8), Catch::Contains("in the header twice"));
    // Tensors without values take no room and may stand between others.
    CHECK(refusal(R"({"e":{"dtype":"F32","shape":[0,7],"data_offsets":[0,0]}})", 0) == "accepted");
}

TEST_CASE("deep nesting and many dimensions end in an error, not in the stack", "[safetensors]") {
    const std::string deep = R"({"t":{"x":)" + std::string(100000, '[') + std::string(100000, ']') + "}}";
    CHECK_THAT(refusal(deep, 0), Catch::Contains("nested more than 32 deep"));
    std::string ones = "1";
    for (int i = 0; i < 70; ++i) ones += ",1";
    CHECK_THAT(refusal(R"({"t":{"dtype":"U8","shape":[)" + ones + R"(],"data_offsets":[0,1]}})", 1),
               Catch::Contains("more than 64 dimensions"));
}

TEST_CASE("damaged headers are read or refused, never worse", "[safetensors]") {
    const unsigned seed = std::random_device{}();
    INFO("seed " << seed);
    std::mt19937 random(seed);
    auto tensors = qwen_tensors(kQwen25_05b);
    tensors.resize(12);
    const std::string whole = safetensors_header(tensors);
    int refused = 0;
    for (int i = 0; i < 3000; ++i) {
        std::string damaged = whole;
        for (unsigned n = random() % 4 + 1; n-- > 0;)
            damaged[random() % damaged.size()] = static_cast<char>(random() % 256);
        if (random() % 4 == 0) damaged.resize(random() % damaged.size());
        try {
            const auto file = header_of(damaged);
            std::uint64_t sum = 0;
            for (const auto& t : file.tensors) sum += t.bytes();
            REQUIRE(sum == file.data_bytes);
        } catch (const Error& e) {
            ++refused;
            REQUIRE(std::string(e.what()).find('\n') == std::string::npos);
        }
    }
    CHECK(refused > 1000);
}
