#include "core/model/model_yaml.h"

#include <random>

#include "core/base/error.h"
#include "core/model/layer_pattern.h"
#include "tests/catch.h"

using namespace memwall;
using namespace memwall::model;

namespace {

const std::string kTiny = R"(schema: memwall/model/1
id: tiny
hidden: 64
vocabulary: 1000
output: tied
kinds:
  local:
    norms: 4
    attention: {heads: 4, kv_heads: 2, head_dim: 16, window: 32, qk_norm: per_head}
    feed_forward: {width: 128}
  global:
    norms: 4
    attention: {heads: 4, kv_heads: 1, head_dim: 32, bias: qo}
    experts: {count: 8, used: 2, width: 32, scale: 2.5}
layers: 7 of (2 local, 1 global)
prediction: 1 global
components:
  - {name: vision, parameters: 12345, tokens_per_image: 256}
)";

std::string message(const std::string& text) {
    try {
        read_model_yaml(text, "x.yaml");
    } catch (const Error& e) {
        return e.what();
    }
    return "no error";
}

/// kTiny with one line replaced.
std::string with(const std::string& from, const std::string& to) {
    std::string text = kTiny;
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

std::int64_t upto(std::mt19937& random, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(1, most)(random);
}
bool maybe(std::mt19937& random) {
    return upto(random, 2) == 1;
}

Attention random_attention(std::mt19937& random, int layer) {
    Attention a;
    a.heads = upto(random, 64);
    a.kv_heads = upto(random, 64);
    a.key_dim = upto(random, 256);
    a.value_dim = maybe(random) ? a.key_dim : upto(random, 256);
    if (maybe(random)) a.window = upto(random, 4096);
    a.chunked = maybe(random);
    if (layer > 0 && maybe(random)) a.shared_with = static_cast<int>(upto(random, layer)) - 1;
    a.keys_as_values = maybe(random);
    if (maybe(random)) {
        a.latent_rank = upto(random, 512);
        a.latent_rope_dim = upto(random, 64);
        a.nope_dim = upto(random, 128);
        a.query_rank = maybe(random) ? upto(random, 512) : 0;
    }
    a.query_bias = maybe(random);
    a.output_bias = maybe(random);
    a.qk_norm = maybe(random) ? Attention::QkNorm::full_row : Attention::QkNorm::per_head;
    a.gated_output = maybe(random);
    a.fused_qkv = maybe(random);
    a.rope = maybe(random);
    return a;
}

Layer random_layer(std::mt19937& random, int layer) {
    Layer l;
    if (maybe(random)) l.attention = random_attention(random, layer);
    if (maybe(random))
        l.recurrent = Recurrent{.kind = static_cast<RecurrentKind>(upto(random, 5) - 1),
                                .inner = upto(random, 4096),
                                .state = upto(random, 256),
                                .conv_kernel = upto(random, 4),
                                .heads = upto(random, 64),
                                .norm = maybe(random)};
    if (maybe(random))
        l.feed_forward =
            FeedForward{.width = upto(random, 9999), .gated = maybe(random), .bias = maybe(random)};
    if (maybe(random)) {
        l.experts = Experts{.count = upto(random, 64), .used = 1, .width = upto(random, 999)};
        l.experts->scale = static_cast<double>(upto(random, 1000)) / 7;
        l.experts->router_bias = maybe(random);
    }
    l.norms = static_cast<int>(upto(random, 7));
    l.norm_bias = maybe(random);
    if (maybe(random)) l.extra_tensors = {{"odd.weight", {upto(random, 9), upto(random, 9), 1, 1}}};
    return l;
}

}  // namespace

TEST_CASE("layer patterns repeat, cut and run", "[model_yaml]") {
    using Names = std::vector<std::string>;
    CHECK(parse_layer_pattern("3 a", "") == Names{"a", "a", "a"});
    CHECK(parse_layer_pattern("a, 2 b", "") == Names{"a", "b", "b"});
    CHECK(parse_layer_pattern("5 of (2 a, 1 b)", "") == Names{"a", "a", "b", "a", "a"});
    CHECK(parse_layer_pattern("1 dense, 3 of (moe, dense)", "") == Names{"dense", "moe", "dense", "moe"});
    for (const char* bad : {"", ",", "3", "0 a", "2000 a", "a b", "3 of (2 of (a))", "3 of (a", "3 of ()",
                            "-1 a", "a,", "99999999999999999999 a"})
        CHECK_THROWS_AS(parse_layer_pattern(bad, "x.yaml:3"), Error);
    CHECK(layer_pattern_text({"a", "a", "b", "a", "a", "b", "a"}) == "7 of (2 a, 1 b)");
    CHECK(layer_pattern_text({"a", "a", "a"}) == "3 a");
}

TEST_CASE("the shortest pattern gives the layers back", "[model_yaml]") {
    std::mt19937 random(20260921);
    for (int round = 0; round < 200; ++round) {
        std::vector<std::string> names;
        const auto period = upto(random, 6), count = upto(random, 40);
        std::vector<std::string> unit;
        for (int i = 0; i < period; ++i) unit.push_back(maybe(random) ? "local" : "global");
        for (int i = 0; i < count; ++i)
            names.push_back(i > 20 && round % 2 == 0 ? "shared" : unit[static_cast<std::size_t>(i % period)]);
        CHECK(parse_layer_pattern(layer_pattern_text(names), "") == names);
    }
}

