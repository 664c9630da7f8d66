#include "tests/model/gguf_shapes.h"

#include <map>
#include <set>
#include <sstream>

namespace memwall::test {
namespace {

enum class Kind { plain, embedding, output, value, down, expert, expert_down, vector };

const std::map<std::string, int> kFileTypes = {{"F32", 0},   {"F16", 1},     {"Q4_0", 2},    {"Q4_1", 3},
                                               {"Q8_0", 7},  {"Q5_0", 8},    {"Q5_1", 9},    {"Q2_K", 10},
                                               {"Q3_K", 12}, {"Q4_K", 14},   {"Q4_K_M", 15}, {"Q5_K", 16},
                                               {"Q6_K", 18}, {"IQ4_NL", 25}, {"BF16", 32},   {"MXFP4", 38}};
const std::map<std::string, std::string> kFallbacks = {
    {"Q4_K", "Q5_0"}, {"Q5_K", "Q5_1"}, {"Q6_K", "Q8_0"}, {"Q2_K", "IQ4_NL"}, {"Q3_K", "IQ4_NL"}};
const std::set<std::string> kLowBit = {"Q4_0", "Q4_1", "Q5_0",   "Q5_1", "Q2_K",
                                       "Q3_K", "Q4_K", "Q4_K_M", "Q5_K", "IQ4_NL"};

bool divides(std::int64_t row, const std::string& format) {
    return row % quant::find_block_format(quant::ggml(format).ggml_type)->block_len == 0;
}

/// Builds one file; `b` is the prefix of the layer at hand.
class ShapeFile {
  public:
    ShapeFile(const std::string& name, std::string architecture, const nlohmann::json& shape,
              std::string quant)
        : arch_(std::move(architecture)), quant_(std::move(quant)), p_(shape) {
        layers_ = get("n_layer"), hidden_ = get("n_embd"), ff_ = get("n_ff"), heads_ = get("n_head");
        kv_ = get("n_head_kv"), experts_ = get("n_expert");
        head_dim_ = get("head_dim") ? get("head_dim") : heads_ ? hidden_ / heads_ : 0;
        std::stringstream list(shape.value("attn_layers", ""));
        for (std::string item; std::getline(list, item, ',');) attention_layers_.insert(std::stoi(item));
        w_.text("general.architecture", arch_).text("general.name", name + " random weights");
        w_.integer("general.file_type", kFileTypes.at(quant_)).integer("general.quantization_version", 2);
        w_.alignment(32);
        keys();
        tokenizer();
        globals();
        for (layer_ = 0; layer_ < layers_; ++layer_) layer();
    }
    GgufWriter take() { return std::move(w_); }

  private:
    std::int64_t get(const char* field) const { return p_.value(field, std::int64_t{0}); }
    void u32(const char* key, std::int64_t v) { w_.integer(arch_ + "." + key, v); }
    void f32(const char* key, double v) { w_.real(arch_ + "." + key, v); }

    std::string format_of(Kind kind, std::int64_t row) const {
        if (kind == Kind::vector) return "F32";
        std::string want = quant_ == "Q4_K_M" ? "Q4_K" : quant_;
        const bool to_output = kind == Kind::output || (kind == Kind::embedding && get("tied"));
        const bool helped = kind == Kind::value || kind == Kind::down || kind == Kind::expert_down;
        const std::int64_t eighth = layers_ / 8;
        const bool more = layer_ < eighth || layer_ >= 7 * layers_ / 8 || (layer_ - eighth) % 3 == 2;
        if (quant_ == "MXFP4")
            want = kind == Kind::expert || kind == Kind::expert_down ? "MXFP4" : "Q8_0";
        else if (to_output && kLowBit.count(quant_))
            want = "Q6_K";
        else if (quant_ == "Q4_K_M" && helped && more)
            want = "Q6_K";
        if (divides(row, want)) return want;
        const auto fallback = kFallbacks.find(want);
        return fallback != kFallbacks.end() && divides(row, fallback->second) ? fallback->second : "F16";
    }
    void global(const std::string& name, std::vector<std::int64_t> dims, Kind kind) {
        w_.tensor(name, dims, format_of(kind, dims[0]));
    }
    void mat(const char* name, std::vector<std::int64_t> dims, Kind kind = Kind::plain) {
        global("blk." + std::to_string(layer_) + "." + name, std::move(dims), kind);
    }
    void vec(const char* name, std::vector<std::int64_t> dims) { mat(name, std::move(dims), Kind::vector); }

    void keys();
    void tokenizer();
    void globals();
    void layer();
    void attention(std::int64_t q_times, bool bias, bool qk_norm, bool output_bias);
    void latent_attention();
    void feed_forward(const char* norm);
    void experts(std::int64_t width, bool bias);
    void shared(std::int64_t width);
    void mamba1();
    void mamba2(bool norm);
    void delta_net();
    void short_conv();

