#include "core/runtime/engine_cells.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"

namespace memwall::runtime {
namespace {

constexpr std::int64_t kMaxCount = (std::int64_t{1} << 32) - 1;  // the engine counts tokens in 32 bits
constexpr std::int64_t kMaxSequences = 256;                      // LLAMA_MAX_SEQ

void check_count(const char* name, std::int64_t value, std::int64_t least, std::int64_t most = kMaxCount) {
    if (value < least || value > most)
        throw Error(name, fmt::format("{}", value), fmt::format("a count from {} to {}", least, most));
}

/// `value` rounded up to a multiple of `step`.
std::int64_t padded(std::int64_t value, std::int64_t step) {
    return (value + step - 1) / step * step;
}

void check(const CellModel& model, const EngineSettings& s) {
    check_count("--context", s.n_ctx, 1);
    check_count("--batch", s.n_batch, 1);
    check_count("--ubatch", s.n_ubatch, 0);
    check_count("--sequences", s.n_seq, 1, kMaxSequences);
    check_count("--runtime-option n_outputs_max", s.n_outputs_max, 0);
    if (s.quantized_values && !s.flash_attention)
        throw Error("--kv-v", "a quantized value cache without flash attention", "f16, bf16 or f32",
                    "turn flash attention on");
    if (model.latent && s.quantized_keys != s.quantized_values)
        throw Error("--kv-k", "different types for keys and values", "equal types",
                    "latent attention keeps one cache for both");
}

}  // namespace

bool CellRules::honours_windows(const std::string& architecture) const {
    return std::find(windowed.begin(), windowed.end(), architecture) != windowed.end();
}

CellModel cell_model(const model::Model& model, const CellRules& rules) {
    CellModel m;
    const bool honoured = rules.honours_windows(model.architecture);
    for (const model::Layer& l : model.layers) {
        if (!l.attention) continue;
        if (honoured) m.window = std::max(m.window, l.attention->window);
        m.latent = m.latent || l.attention->latent_rank > 0;
    }
    return m;
}

EngineCells resolve_cells(const CellModel& model, const EngineSettings& s, std::int64_t padding) {
    check(model, s);
    // The order matters: batch sizes follow the context as asked for, cells the rounded one.
    const std::int64_t n_batch = std::min(s.n_ctx, s.n_batch);
    const std::int64_t n_ubatch = std::min(n_batch, s.n_ubatch ? s.n_ubatch : n_batch);
    const std::int64_t n_outputs = s.n_outputs_max ? s.n_outputs_max : n_batch;
    if (n_outputs < s.n_seq)
        throw Error(s.n_outputs_max ? "n_outputs_max" : "--batch",
                    fmt::format("{} rows of logits", n_outputs),
                    fmt::format("at least one for each of {} sequences", s.n_seq));

    EngineCells c;
    c.sequences = s.n_seq;
    c.n_ctx = padded(s.n_ctx, padding);
    c.n_ctx_seq = c.n_ctx;
    if (!s.kv_unified) {
        c.streams = s.n_seq;
        c.n_ctx_seq = padded(c.n_ctx / s.n_seq, padding);
        c.n_ctx = c.n_ctx_seq * s.n_seq;
    }
    c.cells = c.window_cells = c.n_ctx_seq;
    c.windows = model.window > 0;
    if (c.windows && !s.swa_full) {
        const std::int64_t seen = std::min(model.window, kMaxCount) * (s.kv_unified ? s.n_seq : 1);
        c.window_cells = padded(std::min(c.n_ctx_seq, seen + n_ubatch), padding);
    }
    const std::int64_t rows = std::min(c.n_ctx, n_ubatch);
    c.prompt_outputs = std::min(rows, n_outputs);
    c.prompt_tokens = padded(rows, s.n_seq);
    return c;
}

}  // namespace memwall::runtime
