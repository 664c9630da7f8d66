#include "core/model/hugging_face/layout.h"

#include <algorithm>

namespace memwall::model::hugging_face {
namespace {

constexpr std::uint32_t kAllBiases = kQueryKeyValueBias | kOutputBias | kFeedForwardBias | kLayerNormBias;

// Read off the modelling code of transformers (5.x, models/TYPE/modeling_TYPE.py) or of the vendor's
// repository; each row with a published count is checked by tests/model/hugging_face_test.cpp.
constexpr CheckpointLayout kLayouts[] = {
    // The first row also serves types that no row lists.
    {"llama mistral ministral3 mixtral granite granitemoe baichuan internlm2 seed_oss smollm3 minicpm"},
    {"minicpm3", kFusedKvB},
    {"qwen2 qwen2_vl qwen2_vl_text qwen2_5_vl qwen2_5_vl_text", kQueryKeyValueBias | kWindowOptIn},
    {"qwen2_moe", kQueryKeyValueBias | kWindowOptIn | kSharedGate},
    {"qwen3 qwen3_moe qwen3_vl_text qwen3_vl_moe_text", kNormPerHead | kWindowOptIn},
    {"qwen3_next", kNormPerHead | kWindowOptIn | kGatedOutput | kSharedGate | kOneBetaAlpha | kPrediction},
    {"qwen3_5_text qwen3_5", kNormPerHead | kWindowOptIn | kGatedOutput},
    {"qwen3_5_moe_text qwen3_5_moe", kNormPerHead | kWindowOptIn | kGatedOutput | kSharedGate},
    {"gemma", kTied},
    {"gemma2", kTied, 4},
    {"gemma3 gemma3_text", kTied | kNormPerHead, 4},
    {"gemma3n gemma3n_text", kTied | kNormPerHead | kUnusedKvStored, 4},
    {"gemma4 gemma4_text", kTied | kNormPerHead | kLayerScale | kDenseBesideExperts, 4},
    {"llama4 llama4_text", kWeightlessQkNorm | kSharedExpert},
    {"phi", kAllBiases | kTwoMatrices | kHeadBias, 1},
    {"phi3", kFusedQkv | kFusedGateUp},
    {"phimoe", kLayerNormBias},
    {"chatglm", kFusedQkv | kFusedGateUp | kNoOutputBias},
    {"glm", kNoOutputBias | kFusedGateUp},
    {"glm4", kNoOutputBias | kFusedGateUp, 4},
    {"glm4_moe", kNoOutputBias | kRouterBias | kPredictionHasEmbeddings},
    {"deepseek_v3 kimi_k2 glm4_moe_lite", kRouterBias | kPredictionHasEmbeddings},
    {"dots1", kNormPerHead | kRouterBias},
    {"minimax_m2", kNormFullRow | kRouterBias},
    {"gpt_oss", kQueryKeyValueBias | kOutputBias | kSinks | kExpertBias},
    {"ernie4_5_moe", kRouterBias},
    {"hunyuan_v1_dense hunyuan_v1_moe", kNormPerHead},
    {"olmo", 0, 0, 0},
    {"olmo2 olmo3 olmoe", kNormFullRow},
    {"exaone4 apertus", kNormPerHead},
    {"cohere cohere2", kTied, 1},
    {"stablelm", kLayerNormBias},
    {"nemotron", kLayerNormBias | kTwoMatrices},
    {"arcee", kTwoMatrices},
    {"starcoder2", kAllBiases | kTwoMatrices | kTied},
    {"gpt_bigcode", kAllBiases | kTwoMatrices | kTied | kFusedQkv, 2, 1, 0},
    {"gpt2", kAllBiases | kTwoMatrices | kTied | kFusedQkv, 2, 1, 0},
    {"gpt_neox", kAllBiases | kTwoMatrices | kFusedQkv},
    {"gptj", kFeedForwardBias | kLayerNormBias | kTwoMatrices | kHeadBias, 1},
    {"bloom", kAllBiases | kTwoMatrices | kTied | kFusedQkv, 2, 2},
    {"falcon", kLayerNormBias | kTwoMatrices | kTied | kFusedQkv},
    {"mpt", kTwoMatrices | kTied | kFusedQkv},
    {"opt", kAllBiases | kTwoMatrices | kTied, 2, 1, 2},
    {"mamba mamba2", kTied | kMixerOnly, 1},
    {"falcon_mamba", kMixerOnly, 1},
    {"jamba", kInnerNorms},
    {"rwkv5 rwkv6", kTwoMatrices | kLayerNormBias | kAlwaysUntied, 2, 2},
    {"lfm2 lfm2_moe", kTied | kNormPerHead},
    {"bert roberta xlm-roberta camembert", kAllBiases | kTwoMatrices | kTied, 2, 1, 0},
    {"t5 mt5 umt5", kTied},
    {"whisper", kAllBiases | kTwoMatrices | kTied},
};

struct ClassDefault {
    std::string_view model_type, key;
    std::int64_t value;
};

// Constructor defaults of the configuration classes of transformers.
constexpr ClassDefault kClassDefaults[] = {
    {"llama", "hidden_size", 4096},
    {"llama", "num_hidden_layers", 32},
    {"llama", "num_attention_heads", 32},
    {"llama", "intermediate_size", 11008},
    {"llama", "vocab_size", 32000},
    {"llama", "max_position_embeddings", 2048},
    {"mistral", "hidden_size", 4096},
    {"mistral", "num_hidden_layers", 32},
    {"mistral", "num_attention_heads", 32},
    {"mistral", "num_key_value_heads", 8},
    {"mistral", "intermediate_size", 14336},
    {"mistral", "vocab_size", 32000},
    {"mistral", "max_position_embeddings", 131072},
    {"gemma", "num_attention_heads", 16},
    {"gemma", "num_key_value_heads", 16},
    {"gemma", "head_dim", 256},
    {"gemma", "vocab_size", 256000},
    {"gemma", "max_position_embeddings", 8192},
    {"gemma2", "num_attention_heads", 8},
    {"gemma2", "num_key_value_heads", 4},
    {"gemma2", "head_dim", 256},
    {"gemma2", "vocab_size", 256000},
    {"gemma2", "max_position_embeddings", 8192},
    {"gemma3_text", "num_attention_heads", 8},
    {"gemma3_text", "num_key_value_heads", 4},
    {"gemma3_text", "head_dim", 256},
    {"gemma3_text", "vocab_size", 262208},
    {"gemma3_text", "max_position_embeddings", 131072},
};

bool lists(std::string_view words, std::string_view word) {
    for (std::size_t at = 0; at < words.size();) {
        const std::size_t end = std::min(words.find(' ', at), words.size());
        if (words.substr(at, end - at) == word) return true;
        at = end + 1;
    }
    return false;
}

}  // namespace

const CheckpointLayout& find_layout(std::string_view model_type) {
    for (const CheckpointLayout& layout : kLayouts)
        if (lists(layout.model_types, model_type)) return layout;
    return kLayouts[0];
}

std::int64_t class_default(std::string_view model_type, std::string_view key) {
    for (const ClassDefault& d : kClassDefaults)
        if (d.model_type == model_type && d.key == key) return d.value;
    return 0;
}

}  // namespace memwall::model::hugging_face
