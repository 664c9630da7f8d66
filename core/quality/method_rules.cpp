#include "core/quality/method_rules.h"

#include <algorithm>
#include <cmath>

namespace memwall::quality {
namespace {

using quant::Family;

enum Scales : std::uint8_t { kAny, kGrouped, kChannel };

struct Rule {
    Family family;
    std::int32_t least_bits, most_bits;  // thousandths
    Scales scales;
    Reason reason;
    double low, high;  // ln(PPL ratio)
    double least_billions;
};

// Between the two ends the loss of 5 and 6 bits lies above nothing and below that of 4.
// Rows: 8 bits q0863, q0868; with 8-bit activations q0862, q0867; GPTQ 4 bits q0764, q0776, q0865, q0870; AWQ
// q0874, q0875, q0888, q0890 to q0892; INT4 round-to-nearest groups of 64 q0864, q0869; HQQ q0866, q0871;
// 8da4w q0872, q0873; one scale a channel q0758 to q0801.
// clang-format off
constexpr Rule kRules[] = {
    {Family::fp8_tensor, 0, 16000, kAny, Reason::none, 0, 0.005, 3},
    {Family::fp8_channel, 0, 16000, kAny, Reason::none, 0, 0.005, 3},
    {Family::fp8_block, 0, 16000, kAny, Reason::none, 0, 0.005, 3},
    {Family::bnb8, 0, 16000, kAny, Reason::none, 0, 0.005, 3},
    {Family::int_channel, 8000, 8000, kAny, Reason::none, 0, 0.005, 3},
    {Family::qnn_channel, 8000, 8000, kAny, Reason::none, 0, 0.005, 3},
    {Family::int_group, 8000, 8000, kAny, Reason::none, 0, 0.005, 3},
    {Family::packed_int, 8000, 8000, kAny, Reason::none, 0, 0.005, 3},
    {Family::gptq, 8000, 8000, kAny, Reason::none, 0, 0.005, 3},
    {Family::mlx, 8000, 8000, kAny, Reason::none, 0, 0.005, 3},
    {Family::hqq, 8000, 8000, kAny, Reason::none, 0, 0.005, 3},
    {Family::int_channel, 4000, 4000, kAny, Reason::int4_per_channel, 0, 0, 0},
    {Family::qnn_channel, 4000, 4000, kAny, Reason::int4_per_channel, 0, 0, 0},
    {Family::int_tensor, 4000, 4000, kAny, Reason::int4_per_channel, 0, 0, 0},
    {Family::gptq, 4000, 4000, kChannel, Reason::int4_per_channel, 0, 0, 0},
    {Family::packed_int, 4000, 4000, kChannel, Reason::int4_per_channel, 0, 0, 0},
    {Family::gptq, 4000, 4000, kGrouped, Reason::none, 0.01, 0.09, 0},
    {Family::packed_int, 4000, 4000, kGrouped, Reason::none, 0.01, 0.09, 0},
    {Family::awq, 4000, 4000, kAny, Reason::none, 0.01, 0.05, 0},
    {Family::mlx, 4000, 4000, kAny, Reason::none, 0.03, 0.12, 0},
    {Family::int_group, 4000, 4000, kAny, Reason::none, 0.03, 0.12, 0},
    {Family::hqq, 4000, 4000, kAny, Reason::none, 0.03, 0.12, 0},
    {Family::hqq_int_zero, 4000, 4000, kAny, Reason::none, 0.03, 0.12, 0},
    {Family::executorch_group, 4000, 4000, kAny, Reason::none, 0.03, 0.16, 3},
    {Family::gptq, 4001, 7999, kAny, Reason::none, 0, 0.09, 0},
    {Family::mlx, 4001, 7999, kAny, Reason::none, 0, 0.12, 0},
    {Family::hqq, 4001, 7999, kAny, Reason::none, 0, 0.12, 0},
    {Family::gptq, 0, 3999, kAny, Reason::low_bits, 0, 0, 0},
    {Family::mlx, 0, 3999, kAny, Reason::low_bits, 0, 0, 0},
    {Family::hqq, 0, 3999, kAny, Reason::low_bits, 0, 0, 0},
    {Family::hqq_int_zero, 0, 3999, kAny, Reason::low_bits, 0, 0, 0},
    {Family::sparse24, 0, 16000, kAny, Reason::pruned, 0, 0, 0},
};
// clang-format on

constexpr double kActivations8 = 0.015;  // q0867

// NVFP4 was measured (q0599, q1690, q1693); NF4 has the signal to noise of NVFP4 (QUALITY b.1: 20.7 and 20.4
// dB), and loss scales with noise.
constexpr Family kLikeQ4[] = {Family::nvfp4, Family::bnb4, Family::bnb4_double};

}  // namespace

MethodRange method_range(quant::Format f, bool low_bit_kernels) {
    MethodRange range;
    if (std::find(std::begin(kLikeQ4), std::end(kLikeQ4), f.family) != std::end(kLikeQ4)) {
        range.like_q4_0 = true;
        return range;
    }
    const Scales scales = f.group > 0 ? kGrouped : kChannel;
    for (const Rule& r : kRules)
        if (r.family == f.family && f.milli_bits >= r.least_bits && f.milli_bits <= r.most_bits &&
            (r.scales == kAny || r.scales == scales)) {
            const double high = low_bit_kernels ? std::max(r.high, kActivations8) : r.high;
            range.reason = r.reason;
            range.ln_ppl = {r.low, r.low > 0 ? std::sqrt(r.low * high) : high / 2, high};
            range.least_billions = r.least_billions;
            return range;
        }
    range.reason = Reason::method_without_rows;
    return range;
}

}  // namespace memwall::quality
