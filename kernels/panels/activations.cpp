#include "kernels/panels/activations.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "core/base/error.h"
#include "kernels/quantize/small_float.h"

namespace memwall::kernels {
namespace {

/// The largest magnitude; floats without sign are ordered like integers, which vectorises and lets NaN win.
float largest_magnitude(const float* x, std::int64_t n) {
    std::int32_t most = 0;
    for (std::int64_t i = 0; i < n; ++i)
        most = std::max(most, std::bit_cast<std::int32_t>(x[i]) & 0x7fffffff);
    return std::bit_cast<float>(most);
}

struct GroupScale {
    float scale = 0, inverse = 0;
};
GroupScale scale_of(float magnitude, float limit) {
    if (!std::isfinite(magnitude)) return {std::numeric_limits<float>::quiet_NaN(), 0};
    const float inverse = limit / magnitude;
    if (!std::isfinite(inverse)) return {};  // so small that its reciprocal overflows: zero
    return {magnitude / limit, inverse};
}

/// What offsets hold: minus the bias that the format's codes carry, times the sum. Formats with a zero point
/// or a minimum in the panel get the bare sum.
int bias_of(PanelFormat format) {
    switch (format) {
        case PanelFormat::w4g32:
            return 8;
        case PanelFormat::w8:
        case PanelFormat::w8g32:
            return 128;
        default:
            return 1;
    }
}

/// A tile being filled: row r of `rows`, for one x row.
struct TileRow {
    std::int8_t* codes;
    float* scales;
    std::int32_t* offsets;
    float* sums;  // nullptr unless q4k
    int rows, row;
};

template <int Digits>
void quantize_row(const float* x, std::int64_t k, std::int64_t padded_k, std::int64_t group, int bias,
                  TileRow t) {
    constexpr float kLimit = Digits == 2 ? 127.0f * kDigitBase : 127.0f;
    const std::int64_t step = std::int64_t{t.rows} * Digits * 4;
    for (std::int64_t from = 0, g = 0; from < padded_k; from += group, ++g) {
        const std::int64_t n = std::clamp<std::int64_t>(k - from, 0, group);
        const auto [scale, inverse] = scale_of(largest_magnitude(x + from, n), kLimit);
        const bool usable = inverse > 0;
        std::int32_t high_sum = 0, low_sum = 0;
        std::int8_t* quad = t.codes + from / 4 * step + t.row * Digits * 4;
        for (std::int64_t i = 0; i < group && from + i < padded_k; ++i) {
            std::int8_t* to = quad + i / 4 * step + i % 4;
            const auto value =
                i < n && usable ? static_cast<std::int32_t>(quantize::round_even(x[from + i] * inverse)) : 0;
            if constexpr (Digits == 2) {
                const auto high = static_cast<std::int32_t>(
                    quantize::round_even(static_cast<float>(value) * (1.0f / kDigitBase)));
                const std::int32_t low = value - kDigitBase * high;
                to[0] = static_cast<std::int8_t>(high);
                to[4] = static_cast<std::int8_t>(low);
                high_sum += high;
                low_sum += low;
            } else {
                *to = static_cast<std::int8_t>(value);
                low_sum += value;
            }
        }
        t.scales[g * t.rows + t.row] = scale;
        std::int32_t* offset = t.offsets + (g * t.rows + t.row) * Digits;
        if constexpr (Digits == 2) *offset++ = -bias * high_sum;
        *offset = -bias * low_sum;
        if (t.sums != nullptr)
            t.sums[g * t.rows + t.row] = -(scale * static_cast<float>(kDigitBase * high_sum + low_sum));
    }
}

}  // namespace

void quantize_activations(std::span<const float> x, std::int64_t m, PanelFormat format, int digits,
                          Activations& a) {
    if (m <= 0 || x.size() % static_cast<std::size_t>(m) != 0)
        throw Error("activations", std::to_string(x.size()) + " values",
                    std::to_string(m) + " rows of equal length");
    const bool floats = format == PanelFormat::f16;
    if (!floats && digits != 1 && digits != 2)
        throw Error("activations", std::to_string(digits) + " digits", "1 or 2");
    const PanelLayout& layout = panel_layout(format);
    a.format = format;
    a.m = m;
    a.k = static_cast<std::int64_t>(x.size()) / m;
    a.padded_k = (a.k + layout.block - 1) / layout.block * layout.block;
    a.digits = floats ? 0 : digits;
    if (format == PanelFormat::w8 && a.k > kHighestRowK)
        throw Error("activations", "rows of " + std::to_string(a.k) + " values", "at most 65,000 for w8",
                    "use w8g32");
    const int tile = a.tile_rows();
    if (floats) {
        a.values.resize(static_cast<std::size_t>(m * a.padded_k));
        for (std::int64_t row = 0; row < m; ++row) {
            const std::int64_t first = row / tile * tile, rows = std::min<std::int64_t>(tile, m - first);
            float* to = a.values.data() + first * a.padded_k + (row - first);
            for (std::int64_t i = 0; i < a.padded_k; ++i, to += rows)
                *to = i < a.k ? x[static_cast<std::size_t>(row * a.k + i)] : 0;
        }
        return;
    }
    const std::int64_t group = layout.group == 0 ? std::max<std::int64_t>(a.padded_k, 1) : layout.group;
    const std::int64_t groups = a.padded_k / group;
    a.codes.resize(static_cast<std::size_t>(m * digits * a.padded_k));
    a.scales.resize(static_cast<std::size_t>(m * groups));
    a.offsets.resize(static_cast<std::size_t>(m * groups * digits));
    a.sums.resize(format == PanelFormat::q4k ? a.scales.size() : 0);
    for (std::int64_t row = 0; row < m; ++row) {
        const std::int64_t first = row / tile * tile;
        const TileRow t{a.codes.data() + first * digits * a.padded_k,
                        a.scales.data() + first * groups,
                        a.offsets.data() + first * groups * digits,
                        a.sums.empty() ? nullptr : a.sums.data() + first * groups,
                        static_cast<int>(std::min<std::int64_t>(tile, m - first)),
                        static_cast<int>(row - first)};
        const float* values = x.data() + row * a.k;
        if (digits == 2)
            quantize_row<2>(values, a.k, a.padded_k, group, bias_of(format), t);
        else
            quantize_row<1>(values, a.k, a.padded_k, group, bias_of(format), t);
    }
}

Activations quantize_activations(std::span<const float> x, std::int64_t m, PanelFormat format, int digits) {
    Activations a;
    quantize_activations(x, m, format, digits, a);
    return a;
}

std::vector<float> dequantize(const Activations& a) {
    std::vector<float> out(static_cast<std::size_t>(a.m * a.k));
    const int tile = a.tile_rows();
    const PanelLayout& layout = panel_layout(a.format);
    const std::int64_t group = layout.group == 0 ? std::max<std::int64_t>(a.padded_k, 1) : layout.group;
    const std::int64_t groups = a.padded_k / group;
    for (std::int64_t row = 0; row < a.m; ++row) {
        const std::int64_t first = row / tile * tile, rows = std::min<std::int64_t>(tile, a.m - first);
        for (std::int64_t i = 0; i < a.k; ++i) {
            float& to = out[static_cast<std::size_t>(row * a.k + i)];
            if (a.digits == 0) {
                to = a.values[static_cast<std::size_t>(first * a.padded_k + i * rows + row - first)];
                continue;
            }
            const std::int8_t* code = a.codes.data() + first * a.digits * a.padded_k +
                                      (i / 4 * rows + row - first) * a.digits * 4 + i % 4;
            const int value = a.digits == 2 ? kDigitBase * code[0] + code[4] : code[0];
            to = a.scales[static_cast<std::size_t>(first * groups + i / group * rows + row - first)] *
                 static_cast<float>(value);
        }
    }
    return out;
}

}  // namespace memwall::kernels
