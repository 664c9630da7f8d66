// MXFP4 and NVFP4: 4-bit floats (E2M1) under a scale a block.
#include "kernels/quantize/block_bytes.h"

namespace memwall::quantize {
namespace {

constexpr int kMx = 32, kNv = 64, kNvSub = 16;

float largest_of(const float* x, int n) {
    float largest = 0;
    for (int i = 0; i < n; ++i) largest = std::max(largest, std::fabs(x[i]));
    return largest;
}

/// Codes of n values, the first half in low nibbles, the second in high ones.
void put_codes(const float* x, int n, float inverse, std::byte* out) {
    for (int i = 0; i < n / 2; ++i)
        put_u8(out + i,
               f32_to_e2m1(x[i] * inverse) | static_cast<unsigned>(f32_to_e2m1(x[i + n / 2] * inverse)) << 4);
}
void get_codes(const std::byte* in, int n, float scale, float* out) {
    for (int i = 0; i < n / 2; ++i) {
        out[i] = kE2m1[get_u8(in + i) & 15u] * scale;
        out[i + n / 2] = kE2m1[get_u8(in + i) >> 4] * scale;
    }
}

/// ggml stores no negative and no NaN scale: bit 7 is not looked at, 0x7f means 0.
float unsigned_e4m3(std::uint8_t e) {
    e &= 0x7f;
    return e == 0x7f ? 0.0f : e4m3_to_f32(e);
}

}  // namespace

// E8M0 exponent, 16 bytes of nibbles. The exponent is that of the largest value less that of 6, E2M1's
// largest (OCP Microscaling 1.0, section 6.3), so values above 6 x 2^e are clamped.
void encode_mxfp4(const float* x, const float*, std::byte* out) {
    const float largest = largest_of(x, kMx);
    const int exponent = largest > 0 ? std::clamp(std::ilogb(largest) - 2 + 127, 0, 254) : 0;
    put_u8(out, static_cast<unsigned>(exponent));
    put_codes(x, kMx, reciprocal(e8m0_to_f32(static_cast<std::uint8_t>(exponent))), out + 1);
}
void decode_mxfp4(const std::byte* in, float* out) {
    get_codes(in + 1, kMx, e8m0_to_f32(get_u8(in)), out);
}

// Four E4M3 scales, then 8 bytes of nibbles for each 16 values.
void encode_nvfp4(const float* x, const float*, std::byte* out) {
    for (int s = 0; s < kNv / kNvSub; ++s) {
        const float* part = x + s * kNvSub;
        const std::uint8_t scale = f32_to_e4m3(largest_of(part, kNvSub) / 6);
        put_u8(out + s, scale);
        put_codes(part, kNvSub, reciprocal(unsigned_e4m3(scale)), out + 4 + s * kNvSub / 2);
    }
}
void decode_nvfp4(const std::byte* in, float* out) {
    for (int s = 0; s < kNv / kNvSub; ++s)
        get_codes(in + 4 + s * kNvSub / 2, kNvSub, unsigned_e4m3(get_u8(in + s)), out + s * kNvSub);
}
/// The largest value of the tensor gets the largest code under the largest block scale.
float nvfp4_tensor_scale(float largest) {
    return largest > 0 ? largest / (6 * kE4m3Max) : 1.0f;
}

}  // namespace memwall::quantize
