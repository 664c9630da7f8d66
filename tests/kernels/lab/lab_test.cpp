#include "kernels/lab/lab.h"

#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "kernels/lab/choice.h"
#include "kernels/lab/lab_view.h"
#include "kernels/lab/tensor_file.h"
#include "kernels/quantize/small_float.h"
#include "tests/catch.h"
#include "tests/cli/command.h"
#include "tests/model/gguf_writer.h"
#include "tests/model/safetensors_writer.h"

using namespace memwall;
using namespace memwall::lab;
using memwall::test::TempDir;

namespace {

std::string encoded(std::string_view format, const Matrix& w) {
    const quantize::BlockCodec& c = *quantize::find_codec(format);
    std::string bytes(quantize::encoded_bytes(c, w.data.size()), '\0');
    quantize::encode(c, w.data, std::as_writable_bytes(std::span(bytes)));
    return bytes;
}

/// Two matrices of 64 x 256, one stored in F32 and one in Q4_K, a vector and one in a format we cannot read.
std::string small_gguf(const TempDir& dir, const Matrix& a, const Matrix& b, std::size_t cut = 0) {
    test::GgufWriter writer = test::decoder("llama", 1);
    const std::uint64_t before = writer.data_bytes();
    writer.tensor("blk.0.attn_q.weight", {256, 64}).tensor("blk.0.ffn_down.weight", {256, 64}, "Q4_K");
    writer.tensor("blk.0.attn_norm.weight", {256}).tensor("blk.0.ffn_up.weight", {256, 64}, "IQ4_XS");
    std::string file = writer.header();
    const std::size_t data = file.size() + before;
    file.resize(file.size() + writer.data_bytes(), '\0');
    const std::string first = encoded("F32", a), second = encoded("Q4_K", b);
    file.replace(data, first.size(), first);
    file.replace(data + first.size(), second.size(), second);
    file.resize(file.size() - cut);
    const std::string path = dir.path("small.gguf");
    test::write_file(path, file);
    return path;
}

StoredTensor find(const TensorFile& file, const char* name) {
    for (const StoredTensor& t : file.tensors)
        if (t.name == name) return t;
    FAIL(name);
    return {};
}

LabRequest request_for(const std::string& source, const char* methods) {
    LabRequest r;
    r.source = source;
    r.methods = parse_methods(methods);
    return r;
}

}  // namespace

TEST_CASE("tensors of a GGUF are read where they are, all rows or some", "[lab]") {
    const TempDir dir;
    const Matrix a = random_weights({}, 64, 256, 1), b = random_weights({}, 64, 256, 2);
    const TensorFile file = open_tensors(small_gguf(dir, a, b));
    const StoredTensor q = find(file, "blk.0.attn_q.weight"), down = find(file, "blk.0.ffn_down.weight");
    CHECK(q.rows == 64);
    CHECK(q.cols == 256);
    CHECK(read_rows(file, q, 1000).data == a.data);
    CHECK(read_rows(file, down, 64).data == round_trip(parse_method("Q4_K"), b.view()).data);
    const Matrix some = read_rows(file, q, 4);  // the middles of four quarters
    for (std::size_t i = 0; i < 4; ++i)
        CHECK(std::equal(some.row(i).begin(), some.row(i).end(), a.row(8 + 16 * i).begin()));
    CHECK_FALSE(find(file, "blk.0.ffn_up.weight").codec);
    CHECK_THROWS_AS(read_rows(file, find(file, "blk.0.ffn_up.weight"), 1), Error);
}

TEST_CASE("safetensors are read in their types, leading dimensions together", "[lab]") {
    const TempDir dir;
    const Matrix w = random_weights({}, 64, 96, 3);
    std::string file = test::safetensors_header({{"a", "BF16", {2, 32, 96}}});
    file += encoded("BF16", w);
    test::write_file(dir.path("x.safetensors"), file);
    const TensorFile opened = open_tensors(dir.path("x.safetensors"));
    REQUIRE(opened.tensors.size() == 1);
    CHECK(opened.tensors[0].rows == 64);
    const Matrix back = read_rows(opened, opened.tensors[0], 64);
    CHECK(back.data == round_trip(parse_method("BF16"), w.view()).data);
    CHECK(open_tensors(dir.path("")).tensors.size() == 1);  // the only file of its folder
}

TEST_CASE("files that lie or stop short are errors", "[lab]") {
    const TempDir dir;
    Matrix a = random_weights({}, 64, 256, 1);
    const Matrix b = a;
    // Everything after ffn_down and half of it.
    const TensorFile cut = open_tensors(small_gguf(dir, a, b, 64 * 136 + 1024 + 32 * 144));
    CHECK_NOTHROW(read_rows(cut, find(cut, "blk.0.attn_q.weight"), 64));
    CHECK_THROWS_AS(read_rows(cut, find(cut, "blk.0.ffn_down.weight"), 1), Error);
    a.data[77] = NAN;
    const TensorFile nan = open_tensors(small_gguf(dir, a, b));
    CHECK_THROWS_AS(read_rows(nan, find(nan, "blk.0.attn_q.weight"), 64), Error);
    CHECK_THROWS_AS(open_tensors(dir.path("missing.gguf")), Error);
    CHECK_THROWS_AS(open_tensors("synthetic"), Error);
    test::write_file(dir.path("big.gguf"), test::GgufWriter(3, true).tensor("a", {64, 64}).header());
    CHECK_THROWS_AS(open_tensors(dir.path("big.gguf")), Error);
}

