#include "core/model/hugging_face/layout.h"

#include <algorithm>

namespace memwall::model::hugging_face {
namespace {

constexpr std::uint64_t kAllBiases = kQueryKeyValueBias | kOutputBias | kFeedForwardBias | kLayerNormBias;

// Read off the modelling code of transformers (5.x, models/TYPE/modeling_TYPE.py) or of the vendor's
// repository; each row with a published count is checked by tests/model/hugging_face_test.cpp.
constexpr CheckpointLayout kLayouts[] = {
    // The first row also serves types that no row lists.
    {"llama mistral ministral3 mixtral granite granitemoe baichuan internlm2 seed_oss "
     "mimo helium minimax minimax_text_01 minimax_m1 nemotron-nas deci mllama_text_model step3_text "
     "internlm3 "
     "falcon_h1 granitemoehybrid granitemoeshared bamba deepseek deepseek_v2 xverse bailing_moe "
     "bailing_moe_v2 "
     "llada Yi telechat3 llava"},
    {"plamo", 0, 1},
    {"orion", kLayerNormBias},
    {"internlm PanguEmbedded", kBiasOfAttention},
    {"qwen", kQueryKeyValueBias | kNoOutputBias | kFusedQkv | kWidthOfBoth},
    {"dbrx", kFusedQkv},
    {"smollm3 minicpm ernie4_5 exaone", kTied},
    {"minicpm3", kFusedKvB | kTied},
    {"qwen2 qwen2_vl qwen2_vl_text qwen2_5_vl qwen2_5_vl_text qwen2_5_omni_text Dream",
     kQueryKeyValueBias | kWindowOptIn},
    {"qwen2_moe", kQueryKeyValueBias | kWindowOptIn | kSharedGate},
    {"qwen3 qwen3_moe qwen3_vl_text qwen3_vl_moe_text", kNormPerHead | kWindowOptIn},
    {"qwen3_next", kNormPerHead | kWindowOptIn | kGatedOutput | kSharedGate | kOneBetaAlpha | kPrediction},
    {"qwen3_5_text qwen3_5", kNormPerHead | kWindowOptIn | kGatedOutput},
    {"qwen3_5_moe_text qwen3_5_moe", kNormPerHead | kWindowOptIn | kGatedOutput | kSharedGate},
    {"gemma", kTied},
    {"gemma2", kTied, 4},
    {"gemma3 gemma3_text", kTied | kNormPerHead, 4},
    {"gemma3n gemma3n_text", kTied | kNormPerHead | kUnusedKvStored, 4},
    {"gemma4 gemma4_text", kTied | kNormPerHead | kLayerScale | kDenseBesideExperts | kNormsBeside, 4},
    {"arctic", kDenseBesideExperts},
    {"grok-1 grok", 0, 4},
    {"llama4 llama4_text", kWeightlessQkNorm | kSharedExpert},
    {"phi", kAllBiases | kTwoMatrices | kHeadBias, 1},
    {"phi3 phi3_v phi4mm", kFusedQkv | kFusedGateUp},
    {"phi3small", kAllBiases | kFixedBiases | kFusedQkv | kFusedGateUp | kTied},
    {"phimoe", kLayerNormBias},
    {"chatglm", kFusedQkv | kFusedGateUp | kNoOutputBias},
    {"glm", kNoOutputBias | kFusedGateUp},
    {"glm4 glm4v_text", kNoOutputBias | kFusedGateUp, 4},
    {"glm4_moe glm4v_moe_text", kNoOutputBias | kRouterBias | kPredictionHasEmbeddings},
    {"deepseek_v3 kimi_k2 glm4_moe_lite deepseek_v32 glm_moe_dsa", kRouterBias | kPredictionHasEmbeddings},
    {"kimi_linear mimo_v2_flash", kRouterBias},
    {"longcat_flash", kRouterBias | kTwoAttentions},
    {"step3p5", kNormPerHead | kRouterBias | kHeadGate},
    {"dots1", kNormPerHead | kRouterBias},
    {"minimax_m2", kNormFullRow | kRouterBias},
    {"gpt_oss", kQueryKeyValueBias | kOutputBias | kSinks | kExpertBias},
    {"ernie4_5_moe", kRouterBias | kTied},
    {"hunyuan_v1_dense hunyuan_v1_moe hunyuan", kNormPerHead},
    {"olmo", 0, 0, 0},
    {"olmo2 olmo3 olmoe", kNormFullRow},
    {"exaone4 mellum", kNormPerHead},
    {"exaone_moe", kNormPerHead | kRouterBias},
    {"afmoe", kNormPerHead | kGatedOutput | kRouterBias, 4},
    {"apertus", kNormPerHead | kTwoMatrices | kActivationScalars},
    {"bitnet", kSubNorms},
    {"openelm", kNormPerHead | kFusedQkv | kTied},
    {"cohere cohere2", kTied, 1},
    {"stablelm", kLayerNormBias},
    {"nemotron", kLayerNormBias | kTwoMatrices},
    {"arcee", kTwoMatrices},
    {"starcoder2", kAllBiases | kTwoMatrices | kTied},
    {"gpt_bigcode", kAllBiases | kTwoMatrices | kTied | kFusedQkv, 2, 1, 0},
    {"gpt2", kAllBiases | kTwoMatrices | kTied | kFusedQkv, 2, 1, 0},
    {"gpt_neox", kAllBiases | kTwoMatrices | kFusedQkv},
    {"gptj", kFeedForwardBias | kLayerNormBias | kTwoMatrices | kHeadBias, 1},
    {"codegen", kFeedForwardBias | kLayerNormBias | kTwoMatrices | kHeadBias | kFusedQkv, 1},
    {"gpt_neo", kOutputBias | kFeedForwardBias | kLayerNormBias | kTwoMatrices | kTied, 2, 1, 0},
    {"persimmon", kAllBiases | kTwoMatrices | kFusedQkv | kNormPerHead},
    {"bloom", kAllBiases | kTwoMatrices | kTied | kFusedQkv, 2, 2},
    {"falcon", kLayerNormBias | kTwoMatrices | kTied | kFusedQkv},
    {"mpt", kTwoMatrices | kTied | kFusedQkv},
    {"opt", kAllBiases | kTwoMatrices | kTied, 2, 1, 2},
    {"mamba mamba2", kTied | kMixerOnly, 1},
    {"falcon_mamba", kMixerOnly | kTied, 1},
    {"jamba", kInnerNorms},
    {"nemotron_h", kTwoMatrices | kOneBlock | kRouterBias, 1},
    {"rwkv5", kTwoMatrices | kLayerNormBias | kAlwaysUntied | kAllRecurrent, 2, 2},
    {"rwkv6", kTwoMatrices | kLayerNormBias | kAlwaysUntied | kAllRecurrent | kRwkv6, 2, 2},
    {"rwkv7", kTwoMatrices | kLayerNormBias | kAlwaysUntied | kAllRecurrent | kRwkv7, 2, 2},
    {"lfm2 lfm2_moe", kTied | kNormPerHead},
    {"bert roberta xlm-roberta camembert distilbert", kAllBiases | kTwoMatrices | kTied, 2, 1, 0},
    {"mpnet", kAllBiases | kTwoMatrices | kTied | kRelativeBias, 2, 1, 0},
    {"nomic_bert", kLayerNormBias | kFusedQkv | kTied},
    {"modernbert", kFusedQkv | kFusedGateUp | kTied},
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
    {"qwen2", "hidden_size", 4096},
    {"qwen2", "num_hidden_layers", 32},
    {"qwen2", "num_attention_heads", 32},
    {"qwen2", "num_key_value_heads", 32},
    {"qwen2", "intermediate_size", 22016},
    {"qwen2", "vocab_size", 151936},
    {"qwen2", "max_position_embeddings", 32768},
    {"qwen3", "hidden_size", 4096},
    {"qwen3", "num_hidden_layers", 32},
    {"qwen3", "num_attention_heads", 32},
    {"qwen3", "num_key_value_heads", 32},
    {"qwen3", "head_dim", 128},
    {"qwen3", "intermediate_size", 22016},
    {"qwen3", "vocab_size", 151936},
    {"qwen3", "max_position_embeddings", 32768},
    {"qwen3_5_text", "head_dim", 256},
    {"qwen3_5_text", "linear_conv_kernel_dim", 4},
    {"qwen3_5_text", "linear_key_head_dim", 128},
    {"qwen3_5_text", "linear_value_head_dim", 128},
    {"qwen3_5_text", "linear_num_key_heads", 16},
    {"qwen3_5_text", "linear_num_value_heads", 32},
    {"qwen3_5_moe_text", "head_dim", 256},
    {"qwen3_5_moe_text", "linear_conv_kernel_dim", 4},
    {"qwen3_5_moe_text", "linear_key_head_dim", 128},
    {"qwen3_5_moe_text", "linear_value_head_dim", 128},
    {"qwen3_5_moe_text", "linear_num_key_heads", 16},
    {"qwen3_5_moe_text", "linear_num_value_heads", 32},
    {"phi3", "hidden_size", 3072},
    {"phi3", "num_hidden_layers", 32},
    {"phi3", "num_attention_heads", 32},
    {"phi3", "intermediate_size", 8192},
    {"phi3", "vocab_size", 32064},
    {"phi3", "max_position_embeddings", 4096},
    {"cohere2", "hidden_size", 8192},
    {"cohere2", "num_hidden_layers", 40},
    {"cohere2", "num_attention_heads", 64},
    {"cohere2", "intermediate_size", 22528},
    {"cohere2", "vocab_size", 256000},
    {"cohere2", "max_position_embeddings", 8192},
    {"cohere2", "sliding_window", 4096},
    {"mllama_text_model", "hidden_size", 4096},
    {"mllama_text_model", "num_hidden_layers", 40},
    {"mllama_text_model", "num_attention_heads", 32},
    {"mllama_text_model", "num_key_value_heads", 8},
    {"mllama_text_model", "intermediate_size", 14336},
    {"mllama_text_model", "vocab_size", 128256},
    {"mllama_text_model", "max_position_embeddings", 131072},
    {"siglip_vision_model", "hidden_size", 768},
    {"siglip_vision_model", "num_hidden_layers", 12},
    {"siglip_vision_model", "intermediate_size", 3072},
    {"siglip_vision_model", "patch_size", 16},
    {"siglip_vision_model", "image_size", 224},
    {"clip_vision_model", "hidden_size", 768},
    {"clip_vision_model", "num_hidden_layers", 12},
    {"clip_vision_model", "intermediate_size", 3072},
    {"clip_vision_model", "patch_size", 32},
    {"clip_vision_model", "image_size", 224},
    {"pixtral", "hidden_size", 1024},
    {"pixtral", "num_hidden_layers", 24},
    {"pixtral", "intermediate_size", 4096},
    {"pixtral", "patch_size", 16},
    {"pixtral", "image_size", 1024},
    {"gemma", "hidden_size", 3072},
    {"gemma", "num_hidden_layers", 28},
    {"gemma", "intermediate_size", 24576},
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

bool has_layout(std::string_view model_type) {
    for (const CheckpointLayout& layout : kLayouts)
        if (lists(layout.model_types, model_type)) return true;
    return false;
}

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
