// Q4_K, Q5_K and Q6_K: 256 values in sub-blocks whose scales are themselves quantized. Encoding is a least
// squares problem with rounded unknowns; it is searched in two steps: the best scale (and minimum) of each
// sub-block alone, then the best stored pair near it once the super-block's f16 scales are fixed.
#include <array>
#include <cstring>

#include "kernels/quantize/block_bytes.h"

namespace memwall::quantize {
namespace {

constexpr int kSuper = 256;
constexpr int kLanes = 4;  // partial sums, so that compilers may use vectors without reordering

struct Affine {
    float scale = 0, minimum = 0;  // x = scale q - minimum, minimum >= 0
};

template <int N>
struct SubBlock {
    const float* x;
    std::array<float, N> w;  // weight of each squared error

    SubBlock(const float* values, const float* weights) : x(values) {
        if (weights)
            std::copy(weights, weights + N, w.begin());
        else
            w.fill(1);
    }
};

/// Weighted sums of the codes that a scale and a shift give.
struct Sums {
    float q = 0, qq = 0, xq = 0;
};

/// q = round((x + shift) inverse) within [low, high].
template <int N>
Sums code_sums(const SubBlock<N>& b, float inverse, float shift, float low, float high) {
    float q[kLanes] = {}, qq[kLanes] = {}, xq[kLanes] = {};
    for (int i = 0; i < N; i += kLanes)
        for (int l = 0; l < kLanes; ++l) {
            const float x = b.x[i + l], w = b.w[static_cast<std::size_t>(i + l)];
            const float code = std::min(std::max(round_even((x + shift) * inverse), low), high);
            q[l] += w * code;
            qq[l] += w * code * code;
            xq[l] += w * x * code;
        }
    const auto total = [](const float* s) { return (s[0] + s[1]) + (s[2] + s[3]); };
    return {total(q), total(qq), total(xq)};
}

/// Squared error of x = scale q - minimum with the nearest codes.
template <int N>
float error_of(const SubBlock<N>& b, Affine a, float low, float high) {
    const float inverse = reciprocal(a.scale);
    float sum[kLanes] = {};
    for (int i = 0; i < N; i += kLanes)
        for (int l = 0; l < kLanes; ++l) {
            const float x = b.x[i + l] + a.minimum;
            const float e = x - a.scale * std::min(std::max(round_even(x * inverse), low), high);
            sum[l] += b.w[static_cast<std::size_t>(i + l)] * e * e;
        }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/// Scale and minimum for codes 0 to top: for each of a row of step widths the codes are rounded, and the
/// least squares solution for those codes is kept when it leaves the smallest error.
template <int N>
Affine fit_affine(const SubBlock<N>& b, float top) {
    float low = 0, high = b.x[0], sw = 0, sx = 0;
    for (int i = 0; i < N; ++i) {
        low = std::min(low, b.x[i]);
        high = std::max(high, b.x[i]);
        sw += b.w[static_cast<std::size_t>(i)];
        sx += b.w[static_cast<std::size_t>(i)] * b.x[i];
    }
    if (!(high > low)) return {0, -low};
    Affine best{(high - low) / top, -low};
    float gain = -1;  // what the solution takes off the energy; more is better
    const auto consider = [&](float inverse, float shift) {
        const Sums s = code_sums(b, inverse, shift, 0, top);
        const float determinant = sw * s.qq - s.q * s.q;
        if (!(determinant > 0)) return;
        Affine a{(sw * s.xq - sx * s.q) / determinant, (s.q * s.xq - s.qq * sx) / determinant};
        if (a.minimum < 0) a = {s.xq / s.qq, 0};
        if (!(a.scale > 0)) return;
        const float taken = 2 * (a.scale * s.xq - a.minimum * sx) - a.scale * a.scale * s.qq +
                            2 * a.scale * a.minimum * s.q - a.minimum * a.minimum * sw;
        if (taken > gain) gain = taken, best = a;
    };
    for (int step = -12; step <= 10; ++step)
        consider((top + 0.1f * static_cast<float>(step)) / (high - low), -low);
    for (int again = 0; again < 2; ++again) consider(1 / best.scale, best.minimum);
    return best;
}

/// Scale of either sign for codes -32 to 31, likewise.
template <int N>
float fit_scale(const SubBlock<N>& b) {
    float largest = 0;
    for (int i = 0; i < N; ++i)
        if (std::fabs(b.x[i]) > std::fabs(largest)) largest = b.x[i];
    float best = largest / -32, gain = 0;
    if (!std::isfinite(1 / best)) return 0;
    for (int step = -10; step <= 10; ++step) {
        const Sums s = code_sums(b, -(32 + 0.1f * static_cast<float>(step)) / largest, 0, -32, 31);
        if (s.qq > 0 && s.xq * s.xq > gain * s.qq) gain = s.xq * s.xq / s.qq, best = s.xq / s.qq;
    }
    return best;
}

unsigned code_of(float x, Affine a, float low, float high) {
    return static_cast<unsigned>(
        static_cast<int>(std::min(std::max(round_even((x + a.minimum) * reciprocal(a.scale)), low), high)));
}

// 8 pairs of 6-bit scale and minimum in 12 bytes: pairs 0 to 3 in the low six bits of bytes 0-3 and 4-7; the
// low nibbles of pairs 4 to 7 share bytes 8-11, their upper two bits sit above those of bytes 0-7.
struct Pair {
    unsigned scale = 0, minimum = 0;
};

void put_pairs(const std::array<Pair, 8>& pairs, std::byte* out) {
    for (unsigned i = 0; i < 4; ++i) {
        const Pair a = pairs[i], b = pairs[i + 4];
        put_u8(out + i, a.scale | (b.scale >> 4) << 6);
        put_u8(out + 4 + i, a.minimum | (b.minimum >> 4) << 6);
        put_u8(out + 8 + i, (b.scale & 15u) | (b.minimum & 15u) << 4);
    }
}

Pair get_pair(const std::byte* in, int i) {
    if (i < 4) return {get_u8(in + i) & 63u, get_u8(in + i + 4) & 63u};
    const unsigned low = get_u8(in + i + 4);
    return {(low & 15u) | (unsigned{get_u8(in + i - 4)} >> 6) << 4, low >> 4 | (unsigned{get_u8(in + i)} >> 6)
                                                                                   << 4};
}

// Q4_K and Q5_K: f16 d, f16 dmin, 12 bytes of pairs [, 32 bytes of fifth bits: bit s of byte i belongs to
// value i of sub-block s], 128 bytes of nibbles: 32 bytes hold two sub-blocks, the first in low nibbles.
template <int Bits>
struct AffineK {
    static constexpr int kSub = 32, kParts = kSuper / kSub;
    static constexpr float kTop = (1 << Bits) - 1;
    static constexpr int kPairs = 4, kHigh = 16, kNibbles = Bits == 5 ? 48 : 16;

    static void encode(const float* x, const float* weights, std::byte* out) {
        std::array<Affine, kParts> fits;
        float scale = 0, minimum = 0;
        for (int s = 0; s < kParts; ++s) {
            const SubBlock<kSub> b(x + s * kSub, weights ? weights + s * kSub : nullptr);
            fits[static_cast<std::size_t>(s)] = fit_affine(b, kTop);
            scale = std::max(scale, fits[static_cast<std::size_t>(s)].scale);
            minimum = std::max(minimum, fits[static_cast<std::size_t>(s)].minimum);
        }
        std::memset(out, 0, kNibbles);
        put_f16(out, scale / 63);
        put_f16(out + 2, minimum / 63);
        const float d = get_f16(out), dmin = get_f16(out + 2);
        std::array<Pair, 8> pairs;
        for (int s = 0; s < kParts; ++s) {
            const SubBlock<kSub> b(x + s * kSub, weights ? weights + s * kSub : nullptr);
            const Pair pair = pairs[static_cast<std::size_t>(s)] =
                nearest_pair(b, fits[static_cast<std::size_t>(s)], d, dmin);
            const Affine a = stored(pair, d, dmin);
            for (int i = 0; i < kSub; ++i) put_code(out, s, i, code_of(b.x[i], a, 0, kTop));
        }
        put_pairs(pairs, out + kPairs);
    }

    static void decode(const std::byte* in, float* out) {
        const float d = get_f16(in), dmin = get_f16(in + 2);
        for (int s = 0; s < kParts; ++s) {
            const Affine a = stored(get_pair(in + kPairs, s), d, dmin);
            for (int i = 0; i < kSub; ++i) {
                unsigned code = get_u8(in + kNibbles + s / 2 * kSub + i) >> (s % 2 * 4) & 15u;
                if constexpr (Bits == 5) code |= (get_u8(in + kHigh + i) >> s & 1u) << 4;
                out[s * kSub + i] = a.scale * static_cast<float>(code) - a.minimum;
            }
        }
    }

  private:
    static Affine stored(Pair p, float d, float dmin) {
        return {d * static_cast<float>(p.scale), dmin * static_cast<float>(p.minimum)};
    }

    /// The pair within one of the rounded fit that leaves the smallest error.
    static Pair nearest_pair(const SubBlock<kSub>& b, Affine fit, float d, float dmin) {
        const int scale = static_cast<int>(std::min(fit.scale * reciprocal(d) + 0.5f, 63.0f));
        const int minimum = static_cast<int>(std::min(fit.minimum * reciprocal(dmin) + 0.5f, 63.0f));
        Pair best{static_cast<unsigned>(scale), static_cast<unsigned>(minimum)};
        float least = error_of(b, stored(best, d, dmin), 0, kTop);
        for (int i = std::max(scale - 1, 0); i <= std::min(scale + 1, 63); ++i)
            for (int k = std::max(minimum - 1, 0); k <= std::min(minimum + 1, 63); ++k) {
                const Pair p{static_cast<unsigned>(i), static_cast<unsigned>(k)};
                const float error = error_of(b, stored(p, d, dmin), 0, kTop);
                if (error < least) least = error, best = p;
            }
        return best;
    }

    static void put_code(std::byte* out, int s, int i, unsigned code) {
        std::byte* nibble = out + kNibbles + s / 2 * kSub + i;
        put_u8(nibble, s % 2 == 0 ? code & 15u : get_u8(nibble) | (code & 15u) << 4);
        if constexpr (Bits == 5) put_u8(out + kHigh + i, get_u8(out + kHigh + i) | (code >> 4) << s);
    }
};

// Q6_K: 128 bytes of low nibbles, 64 of upper two bits, 16 signed scales, f16 d. Each half of 128 values is
// four runs of 32: runs 0 and 2 share 32 bytes of nibbles, runs 1 and 3 the next; one byte of upper bits
// holds those of all four.
constexpr int kSub6 = 16, kParts6 = kSuper / kSub6, kHigh6 = 128, kScales6 = 192, kD6 = 208;

struct Place {
    int nibble, shift, high, high_shift;
};
Place place_of(int i) {
    const int half = i / 128, run = i % 128 / 32, at = i % 32;
    return {half * 64 + run % 2 * 32 + at, run / 2 * 4, kHigh6 + half * 32 + at, run * 2};
}

}  // namespace

void encode_q4_k(const float* x, const float* weights, std::byte* out) {
    AffineK<4>::encode(x, weights, out);
}
void decode_q4_k(const std::byte* in, float* out) {
    AffineK<4>::decode(in, out);
}
void encode_q5_k(const float* x, const float* weights, std::byte* out) {
    AffineK<5>::encode(x, weights, out);
}
void decode_q5_k(const std::byte* in, float* out) {
    AffineK<5>::decode(in, out);
}

void encode_q6_k(const float* x, const float* weights, std::byte* out) {
    std::array<float, kParts6> fits;
    float largest = 0;
    for (int s = 0; s < kParts6; ++s) {
        const SubBlock<kSub6> b(x + s * kSub6, weights ? weights + s * kSub6 : nullptr);
        const float fit = fits[static_cast<std::size_t>(s)] = fit_scale(b);
        if (std::fabs(fit) > std::fabs(largest)) largest = fit;
    }
    std::memset(out, 0, kScales6);
    put_f16(out + kD6, largest / -128);
    const float d = get_f16(out + kD6), inverse = reciprocal(d);
    for (int s = 0; s < kParts6; ++s) {
        const SubBlock<kSub6> b(x + s * kSub6, weights ? weights + s * kSub6 : nullptr);
        const float wanted =
            std::clamp(round_even(fits[static_cast<std::size_t>(s)] * inverse), -128.0f, 127.0f);
        float best = wanted, least = error_of(b, {d * wanted, 0}, -32, 31);
        for (const float other : {wanted - 1, wanted + 1}) {
            if (other < -128 || other > 127) continue;
            const float error = error_of(b, {d * other, 0}, -32, 31);
            if (error < least) least = error, best = other;
        }
        put_u8(out + kScales6 + s, static_cast<std::uint8_t>(static_cast<std::int8_t>(best)));
        for (int i = 0; i < kSub6; ++i) {
            const unsigned code = code_of(b.x[i], {d * best, 0}, -32, 31) + 32u;
            const Place p = place_of(s * kSub6 + i);
            put_u8(out + p.nibble, get_u8(out + p.nibble) | (code & 15u) << p.shift);
            put_u8(out + p.high, get_u8(out + p.high) | (code >> 4) << p.high_shift);
        }
    }
}

void decode_q6_k(const std::byte* in, float* out) {
    const float d = get_f16(in + kD6);
    for (int i = 0; i < kSuper; ++i) {
        const Place p = place_of(i);
        const int code = (get_u8(in + p.nibble) >> p.shift & 15) | (get_u8(in + p.high) >> p.high_shift & 3)
                                                                       << 4;
        const auto scale = static_cast<std::int8_t>(get_u8(in + kScales6 + i / kSub6));
        out[i] = d * static_cast<float>(scale) * static_cast<float>(code - 32);
    }
}

}  // namespace memwall::quantize
