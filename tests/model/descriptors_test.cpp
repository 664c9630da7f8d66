#include "core/model/model.h"
#include "tests/catch.h"

using namespace memwall::model;

namespace {

Model qwen25_7b() {
    Model m;
    m.hidden = 3584;
    m.vocabulary = 152064;
    Layer layer;
    layer.attention = Attention{.heads = 28, .kv_heads = 4, .key_dim = 128, .value_dim = 128};
    layer.attention->query_bias = layer.attention->key_bias = layer.attention->value_bias = true;
    layer.feed_forward = FeedForward{.width = 18944};
    m.layers.assign(28, layer);
    generate_tensors(m);
    return m;
}

}  // namespace

TEST_CASE("a plain decoder's tensors sum to the published count", "[descriptors]") {
    // Qwen2.5-7B: 7,615,616,512 parameters in the published safetensors index.
    const Model m = qwen25_7b();
    CHECK(text_parameters(m) == 7615616512);
    CHECK(m.tensors.front().name == "token_embd.weight");
    CHECK(m.tensors.back().name == "blk.27.ffn_down.weight");
    CHECK(m.tensors.size() == 3 + 28 * 12);
}

TEST_CASE("experts stack in the third dimension and active parameters take the chosen ones",
          "[descriptors]") {
    Model m;  // Mixtral-8x7B: 46,702,792,704
    m.hidden = 4096;
    m.vocabulary = 32000;
    Layer layer;
    layer.attention = Attention{.heads = 32, .kv_heads = 8, .key_dim = 128, .value_dim = 128};
    layer.experts = Experts{.count = 8, .used = 2, .width = 14336};
    m.layers.assign(32, layer);
    generate_tensors(m);
    CHECK(text_parameters(m) == 46702792704);
    // 12,879,925,248 is the vendor's way of counting, input table included.
    CHECK(active_parameters(m) == 12879925248 - 32000 * 4096);
}
