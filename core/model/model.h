// What a language model keeps and computes, layer by layer. Plain data: readers (gguf.h, hugging_face.h,
// model_yaml.h) fill it, everything else asks it. Nothing here depends on an architecture's name.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/quant/format.h"

namespace memwall::model {

/// Attention of one layer. Widths are per head, counts are elements.
struct Attention {
    std::int64_t heads = 0;
    std::int64_t kv_heads = 0;
    std::int64_t key_dim = 0;
    std::int64_t value_dim = 0;
    std::int64_t window = 0;  ///< tokens a query sees; 0 = all
    bool chunked = false;     ///< the window is a fixed chunk (Llama-4), not a sliding one
    int shared_with = -1;     ///< index of the layer whose cache this one reads; -1 = it owns a cache
    bool keys_as_values =
        false;  ///< one projection serves K and V (Gemma-4 full layers); the cache holds both

    // Latent attention (MLA). latent_rank = 0 means plain attention.
    std::int64_t latent_rank = 0;      ///< kv_lora_rank
    std::int64_t latent_rope_dim = 0;  ///< rotated key part stored beside the latent: qk_rope_head_dim
    std::int64_t nope_dim = 0;         ///< unrotated part of query and key heads: qk_nope_head_dim
    std::int64_t query_rank = 0;       ///< q_lora_rank; 0 = direct query projection

    // Parameters that count but do not change the cache.
    bool query_bias = false, key_bias = false, value_bias = false, output_bias = false;
    enum class QkNorm : std::uint8_t { none, per_head, full_row } qk_norm = QkNorm::none;
    bool gated_output = false;  ///< the query projection also yields a gate (Qwen3-Next)
    bool sinks = false;         ///< learned attention sinks, one a head
    bool fused_qkv = false;     ///< stored as one matrix
    bool rope = true;
    bool unused_kv_stored =
        false;                ///< with shared_with: K and V projections are stored all the same (Gemma-3n)
    bool fused_kv_b = false;  ///< latent attention whose files keep kv_b as one matrix (MiniCPM3)

