#include "kernels/panels/ggml_blocks.h"

#include <array>
#include <cstring>
#include <string>

#include "core/base/error.h"

namespace memwall::kernels {
namespace {

/// Block layouts: ggml's block_q4_0, block_q8_0 and block_q4_K (snapshot d99724f2), ids of its type enum.
struct Source {
    std::uint32_t ggml_type;
    PanelFormat format;
    int block_len, block_bytes;
};
constexpr std::array<Source, 4> kSources = {{
    {1, PanelFormat::f16, 1, 2},
    {2, PanelFormat::w4g32, 32, 18},
    {8, PanelFormat::w8g32, 32, 34},
    {12, PanelFormat::q4k, 256, 144},
}};
const Source* source_of(std::uint32_t ggml_type) {
    for (const Source& s : kSources)
        if (s.ggml_type == ggml_type) return &s;
    return nullptr;
}

/// fp16 d, then 16 bytes: value i in the low nibble of byte i, value 16 + i in the high one.
void read_q4_0(const std::uint8_t* block, std::uint8_t* codes, std::uint16_t& scale) {
    std::memcpy(&scale, block, 2);
    for (int i = 0; i < 16; ++i) {
        codes[i] = block[2 + i] & 15;
        codes[16 + i] = block[2 + i] >> 4;
    }
}

/// fp16 d, then 32 signed bytes.
void read_q8_0(const std::uint8_t* block, std::uint8_t* codes, std::uint16_t& scale) {
    std::memcpy(&scale, block, 2);
    for (int i = 0; i < 32; ++i) codes[i] = block[2 + i] ^ 0x80;
}

/// fp16 d and dmin, 12 bytes of 6-bit steps, 128 bytes of codes. Steps of group g < 4: scale in the low six
/// bits of byte g, min in those of byte g + 4. Of group g >= 4: low nibbles of both in byte g + 4, high two
/// bits on top of bytes g - 4 and g. Codes: 32 bytes for each pair of groups, the even one in the low
/// nibbles.
void read_q4_k(const std::uint8_t* block, std::uint8_t* codes, std::uint16_t* d, std::uint8_t* steps) {
    std::memcpy(d, block, 4);
    const std::uint8_t* six = block + 4;
    for (int g = 0; g < 4; ++g) {
        steps[2 * g] = six[g] & 63;
        steps[2 * g + 1] = six[g + 4] & 63;
        steps[2 * g + 8] = static_cast<std::uint8_t>((six[g + 8] & 15) | six[g] >> 6 << 4);
        steps[2 * g + 9] = static_cast<std::uint8_t>(six[g + 8] >> 4 | six[g + 4] >> 6 << 4);
    }
    for (int pair = 0; pair < 4; ++pair)
        for (int i = 0; i < 32; ++i) {
            const std::uint8_t two = block[16 + pair * 32 + i];
            codes[pair * 64 + i] = two & 15;
            codes[pair * 64 + 32 + i] = two >> 4;
        }
}

}  // namespace

std::optional<PanelFormat> panel_format_of_ggml(std::uint32_t ggml_type) {
    const Source* source = source_of(ggml_type);
    return source == nullptr ? std::nullopt : std::optional(source->format);
}

QuantMatrix matrix_of_ggml(std::uint32_t ggml_type, std::int64_t rows, std::int64_t k,
                           std::span<const std::byte> bytes) {
    const Source* source = source_of(ggml_type);
    if (source == nullptr)
        throw Error("panels", "ggml type " + std::to_string(ggml_type),
                    "1 (F16), 2 (Q4_0), 8 (Q8_0) or 12 (Q4_K)");
    if (k < 0 || k % source->block_len != 0)
        throw Error("panels", "rows of " + std::to_string(k) + " values",
                    "a multiple of " + std::to_string(source->block_len));
    const std::int64_t blocks = k / source->block_len;
    // Checked before anything is allocated: the sides come from a file.
    const auto row_bytes =
        static_cast<std::uint64_t>(blocks) * static_cast<std::uint64_t>(source->block_bytes);
    if (rows < 0 || (row_bytes == 0 ? !bytes.empty()
                                    : bytes.size() % row_bytes != 0 ||
                                          bytes.size() / row_bytes != static_cast<std::uint64_t>(rows)))
        throw Error("panels", std::to_string(bytes.size()) + " bytes",
                    std::to_string(rows) + " rows of " + std::to_string(row_bytes));
    QuantMatrix m = empty_matrix(source->format, rows, k);
    const auto* block = reinterpret_cast<const std::uint8_t*>(bytes.data());
    if (source->format == PanelFormat::f16) {
        if (!bytes.empty()) std::memcpy(m.halves.data(), block, bytes.size());
        return m;
    }
    std::uint8_t* codes = m.codes.data();
    for (std::int64_t i = 0; i < rows * blocks;
         ++i, block += source->block_bytes, codes += source->block_len) {
        const auto at = static_cast<std::size_t>(i);
        switch (source->format) {
            case PanelFormat::w4g32:
                read_q4_0(block, codes, m.scales[at]);
                break;
            case PanelFormat::w8g32:
                read_q8_0(block, codes, m.scales[at]);
                break;
            default:
                read_q4_k(block, codes, &m.scales[2 * at], &m.steps[16 * at]);
                break;
        }
    }
    return m;
}

}  // namespace memwall::kernels