    std::string arch_, quant_;
    const nlohmann::json& p_;
    std::int64_t layers_, hidden_, ff_, heads_, kv_, head_dim_, experts_, layer_ = 0;
    std::set<std::int64_t> attention_layers_;
    GgufWriter w_;
};

void ShapeFile::keys() {
    u32("block_count", layers_);
    u32("context_length", get("n_ctx_train"));
    u32("embedding_length", hidden_);
    u32("feed_forward_length", ff_);
    f32("attention.layer_norm_rms_epsilon", 1e-6);
    if (arch_ == "deepseek2") {
        u32("attention.head_count", heads_);
        u32("attention.head_count_kv", 1);
        u32("attention.key_length", get("kv_lora") + get("rope_dim"));
        u32("attention.value_length", get("kv_lora"));
        u32("attention.key_length_mla", get("nope_dim") + get("rope_dim"));
        u32("attention.value_length_mla", get("v_dim"));
        u32("attention.kv_lora_rank", get("kv_lora"));
        u32("rope.dimension_count", get("rope_dim"));
        u32("leading_dense_block_count", get("n_dense_lead"));
        u32("expert_shared_count", get("n_expert_shared"));
        f32("expert_weights_scale", 1);
        f32("rope.freq_base", 10000);
    } else if (heads_ == 0) {
        u32("attention.head_count", 0);
    } else {
        u32("attention.head_count", heads_);
        if (attention_layers_.empty()) {
            u32("attention.head_count_kv", kv_);
        } else {
            std::vector<std::int64_t> kv;
            for (std::int64_t i = 0; i < layers_; ++i) kv.push_back(attention_layers_.count(i) ? kv_ : 0);
            w_.integers(arch_ + ".attention.head_count_kv", kv);
        }
        u32("attention.key_length", head_dim_);
        u32("attention.value_length", head_dim_);
        u32("rope.dimension_count", get("rope_dim") ? get("rope_dim") : head_dim_);
        f32("rope.freq_base", p_.value("rope_base", 10000.0));
    }
    const std::pair<const char*, const char*> optional[] = {
        {"n_swa", "attention.sliding_window"},
        {"n_expert", "expert_count"},
        {"n_expert_used", "expert_used_count"},
        {"n_ff_exp", "expert_feed_forward_length"},
        {"n_ff_shexp", "expert_shared_feed_forward_length"},
        {"d_conv", "ssm.conv_kernel"},
        {"d_inner", "ssm.inner_size"},
        {"d_state", "ssm.state_size"},
        {"dt_rank", "ssm.time_step_rank"},
        {"n_group", "ssm.group_count"},
        {"full_attn_interval", "full_attention_interval"},
        {"l_cache", "shortconv.l_cache"}};
    for (const auto& [field, key] : optional)
        if (get(field)) u32(key, get(field));
    if (arch_ == "gemma2") {
        f32("attn_logit_softcapping", 50);
        f32("final_logit_softcapping", 30);
    }
    if (arch_ == "qwen35")
        w_.integers("qwen35.rope.dimension_sections", {11, 11, 10, 0}, GgufWriter::Type::i32);
    if (arch_ == "granitehybrid") {
        f32("attention.scale", 1.0 / static_cast<double>(head_dim_));
        f32("embedding_scale", 12);
        f32("residual_scale", 0.22);
        f32("logit_scale", 8);
    }
}

void ShapeFile::tokenizer() {
    const auto count = static_cast<std::size_t>(get("n_vocab"));
    std::vector<std::string> tokens = {"<unk>", "<s>", "</s>"};
    std::vector<std::int64_t> types = {2, 3, 3};
    for (int i = 0; i < 256; ++i) {
        char text[8];
        std::snprintf(text, sizeof text, "<0x%02X>", i);
        tokens.emplace_back(text);
        types.push_back(6);
    }
    tokens.emplace_back("<|endoftext|>");
    types.push_back(3);
    for (int i = 0; tokens.size() < count; ++i) {  // made-up words in base 26
        std::string word;
        for (int n = i; n >= 0; n = n / 26 - 1) word.insert(word.begin(), static_cast<char>('a' + n % 26));
        tokens.push_back(i % 2 ? "\u2581" + word : word + "\u00b7");
        types.push_back(1);
    }
    std::vector<double> scores;
    for (std::size_t i = 0; i < count; ++i) scores.push_back(-static_cast<double>(i));
    w_.text("tokenizer.ggml.model", "llama").text("tokenizer.ggml.pre", "default");
    w_.texts("tokenizer.ggml.tokens", tokens).reals("tokenizer.ggml.scores", scores);
    w_.integers("tokenizer.ggml.token_type", types, GgufWriter::Type::i32);
    w_.integer("tokenizer.ggml.bos_token_id", 1).integer("tokenizer.ggml.eos_token_id", 2);
    w_.integer("tokenizer.ggml.unknown_token_id", 0).flag("tokenizer.ggml.add_bos_token", true);
}

void ShapeFile::globals() {
    const std::int64_t vocabulary = get("n_vocab");
    global("token_embd.weight", {hidden_, vocabulary}, Kind::embedding);
    global(arch_ == "lfm2" ? "token_embd_norm.weight" : "output_norm.weight", {hidden_}, Kind::vector);
    if (!get("tied")) global("output.weight", {hidden_, vocabulary}, Kind::output);
    if (get("rope_freqs")) global("rope_freqs.weight", {head_dim_ / 2}, Kind::vector);
}

void ShapeFile::attention(std::int64_t q_times, bool bias, bool qk_norm, bool output_bias) {
    const std::int64_t q = heads_ * head_dim_, k = kv_ * head_dim_;
    mat("attn_q.weight", {hidden_, q * q_times});
    mat("attn_k.weight", {hidden_, k});
    mat("attn_v.weight", {hidden_, k}, Kind::value);
    mat("attn_output.weight", {q, hidden_});
    if (bias) {
        vec("attn_q.bias", {q});
        vec("attn_k.bias", {k});
        vec("attn_v.bias", {k});
    }
    if (output_bias) vec("attn_output.bias", {hidden_});
    if (!qk_norm) return;
    vec("attn_q_norm.weight", {head_dim_});
    vec("attn_k_norm.weight", {head_dim_});
}

void ShapeFile::latent_attention() {
    const std::int64_t rank = get("kv_lora"), rope = get("rope_dim"), nope = get("nope_dim"),
                       v = get("v_dim");
    mat("attn_q.weight", {hidden_, heads_ * (nope + rope)});
    mat("attn_kv_a_mqa.weight", {hidden_, rank + rope});
    vec("attn_kv_a_norm.weight", {rank});
    mat("attn_k_b.weight", {nope, rank, heads_});
    mat("attn_v_b.weight", {rank, v, heads_});
    mat("attn_output.weight", {heads_ * v, hidden_});
}

void ShapeFile::feed_forward(const char* norm) {
    if (norm) vec(norm, {hidden_});
    mat("ffn_gate.weight", {hidden_, ff_});
    mat("ffn_up.weight", {hidden_, ff_});
    mat("ffn_down.weight", {ff_, hidden_}, Kind::down);
}

void ShapeFile::experts(std::int64_t width, bool bias) {
    vec("ffn_gate_inp.weight", {hidden_, experts_});
    mat("ffn_gate_exps.weight", {hidden_, width, experts_}, Kind::expert);
    mat("ffn_up_exps.weight", {hidden_, width, experts_}, Kind::expert);
    mat("ffn_down_exps.weight", {width, hidden_, experts_}, Kind::expert_down);
    if (!bias) return;
    vec("ffn_gate_inp.bias", {experts_});
    vec("ffn_gate_exps.bias", {width, experts_});
    vec("ffn_up_exps.bias", {width, experts_});
    vec("ffn_down_exps.bias", {hidden_, experts_});
}

void ShapeFile::shared(std::int64_t width) {
    mat("ffn_gate_shexp.weight", {hidden_, width});
    mat("ffn_up_shexp.weight", {hidden_, width});
    mat("ffn_down_shexp.weight", {width, hidden_}, Kind::down);
}

void ShapeFile::mamba1() {
    const std::int64_t inner = get("d_inner"), state = get("d_state"), rank = get("dt_rank");
    mat("ssm_in.weight", {hidden_, 2 * inner});
    vec("ssm_conv1d.weight", {get("d_conv"), inner});
    vec("ssm_conv1d.bias", {inner});
    mat("ssm_x.weight", {inner, rank + 2 * state});
    mat("ssm_dt.weight", {rank, inner});
    vec("ssm_dt.bias", {inner});
    vec("ssm_a", {state, inner});
    vec("ssm_d", {inner});
    mat("ssm_out.weight", {inner, hidden_});
}

void ShapeFile::mamba2(bool norm) {
    const std::int64_t inner = get("d_inner"), groups = get("n_group"), heads = get("dt_rank");
    const std::int64_t conv = inner + 2 * groups * get("d_state");
    mat("ssm_in.weight", {hidden_, inner + conv + heads});
    vec("ssm_conv1d.weight", {get("d_conv"), conv});
    vec("ssm_conv1d.bias", {conv});
    vec("ssm_dt.bias", {heads});
    vec("ssm_a", {1, heads});
    vec("ssm_d", {1, heads});
    if (norm) vec("ssm_norm.weight", {inner / groups, groups});
    mat("ssm_out.weight", {inner, hidden_});
}

void ShapeFile::delta_net() {
    const std::int64_t state = get("d_state"), heads = get("dt_rank");
    const std::int64_t key = state * get("n_group"), value = state * heads;
    mat("attn_qkv.weight", {hidden_, 2 * key + value});
    mat("attn_gate.weight", {hidden_, value});
    vec("ssm_conv1d.weight", {get("d_conv"), 2 * key + value});
    vec("ssm_dt.bias", {heads});
    vec("ssm_a", {heads});
    if (arch_ == "qwen3next") {
        mat("ssm_ba.weight", {hidden_, 2 * heads});
    } else {
        mat("ssm_beta.weight", {hidden_, heads});
        mat("ssm_alpha.weight", {hidden_, heads});
    }
    vec("ssm_norm.weight", {state});
    mat("ssm_out.weight", {value, hidden_});
}

void ShapeFile::short_conv() {
    vec("shortconv.conv.weight", {get("l_cache"), hidden_});
    mat("shortconv.in_proj.weight", {hidden_, 3 * hidden_});
    mat("shortconv.out_proj.weight", {hidden_, hidden_});
}

void ShapeFile::layer() {
    const bool attends = attention_layers_.count(layer_) != 0;
    const std::int64_t expert_width = get("n_ff_exp") ? get("n_ff_exp") : ff_;
    vec("attn_norm.weight", {hidden_});
    if (arch_ == "llama" || arch_ == "qwen2" || arch_ == "qwen3" || arch_ == "qwen3moe") {
        attention(1, arch_ == "qwen2", arch_ == "qwen3" || arch_ == "qwen3moe", false);
        if (!experts_) return feed_forward("ffn_norm.weight");
        vec("ffn_norm.weight", {hidden_});
        experts(expert_width, false);
    } else if (arch_ == "gemma2" || arch_ == "gemma3") {
        attention(1, false, arch_ == "gemma3", false);
        vec("post_attention_norm.weight", {hidden_});
        feed_forward("ffn_norm.weight");
        vec("post_ffw_norm.weight", {hidden_});
    } else if (arch_ == "phi3") {
        mat("attn_qkv.weight", {hidden_, (heads_ + 2 * kv_) * head_dim_});
        mat("attn_output.weight", {heads_ * head_dim_, hidden_});
        vec("ffn_norm.weight", {hidden_});
        mat("ffn_up.weight", {hidden_, 2 * ff_});
        mat("ffn_down.weight", {ff_, hidden_}, Kind::down);
    } else if (arch_ == "gpt-oss") {
        attention(1, true, false, true);
        vec("attn_sinks.weight", {heads_});
        vec("post_attention_norm.weight", {hidden_});
        experts(expert_width, true);
    } else if (arch_ == "deepseek2") {
        latent_attention();
        vec("ffn_norm.weight", {hidden_});
        if (layer_ < get("n_dense_lead")) return feed_forward(nullptr);
        experts(expert_width, false);
        shared(expert_width * get("n_expert_shared"));
    } else if (arch_ == "mamba") {
        mamba1();
    } else if (arch_ == "mamba2") {
        mamba2(true);
    } else if (arch_ == "falcon-h1") {
        mamba2(false);
        attention(1, false, false, false);
        feed_forward("ffn_norm");  // without ".weight", as its loader wants it
    } else if (arch_ == "granitehybrid") {
        attends ? attention(1, false, false, false) : mamba2(true);
        feed_forward("ffn_norm.weight");
    } else if (arch_ == "lfm2") {
        attends ? attention(1, false, true, false) : short_conv();
        feed_forward("ffn_norm.weight");
    } else if (arch_ == "qwen3next" || arch_ == "qwen35") {
        vec("post_attention_norm.weight", {hidden_});
        (layer_ + 1) % get("full_attn_interval") == 0 ? attention(2, false, true, false) : delta_net();
        if (arch_ == "qwen35") return feed_forward(nullptr);
        experts(expert_width, false);
        vec("ffn_gate_inp_shexp.weight", {hidden_});
        shared(get("n_ff_shexp"));
    } else {
        throw std::runtime_error("no shape for architecture " + arch_);
    }
}

}  // namespace

GgufWriter shape_gguf(const std::string& name, const std::string& architecture, const nlohmann::json& shape,
                      const std::string& quant) {
    return ShapeFile(name, architecture, shape, quant).take();
}

void write_shape_gguf(const std::string& path, const nlohmann::json& row) {
    shape_gguf(row.at("model"), row.at("arch"), row.at("shape"), row.at("quant")).write(path);
}

}  // namespace memwall::test
