// How many cells and tokens llama.cpp reserves for: the padding rules that the KV cache and the compute
// buffer share. Rules of release 0.5.0, checked against its allocations: the state of all 647 measured rows
// follows from them to the byte.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/model.h"

namespace memwall::runtime {

/// What of an engine's options decides its buffers. Defaults are the engine's.
struct EngineSettings {
    std::int64_t n_ctx = 4096;  ///< total over the sequences, before padding
    std::int64_t n_batch = 2048;
    std::int64_t n_ubatch = 512;     ///< 0 = n_batch
    std::int64_t n_seq = 1;          ///< parallel sequences
    std::int64_t n_outputs_max = 0;  ///< rows of logits a batch may ask for; 0 = n_batch
    bool quantized_keys = false;  ///< the cache type of keys has scales (q8_0, q4_0 ...; not f16, bf16, f32)
    bool quantized_values = false;
    bool flash_attention = true;  ///< "auto" becomes on for every known model on the CPU backend
    bool kv_unified = false;      ///< one stream of cells for all sequences
    bool swa_full = false;        ///< windowed layers get as many cells as full ones
    bool operator==(const EngineSettings&) const = default;
};

/// Facts of a release that turn settings into cells; read from its operator tables.
struct CellRules {
    std::int64_t padding = 256;         ///< cells are allocated in multiples of this
    std::vector<std::string> windowed;  ///< architectures whose windows the engine honours; the others get
                                        ///< full caches whatever their files say (phi3, Mistral 0.1)
    bool honours_windows(const std::string& architecture) const;
};

struct EngineCells {
    std::int64_t n_ctx = 0;           ///< total cells of the full cache over all sequences, after rounding
    std::int64_t n_ctx_seq = 0;       ///< tokens one sequence can hold
    std::int64_t streams = 1;         ///< separate runs of cells: 1 if unified, else one a sequence
    std::int64_t cells = 0;           ///< of one stream of a full layer
    std::int64_t window_cells = 0;    ///< of one stream of a windowed layer; = cells without windows
    bool windows = false;             ///< the engine keeps a second cache for windowed layers
    std::int64_t prompt_tokens = 0;   ///< T: rows of the reserved prompt graph, a multiple of the sequences
    std::int64_t prompt_outputs = 0;  ///< O: its rows that reach the logits
    std::int64_t sequences = 1;       ///< S: rows and outputs of the token graph

    bool windowed(const model::Attention& a) const { return windows && a.window > 0; }
    /// Cells of one stream of this layer; 0 when it reads an earlier layer's cache.
    std::int64_t of(const model::Attention& a) const {
        return a.shared_with >= 0 ? 0 : windowed(a) ? window_cells : cells;
    }
};

/// What of a model decides its cells.
struct CellModel {
    std::int64_t window = 0;  ///< tokens; 0 = none, or ignored by the engine
    bool latent = false;
};
CellModel cell_model(const model::Model& model, const CellRules& rules);

/// Throws Error for settings the engine refuses: counts below 1, more than 256 sequences, fewer outputs than
/// sequences, quantized values without flash attention, latent attention with differing cache types.
EngineCells resolve_cells(const CellModel& model, const EngineSettings& settings, std::int64_t padding);
inline EngineCells resolve_cells(const model::Model& model, const EngineSettings& settings,
                                 const CellRules& rules) {
    return resolve_cells(cell_model(model, rules), settings, rules.padding);
}

}  // namespace memwall::runtime
