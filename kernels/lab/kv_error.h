// What a quantized KV cache does to attention (QUALITY b.4): keys and values apart, with and without a
// Hadamard rotation, on one head.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/lab/random_weights.h"

namespace memwall::lab {

/// One head: keys and values [tokens, width], queries [queries, width].
struct Head {
    Matrix keys, values, queries;
};

struct SyntheticHead {
    std::size_t tokens = 2048, width = 128, queries = 64;
    std::size_t offset_channels = 0;  ///< of the keys, one at random in each share of the width ...
    float offset = 20;                ///< ... each with this constant added to values of rms 1
    float query_rms = 1.5f;           ///< the rms of the logits, too
};
/// Throws Error for a width that is no power of two from 32 on, or no tokens.
Head synthetic_head(const SyntheticHead& shape, std::uint64_t seed);

/// A way of storing one of the two halves.
struct KvFormat {
    std::string_view name;
    int bits;
    bool channel;            ///< a scale and a minimum for 32 tokens of one channel, else per token
    std::string_view block;  ///< ggml block format along the token's row; empty: one scale a token
};
/// q8_0, q4_0, int8 and int4 as --kv names them; int8-channel32 and int4-channel32 are KIVI's way (arXiv
/// 2402.02750), a scale and a minimum for each 32 tokens of a channel.
std::span<const KvFormat> kv_formats();
/// Stored bits a value.
double stored_bits(const KvFormat& format, std::size_t width);
/// [tokens, width] quantized and back.
Matrix round_trip(const KvFormat& format, MatrixView half);

struct KvError {
    bool keys = true;  ///< which half is quantized; the other is exact
    std::string_view format;
    bool rotated = false;
    double bits = 0;
    double logit_rms = 0;     ///< of the error less its mean over tokens (softmax does not see the mean)
    double softmax_kl = 0;    ///< mean over queries of KL(exact || quantized)
    double output_error = 0;  ///< relative, Frobenius
};
KvError kv_error(const Head& head, bool keys, const KvFormat& format, bool rotated);
/// Every format, both halves, plain and rotated.
std::vector<KvError> kv_errors(const Head& head);

}  // namespace memwall::lab