TEST_CASE("patterns match anywhere, or as a whole with wildcards", "[lab]") {
    CHECK(name_matches("", "blk.0.attn_q.weight"));
    CHECK(name_matches("attn_q", "blk.0.attn_q.weight"));
    CHECK(name_matches("blk.*.attn_?.weight", "blk.0.attn_q.weight"));
    CHECK_FALSE(name_matches("attn_?", "blk.0.attn_q.weight"));
}

TEST_CASE("a file's report names what it left out and chooses by its worst tensor", "[lab]") {
    const TempDir dir;
    const Matrix plain = random_weights({}, 64, 256, 1),
                 heavy = random_weights(parse_synthetic("outliers"), 64, 256, 2);
    const LabReport r = run_lab(request_for(small_gguf(dir, heavy, plain), "Q8_0,Q5_0,Q4_K,int4-channel"));
    REQUIRE(r.tensors.size() == 2);
    CHECK(r.tensors[0].stored == "F32");
    CHECK(r.tensors[1].stored == "Q4_K");
    const auto noted = [&](const char* what) {
        return std::any_of(r.notes.begin(), r.notes.end(),
                           [&](const std::string& n) { return n.find(what) != std::string::npos; });
    };
    CHECK(noted("IQ4_XS"));
    CHECK(noted("token_embd.weight is all zero"));
    CHECK(noted("quantized already"));
    const auto worst = worst_tensor(r, 3);
    REQUIRE(worst);
    CHECK(worst->where == 0);
    CHECK(worst->suited == 2);
    LabRequest none = request_for(r.source, "Q8_0");
    none.tensors = "attn_z";
    CHECK_THROWS_AS(run_lab(none), Error);
}

TEST_CASE("the smallest format is the one that keeps the limit with the fewest bits", "[lab]") {
    LabRequest q = request_for("synthetic:gaussian", "Q8_0,Q5_0,Q4_K,Q4_0,int4-tensor");
    q.rows = 32;
    const auto chosen = [&](double limit) {
        q.limit_db = limit;
        const LabReport r = run_lab(q);
        const auto m = smallest_method(r, r.tensors[0]);
        return m ? r.methods[*m].name : "none";
    };
    CHECK(chosen(50) == "none");
    CHECK(chosen(40) == "Q8_0");
    CHECK(chosen(25) == "Q5_0");
    CHECK(chosen(20) == "Q4_K");  // as many bits as Q4_0, more decibels
    CHECK(chosen(5) == "int4-tensor");
    q.limit_db = 50;
    CHECK(run_lab(q).choices[0].starts_with("No format tried keeps 50 dB"));
}

TEST_CASE("layers and caches appear in text and JSON when asked for", "[lab]") {
    LabRequest q = request_for("synthetic:outliers", "Q4_K");
    q.rows = 48;
    q.columns = 256;
    q.tokens = 400;
    q.layer = q.kv = true;
    const LabReport r = run_lab(q);
    REQUIRE(r.tensors[0].layer);
    for (const LayerError& e : r.tensors[0].layer->formats) {
        INFO(e.format);
        CHECK(e.gptq < e.rounding);
        CHECK(e.awq < e.rounding);
    }
    const auto json = nlohmann::json::parse(lab_json(r));
    CHECK(json["schema"] == "memwall/quantize-lab/1");
    CHECK(json["tensors"][0]["layer"]["formats"].size() == r.tensors[0].layer->formats.size());
    CHECK(json["kv"].size() == 2);
    CHECK(json["choices"].size() == r.choices.size());
    const std::string text = lab_text(r, 80, false);
    for (const char* part :
         {"Formats", "Layer output error", "KV cache", "The choice", "GPTQ leaves", "offset channels"})
        CHECK(text.find(part) != std::string::npos);
    q.kv = false;
    CHECK(lab_json(run_lab(q)) == lab_json(run_lab(q)));  // whatever the threads did
}

TEST_CASE("given activations take the place of synthetic ones", "[lab]") {
    const TempDir dir;
    const Matrix x = synthetic_inputs(300, 256, 9);
    std::string file = test::safetensors_header({{"x", "F32", {300, 256}}});
    file += encoded("F32", x);
    test::write_file(dir.path("x.safetensors"), file);
    LabRequest q = request_for("synthetic:gaussian", "Q4_K");
    q.rows = 40;
    q.columns = 256;
    q.layer = true;
    q.activations = dir.path("x.safetensors");
    const LabReport r = run_lab(q);
    REQUIRE(r.tensors[0].layer);
    CHECK(r.tensors[0].layer->calibration_tokens == 225);
    CHECK_FALSE(r.synthetic_inputs);
    q.columns = 512;
    CHECK_FALSE(run_lab(q).tensors[0].layer);
    CHECK(run_lab(q).notes.size() == 1);
}

TEST_CASE("the command refuses bad input on one line and with status 2", "[lab][cli]") {
    for (const char* arguments :
         {"synthetic:cauchy", "synthetic:gaussian --methods Q9_9", "synthetic:gaussian --rows 0",
          "synthetic:gaussian --columns 7", "/nonexistent.gguf", "README",
          "synthetic:gaussian --rows 99999999999", "synthetic:gaussian --layer --tokens 1"}) {
        const test::Output o = test::run_memwall(std::string("quantize-lab ") + arguments);
        INFO(arguments << ": " << o.err);
        CHECK(o.status == 2);
        CHECK(o.out.empty());
        CHECK(std::count(o.err.begin(), o.err.end(), '\n') == 1);
    }
    const test::Output good = test::run_memwall("quantize-lab synthetic:gaussian --rows 8 --methods Q4_0");
    CHECK(good.status == 0);
    CHECK(good.err.empty());
    CHECK(good.out.find("Q4_0") != std::string::npos);
}
