#include "kernels/engine/weights.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "kernels/quantize/small_float.h"

namespace memwall::kernels {
namespace {

std::size_t lines(std::size_t bytes) {
    return (bytes + kLineBytes - 1) / kLineBytes * kLineBytes;
}

}  // namespace

Weights::Weights(const model::Model& model, const WeightSource& source, ThreadTeam& team) {
    // A run of panels of one matrix, small enough to share the work and never to hold much twice.
    struct Piece {
        std::size_t tensor;
        std::int64_t index, first, last;
    };
    constexpr std::int64_t kPieceValues = std::int64_t{1} << 20;
    std::vector<Piece> pieces;
    std::size_t total = 0;
    for (std::size_t i = 0; i < model.tensors.size(); ++i) {
        const model::Tensor& t = model.tensors[i];
        Place p;
        Matrix m;
        p.offset = total;
        p.vector = t.dims[1] * t.dims[2] * t.dims[3] == 1;
        if (p.vector) {
            p.bytes = static_cast<std::size_t>(t.elements()) * sizeof(float);
        } else {
            m.format = source.format(t);
            m.k = t.dims[0];
            m.rows = t.dims[1];
            m.count = t.dims[2] * t.dims[3];
            p.row_scales = total + static_cast<std::size_t>(m.count) * m.bytes();
            p.bytes = static_cast<std::size_t>(m.count) * m.bytes();
            if (m.format == PanelFormat::w8)
                p.bytes += static_cast<std::size_t>(m.count * m.panels() * kPanelRows) * sizeof(float);
            const std::int64_t distinct = source.distinct_panels(t);
            const std::int64_t drawn = distinct > 0 ? std::min(distinct, m.panels()) : m.panels();
            const std::int64_t step = std::max<std::int64_t>(1, kPieceValues / (kPanelRows * m.k));
            for (std::int64_t index = 0; index < m.count; ++index)
                for (std::int64_t first = 0; first < drawn; first += step)
                    pieces.push_back({i, index, first, std::min(first + step, drawn)});
        }
        total += lines(p.bytes);
        matrices_.push_back(m);
        places_.push_back(p);
    }
    memory_ = HugeBuffer(total);
    for (std::size_t i = 0; i < model.tensors.size(); ++i) {
        matrices_[i].data = memory_.as<std::uint8_t>() + places_[i].offset;
        matrices_[i].row_scales =
            reinterpret_cast<const float*>(memory_.as<std::uint8_t>() + places_[i].row_scales);
        if (!places_[i].vector) continue;
        const std::vector<float> v = source.vector(model.tensors[i]);
        std::memcpy(memory_.data() + places_[i].offset, v.data(), v.size() * sizeof(float));
    }

    std::atomic<std::size_t> next{0};
    const auto write = [&](const Piece& piece) {
        const model::Tensor& t = model.tensors[piece.tensor];
        const Matrix& m = matrices_[piece.tensor];
        const std::int64_t first = piece.first * kPanelRows;
        const Panels packed =
            pack(source.rows(t, piece.index, first, std::min(piece.last * kPanelRows, m.rows) - first));
        const std::int64_t distinct = source.distinct_panels(t);
        auto* to = memory_.as<std::uint8_t>() + places_[piece.tensor].offset +
                   static_cast<std::size_t>(piece.index) * m.bytes();
        auto* scales =
            reinterpret_cast<float*>(memory_.as<std::uint8_t>() + places_[piece.tensor].row_scales) +
            piece.index * m.panels() * kPanelRows;
        const std::int64_t stride = distinct > 0 ? std::min(distinct, m.panels()) : m.panels();
        for (std::int64_t p = piece.first; p < piece.last; ++p)
            for (std::int64_t copy = p; copy < m.panels(); copy += stride) {
                std::memcpy(to + static_cast<std::size_t>(copy) * m.panel_bytes(),
                            packed.data.as<std::uint8_t>() +
                                static_cast<std::size_t>(p - piece.first) * m.panel_bytes(),
                            m.panel_bytes());
                if (m.format == PanelFormat::w8)
                    std::memcpy(scales + copy * kPanelRows,
                                packed.row_scales.data() + (p - piece.first) * kPanelRows,
                                kPanelRows * sizeof(float));
            }
    };
    team.run([&](int) {
        for (std::size_t i; (i = next.fetch_add(1)) < pieces.size();) write(pieces[i]);
    });
}

std::span<const float> Weights::vector(int tensor) const {
    if (tensor < 0) return {};
    const Place& p = places_[static_cast<std::size_t>(tensor)];
    return {reinterpret_cast<const float*>(memory_.data() + p.offset), p.bytes / sizeof(float)};
}

void read_row(const Matrix& m, std::int64_t row, std::span<float> to) {
    const PanelLayout& layout = panel_layout(m.format);
    const std::int64_t lane = row % kPanelRows;
    const std::uint8_t* block = m.data + static_cast<std::size_t>(row / kPanelRows) * m.panel_bytes();
    const auto half = [](const std::uint8_t* at) {
        std::uint16_t h;
        std::memcpy(&h, at, 2);
        return quantize::f16_to_f32(h);
    };
    for (std::int64_t from = 0; from < m.k; from += layout.block, block += block_bytes(layout)) {
        const std::int64_t n = std::min<std::int64_t>(layout.block, m.k - from);
        const std::uint8_t* codes = block + layout.header_lines * kLineBytes;
        float* out = to.data() + from;
        if (m.format == PanelFormat::f16) {
            for (std::int64_t c = 0; c < n; ++c) out[c] = half(codes + (c * kPanelRows + lane) * 2);
            continue;
        }
        const auto code = [&](std::int64_t c) -> int {
            if (layout.code_bits == 8) return codes[c / 4 * kLineBytes + lane * 4 + c % 4];
            return codes[c / 8 * kLineBytes + lane * 4 + c % 4] >> (c / 4 % 2 * 4) & 15;
        };
        const std::int64_t group = layout.group == 0 ? layout.block : layout.group;
        for (std::int64_t g = 0; g * group < n; ++g) {
            float scale = 0, offset = 0;  // value = scale x code - offset
            const auto symmetric = [&](float s, int bias) {
                scale = s;
                return bias;
            };
            int bias = 0;
            switch (m.format) {
                case PanelFormat::w4g32:
                    bias = symmetric(half(block + g * 32 + lane * 2), 8);
                    break;
                case PanelFormat::w8g32:
                    bias = symmetric(half(block + g * 32 + lane * 2), 128);
                    break;
                case PanelFormat::w4g128:
                    bias = symmetric(half(block + lane * 2), block[32 + lane]);
                    break;
                case PanelFormat::w8:
                    bias = symmetric(m.row_scales[row], 128);
                    break;
                default: {  // q4k: low four bits of both steps in one byte, high two bits in another
                    const std::uint8_t* steps = block + kLineBytes;
                    const int low = steps[g * 16 + lane],
                              high = steps[128 + g / 2 * 16 + lane] >> (g % 2 * 4);
                    scale = half(block + lane * 2) * static_cast<float>((low & 15) | (high & 3) << 4);
                    offset =
                        half(block + 32 + lane * 2) * static_cast<float>(low >> 4 | (high >> 2 & 3) << 4);
                    break;
                }
            }
            for (std::int64_t c = g * group; c < std::min(n, (g + 1) * group); ++c)
                out[c] = scale * static_cast<float>(code(c) - bias) - offset;
        }
    }
}

}  // namespace memwall::kernels
