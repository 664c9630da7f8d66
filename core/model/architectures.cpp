#include "core/model/architectures.h"

#include <algorithm>

namespace memwall::model {
namespace {

// Facts read from llama.cpp v0.5.0 (source column) and, for the right-hand names, from the `model_type` of
// published config.json files. Rows whose source is in brackets have no GGUF files; they serve config.json.
constexpr Architecture kArchitectures[] = {
    // Dense decoders in the manner of Llama
    {"llama", "llama mistral mixtral internlm3 Yi", "llama.cpp"},
    {"mistral3", "mistral3 ministral3", "mistral3.cpp"},
    {"deci", "deci nemotron-nas", "deci.cpp"},
    {"arcee", "arcee", "arcee.cpp"},
    {"apertus", "apertus", "apertus.cpp"},
    {"baichuan", "baichuan", "baichuan.cpp"},
    {"bitnet", "bitnet", "bitnet.cpp"},
    {"chameleon", "chameleon", "chameleon.cpp"},
    {"chatglm", "chatglm glm", "chatglm.cpp"},
    {"ernie4_5", "ernie4_5", "ernie4-5.cpp"},
    {"exaone", "exaone", "exaone.cpp"},
    {"glm4", "glm4 glm4v glm4v_text", "glm4.cpp"},
    {"hunyuan-dense", "hunyuan_v1_dense", "hunyuan-dense.cpp"},
    {"hunyuan_vl", "hunyuan_vl", "hunyuan-vl.cpp"},
    {"internlm2", "internlm2", "internlm2.cpp"},
    {"helium", "helium", "(Helium checkpoints)"},
    {"internlm", "internlm", "(InternLM checkpoints)"},
    {"mimo", "mimo", "(MiMo checkpoints)"},
    {"mllama", "mllama mllama_text_model", "(Llama-3.2-Vision checkpoints)"},
    {"maincoder", "maincoder", "maincoder.cpp"},
    {"olmo", "olmo", "olmo.cpp"},
    {"openelm", "openelm", "openelm.cpp"},
    {"orion", "orion", "orion.cpp"},
    {"paddleocr", "paddleocr_vl", "paddleocr.cpp"},
    {"pangu-embedded", "PanguEmbedded", "pangu-embed.cpp"},
    {"plamo", "plamo", "plamo.cpp"},
    {"qwen", "qwen", "qwen.cpp"},
    {"qwen2", "qwen2", "qwen2.cpp"},
    {"qwen2vl", "qwen2_vl qwen2_5_vl qwen2_5_omni", "qwen2vl.cpp"},
    {"qwen3", "qwen3", "qwen3.cpp"},
    {"qwen3vl", "qwen3_vl qwen3_vl_text", "qwen3vl.cpp"},
    {"seed_oss", "seed_oss", "seed-oss.cpp"},
    {"smollm3", "smollm3", "smollm3.cpp", {.rotates = Rotates::not_every_fourth}},
    {"stablelm", "stablelm stablelm_epoch", "stablelm.cpp"},
    {"xverse", "xverse", "xverse.cpp"},
    {"command-r", "cohere", "command-r.cpp"},
    {"granite", "granite", "granite.cpp", {.rotates = Rotates::unless_untuned}},
    {"minicpm",
     "minicpm",
     "minicpm.cpp",
     {.embedding_scale = true, .residual_scale = true, .logit_scale = true},
     "old files carry none of the three scales"},
    {"dream", "Dream", "dream.cpp"},
    {"llada", "llada", "llada.cpp"},

    // Windows
    {"cohere2", "cohere2", "cohere2.cpp", {.window_period = 4, .rotates = Rotates::windowed_layers}},
    {"exaone4", "exaone4", "exaone4.cpp", {.window_period = 4, .rotates = Rotates::windowed_layers}},
    {"gemma", "gemma", "gemma.cpp", {.embedding_scale = true}},
    {"gemma2",
     "gemma2",
     "gemma2.cpp",
     {.window_period = 2,
      .window = 4096,
      .embedding_scale = true,
      .final_softcap = 30,
      .attention_softcap = 50}},
    {"gemma3", "gemma3 gemma3_text", "gemma3.cpp", {.window_period = 6, .embedding_scale = true}},
    {"gemma3n",
     "gemma3n gemma3n_text",
     "gemma3n.cpp",
     {.window_period = 5, .own_cache_layers = 20, .embedding_scale = true, .final_softcap = 30}},
    {"gemma4",
     "gemma4 gemma4_text",
     "gemma4.cpp",
     {.window_period = 6, .embedding_scale = true, .final_softcap = 30},
     "files list the windowed layers; E2B has a period of 5"},
    {"llama4",
     "llama4 llama4_text",
     "llama4.cpp",
     {.window_period = 4,
      .chunked = true,
      .window = 8192,
      .rotates = Rotates::windowed_layers,
      .gating = Gating::sigmoid,
      .normalized_experts = false}},
    {"mellum", "mellum", "mellum.cpp", {.window_period = 4}},
    {"mimo2", "mimo_v2_flash", "mimo2.cpp", {.gating = Gating::sigmoid}},
    {"olmo2", "olmo2 olmo3", "olmo2.cpp", {.window_period = 4}},
    {"phi3", "phi3 phi3_v phi4mm", "phi3.cpp", {}, "the window is in the file, llama.cpp does not use it"},
    {"plamo3", "plamo3", "plamo3.cpp", {.window_period = 8}},
    {"step35", "step3p5", "step35.cpp", {.gating = Gating::sigmoid, .normalized_experts = false}},

    // Older decoders: two-matrix feed-forward, layer norm with bias
    {"bloom", "bloom", "bloom.cpp", {.rotates = Rotates::none}},
    {"codeshell", "codeshell", "codeshell.cpp"},
    {"falcon", "falcon RefinedWeb RefinedWebModel", "falcon.cpp"},
    {"gpt2", "gpt2", "gpt2.cpp", {.rotates = Rotates::none}},
    {"gptj", "gptj", "llama-arch.cpp"},
    {"codegen", "codegen", "(CodeGen checkpoints)"},
    {"gptneo", "gpt_neo", "(GPT-Neo checkpoints)", {.rotates = Rotates::none}},
    {"persimmon", "persimmon", "(Persimmon checkpoints)"},
    {"phi3small", "phi3small", "(Phi-3-small checkpoints)"},
    {"gptneox", "gpt_neox", "gptneox.cpp"},
    {"jais", "jais", "jais.cpp", {.rotates = Rotates::none}},
    {"mpt", "mpt", "mpt.cpp", {.rotates = Rotates::none}},
    {"nemotron", "nemotron", "nemotron.cpp"},
    {"opt", "opt", "(OPT checkpoints)", {.rotates = Rotates::none}},
    {"phi2", "phi phi-msft", "phi2.cpp"},
    {"refact", "gpt_refact", "refact.cpp", {.rotates = Rotates::none}},
    {"starcoder", "gpt_bigcode", "starcoder.cpp", {.rotates = Rotates::none}},
    {"starcoder2", "starcoder2", "starcoder2.cpp"},

    // Mixtures of experts
    {"afmoe",
     "afmoe",
     "afmoe.cpp",
     {.window_period = 4,
      .rotates = Rotates::not_every_fourth,
      .gating = Gating::sigmoid,
      .normalized_experts = false}},
    {"arctic", "arctic", "arctic.cpp"},
    {"bailingmoe", "bailing_moe", "bailingmoe.cpp", {.normalized_experts = false}},
    {"bailingmoe2", "bailing_moe_v2", "bailingmoe2.cpp", {.normalized_experts = false}},
    {"cohere2moe",
     "cohere2_moe",
     "cohere2moe.cpp",
     {.window_period = 4,
      .full_first = true,
      .rotates = Rotates::windowed_layers,
      .gating = Gating::sigmoid,
      .normalized_experts = false}},
    {"dbrx", "dbrx", "dbrx.cpp"},
    {"deepseek", "deepseek", "deepseek.cpp", {.normalized_experts = false}},
    {"deepseek2",
     "deepseek_v2 deepseek_v3 kimi_k2 glm4_moe_lite",
     "deepseek2.cpp",
     {.normalized_experts = false}},
    {"deepseek32", "deepseek_v32", "(DeepSeek-V3.2 checkpoints)", {.normalized_experts = false}},
    {"glm-dsa", "glm_moe_dsa", "(GLM-5 checkpoints)", {.normalized_experts = false}},
    {"longcat-flash", "longcat_flash", "(LongCat checkpoints)", {.normalized_experts = false}},
    {"minimax-01", "minimax_text_01 minimax_m1 minimax", "(MiniMax-Text-01 and M1 checkpoints)"},
    {"step3", "step3_text step3_vl", "(Step-3 checkpoints)"},
    {"dots1", "dots1", "dots1.cpp", {.normalized_experts = false}},
    {"ernie4_5-moe", "ernie4_5_moe", "ernie4-5-moe.cpp"},
    {"exaone-moe",
     "exaone_moe",
     "exaone-moe.cpp",
     {.window_period = 4, .window = 128, .rotates = Rotates::windowed_layers, .normalized_experts = false}},
    {"glm4moe",
     "glm4_moe glm4v_moe glm4v_moe_text",
     "glm4-moe.cpp",
     {.gating = Gating::sigmoid, .normalized_experts = false}},
    {"gpt-oss",
     "gpt_oss",
     "openai-moe.cpp",
     {.window_period = 2, .gating = Gating::softmax_of_chosen, .normalized_experts = false}},
    {"granitemoe", "granitemoe granitemoeshared", "granite-moe.cpp", {.rotates = Rotates::unless_untuned}},
    {"grok",
     "grok-1 grok",
     "grok.cpp",
     {.embedding_scale = true, .logit_scale = true, .attention_softcap = 30}},
    {"grovemoe", "grove_moe", "grovemoe.cpp"},
    {"hunyuan-moe", "hunyuan_v1_moe hunyuan", "hunyuan-moe.cpp"},
    {"laguna",
     "laguna",
     "laguna.cpp",
     {.window_period = 4, .full_first = true, .gating = Gating::sigmoid, .normalized_experts = false}},
    {"llada-moe", "llada_moe", "llada-moe.cpp", {.normalized_experts = false}},
    {"minimax-m2", "minimax_m2", "minimax-m2.cpp", {.gating = Gating::sigmoid}},
    {"olmoe", "olmoe", "olmoe.cpp", {.normalized_experts = false}},
    {"phimoe", "phimoe", "phimoe.cpp"},
    {"qwen2moe", "qwen2_moe", "qwen2moe.cpp", {.normalized_experts = false}},
    {"qwen3moe", "qwen3_moe", "qwen3moe.cpp"},
    {"qwen3vlmoe", "qwen3_vl_moe qwen3_vl_moe_text", "qwen3vlmoe.cpp"},
    {"smallthinker",
     "smallthinker",
     "smallthinker.cpp",
     {.window_period = 4, .full_first = true, .rotates = Rotates::windowed_layers}},

    // Latent attention without experts
    {"minicpm3",
     "minicpm3",
     "minicpm3.cpp",
     {.embedding_scale = true, .residual_scale = true, .logit_scale = true}},
    {"plm", "plm", "plm.cpp"},

    // Recurrent and mixed
    {"falcon-h1", "falcon_h1", "falcon-h1.cpp", {.attention_and_recurrent = true}},
    {"granitehybrid", "granitemoehybrid bamba", "granite-hybrid.cpp", {.rotates = Rotates::unless_untuned}},
    {"jamba", "jamba", "jamba.cpp", {.rotates = Rotates::none, .normalized_experts = false}},
    {"kimi-linear", "kimi_linear", "kimi-linear.cpp", {.gating = Gating::sigmoid}},
    {"lfm2", "lfm2", "lfm2.cpp"},
    {"lfm2moe", "lfm2_moe", "lfm2moe.cpp", {.gating = Gating::sigmoid}},
    {"mamba", "mamba falcon_mamba", "mamba.cpp", {.rotates = Rotates::none}},
    {"mamba2", "mamba2", "mamba2.cpp", {.rotates = Rotates::none}},
    {"nemotron_h", "nemotron_h", "nemotron-h.cpp", {.rotates = Rotates::none}},
    {"nemotron_h_moe",
     "nemotron_h_moe",
     "nemotron-h.cpp",
     {.rotates = Rotates::none, .gating = Gating::sigmoid, .normalized_experts = false}},
    {"plamo2", "plamo2", "plamo2.cpp"},
    {"qwen3next", "qwen3_next", "qwen3next.cpp", {.full_attention_interval = 4}},
    {"qwen35", "qwen3_5 qwen3_5_text", "qwen35.cpp", {.full_attention_interval = 4}},
    {"qwen35moe", "qwen3_5_moe qwen3_5_moe_text", "qwen35moe.cpp", {.full_attention_interval = 4}},
    {"rwkv5", "rwkv5", "(RWKV-5 checkpoints)", {.rotates = Rotates::none}},
    {"rwkv6", "rwkv6", "rwkv6.cpp", {.rotates = Rotates::none}},
    {"rwkv6qwen2", "rwkv6qwen2", "rwkv6qwen2.cpp", {.rotates = Rotates::none}},
    {"rwkv7", "rwkv7", "rwkv7.cpp", {.rotates = Rotates::none}},
    {"arwkv7", "rwkv_hybrid", "arwkv7.cpp", {.rotates = Rotates::none}},

    // Encoders
    {"bert",
     "bert roberta xlm-roberta camembert distilbert mpnet",
     "bert.cpp",
     {.rotates = Rotates::none, .embedder = true}},
    {"eurobert", "eurobert", "eurobert.cpp", {.embedder = true}},
    {"gemma-embedding",
     "",
     "gemma-embedding.cpp",
     {.window_period = 6, .embedding_scale = true, .embedder = true}},
    {"jina-bert-v2", "jina_bert", "jina-bert-v2.cpp", {.rotates = Rotates::none, .embedder = true}},
    {"jina-bert-v3", "", "jina-bert-v3.cpp", {.embedder = true}},
    {"llama-embed", "llama_bidirec", "llama-embed.cpp", {.embedder = true}},
    {"modern-bert",
     "modernbert",
     "modern-bert.cpp",
     {.window_period = 3, .full_first = true, .embedder = true}},
    {"neo-bert", "neobert", "neo-bert.cpp", {.embedder = true}},
    {"nomic-bert", "nomic_bert", "nomic-bert.cpp", {.embedder = true}},
    {"nomic-bert-moe",
     "nomic_bert_moe",
     "nomic-bert-moe.cpp",
     {.normalized_experts = false, .embedder = true}},
    {"t5", "t5 mt5 umt5", "t5.cpp", {.rotates = Rotates::none}},
    {"t5encoder", "t5_encoder", "t5encoder.cpp", {.rotates = Rotates::none, .embedder = true}},
    {"whisper", "whisper", "(Whisper checkpoints)", {.rotates = Rotates::none}},
    {"clip", "", "clip.cpp", {.rotates = Rotates::none}, "vision or audio part beside a decoder"},
};

bool holds_word(std::string_view words, std::string_view word) {
    for (std::size_t at = 0; at < words.size();) {
        const std::size_t end = std::min(words.find(' ', at), words.size());
        if (words.substr(at, end - at) == word) return true;
        at = end + 1;
    }
    return false;
}

}  // namespace

std::span<const Architecture> architectures() {
    return kArchitectures;
}

const Architecture* find_architecture(std::string_view name) {
    for (const Architecture& a : kArchitectures)
        if (a.name == name) return &a;
    return nullptr;
}

const Architecture* find_hugging_face_type(std::string_view model_type) {
    for (const Architecture& a : kArchitectures)
        if (holds_word(a.hf_types, model_type)) return &a;
    return nullptr;
}

bool layer_is_windowed(const Architecture& architecture, int index) {
    const int period = architecture.defaults.window_period;
    if (period == 0) return true;
    return index % period != (architecture.defaults.full_first ? 0 : period - 1);
}

bool layer_rotates(const Architecture& architecture, int index, bool windowed, bool any_window) {
    switch (architecture.defaults.rotates) {
        case Rotates::none:
            return false;
        case Rotates::windowed_layers:
            return windowed || !any_window;
        case Rotates::not_every_fourth:
            return index % 4 != 3;
        case Rotates::all:
        case Rotates::unless_untuned:
            return true;
    }
    return true;
}

}  // namespace memwall::model
