#include "kernels/panels/kv_page.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "core/base/error.h"
#include "kernels/quantize/small_float.h"

namespace memwall::kernels {
namespace {

int bits_of(KvFormat format) {
    return format == KvFormat::f16 ? 16 : format == KvFormat::int8 ? 8 : 4;
}

/// One code of a panel of `k` codes a row. Keys: row = token, c = dim; values: row = dim, c = token.
struct Place {
    std::size_t byte;
    int shift;
};
Place place_of(int bits, int row, int c, int k) {
    const int panel = row / kPanelRows, lane = row % kPanelRows;
    if (bits == 16) return {static_cast<std::size_t>((panel * k + c) * kPanelRows + lane) * 2, 0};
    const int lines = bits == 8 ? k / 4 : k / 8, line = bits == 8 ? c / 4 : c / 8;
    return {static_cast<std::size_t>((panel * lines + line) * kLineBytes + lane * 4 + c % 4),
            bits == 4 && c / 4 % 2 == 1 ? 4 : 0};
}

void put(std::byte* codes, Place at, int bits, std::uint32_t code) {
    auto* to = reinterpret_cast<std::uint8_t*>(codes) + at.byte;
    if (bits == 16) {
        const auto half = static_cast<std::uint16_t>(code);
        std::memcpy(to, &half, 2);
    } else if (bits == 8) {
        *to = static_cast<std::uint8_t>(code);
    } else {
        *to = static_cast<std::uint8_t>((*to & (0xf0 >> at.shift)) | code << at.shift);
    }
}
std::uint32_t get(const std::byte* codes, Place at, int bits) {
    const auto* from = reinterpret_cast<const std::uint8_t*>(codes) + at.byte;
    if (bits == 16) {
        std::uint16_t half;
        std::memcpy(&half, from, 2);
        return half;
    }
    return bits == 8 ? *from : *from >> at.shift & 15;
}

/// Keys or values of a page: where its scales and codes stand, and how an element is found.
struct Half {
    std::size_t scales, codes;
    int dim;
    bool keys;
    Place place(int bits, int token, int i) const {
        return keys ? place_of(bits, token, i, dim) : place_of(bits, i, token, kPageTokens);
    }
};
Half keys_of(const KvPageLayout& l) {
    return {0, l.scales, l.key_dim, true};
}
Half values_of(const KvPageLayout& l) {
    return {kPageTokens * 2, l.scales + l.keys, l.value_dim, false};
}

void store_half(const KvPageLayout& layout, std::byte* page, const Half& half, int token,
                std::span<const float> x) {
    const int bits = bits_of(layout.format);
    std::byte* codes = page + half.codes;
    if (bits == 16) {
        for (int i = 0; i < half.dim; ++i)
            put(codes, half.place(bits, token, i), bits,
                quantize::f32_to_f16(x[static_cast<std::size_t>(i)]));
        return;
    }
    float most = 0;
    for (const float v : x) most = std::max(most, std::fabs(v));
    const int highest = bits == 8 ? 127 : 7;
    const std::uint16_t stored = quantize::f32_to_f16(std::min(most / static_cast<float>(highest), 65504.0f));
    std::memcpy(page + half.scales + token * 2, &stored, 2);
    const float scale = quantize::f16_to_f32(stored);
    const float inverse = scale > 0 ? 1 / scale : 0;
    const auto limit = static_cast<float>(highest);
    for (int i = 0; i < half.dim; ++i) {
        const float q =
            std::fmin(std::fmax(std::nearbyint(x[static_cast<std::size_t>(i)] * inverse), -limit), limit);
        put(codes, half.place(bits, token, i), bits,
            static_cast<std::uint32_t>(static_cast<int>(q) + highest + 1));
    }
}

void load_half(const KvPageLayout& layout, const std::byte* page, const Half& half, int token,
               std::span<float> x) {
    const int bits = bits_of(layout.format);
    std::uint16_t scale = 0;
    if (bits != 16) std::memcpy(&scale, page + half.scales + token * 2, 2);
    for (int i = 0; i < half.dim; ++i) {
        const std::uint32_t code = get(page + half.codes, half.place(bits, token, i), bits);
        x[static_cast<std::size_t>(i)] =
            bits == 16 ? quantize::f16_to_f32(static_cast<std::uint16_t>(code))
                       : quantize::f16_to_f32(scale) *
                             static_cast<float>(static_cast<int>(code) - (bits == 8 ? 128 : 8));
    }
}

void check(const KvPageLayout& layout, int token, std::size_t key, std::size_t value) {
    if (token < 0 || token >= kPageTokens || key != static_cast<std::size_t>(layout.key_dim) ||
        value != static_cast<std::size_t>(layout.value_dim))
        throw Error(
            "kv page",
            "token " + std::to_string(token) + " of " + std::to_string(key) + " + " + std::to_string(value) +
                " values",
            "token 0..63 of " + std::to_string(layout.key_dim) + " + " + std::to_string(layout.value_dim));
}

}  // namespace

KvPageLayout kv_page_layout(KvFormat format, int key_dim, int value_dim) {
    for (const int dim : {key_dim, value_dim})
        if (dim < 16 || dim > kHighestHeadDim || dim % 16 != 0)
            throw Error("kv page", "a head of " + std::to_string(dim) + " values",
                        "a multiple of 16 up to 256");
    const auto bytes = [&](int dim) {
        return static_cast<std::size_t>(kPageTokens) * static_cast<std::size_t>(dim) *
               static_cast<std::size_t>(bits_of(format)) / 8;
    };
    return {format,         key_dim,
            value_dim,      format == KvFormat::f16 ? std::size_t{0} : std::size_t{kPageTokens * 4},
            bytes(key_dim), bytes(value_dim)};
}

void store_token(const KvPageLayout& layout, std::byte* page, int token, std::span<const float> key,
                 std::span<const float> value) {
    check(layout, token, key.size(), value.size());
    store_half(layout, page, keys_of(layout), token, key);
    store_half(layout, page, values_of(layout), token, value);
}

void load_token(const KvPageLayout& layout, const std::byte* page, int token, std::span<float> key,
                std::span<float> value) {
    check(layout, token, key.size(), value.size());
    load_half(layout, page, keys_of(layout), token, key);
    load_half(layout, page, values_of(layout), token, value);
}

void copy_token(const KvPageLayout& layout, const std::byte* from, int from_token, std::byte* to,
                int to_token) {
    check(layout, from_token, static_cast<std::size_t>(layout.key_dim),
          static_cast<std::size_t>(layout.value_dim));
    check(layout, to_token, static_cast<std::size_t>(layout.key_dim),
          static_cast<std::size_t>(layout.value_dim));
    const int bits = bits_of(layout.format);
    for (const Half& half : {keys_of(layout), values_of(layout)}) {
        if (bits != 16) std::memcpy(to + half.scales + to_token * 2, from + half.scales + from_token * 2, 2);
        for (int i = 0; i < half.dim; ++i)
            put(to + half.codes, half.place(bits, to_token, i), bits,
                get(from + half.codes, half.place(bits, from_token, i), bits));
    }
}

}  // namespace memwall::kernels
