// What evaluate() returns: the table of terms that every view, search and ledger reads. Trivially copyable,
// so that a search can hold millions.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/base/interval.h"
#include "core/quality/loss.h"

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
    bool limited = false;  ///< its size or a --budget is known
    Bytes budget;          ///< usable by one process, less the reserve
    Items items;
    Interval<Bytes> used;  ///< sum of the items
    /// Clean file pages that are not read again because their tensors were copied: whether or not the copies
    /// are made, one of the two is needed, so this range cancels that of Item::repacked.
    Interval<Bytes> droppable;
    Interval<Bytes> needed;  ///< used, less droppable and (on a host) pages that are never touched
    Verdict verdict = Verdict::fits;
};

struct Memory {
    Items items;                   ///< over all pools
    Interval<Bytes> total;         ///< allocated or mapped in steady state
    Interval<Bytes> resident;      ///< peak resident set: buffers as far as they are touched
    Interval<Bytes> load_peak;     ///< highest total while loading
    Interval<Bytes> file_backed;   ///< clean pages of the model file
    Interval<Bytes> anonymous;     ///< dirty: the rest
    std::array<PoolUse, 2> pools;  ///< the processor's pool first
    std::size_t pool_count = 0;
    Bytes budget;              ///< of the pool that decides
    Interval<Bytes> headroom;  ///< budget - needed in that pool; negative when it does not fit
    std::size_t deciding_pool = 0;
};

/// All rates are for one sequence unless they say "all". Zero `known` = no bandwidth or no prior for the
/// processor.
struct Speed {
    bool decode_known = false, prefill_known = false, load_known = false, energy_known = false;
    Interval<PerSecond> decode;      ///< tokens/s of one sequence in steady decode at the full context
    Interval<PerSecond> decode_all;  ///< all sequences together
    Interval<PerSecond> prefill;
    // Parts of the time to first token of a prompt of Knobs::prompt tokens; loading only when the model is
    // cold.
    Interval<Seconds> load;  ///< from storage, nothing cached
    Interval<Seconds> tokenization, prefill_time, first_decode;
    Interval<Seconds> first_token;  ///< model loaded: tokenization + prefill + first decode
    Interval<Seconds> job;          ///< first token + the other generated tokens
    double sustained_fraction = 0;  ///< of the cold rate after minutes; 0 = unknown
    Interval<Joules> energy_per_token;
    double battery_percent_per_1000_tokens = 0;  ///< 0 = no battery known
    std::string_view
        bound;  ///< what limits decode: bandwidth, compute, dequantization, overhead, storage, host
    std::string_view helps;  ///< what would help most, in words

    bool speculative = false;  ///< the rates above are with the draft; without it:
    Interval<PerSecond> plain_decode;
    double tokens_per_round = 0, break_even_acceptance = 0;
};

/// A rate under heat: burst x sustained fraction.
inline Interval<PerSecond> scaled_rate(Interval<PerSecond> r, double fraction) {
    return {r.low * fraction, r.central * fraction, r.high * fraction, r.level, r.basis};
}

struct Plan {
    Memory memory;
    Speed speed;
    quality::Loss loss;  ///< against the unquantized model
    Verdict verdict = Verdict::fits;
    Reason reason = Reason::fits;
    std::int64_t gpu_layers =
        0;  ///< layers (output counted as one) whose weights are in the processor's pool
};

}  // namespace memwall::plan