TEST_CASE("a hand-written model reads as it says", "[model_yaml]") {
    const Model m = read_model_yaml(kTiny, "x.yaml");
    REQUIRE(m.layers.size() == 7);
    CHECK(m.layers[0].attention->window == 32);
    CHECK(m.layers[2].attention->window == 0);
    CHECK(m.layers[2].attention->value_dim == 32);
    CHECK(m.layers[2].attention->query_bias);
    CHECK_FALSE(m.layers[2].attention->key_bias);
    CHECK(m.layers[6].feed_forward->width == 128);
    CHECK(m.prediction_layers.size() == 1);
    CHECK(m.layers[5].experts->scale == 2.5);
    CHECK(m.components[0].tokens_per_image == 256);
    CHECK(m.source("hidden") == "x.yaml:3");
    CHECK(m.source("kv_heads") == "x.yaml:9");
    CHECK(m.source("anything else") == "x.yaml");
    // Five local and two global layers by hand: norms, q k v o with their norms or biases, feed-forward.
    const std::int64_t local = 4 * 64 + 64 * 64 + 2 * 64 * 32 + 64 * 64 + 2 * 16 + 3 * 64 * 128;
    const std::int64_t global =
        4 * 64 + 64 * 128 + 128 + 2 * 64 * 32 + 128 * 64 + 64 + 64 * 8 + 8 * 3 * 64 * 32;
    CHECK(text_parameters(m) == 1000 * 64 + 64 + 5 * local + 2 * global);
}

TEST_CASE("what is written reads back as the same model", "[model_yaml]") {
    std::mt19937 random(7);
    for (int round = 0; round < 300; ++round) {
        INFO("round " << round << " of seed 7");
        Model m;
        m.id = "random";
        m.notes = "quotes \" colons: and # signs, \\ too";
        m.aliases = {"a, b", "null", "c"};
        m.references = {"https://example.org/x?y=z", "- dash"};
        m.hidden = upto(random, 4096);
        m.vocabulary = upto(random, 100000);
        m.final_softcap = maybe(random) ? 30.5 : 0;
        m.output = static_cast<TiedOutput>(upto(random, 3) - 1);
        m.prediction_in_gguf = maybe(random);
        const auto count = upto(random, 12);
        for (int i = 0; i < count; ++i)
            m.layers.push_back(i > 1 && maybe(random) ? m.layers[static_cast<std::size_t>(i) - 2]
                                                      : random_layer(random, i));
        const std::string text = write_model_yaml(m);
        const Model back = read_model_yaml(text, "x.yaml");
        CHECK(write_model_yaml(back) == text);
        CHECK(back.notes == m.notes);
        CHECK(back.aliases == m.aliases);
        CHECK(back.references == m.references);
        generate_tensors(m);
        REQUIRE(back.tensors.size() == m.tensors.size());
        for (std::size_t i = 0; i < m.tensors.size(); ++i) {
            CHECK(back.tensors[i].name == m.tensors[i].name);
            CHECK(back.tensors[i].dims == m.tensors[i].dims);
        }
    }
}

TEST_CASE("a bad model file names its line", "[model_yaml]") {
    using Catch::Contains;
    CHECK_THAT(message(""), Contains("x.yaml:1"));
    CHECK_THAT(message("id: a\n"), Contains("no schema"));
    CHECK_THAT(message("schema: memwall/model/2\n"), Contains("x.yaml:1: schema memwall/model/2"));
    CHECK_THAT(message("schema: [\n"), Contains("no YAML"));
    CHECK_THAT(message(with("hidden: 64", "hiden: 64")), Contains("x.yaml:3: \"hiden\""));
    CHECK_THAT(message(with("hidden: 64", "hidden: 6.4")), Contains("x.yaml:3: hidden: 6.4"));
    CHECK_THAT(message(with("hidden: 64", "hidden: -64")), Contains("x.yaml:3: hidden = -64"));
    CHECK_THAT(message(with("hidden: 64", "hidden: 1099511627776")), Contains("x.yaml:3: hidden ="));
    CHECK_THAT(message(with("hidden: 64", "hidden: 9223372036854775808")), Contains("x.yaml:3: hidden: 92"));
    CHECK_THAT(message(with("hidden: 64", "hidden: 64\nhidden: 65")), Contains("x.yaml:4: \"hidden\" twice"));
    CHECK_THAT(message(with("hidden: 64\n", "")), Contains("hidden = 0"));
    CHECK_THAT(message(with("output: tied", "output: bound")), Contains("x.yaml:5: output: bound"));
    CHECK_THAT(message(with("bias: qo", "bias: qx")), Contains("x.yaml:13: bias: qx"));
    CHECK_THAT(message(with("used: 2", "used: 9")), Contains("experts_used = 9"));
    CHECK_THAT(message(with("1 global)", "1 elsewhere)")), Contains("x.yaml:15: layer kind \"elsewhere\""));
    CHECK_THAT(message(with("layers: 7", "layers: 7000000")), Contains("x.yaml:15: layers"));
    CHECK_THAT(message(with("kv_heads: 2", "kv_heads: 100000")), Contains("x.yaml:9: kv_heads = 100000"));
    CHECK_THAT(message(kTiny + std::string(std::size_t{300} << 10, '#')), Contains("256 KiB"));
}
