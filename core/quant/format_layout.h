// Families of formats given by bits and group size: what is stored beside the codes. One row a family.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/quant/format.h"

namespace memwall::quant {

/// What one group of codes covers.
enum class Span : std::uint8_t {
    row,   ///< `group` inputs of one output channel
    flat,  ///< `group` consecutive values of the whole matrix
    square,
};

/// A matrix of in x out values takes its codes and
///     groups x scale_bits + input groups x group_bytes + in x input_bytes + out x output_bytes +
///     matrix_bytes,
/// bits rounded up to whole bytes, input groups = ceil(in / group).
struct Layout {
    Family family;
    std::string_view name;         ///< pattern, see name_pattern.h
    std::uint64_t whole_bits = 0;  ///< the widths that exist, bit b set for b bits; 0 = any fraction
    std::int32_t group = 0;        ///< when the name has none; the only one when the pattern has no '@'
    Span span = Span::row;
    int scale_bits = 0;      ///< scale, and zero point unless it is a code
    bool zero_code = false;  ///< a zero point as wide as a code beside each scale
    int group_bytes = 0;     ///< a group of inputs, shared by the output channels
    int input_bytes = 0;     ///< an input channel: permutation, group index
    int output_bytes = 0;    ///< an output channel
    int matrix_bytes = 0;    ///< constants: tensor scale, look-up tables, shapes
    int in_multiple = 1;     ///< the packing needs in and out to be multiples of these
    int out_multiple = 1;
    bool whole_groups = false;  ///< in must be a multiple of the group
};

std::span<const Layout> layouts();
const Layout* find_layout(Family family);

/// The group that `format` uses for rows of `in` values: its own, the layout's, or the whole row.
std::int64_t group_length(const Layout& layout, Format format, std::int64_t in);
/// Bytes of one matrix; the caller bounds in x out to 2^56.
std::int64_t matrix_bytes(const Layout& layout, Format format, std::int64_t in, std::int64_t out);

}  // namespace memwall::quant
