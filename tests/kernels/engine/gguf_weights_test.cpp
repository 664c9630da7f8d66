#include <cmath>
#include <fstream>
#include <map>
#include <random>
#include <string>

#include "core/base/error.h"
#include "kernels/engine/engine.h"
#include "kernels/quantize/block_codec.h"
#include "tests/catch.h"
#include "tests/kernels/engine/small_models.h"
#include "tests/kernels/random_values.h"
#include "tests/model/gguf_writer.h"

using namespace memwall;
using namespace memwall::kernels;
using namespace memwall::kernels::test;

namespace {

/// A llama of two layers whose matrices are in the given formats, with random weights.
class WrittenLlama {
  public:
    explicit WrittenLlama(const std::map<std::string, std::string>& formats, std::uint32_t seed)
        : writer_(memwall::test::decoder("llama", 2, 256, 4, 2)), rng_(seed), formats_(formats) {
        writer_.real("llama.rope.freq_base", 500000).real("llama.attention.layer_norm_rms_epsilon", 1e-6);
        add("token_embd.weight", {256, 1000}, true);
        add("output_norm.weight", {256}, true);
        for (int l = 0; l < 2; ++l) {
            const auto layer = [&](const char* name, const std::vector<std::int64_t>& dims) {
                add(memwall::test::blk(l, name), dims, false);
            };
            layer("attn_norm.weight", {256});
            layer("attn_q.weight", {256, 256});
            layer("attn_k.weight", {256, 128});
            layer("attn_v.weight", {256, 128});
            layer("attn_output.weight", {256, 256});
            layer("ffn_norm.weight", {256});
            layer("ffn_gate.weight", {256, 1024});
            layer("ffn_up.weight", {256, 1024});
            layer("ffn_down.weight", {1024, 256});
        }
        std::ofstream file(path(), std::ios::binary);
        file << writer_.header() << data_;
    }
    std::string path() const { return folder_.path("llama.gguf"); }
    /// What the tensor's bytes decode to.
    std::map<std::string, std::vector<float>> values;

  private:
    void add(const std::string& name, const std::vector<std::int64_t>& dims, bool announced) {
        std::string format = "F32";
        for (const auto& [part, f] : formats_)
            if (dims.size() == 2 && !announced && name.find(part) != std::string::npos) format = f;
        if (!announced) writer_.tensor(name, dims, format);
        const auto& codec = *quantize::find_codec(format);
        auto x = normal_values(static_cast<std::size_t>(dims[0] * (dims.size() > 1 ? dims[1] : 1)), rng_,
                               dims.size() > 1 ? 0.06f : 0.1f);
        if (dims.size() == 1)
            for (float& v : x) v += 1;
        std::string bytes(quantize::encoded_bytes(codec, x.size()), '\0');
        quantize::encode(codec, x, std::as_writable_bytes(std::span(bytes)));
        quantize::decode(codec, std::as_bytes(std::span(bytes)), x);
        values[name] = x;
        data_ += bytes;
        data_.resize((data_.size() + 31) / 32 * 32);
    }
    memwall::test::GgufWriter writer_;
    memwall::test::TempDir folder_;
    std::mt19937 rng_;
    std::map<std::string, std::string> formats_;
    std::string data_;
};

}  // namespace

TEST_CASE("a GGUF file's tensors reach the engine with the values they have", "[kernels][engine]") {
    const std::uint32_t seed = fresh_seed();
    INFO("MEMWALL_TEST_SEED=" << seed);
    const WrittenLlama file({{"attn_q", "Q4_0"},
                             {"attn_k", "Q8_0"},
                             {"attn_v", "Q6_K"},
                             {"attn_output", "F16"},
                             {"ffn_gate", "Q4_K"},
                             {"ffn_up", "F32"},
                             {"ffn_down", "Q5_K"}},
                            seed);
    const model::Model m = model::read_gguf(file.path());
    const auto source = gguf_weights(file.path());
    for (const model::Tensor& t : m.tensors) {
        INFO(t.name);
        const std::vector<float>& expected = file.values.at(t.name);
        if (t.dims[1] == 1) {
            CHECK(source->vector(t) == expected);
            continue;
        }
        const std::vector<float> got = dequantize(source->rows(t, 0, 0, t.dims[1]));
        REQUIRE(got.size() == expected.size());
        // F16, Q4_0, Q8_0 and Q4_K are moved; the rest is rounded once, to f16 or to 8 bits a group.
        const bool exact = t.format == quant::ggml("F16") || t.format == quant::ggml("Q4_0") ||
                           t.format == quant::ggml("Q8_0");
        double most = 0, worst = 0;
        for (std::size_t i = 0; i < got.size(); ++i) {
            most = std::max(most, std::fabs(double{expected[i]}));
            worst = std::max(worst, std::fabs(double{got[i]} - expected[i]));
        }
        CHECK(worst <= (exact ? 0 : t.format == quant::ggml("Q4_K") ? 1e-7 * most : most / 127));
        // Part of it is part of the whole.
        const std::vector<float> some = dequantize(source->rows(t, 0, 17, 30));
        CHECK(std::equal(some.begin(), some.end(), got.begin() + 17 * t.dims[0]));
    }
    EngineSettings s;
    s.context = 80;
    s.chunk = 16;
    s.kv = find_kv_kind("f16");
    s.digits = 2;
    ThreadTeam team(2);
    Engine engine(m, s, *source, team);
    CHECK(engine.allocated() == engine_bytes(m, s, *source, 2));
    CHECK(engine.decoder().rope_base == 500000);
    const auto tokens = random_tokens(70, m.vocabulary, seed);
    const Reference expected = reference_logits(m, s, *source, tokens);
    const SequenceId id = engine.add_sequence();
    CHECK(relative_error(engine.forward(id, std::span(tokens).first(69)), expected.logits[68]) < 1e-3);
    CHECK(relative_error(engine.forward(id, std::span(tokens).last(1)), expected.logits[69]) < 1e-3);
}

TEST_CASE("files that end early or belong to somebody else are refused", "[kernels][engine]") {
    const WrittenLlama file({}, 1);
    const model::Model m = model::read_gguf(file.path());
    const auto source = gguf_weights(file.path());
    model::Model other = m;
    other.tensors[0].dims[1] *= 2;
    CHECK_THROWS_AS(source->rows(other.tensors[0], 0, 0, 16), Error);
    CHECK_THROWS_AS(source->rows(m.tensors[0], 0, m.tensors[0].dims[1], 16), Error);
    memwall::test::TempDir folder;
    const std::string cut = folder.path("cut.gguf");
    {
        std::ifstream in(file.path(), std::ios::binary);
        std::string bytes((std::istreambuf_iterator<char>(in)), {});
        bytes.resize(bytes.size() / 2);
        std::ofstream(cut, std::ios::binary) << bytes;
    }
    CHECK_THROWS_AS(gguf_weights(cut), Error);
}
