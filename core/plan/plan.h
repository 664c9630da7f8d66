// What evaluate() returns: the table of terms that every view, search and ledger reads. Trivially copyable,
// so that a search can hold millions.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/base/interval.h"

namespace memwall::plan {

enum class Verdict : std::uint8_t { fits, does_not_fit, too_close_to_call, unsupported };
std::string_view verdict_name(Verdict verdict);

/// What memory is for. The JSON field is the name with "_bytes".
enum class Item : std::uint8_t {
    weights,
    kv_cache,
    recurrent_state,
    compute_buffer,
    output_buffer,
    repacked,
    draft,
    projector,
    adapter,
    overhead
};
inline constexpr std::size_t kItems = 10;
std::string_view item_name(Item item);

using Items = std::array<Interval<Bytes>, kItems>;

/// Why a plan has its verdict; the words are made by reason_text().
enum class Reason : std::uint8_t {
    fits,
    pool_full,
    pool_uncertain,
    allocation_limit,
    pool_size_unknown,
    processor_missing,
    runtime_processor,
    kv_type,
    recipe,
    npu_routing
};

struct PoolUse {
    std::string_view name;  ///< "ram", "vram", "module": of the device's pool, lives as long as it
    Bytes capacity;
    Bytes budget;  ///< usable by one process, less the reserve
    Items items;
    Interval<Bytes> used;    ///< sum of the items
    Interval<Bytes> needed;  ///< used, less clean pages that are not read again (see Memory::droppable)
    Verdict verdict = Verdict::fits;
};

struct Memory {
    Items items;                  ///< over all pools
    Interval<Bytes> total;        ///< allocated or mapped in steady state
    Interval<Bytes> resident;     ///< peak resident set: buffers as far as they are touched
    Interval<Bytes> load_peak;    ///< highest total while loading
    Interval<Bytes> file_backed;  ///< clean pages of the model file
    Interval<Bytes> anonymous;    ///< dirty: the rest
    Bytes droppable;  ///< mapped weights that were copied at load: the OS may take them back at no cost
    std::array<PoolUse, 2> pools;  ///< the processor's pool first
    std::size_t pool_count = 0;
    Bytes budget;              ///< of the pool that decides
    Interval<Bytes> headroom;  ///< budget - needed in that pool; negative when it does not fit
    std::size_t deciding_pool = 0;
};

/// All rates are for one sequence unless they say "all". Zero `known` = no bandwidth or no prior for the
/// processor.
struct Speed {
    bool decode_known = false, prefill_known = false, load_known = false;
    Interval<PerSecond> decode;      ///< tokens/s of one sequence in steady decode at the full context
    Interval<PerSecond> decode_all;  ///< all sequences together
    Interval<PerSecond> prefill;
    Interval<Seconds> first_token;  ///< of a prompt of Knobs::prompt tokens, model loaded
    Interval<Seconds> job;          ///< first token + generated tokens
    Interval<Seconds> load;         ///< from storage, cold
    double sustained_fraction = 0;  ///< 0 = unknown
    bool energy_known = false;
    Interval<Joules> energy_per_token;
    double battery_percent_per_1000_tokens = 0;  ///< 0 = no battery known
    std::string_view bound;  ///< what limits decode: bandwidth, compute, dequantization, overhead
};

struct Plan {
    Memory memory;
    Speed speed;
    Verdict verdict = Verdict::fits;
    Reason reason = Reason::fits;
    std::int64_t gpu_layers =
        0;  ///< layers (output counted as one) whose weights are in the processor's pool
};

}  // namespace memwall::plan
