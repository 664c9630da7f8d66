#include "kernels/quantize/block_codec.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "core/base/error.h"
#include "core/quant/name_pattern.h"
#include "kernels/quantize/block_bytes.h"
#include "kernels/quantize/nf4.h"

namespace memwall::quantize {
namespace {

constexpr int kSimple = 32;  // values a block of the formats without super-blocks

void encode_f32(const float* x, const float*, std::byte* out) {
    put_f32(out, *x);
}
void decode_f32(const std::byte* in, float* out) {
    *out = get_f32(in);
}
void encode_f16(const float* x, const float*, std::byte* out) {
    put_f16(out, *x);
}
void decode_f16(const std::byte* in, float* out) {
    *out = get_f16(in);
}
void encode_bf16(const float* x, const float*, std::byte* out) {
    put_u16(out, f32_to_bf16(*x));
}
void decode_bf16(const std::byte* in, float* out) {
    *out = bf16_to_f32(get_u16(in));
}

/// The value of largest magnitude, with its sign.
float signed_largest(const float* x) {
    float largest = 0;
    for (int i = 0; i < kSimple; ++i)
        if (std::fabs(x[i]) > std::fabs(largest)) largest = x[i];
    return largest;
}

/// Low nibbles hold values 0 to 15 of a block, high ones 16 to 31.
void put_nibbles(std::byte* out, const std::array<unsigned, kSimple>& codes) {
    for (int i = 0; i < kSimple / 2; ++i)
        put_u8(out + i, (codes[static_cast<std::size_t>(i)] & 15u) |
                            (codes[static_cast<std::size_t>(i) + kSimple / 2] & 15u) << 4);
}
unsigned get_nibble(const std::byte* in, int i) {
    return i < kSimple / 2 ? get_u8(in + i) & 15u : get_u8(in + i - kSimple / 2) >> 4;
}

/// Bit 4 of each code, as Q5_0 and Q5_1 keep it beside the nibbles.
std::uint32_t high_bits(const std::array<unsigned, kSimple>& codes) {
    std::uint32_t bits = 0;
    for (unsigned i = 0; i < kSimple; ++i) bits |= (codes[i] >> 4) << i;
    return bits;
}

// Q4_0 and Q5_0: f16 scale [, u32 of fifth bits], nibbles; x = (q - half) d. The scale puts the value of
// largest magnitude on code 0 exactly.
template <int Bits>
void encode_offset(const float* x, const float*, std::byte* out) {
    constexpr int kHalf = 1 << (Bits - 1);
    const float d = signed_largest(x) / -kHalf, inverse = reciprocal(d);
    std::array<unsigned, kSimple> codes;
    for (unsigned i = 0; i < kSimple; ++i)
        codes[i] = static_cast<unsigned>(
            std::clamp(static_cast<int>(x[i] * inverse + (kHalf + 0.5f)), 0, 2 * kHalf - 1));
    put_f16(out, d);
    if constexpr (Bits == 5) put_u32(out + 2, high_bits(codes));
    put_nibbles(out + (Bits == 5 ? 6 : 2), codes);
}
template <int Bits>
void decode_offset(const std::byte* in, float* out) {
    const float d = get_f16(in);
    const std::uint32_t high = Bits == 5 ? get_u32(in + 2) : 0;
    for (int i = 0; i < kSimple; ++i) {
        const unsigned code = get_nibble(in + (Bits == 5 ? 6 : 2), i) | (high >> i & 1) << 4;
        out[i] = static_cast<float>(static_cast<int>(code) - (1 << (Bits - 1))) * d;
    }
}

// Q4_1 and Q5_1: f16 scale, f16 minimum [, u32 of fifth bits], nibbles; x = q d + m.
template <int Bits>
void encode_minimum(const float* x, const float*, std::byte* out) {
    constexpr int kTop = (1 << Bits) - 1;
    const auto [low, high] = std::minmax_element(x, x + kSimple);
    const float d = (*high - *low) / kTop, inverse = reciprocal(d);
    std::array<unsigned, kSimple> codes;
    for (unsigned i = 0; i < kSimple; ++i)
        codes[i] =
            static_cast<unsigned>(std::clamp(static_cast<int>((x[i] - *low) * inverse + 0.5f), 0, kTop));
    put_f16(out, d);
    put_f16(out + 2, *low);
    if constexpr (Bits == 5) put_u32(out + 4, high_bits(codes));
    put_nibbles(out + (Bits == 5 ? 8 : 4), codes);
}
template <int Bits>
void decode_minimum(const std::byte* in, float* out) {
    const float d = get_f16(in), m = get_f16(in + 2);
    const std::uint32_t high = Bits == 5 ? get_u32(in + 4) : 0;
    for (int i = 0; i < kSimple; ++i) {
        const unsigned code = get_nibble(in + (Bits == 5 ? 8 : 4), i) | (high >> i & 1) << 4;
        out[i] = static_cast<float>(code) * d + m;
    }
}

// Q8_0: f16 scale, 32 signed bytes.
void encode_q8_0(const float* x, const float*, std::byte* out) {
    const float d = std::fabs(signed_largest(x)) / 127, inverse = reciprocal(d);
    put_f16(out, d);
    for (int i = 0; i < kSimple; ++i)
        put_u8(out + 2 + i, static_cast<std::uint8_t>(static_cast<std::int8_t>(std::round(x[i] * inverse))));
}
void decode_q8_0(const std::byte* in, float* out) {
    const float d = get_f16(in);
    for (int i = 0; i < kSimple; ++i)
        out[i] = static_cast<float>(static_cast<std::int8_t>(get_u8(in + 2 + i))) * d;
}

struct Code {
    std::string_view name;
    decltype(BlockCodec::encode) encode;
    decltype(BlockCodec::decode) decode;
    decltype(BlockCodec::tensor_scale) tensor_scale = nullptr;
};

constexpr Code kCodes[] = {
    {"F32", encode_f32, decode_f32},
    {"F16", encode_f16, decode_f16},
    {"BF16", encode_bf16, decode_bf16},
    {"Q4_0", encode_offset<4>, decode_offset<4>},
    {"Q4_1", encode_minimum<4>, decode_minimum<4>},
    {"Q5_0", encode_offset<5>, decode_offset<5>},
    {"Q5_1", encode_minimum<5>, decode_minimum<5>},
    {"Q8_0", encode_q8_0, decode_q8_0},
    {"Q4_K", encode_q4_k, decode_q4_k},
    {"Q5_K", encode_q5_k, decode_q5_k},
    {"Q6_K", encode_q6_k, decode_q6_k},
    {"MXFP4", encode_mxfp4, decode_mxfp4},
    {"NVFP4", encode_nvfp4, decode_nvfp4, nvfp4_tensor_scale},
};

std::array<BlockCodec, std::size(kCodes) + 1> make_table() {
    std::array<BlockCodec, std::size(kCodes) + 1> table;
    for (std::size_t i = 0; i < std::size(kCodes); ++i) {
        const Code& c = kCodes[i];
        const quant::BlockFormat& f = *quant::find_block_format(quant::ggml(c.name).ggml_type);
        table[i] = {f.name, f.block_len, f.block_bytes, c.encode, c.decode, c.tensor_scale};
    }
    // bitsandbytes keeps codes and maxima in two tensors; here the f32 maximum follows its codes.
    table.back() = {"NF4", kNf4Block, kNf4Block / 2 + 4, encode_nf4, decode_nf4, nullptr};
    return table;
}

void check(const BlockCodec& codec, std::size_t values, std::size_t bytes) {
    const auto block = static_cast<std::size_t>(codec.block_len);
    if (values % block != 0 || bytes != encoded_bytes(codec, values))
        throw Error("", fmt::format("{} values and {} bytes of {}", values, bytes, codec.name),
                    fmt::format("a multiple of {} values in {} bytes each", block, codec.block_bytes));
}

}  // namespace

std::span<const BlockCodec> block_codecs() {
    static const auto table = make_table();
    return table;
}

const BlockCodec* find_codec(std::string_view name) {
    for (const BlockCodec& c : block_codecs())
        if (quant::match_name(c.name, name)) return &c;
    return nullptr;
}

const BlockCodec* find_codec(quant::Format format) {
    if (format.family == quant::Family::bnb4) return find_codec("NF4");
    return format.family == quant::Family::ggml ? find_codec(quant::format_name(format)) : nullptr;
}

std::size_t encoded_bytes(const BlockCodec& codec, std::size_t values) {
    return values / static_cast<std::size_t>(codec.block_len) * static_cast<std::size_t>(codec.block_bytes);
}

void encode(const BlockCodec& codec, std::span<const float> x, std::span<std::byte> out,
            std::span<const float> weights) {
    check(codec, x.size(), out.size());
    if (!codec.encode) throw Error("", fmt::format("{} is only read", codec.name));
    const auto block = static_cast<std::size_t>(codec.block_len);
    std::byte* at = out.data();
    for (std::size_t i = 0; i < x.size(); i += block, at += codec.block_bytes)
        codec.encode(x.data() + i, weights.empty() ? nullptr : weights.data() + i, at);
}

void decode(const BlockCodec& codec, std::span<const std::byte> in, std::span<float> out) {
    check(codec, out.size(), in.size());
    const std::byte* at = in.data();
    for (std::size_t i = 0; i < out.size(); i += static_cast<std::size_t>(codec.block_len)) {
        codec.decode(at, out.data() + i);
        at += codec.block_bytes;
    }
}

}  // namespace memwall::quantize
