// What a configuration loses against the unquantized model, as a search reads it: one small value a
// configuration. Sources of every number: QUALITY parts (a.2) to (a.9), named where they are used.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace memwall::quality {

/// How a loss is known (QUALITY a.2), best first; combining two parts gives the worse of both.
enum class Status : std::uint8_t {
    measured,      ///< a row for this model and type
    interpolated,  ///< two rows of this model bracket it
    estimated,     ///< the fit
    bounded,       ///< only a range
    refused        ///< no number; `reason` says why
};
std::string_view status_name(Status status);

/// Why there is no number (QUALITY a.9); the words are in refusals.h.
enum class Reason : std::uint8_t {
    none,
    low_bits,
    iquant_without_imatrix,
    recorded_cliff,
    small_model,
    trained_quantized,
    low_bit_activations,
    int4_per_channel,
    kv_fragile_family,
    kv_keys_unrotated,
    kv_without_rows,
    window_without_sinks,
    pruned,
    derivative,
    other_modality,
    method_without_rows,
};
inline constexpr std::size_t kReasons = 16;

/// What widens an answer or must be said beside it. A set of bits.
enum Flag : std::uint16_t {
    kMeasureMe = 1,        ///< an estimate: cliffs exist that no fit sees
    kOtherFile = 2,        ///< another file of this label may differ by 1.3, has differed by 4
    kContextBeyond = 4,    ///< longer than any measurement
    kNewFamily = 8,        ///< no model of the family was measured: taken as sensitive
    kImatrixUnknown = 16,  ///< with or without importance matrix: both lie in the band
    kKvFragile = 32,       ///< sinks, large key biases, few attention layers or a small model
    kWindowForgets = 64,   ///< what left the window is gone
    kBelowNoise = 128,     ///< too small to tell from rounding
    kLongRetrieval = 256,  ///< averages hide retrieval losses of a cache below 8 bits
    kOneRow = 512,         ///< rests on a single row
    kUserRow = 1024,       ///< the user's own measurement
    kSmallModel = 2048,    ///< below 3 billion parameters
    kKldFromPpl = 4096,    ///< KLD and top-1 are derived from the perplexity
};

struct Band {
    double low = 0, central = 0, high = 0;
};

/// Trivially copyable. All zero where `status` is refused.
struct Loss {
    Status status = Status::refused;
    Reason reason = Reason::none;
    std::uint16_t flags = 0;
    Band ln_ppl;               ///< ln(PPL / PPL unquantized), 80 % band
    double ln_ppl_high95 = 0;  ///< its upper end at 95 %
    Band kld;                  ///< mean KL(unquantized || quantized), nats a token
    Band top1_disagreement;    ///< share of positions with another most likely token, 0..1

    bool known() const { return status != Status::refused; }
};
static_assert(std::is_trivially_copyable_v<Loss>);

/// QUALITY a.5: share = 33.6 % x KLD^0.42; 34 rows, 12 models, leave-one-model-out x/1.23.
double top1_from_kld(double kld);

enum class Order : std::uint8_t { better, worse, not_distinguishable, not_comparable };

/// Orders two configurations of one model by loss: `a` is better when its central loss is smaller and the
/// bands do not both hold the other's central value. Different models are not comparable by perplexity or KLD
/// (QUALITY a.9: Llama-3-70B against 8B), nor is anything refused.
Order compare_losses(std::string_view model_a, const Loss& a, std::string_view model_b, const Loss& b);

}  // namespace memwall::quality
