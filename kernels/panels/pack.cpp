#include <algorithm>
#include <cstring>
#include <string>

#include "core/base/error.h"
#include "kernels/panels/panels.h"

namespace memwall::kernels {
namespace {

constexpr int kQ4kGroups = 8;  // of 32 k in a block of Q4_K

std::uint8_t* bytes_of(const Panels& p) {
    return p.data.as<std::uint8_t>();
}

/// Where the code of row `lane` and k `c` (within the block) stands in the block's code lines.
std::size_t code_at(int bits, std::int64_t lane, std::int64_t c) {
    if (bits == 16) return static_cast<std::size_t>((c * kPanelRows + lane) * 2);
    const std::int64_t line = bits == 8 ? c / 4 : c / 8;
    return static_cast<std::size_t>(line * kLineBytes + lane * 4 + c % 4);
}

/// Calls f(row, lane, block, block bytes) for every row of the matrix and every block of it.
template <class F>
void for_each_block(const Panels& p, F f) {
    const std::size_t step = block_bytes(panel_layout(p.format));
    for (std::int64_t row = 0; row < p.rows; ++row) {
        std::uint8_t* block = bytes_of(p) + static_cast<std::size_t>(row / kPanelRows) * p.panel_bytes();
        for (std::int64_t b = 0; b < p.blocks(); ++b, block += step) f(row, row % kPanelRows, b, block);
    }
}

/// Moves one row's share of a block's header between the arrays and the stream; `move(array element, bytes in
/// the stream)` gives the direction.
template <class Matrix, class Move>
void move_header(Matrix& m, std::int64_t row, std::int64_t lane, std::int64_t b, std::uint8_t* block,
                 Move move) {
    const PanelLayout& layout = panel_layout(m.format);
    const std::int64_t groups = layout.group == 0 ? 0 : (m.k + layout.group - 1) / layout.group;
    const std::int64_t blocks = (m.k + layout.block - 1) / layout.block;
    const std::int64_t own = m.format == PanelFormat::q4k ? 2 * blocks : groups;  // scales a row
    for (int s = 0; s < layout.scales_a_block; ++s)
        if (const std::int64_t at = b * layout.scales_a_block + s; at < own)
            move(m.scales[static_cast<std::size_t>(row * own + at)], block + s * 32 + lane * 2);
    if (m.format == PanelFormat::w4g128)
        move(m.zeros[static_cast<std::size_t>(row * groups + b)], block + 32 + lane);
}

/// 6-bit steps of Q4_K: a byte [group][row] with the low four bits of scale step and min step, then a byte
/// [pair of groups][row] with the high two bits of both, the even group in the low nibble.
void put_steps(const QuantMatrix& m, std::int64_t row, std::int64_t lane, std::int64_t b,
               std::uint8_t* header) {
    const std::int64_t groups = (m.k + 31) / 32;
    for (std::int64_t g = 0; g < kQ4kGroups && b * kQ4kGroups + g < groups; ++g) {
        const std::uint8_t* step = m.steps.data() + 2 * (row * groups + b * kQ4kGroups + g);
        header[g * 16 + lane] = static_cast<std::uint8_t>((step[0] & 15) | step[1] << 4);
        header[128 + g / 2 * 16 + lane] |=
            static_cast<std::uint8_t>(((step[0] >> 4 & 3) | (step[1] >> 4 & 3) << 2) << (g % 2 * 4));
    }
}
void get_steps(QuantMatrix& m, std::int64_t row, std::int64_t lane, std::int64_t b,
               const std::uint8_t* header) {
    const std::int64_t groups = (m.k + 31) / 32;
    for (std::int64_t g = 0; g < kQ4kGroups && b * kQ4kGroups + g < groups; ++g) {
        std::uint8_t* step = m.steps.data() + 2 * (row * groups + b * kQ4kGroups + g);
        const int low = header[g * 16 + lane], high = header[128 + g / 2 * 16 + lane] >> (g % 2 * 4);
        step[0] = static_cast<std::uint8_t>((low & 15) | (high & 3) << 4);
        step[1] = static_cast<std::uint8_t>(low >> 4 | (high >> 2 & 3) << 4);
    }
}

void check_sizes(const QuantMatrix& m) {
    const QuantMatrix want = empty_matrix(m.format, m.rows, m.k);
    const auto check = [&](std::size_t found, std::size_t expected, const char* what) {
        if (found != expected)
            throw Error("panels", std::to_string(found) + " " + what, std::to_string(expected));
    };
    check(m.codes.size(), want.codes.size(), "codes");
    check(m.scales.size(), want.scales.size(), "scales");
    check(m.zeros.size(), want.zeros.size(), "zero points");
    check(m.steps.size(), want.steps.size(), "steps");
    check(m.row_scales.size(), want.row_scales.size(), "row scales");
    check(m.halves.size(), want.halves.size(), "halves");
}

}  // namespace

Panels pack(const QuantMatrix& m) {
    check_sizes(m);
    const PanelLayout& layout = panel_layout(m.format);
    Panels p;
    p.format = m.format;
    p.rows = m.rows;
    p.k = m.k;
    if (p.stream_bytes() > 0) p.data = HugeBuffer(p.stream_bytes());
    p.row_scales = m.row_scales;
    if (m.format == PanelFormat::w8) p.row_scales.resize(static_cast<std::size_t>(p.panels() * kPanelRows));
    for_each_block(p, [&](std::int64_t row, std::int64_t lane, std::int64_t b, std::uint8_t* block) {
        move_header(m, row, lane, b, block,
                    [](auto value, std::uint8_t* to) { std::memcpy(to, &value, sizeof value); });
        if (m.format == PanelFormat::q4k) put_steps(m, row, lane, b, block + kLineBytes);
        std::uint8_t* codes = block + layout.header_lines * kLineBytes;
        const std::int64_t from = b * layout.block, n = std::min<std::int64_t>(layout.block, m.k - from);
        const auto source = static_cast<std::size_t>(row * m.k + from);
        for (std::int64_t c = 0; c < layout.block; ++c) {
            std::uint8_t* to = codes + code_at(layout.code_bits, lane, c);
            const auto at = source + static_cast<std::size_t>(c);
            if (layout.code_bits == 16) {
                if (c < n) std::memcpy(to, &m.halves[at], 2);
            } else if (layout.code_bits == 8) {
                *to = c < n ? m.codes[at] : 128;
            } else {  // padding meets activations of 0, whatever its code
                const int code = c < n ? m.codes[at] & 15 : 0;
                *to |= static_cast<std::uint8_t>(c / 4 % 2 == 0 ? code : code << 4);
            }
        }
    });
    return p;
}

QuantMatrix unpack(const Panels& p) {
    QuantMatrix m = empty_matrix(p.format, p.rows, p.k);
    const PanelLayout& layout = panel_layout(p.format);
    std::copy_n(p.row_scales.begin(), m.row_scales.size(), m.row_scales.begin());
    for_each_block(p, [&](std::int64_t row, std::int64_t lane, std::int64_t b, std::uint8_t* block) {
        move_header(m, row, lane, b, block,
                    [](auto& value, const std::uint8_t* from) { std::memcpy(&value, from, sizeof value); });
        if (m.format == PanelFormat::q4k) get_steps(m, row, lane, b, block + kLineBytes);
        const std::uint8_t* codes = block + layout.header_lines * kLineBytes;
        const std::int64_t from = b * layout.block, n = std::min<std::int64_t>(layout.block, m.k - from);
        for (std::int64_t c = 0; c < n; ++c) {
            const std::uint8_t* code = codes + code_at(layout.code_bits, lane, c);
            const auto at = static_cast<std::size_t>(row * m.k + from + c);
            if (layout.code_bits == 16)
                std::memcpy(&m.halves[at], code, 2);
            else if (layout.code_bits == 8)
                m.codes[at] = *code;
            else
                m.codes[at] = static_cast<std::uint8_t>(c / 4 % 2 == 0 ? *code & 15 : *code >> 4);
        }
    });
    return m;
}

}  // namespace memwall::kernels
