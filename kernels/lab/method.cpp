#include "kernels/lab/method.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/quant/name_pattern.h"
#include "kernels/quantize/block_bytes.h"
#include "kernels/quantize/nf4.h"
#include "kernels/quantize/parallel.h"

namespace memwall::lab {
namespace {

using namespace quantize;

constexpr std::size_t kRows = 16;  // a thread's portion

constexpr std::string_view kDefaults[] = {
    "Q8_0",      "int8-channel", "fp8-channel", "Q6_K",         "Q5_0",        "Q4_1",
    "NF4",       "Q4_K",         "Q4_0",        "NVFP4",        "MXFP4",       "int4-asym-g128",
    "int4-g128", "int4-channel", "int4-tensor", "int3-min-g64", "int2-min-g64"};

float largest_of(std::span<const float> x) {
    const Range r = range_of(x);
    return std::max(std::fabs(r.low), std::fabs(r.high));
}

Matrix through_blocks(const BlockCodec& codec, MatrixView w) {
    Matrix out(w.rows, w.cols);
    const float scale = codec.tensor_scale ? codec.tensor_scale(largest_of(w.all())) : 1.0f;
    parallel_ranges(w.rows, kRows, [&](std::size_t first, std::size_t last) {
        std::vector<std::byte> bytes(encoded_bytes(codec, w.cols));
        std::vector<float> scaled(w.cols);
        for (std::size_t r = first; r < last; ++r) {
            std::transform(w.row(r).begin(), w.row(r).end(), scaled.begin(),
                           [&](float x) { return x / scale; });
            encode(codec, scaled, bytes);
            decode(codec, bytes, out.row(r));
            for (float& x : out.row(r)) x *= scale;
        }
    });
    return out;
}

/// E4M3 with the largest value at 448.
Matrix through_fp8(bool whole_tensor, MatrixView w) {
    Matrix out(w.rows, w.cols);
    const float tensor = whole_tensor ? largest_of(w.all()) : 0;
    parallel_for(w.rows, [&](std::size_t r) {
        const float scale = (whole_tensor ? tensor : largest_of(w.row(r))) / kE4m3Max,
                    inverse = reciprocal(scale);
        std::transform(w.row(r).begin(), w.row(r).end(), out.row(r).begin(),
                       [&](float x) { return e4m3_to_f32(f32_to_e4m3(x * inverse)) * scale; });
    });
    return out;
}

/// NF4 whose maxima are stored in 8 bits: the codes stay, the scales change.
Matrix through_nf4_double(MatrixView w) {
    const BlockCodec& codec = *find_codec("NF4");
    const std::size_t blocks = w.rows * w.cols / kNf4Block,
                      bytes = static_cast<std::size_t>(codec.block_bytes);
    std::vector<std::byte> stored(blocks * bytes);
    encode(codec, w.all(), stored);
    std::vector<float> absmax(blocks);
    for (std::size_t b = 0; b < blocks; ++b) absmax[b] = get_f32(stored.data() + b * bytes + kNf4Block / 2);
    const std::vector<float> kept = double_dequantize(double_quantize(absmax));
    for (std::size_t b = 0; b < blocks; ++b) put_f32(stored.data() + b * bytes + kNf4Block / 2, kept[b]);
    Matrix out(w.rows, w.cols);
    decode(codec, stored, out.data);
    return out;
}

double stored_bits_of(std::string_view format) {
    return quant::bits_per_weight(*quant::parse_format(format));
}

}  // namespace

Method parse_method(std::string_view name) {
    const std::string lower = quant::lower_case(name);
    if (const auto u = parse_uniform(lower))
        return {Method::Kind::uniform, uniform_name(*u), stored_bits(*u), nullptr, *u};
    for (const std::string_view fp8 : {"fp8-channel", "fp8-tensor"})
        if (lower == fp8)
            return {Method::Kind::fp8,
                    lower,
                    stored_bits_of(fp8),
                    nullptr,
                    {8, Shift::symmetric, fp8 == "fp8-tensor" ? -1 : 0}};
    if (lower == "bnb-nf4-dq")
        return {Method::Kind::nf4_double, lower, stored_bits_of(lower), find_codec("NF4"), {}};
    const BlockCodec* codec = lower == "bnb-nf4" ? find_codec("NF4") : find_codec(lower);
    if (codec && codec->encode) {
        const std::string_view format = codec->name == "NF4" ? "bnb-nf4" : codec->name;
        return {Method::Kind::block, std::string(codec->name), stored_bits_of(format), codec, {}};
    }
    std::string known;
    for (const BlockCodec& c : block_codecs()) known += std::string(c.name) + " ";
    throw Error("--methods", fmt::format("'{}'", name),
                known +
                    "bnb-nf4-dq fp8-channel fp8-tensor, or int2 to int8 as int4-g128, int4-asym-g64, "
                    "int3-min-g32, int8-channel, int4-tensor");
}

std::vector<Method> parse_methods(std::string_view names) {
    std::vector<Method> methods;
    while (!names.empty()) {
        const std::size_t end = std::min(names.find(','), names.size());
        const Method m = parse_method(names.substr(0, end));
        if (std::none_of(methods.begin(), methods.end(), [&](const Method& o) { return o.name == m.name; }))
            methods.push_back(m);
        names.remove_prefix(std::min(end + 1, names.size()));
    }
    return methods;
}

std::vector<Method> default_methods() {
    std::vector<Method> methods;
    for (const std::string_view name : kDefaults) methods.push_back(parse_method(name));
    return methods;
}

bool fits(const Method& m, std::size_t cols) {
    return cols > 0 && (!m.codec || cols % static_cast<std::size_t>(m.codec->block_len) == 0);
}

Matrix round_trip(const Method& m, MatrixView w) {
    switch (m.kind) {
        case Method::Kind::block:
            return through_blocks(*m.codec, w);
        case Method::Kind::fp8:
            return through_fp8(m.uniform.group < 0, w);
        case Method::Kind::nf4_double:
            return through_nf4_double(w);
        case Method::Kind::uniform:
            break;
    }
    Matrix out(w.rows, w.cols);
    const Range tensor = m.uniform.group < 0 ? range_of(w.all()) : Range{};
    parallel_for(w.rows, [&](std::size_t r) { round_trip_uniform(m.uniform, tensor, w.row(r), out.row(r)); });
    return out;
}

}  // namespace memwall::lab
