#include "kernels/quantize/nf4.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/quantize/block_bytes.h"

namespace memwall::quantize {
namespace {

constexpr auto kMiddles = [] {
    std::array<float, 15> middles{};
    for (std::size_t i = 0; i < middles.size(); ++i) middles[i] = (kNf4[i] + kNf4[i + 1]) / 2;
    return middles;
}();

unsigned nearest(float x) {
    unsigned code = 0;
    for (const float m : kMiddles) code += x > m;
    return code;
}

std::array<float, 256> make_dynamic_map() {
    std::array<float, 256> map{};
    std::size_t n = 0;
    // Each decade from 10^-6 to 1 holds 2^i middles of equal steps between 0.1 and 1, of either sign.
    for (int i = 0; i < 7; ++i) {
        const double decade = std::pow(10.0, i - 6), step = 0.9 / (1 << i);
        for (int k = 0; k < 1 << i; ++k) {
            const auto v = static_cast<float>(decade * (0.1 + step * (k + 0.5)));
            map[n++] = v;
            map[n++] = -v;
        }
    }
    map[n++] = 0;
    map[n++] = 1;
    std::sort(map.begin(), map.end());
    return map;
}

}  // namespace

// The first of two codes is in the high nibble.
void encode_nf4(const float* x, const float*, std::byte* out) {
    float largest = 0;
    for (int i = 0; i < kNf4Block; ++i) largest = std::max(largest, std::fabs(x[i]));
    const float inverse = reciprocal(largest);
    for (int i = 0; i < kNf4Block; i += 2)
        put_u8(out + i / 2, nearest(x[i] * inverse) << 4 | nearest(x[i + 1] * inverse));
    put_f32(out + kNf4Block / 2, largest);
}

void decode_nf4(const std::byte* in, float* out) {
    const float largest = get_f32(in + kNf4Block / 2);
    for (int i = 0; i < kNf4Block; i += 2) {
        out[i] = kNf4[get_u8(in + i / 2) >> 4] * largest;
        out[i + 1] = kNf4[get_u8(in + i / 2) & 15u] * largest;
    }
}

const std::array<float, 256>& dynamic_map() {
    static const auto map = make_dynamic_map();
    return map;
}

DoubleQuantized double_quantize(std::span<const float> absmax) {
    DoubleQuantized q;
    if (absmax.empty()) return q;
    q.offset = static_cast<float>(std::accumulate(absmax.begin(), absmax.end(), 0.0) /
                                  static_cast<double>(absmax.size()));
    const auto& map = dynamic_map();
    for (std::size_t from = 0; from < absmax.size(); from += kNf4AbsmaxBlock) {
        const auto block = absmax.subspan(from, std::min<std::size_t>(kNf4AbsmaxBlock, absmax.size() - from));
        float largest = 0;
        for (const float a : block) largest = std::max(largest, std::fabs(a - q.offset));
        const float inverse = reciprocal(largest);
        for (const float a : block) {
            const float x = (a - q.offset) * inverse;
            const auto above = std::lower_bound(map.begin() + 1, map.end() - 1, x);
            const bool lower = x - *(above - 1) < *above - x;
            q.codes.push_back(static_cast<std::uint8_t>(above - map.begin() - lower));
        }
        q.scales.push_back(largest);
    }
    return q;
}

std::vector<float> double_dequantize(const DoubleQuantized& q) {
    std::vector<float> absmax(q.codes.size());
    for (std::size_t i = 0; i < absmax.size(); ++i)
        absmax[i] = q.offset + dynamic_map()[q.codes[i]] * q.scales[i / kNf4AbsmaxBlock];
    return absmax;
}

}  // namespace memwall::quantize
