#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/error.h"
#include "kernels/panels/panels.h"
#include "kernels/quantize/small_float.h"

namespace memwall::kernels {
namespace {

using quantize::f16_to_f32;
using quantize::f32_to_f16;

std::int64_t groups_of(const PanelLayout& layout, std::int64_t k) {
    return layout.group == 0 ? 0 : (k + layout.group - 1) / layout.group;
}

std::uint8_t clamp_code(float x, int highest) {
    return static_cast<std::uint8_t>(
        std::fmin(std::fmax(std::nearbyint(x), 0.0f), static_cast<float>(highest)));
}

struct Range {
    float lowest = 0, highest = 0;  // always around zero, so that zero has a code
    float magnitude() const { return std::max(-lowest, highest); }
};
Range range_of(const float* x, std::int64_t n) {
    Range r;
    for (std::int64_t i = 0; i < n; ++i) {
        r.lowest = std::min(r.lowest, x[i]);
        r.highest = std::max(r.highest, x[i]);
    }
    return r;
}
float inverse(float scale) {
    return scale > 0 ? 1 / scale : 0;
}

/// Codes around `bias` of one group; the stored scale comes back.
std::uint16_t symmetric_group(const float* x, std::int64_t n, int bias, std::uint8_t* codes) {
    const std::uint16_t scale = f32_to_f16(range_of(x, n).magnitude() / static_cast<float>(bias - 1));
    const float inv = inverse(f16_to_f32(scale));
    const auto b = static_cast<float>(bias);
    for (std::int64_t i = 0; i < n; ++i) codes[i] = clamp_code(x[i] * inv + b, 2 * bias - 1);
    return scale;
}

/// One super-block of Q4_K: 6-bit steps of a common scale and a common minimum.
void q4k_block(const float* x, std::int64_t n, std::uint8_t* codes, std::uint16_t* d, std::uint8_t* steps) {
    float scales[8] = {}, mins[8] = {};
    for (std::int64_t g = 0; g * 32 < n; ++g) {
        const Range r = range_of(x + g * 32, std::min<std::int64_t>(32, n - g * 32));
        scales[g] = (r.highest - r.lowest) / 15;
        mins[g] = -r.lowest;
    }
    d[0] = f32_to_f16(*std::max_element(scales, scales + 8) / 63);
    d[1] = f32_to_f16(*std::max_element(mins, mins + 8) / 63);
    const float inv_d = inverse(f16_to_f32(d[0])), inv_m = inverse(f16_to_f32(d[1]));
    for (std::int64_t g = 0; g * 32 < n; ++g) {
        steps[2 * g] = clamp_code(scales[g] * inv_d, 63);
        steps[2 * g + 1] = clamp_code(mins[g] * inv_m, 63);
        const float inv = inverse(f16_to_f32(d[0]) * static_cast<float>(steps[2 * g]));
        const float low = f16_to_f32(d[1]) * static_cast<float>(steps[2 * g + 1]);
        for (std::int64_t i = g * 32; i < std::min(n, g * 32 + 32); ++i)
            codes[i] = clamp_code((x[i] + low) * inv, 15);
    }
}

}  // namespace

QuantMatrix empty_matrix(PanelFormat format, std::int64_t rows, std::int64_t k) {
    constexpr std::int64_t kMost = std::int64_t{1} << 40;
    if (rows < 0 || k < 0 || (k > 0 && rows > kMost / k))
        throw Error("panels", std::to_string(rows) + " x " + std::to_string(k) + " values",
                    "sides from 0 and at most 2^40 values");
    const PanelLayout& layout = panel_layout(format);
    const auto values = static_cast<std::size_t>(rows * k);
    const auto groups = static_cast<std::size_t>(rows * groups_of(layout, k));
    QuantMatrix m;
    m.format = format;
    m.rows = rows;
    m.k = k;
    if (format == PanelFormat::f16) {
        m.halves.resize(values);
        return m;
    }
    m.codes.resize(values);
    if (format == PanelFormat::w8) m.row_scales.resize(static_cast<std::size_t>(rows));
    if (format == PanelFormat::w4g128) m.zeros.resize(groups);
    if (format == PanelFormat::q4k) {
        m.steps.resize(groups * 2);
        m.scales.resize(static_cast<std::size_t>(rows * ((k + 255) / 256) * 2));
    } else {
        m.scales.resize(groups);
    }
    return m;
}

std::vector<float> dequantize(const QuantMatrix& m) {
    const PanelLayout& layout = panel_layout(m.format);
    const std::int64_t groups = groups_of(layout, m.k), blocks = (m.k + 255) / 256;
    std::vector<float> out(static_cast<std::size_t>(m.rows * m.k));
    for (std::int64_t r = 0; r < m.rows; ++r) {
        for (std::int64_t c = 0; c < m.k; ++c) {
            const auto at = static_cast<std::size_t>(r * m.k + c);
            const auto group =
                static_cast<std::size_t>(layout.group == 0 ? 0 : r * groups + c / layout.group);
            const auto block = static_cast<std::size_t>(2 * (r * blocks + c / 256));
            const float code = m.codes.empty() ? 0 : static_cast<float>(m.codes[at]);
            switch (m.format) {
                case PanelFormat::w4g32:
                    out[at] = f16_to_f32(m.scales[group]) * (code - 8);
                    break;
                case PanelFormat::w4g128:
                    out[at] = f16_to_f32(m.scales[group]) * (code - static_cast<float>(m.zeros[group]));
                    break;
                case PanelFormat::q4k:  // both products of fp16 and 6 bits are exact
                    out[at] = f16_to_f32(m.scales[block]) * static_cast<float>(m.steps[2 * group]) * code -
                              f16_to_f32(m.scales[block + 1]) * static_cast<float>(m.steps[2 * group + 1]);
                    break;
                case PanelFormat::w8:
                    out[at] = m.row_scales[static_cast<std::size_t>(r)] * (code - 128);
                    break;
                case PanelFormat::w8g32:
                    out[at] = f16_to_f32(m.scales[group]) * (code - 128);
                    break;
                case PanelFormat::f16:
                    out[at] = f16_to_f32(m.halves[at]);
                    break;
            }
        }
    }
    return out;
}

QuantMatrix round_to_nearest(PanelFormat format, std::span<const float> w, std::int64_t rows,
                             std::int64_t k) {
    QuantMatrix m = empty_matrix(format, rows, k);
    if (w.size() != static_cast<std::size_t>(rows * k))
        throw Error("panels", std::to_string(w.size()) + " weights",
                    std::to_string(rows) + " x " + std::to_string(k));
    const PanelLayout& layout = panel_layout(format);
    const std::int64_t groups = groups_of(layout, k), blocks = (k + 255) / 256;
    for (std::int64_t r = 0; r < rows; ++r) {
        const float* x = w.data() + r * k;
        std::uint8_t* codes = m.codes.data() + r * k;
        switch (format) {
            case PanelFormat::f16:
                std::transform(x, x + k, m.halves.begin() + r * k, f32_to_f16);
                break;
            case PanelFormat::w8: {
                const float scale = range_of(x, k).magnitude() / 127;
                m.row_scales[static_cast<std::size_t>(r)] = scale;
                const float inv = inverse(scale);
                for (std::int64_t i = 0; i < k; ++i) codes[i] = clamp_code(x[i] * inv + 128, 255);
                break;
            }
            case PanelFormat::w4g32:
            case PanelFormat::w8g32:
                for (std::int64_t g = 0; g < groups; ++g)
                    m.scales[static_cast<std::size_t>(r * groups + g)] =
                        symmetric_group(x + g * 32, std::min<std::int64_t>(32, k - g * 32),
                                        format == PanelFormat::w4g32 ? 8 : 128, codes + g * 32);
                break;
            case PanelFormat::w4g128:
                for (std::int64_t g = 0; g < groups; ++g) {
                    const std::int64_t from = g * layout.group,
                                       n = std::min<std::int64_t>(layout.group, k - from);
                    const Range range = range_of(x + from, n);
                    const auto at = static_cast<std::size_t>(r * groups + g);
                    m.scales[at] = f32_to_f16((range.highest - range.lowest) / 15);
                    const float inv = inverse(f16_to_f32(m.scales[at]));
                    m.zeros[at] = clamp_code(-range.lowest * inv, 15);
                    for (std::int64_t i = from; i < from + n; ++i)
                        codes[i] = clamp_code(x[i] * inv + static_cast<float>(m.zeros[at]), 15);
                }
                break;
            case PanelFormat::q4k:
                for (std::int64_t b = 0; b < blocks; ++b)
                    q4k_block(x + b * 256, std::min<std::int64_t>(256, k - b * 256), codes + b * 256,
                              m.scales.data() + 2 * (r * blocks + b),
                              m.steps.data() + 2 * (r * groups + b * 8));
                break;
        }
    }
    return m;
}

}  // namespace memwall::kernels