    // Sparse attention: an indexer picks the tokens, and caches one key of its own a token. 0 = none.
    std::int64_t index_heads = 0, index_dim = 0;
    /// Cells of a picture that this layer attends to instead of the text (Llama-3.2-Vision); 0 = the text.
    std::int64_t picture_cells = 0;
};

enum class RecurrentKind : std::uint8_t { mamba1, mamba2, delta_net, short_conv, rwkv, lightning };

/// State-space, linear-attention or convolution part of one layer. State is per sequence, never per token.
struct Recurrent {
    RecurrentKind kind = RecurrentKind::mamba2;
    std::int64_t inner = 0;        ///< d_inner; delta net and lightning: value heads x value dim
    std::int64_t state = 0;        ///< d_state; delta net and lightning: key dim; rwkv: head size
    std::int64_t conv_kernel = 0;  ///< d_conv; short conv: L_cache
    std::int64_t heads = 0;        ///< mamba1: dt_rank; mamba2: heads; delta net: value heads
    std::int64_t groups = 1;       ///< mamba2: groups; delta net: key heads
    bool norm = true;  ///< gated norm before the output projection; mamba1: norms of dt, B and C (Jamba)
    bool conv_bias = true;
    bool proj_bias = false;
    bool split_ba = false;        ///< delta net with one beta-alpha projection (Qwen3-Next) instead of two
    std::int64_t decay_rank = 0;  ///< delta net whose decay has a value a channel, through so many (Kimi)
    std::int64_t gate_rank = 0;   ///< output gate through so many values; 0 = one full matrix
    std::int64_t generation = 5;  ///< rwkv: 5, 6 or 7
};

struct FeedForward {
    std::int64_t width = 0;
    bool gated = true;  ///< gate and up, else one input matrix
    bool bias = false;
    bool fused_gate_up = false;  ///< stored as one matrix of 2 x width
};

struct Experts {
    std::int64_t count = 0;
    std::int64_t used = 0;  ///< experts a token visits
    std::int64_t width = 0;
    std::int64_t latent = 0;        ///< values the routed experts see instead of `hidden`; 0 = hidden
    std::int64_t shared_width = 0;  ///< all shared experts together; 0 = none
    bool gated = true;
    bool shared_gate = false;  ///< one more hidden-sized vector that gates the shared expert (Qwen)
    bool bias = false;         ///< biases on router and experts (gpt-oss)
    bool router_bias = false;  ///< selection bias only (exp_probs_b)
    bool sigmoid = false;      ///< gating function, else softmax
    bool normalized = true;    ///< selected weights are divided by their sum
    double scale = 1.0;        ///< expert_weights_scale
    std::int64_t groups = 1, groups_used = 1;
    bool merged_gate_up = false;
    bool softmax_of_chosen = false;  ///< softmax over the chosen experts only (gpt-oss), not over all
};

/// A tensor that fits no field of the types here (Gemma-3n's laurel and altup, a relative-position table).
struct ExtraTensor {
    std::string name;  ///< as in GGUF, without the layer's prefix: "laurel_l.weight"
    std::array<std::int64_t, 4> dims{1, 1, 1, 1};  ///< dims[0] = row length (inputs)
};

/// One decoder layer. A layer may have attention, a recurrent part, both (Falcon-H1), and one or two
/// feed-forwards.
struct Layer {
    std::optional<Attention> attention;
    std::optional<Recurrent> recurrent;
    std::optional<FeedForward> feed_forward;
    std::optional<Experts> experts;
    int norms = 2;           ///< hidden-sized norm vectors (QK norms not counted)
    bool norm_bias = false;  ///< layer norm with bias
    std::int64_t extra_parameters =
        0;  ///< small tensors that fit no field above (layer scales, altup, laurel ...)
    std::vector<ExtraTensor> extra_tensors;  ///< the same with names and shapes
};

/// What a tensor is for; recipes and placement key off it.
enum class Role : std::uint8_t {
    token_embedding,
    output,
    position_embedding,
    per_layer_embedding,
    norm,
    bias,
    attn_q,
    attn_k,
    attn_v,
    attn_qkv,
    attn_output,
    attn_gate,
    attn_q_a,
    attn_q_b,
    attn_kv_a,
    attn_kv_b,
    attn_k_b,
    attn_v_b,
    sinks,
    ffn_gate,
    ffn_up,
    ffn_down,
    router,
    expert_gate,
    expert_up,
    expert_down,
    shared_gate,
    shared_up,
    shared_down,
    shared_expert_gate,
    recurrent_in,
    recurrent_out,
    recurrent_small,  ///< small: convolutions, A, D, dt
    rope_factors,
    cross_attention,
    vision,
    other
};

struct Tensor {
    std::string name;  ///< GGUF name ("blk.0.attn_q.weight"), also for generated ones
    std::array<std::int64_t, 4> dims{1, 1, 1, 1};  ///< dims[0] = row length (inputs)
    Role role = Role::other;
    int layer = -1;            ///< -1 = not in a layer; layers().size() and up = multi-token prediction
    quant::Format format;      ///< Family::unknown until a recipe assigns one
    std::uint64_t offset = 0;  ///< in the file's data section; files only
    bool auxiliary = false;    ///< scales, zero points, indices of a packed matrix: bytes but no parameters
    std::int64_t elements() const { return dims[0] * dims[1] * dims[2] * dims[3]; }
};

/// A part beside the text decoder: vision tower, audio encoder, projector.
struct Component {
    std::string name;
    std::int64_t parameters = 0;
    bool separate_file = true;  ///< GGUF keeps it in an mmproj file
    std::int64_t tokens_per_image = 0;
};

enum class TiedOutput : std::uint8_t { untied, tied, tied_stored_twice };

struct Model {
    std::string id;  ///< catalogue id or file name
    std::string
        architecture;    ///< GGUF name of the architecture ("qwen3moe"); labels only, see architectures.h
    std::string family;  ///< tokenizer family for drafts: equal families share a tokenizer
    std::string licence;
    std::int64_t hidden = 0;
    std::int64_t vocabulary = 0;
    std::int64_t trained_context = 0;
    TiedOutput output = TiedOutput::untied;
    bool output_bias = false;
    std::int64_t position_embeddings = 0;      ///< learned positions (rows); 0 = none
    std::int64_t per_layer_embedding_dim = 0;  ///< Gemma-3n/4: one row a layer and token
    std::int64_t embedding_dim =
        0;                ///< width of the token table when it differs from hidden (OPT-350m); 0 = hidden
    int extra_norms = 1;  ///< norms outside the layers (final, embedding norms)
    bool extra_norm_bias = false;
    std::int64_t rope_factors = 0;  ///< elements of the rope-factor tensor(s) a GGUF carries; 0 = none

