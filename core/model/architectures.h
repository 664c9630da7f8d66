// The one table of architectures: which Hugging Face model types go by which GGUF name, and what the metadata
// of either leaves out because engines carry it in code. Readers look here only for keys a file does not set;
// nothing else in core asks for an architecture's name.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace memwall::model {

/// Which layers turn their queries and keys by position.
enum class Rotates : std::uint8_t {
    all,
    none,              ///< learned, linear-bias, relative or no positions
    windowed_layers,   ///< layers that see everything do not; all do where a model has no window
    not_every_fourth,  ///< layers 3, 7, 11 ... do not
    unless_untuned,    ///< all, but none when the file says rope.scaling.finetuned = false
};

/// How router logits become weights of the chosen experts.
enum class Gating : std::uint8_t {
    softmax,
    sigmoid,
    softmax_of_chosen  ///< softmax over the chosen experts only
};

/// What engines know about an architecture without reading it; a key of the file always wins.
struct ArchitectureDefaults {
    // Which layers `attention.sliding_window` applies to where no pattern is given.
    std::int16_t window_period = 0;     ///< one layer of so many sees everything; 0 = all layers are windowed
    bool full_first = false;            ///< that layer is the first of its period, else the last
    bool chunked = false;               ///< fixed chunks instead of a sliding window
    std::int32_t window = 0;            ///< tokens when no key names them; 0 = then there is no window
    std::int16_t own_cache_layers = 0;  ///< later layers read an earlier cache when no key says so; 0 = none

    std::int16_t full_attention_interval = 0;  ///< every n-th layer is attention, the others recurrent
    bool attention_and_recurrent = false;      ///< both in every layer

    Rotates rotates = Rotates::all;
    Gating gating = Gating::softmax;
    bool normalized_experts = true;  ///< weights of the chosen experts are divided by their sum
    bool embedding_scale = false, residual_scale = false, logit_scale = false;
    double final_softcap = 0, attention_softcap = 0;  ///< 0 = none
    bool embedder = false;                            ///< encoder only: neither KV cache nor logits
};

struct Architecture {
    std::string_view name;      ///< general.architecture of GGUF files, prefix of their keys
    std::string_view hf_types;  ///< `model_type` values of config.json, separated by blanks
    std::string_view source;    ///< file below src/models of llama.cpp v0.5.0, or what else is known
    ArchitectureDefaults defaults = {};
    std::string_view note = {};
};

std::span<const Architecture> architectures();
/// By GGUF name; nullptr when unknown.
const Architecture* find_architecture(std::string_view name);
/// By `model_type` of config.json; nullptr when unknown.
const Architecture* find_hugging_face_type(std::string_view model_type);

/// Whether layer `index` sees a window only, by the architecture's own pattern.
bool layer_is_windowed(const Architecture& architecture, int index);
/// Whether layer `index` rotates. `windowed`: this layer sees a window; `any_window`: some layer does.
bool layer_rotates(const Architecture& architecture, int index, bool windowed, bool any_window);

}  // namespace memwall::model
