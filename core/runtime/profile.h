// Engines are data (DESIGN, idea 5): what a runtime does with memory, read from profiles/*.yaml.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/interval.h"
#include "core/base/units.h"
#include "core/quant/format.h"

namespace memwall::runtime {

/// How a runtime lays its KV cache out.
enum class KvLayout : std::uint8_t {
    cells,         ///< llama.cpp: padded cells per stream, see engine_cells.h
    paged,         ///< blocks of `block_tokens`, allocated as a sequence grows
    static_arena,  ///< everything at the compiled maximum context
    plain          ///< the model's own need, no padding
};

enum class ComputeRule : std::uint8_t {
    replay,  ///< operator tables and allocator replay (compute_buffer.h)
    family   ///< closed form of the model family, an interval that says so
};

/// A second, rearranged copy that a CPU build makes of some weight types at load.
struct RepackRule {
    std::string isa;  ///< instruction set that must be present; the first rule that applies to a CPU wins
    struct Type {
        quant::Format format;
        std::int64_t rows_multiple = 1;  ///< outputs must be a multiple of this
    };
    std::vector<Type> types;
};

/// A range of bytes with the words that say where it comes from.
struct Allowance {
    Interval<Bytes> fixed;
    Interval<Bytes> per_vocabulary_entry;
};

struct Profile {
    std::string name;     ///< "llama.cpp"
    std::string release;  ///< the release the numbers were read from; empty = none in particular
    std::string about;
    std::vector<std::string> sources;
    std::vector<std::string> recipes;  ///< kinds of files it loads: "gguf", "checkpoint"
    std::string default_recipe;
    std::map<std::string, std::string> recipe_aliases;  ///< what this runtime's users mean by a recipe's name
    std::vector<std::string> suggested_recipes;         ///< the usual ones, for "what smaller recipe fits"
    std::vector<std::string> kv_types;                  ///< supported KV types, first = default
    std::vector<std::string>
        processors;  ///< "cpu", "gpu", "npu", first = preferred where nothing else decides
    std::vector<std::string> gpu_classes;  ///< efficiency classes of GPUs that its usual builds run on
    int prompt_chunk = 0;               ///< prompts are padded to a multiple (static shapes); 0 = any length
    bool routes_experts_on_npu = true;  ///< false: mixture-of-experts models are refused on an NPU

    KvLayout kv_layout = KvLayout::plain;
    std::int64_t block_tokens = 1;
    bool windows = true;       ///< windowed layers keep only their window (cells: CellRules decide)
    bool latent_cache = true;  ///< MLA stores the latent row (else expanded heads)
    bool quantized_values_need_flash = false;
    bool rotates_quantized_cache = false;        ///< a Hadamard rotation before quantizing heads of 64 n
    std::int64_t gpu_memory_share_permille = 0;  ///< paged engines that grab a share of VRAM for KV; 0 = no

    bool input_tables_on_host = false;  ///< look-up tables stay in host memory when layers go to a card
    bool weights_mapped = false;        ///< weights are clean file pages (mmap)
    std::vector<RepackRule> repack;
    std::vector<std::string> measured_isa;  ///< whose repacked copies were measured
    std::vector<std::string> compute_isa;   ///< whose compute buffers are those that were measured
    bool output_buffer = false;             ///< sequences x vocabulary x 4 bytes of logits
    ComputeRule compute = ComputeRule::family;

    Allowance process;                 ///< runtime, libraries, tokenizer: resident beyond the buffers
    Interval<Bytes> context_overhead;  ///< made with a context, beyond its buffers
    Interval<Bytes> gpu_context;       ///< driver context and libraries on a discrete card
    std::int64_t default_batch = 2048, default_ubatch = 512;
};

/// Names of all built-in profiles.
std::vector<std::string> profile_names();

/// "NAME" or "NAME@RELEASE". A release other than the profile's keeps the numbers and sets `release_known`
/// false.
struct Selected {
    const Profile* profile;
    std::string release;
    bool release_known = true;
};
/// Throws Error naming the known runtimes.
Selected select_profile(std::string_view text, std::string_view place);

}  // namespace memwall::runtime