    std::vector<Layer> layers;               ///< decoder layers, multi-token prediction not included
    std::vector<Layer> prediction_layers;    ///< multi-token-prediction (MTP, "nextn") blocks
    bool prediction_has_embeddings = false;  ///< with copies of embedding and head
    std::vector<Layer> encoder;              ///< encoder-decoder models and encoder-only embedders
    std::int64_t encoder_positions = 0;  ///< cross-attention cells (Whisper: 1500), 0 = as long as the prompt
    bool cross_attention = false;
    bool embedder = false;                   ///< encoder only: no KV cache, no logits
    std::int64_t extra_parameters = 0;       ///< small tensors outside the layers that fit no field above
    std::vector<ExtraTensor> extra_tensors;  ///< the same with names and shapes
    std::int64_t per_layer_vocabulary = 0;   ///< rows of the per-layer table; 0 = vocabulary

    // Where a GGUF differs from the checkpoint. `tensors` of a descriptor describes the checkpoint.
    std::int64_t gguf_vocabulary = 0;  ///< rows that the converter keeps of a padded vocabulary; 0 = all
    bool prediction_in_gguf = true;    ///< published GGUF files keep the prediction layers
    std::int64_t stored_scales = 0;    ///< elements of block scales in the checkpoint, which hubs count too

    // Switches of the compute graph (ENGINE_GRAPH section 7), from the file, never from the name.
    bool embedding_scale = false, residual_scale = false, logit_scale = false;
    double final_softcap = 0, attention_softcap = 0;
    bool layer_output_scale = false;

    std::vector<Component> components;
    std::vector<Tensor> tensors;       ///< from the file, or generated by generate_tensors()
    bool tensors_from_file = false;    ///< then formats and sizes are exact
    std::uint64_t file_bytes = 0;      ///< of all shards; 0 for descriptors
    std::uint64_t metadata_bytes = 0;  ///< header before the tensor data; files only
    bool importance_matrix = false;    ///< the file says it was quantized with one
    std::string stored_recipe;         ///< what a file says it is ("Q4_K_M"), may be empty

    std::int64_t published_parameters = 0;  ///< exact published count, 0 = none
    std::string published_source;
    std::string published_active;  ///< as the vendor prints it ("3.3B")

    // What a catalogue says about a model besides its numbers.
    std::string hf_repo;
    std::string config_source;  ///< how the configuration was obtained
    std::string notes;
    std::vector<std::string> aliases;     ///< other names that find it
    std::vector<std::string> references;  ///< where the facts come from

    std::map<std::string, std::string>
        sources;  ///< field -> origin, shown by the ledger; "layers[3].kv_heads" wins over "kv_heads"
    std::vector<std::string> warnings;  ///< what had to be assumed while reading

    std::string default_source = "catalogue";  ///< origin of fields that `sources` does not hold

    /// Origin of a field; `default_source` when none is recorded.
    const std::string& source(const std::string& field) const;
};

/// Fills `tensors` from the layers, with GGUF names and shapes; formats stay unknown. Deterministic.
void generate_tensors(Model& model);

/// Elements of all tensors of the text model (generated or from the file), and with components, copies of a
/// tied output that a checkpoint stores, and prediction layers: the number that hubs publish.
std::int64_t text_parameters(const Model& model);
std::int64_t checkpoint_parameters(const Model& model);
/// Parameters one token touches: shared and selected experts only, input table left out unless it is the
/// output too.
std::int64_t active_parameters(const Model& model);

}  // namespace memwall::model
