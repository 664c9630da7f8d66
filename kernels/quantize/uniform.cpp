#include "kernels/quantize/uniform.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/base/error.h"
#include "kernels/quantize/block_bytes.h"
#include "kernels/quantize/parallel.h"

namespace memwall::quantize {
namespace {

struct ShiftName {
    Shift shift;
    std::string_view prefix;
};
constexpr ShiftName kShifts[] = {
    {Shift::zero_point, "asym-"}, {Shift::minimum, "min-"}, {Shift::symmetric, ""}};

/// Codes as floats: what a loop over a group needs.
struct Codes {
    float inverse, offset, low, high;
};

Codes codes_of(UniformFormat f, Step step) {
    const float inverse = reciprocal(step.scale);
    return {inverse, static_cast<float>(step.zero) - step.minimum * inverse,
            f.shift == Shift::symmetric ? 1.0f : 0.0f, static_cast<float>(top_code(f))};
}

float code_of(const Codes& c, float x) {
    // Clamped first: round_even needs a small number, and a scale may have been chosen for other values.
    return round_even(std::min(std::max(x * c.inverse + c.offset, c.low), c.high));
}

float f16_scale(float x) {
    return round_to_f16(std::clamp(x, -65504.0f, 65504.0f));
}

}  // namespace

std::optional<UniformFormat> parse_uniform(std::string_view name) {
    if (!name.starts_with("int") || name.size() < 5 || name[4] != '-') return std::nullopt;
    UniformFormat f{name[3] - '0', Shift::symmetric, 0};
    if (f.bits < 2 || f.bits > 8) return std::nullopt;
    name.remove_prefix(5);
    for (const ShiftName& n : kShifts)
        if (name.starts_with(n.prefix)) {
            f.shift = n.shift;
            name.remove_prefix(n.prefix.size());
            break;
        }
    if (name == "channel") return f;
    f.group = -1;
    if (name == "tensor") return f;
    for (const int group : {32, 64, 128})
        if (name == fmt::format("g{}", group)) {
            f.group = group;
            return f;
        }
    return std::nullopt;
}

std::string uniform_name(UniformFormat f) {
    std::string name = fmt::format("int{}-", f.bits);
    for (const ShiftName& n : kShifts)
        if (n.shift == f.shift) name += n.prefix;
    return name + (f.group == 0 ? "channel" : f.group < 0 ? "tensor" : fmt::format("g{}", f.group));
}

double stored_bits(UniformFormat f) {
    if (f.group <= 0) return f.bits;
    const int shift = f.shift == Shift::minimum ? 16 : f.shift == Shift::zero_point ? f.bits : 0;
    return f.bits + (16.0 + shift) / f.group;
}

Step step_for(UniformFormat f, float low, float high) {
    const auto top = static_cast<float>(top_code(f));
    switch (f.shift) {
        case Shift::symmetric: {
            const int half = 1 << (f.bits - 1);
            const float largest = std::max(std::fabs(low), std::fabs(high));
            return {f16_scale(largest / static_cast<float>(half - 1)), half, 0};
        }
        case Shift::zero_point: {
            low = std::min(low, 0.0f);
            high = std::max(high, 0.0f);
            const float scale = f16_scale((high - low) / top);
            return {scale, static_cast<int>(round_even(std::clamp(-low * reciprocal(scale), 0.0f, top))), 0};
        }
        case Shift::minimum:
            break;
    }
    return {f16_scale((high - low) / top), 0, f16_scale(low)};
}

std::uint8_t code_for(UniformFormat f, Step step, float x) {
    return static_cast<std::uint8_t>(code_of(codes_of(f, step), x));
}

Range range_of(std::span<const float> x) {
    if (x.empty()) return {};
    Range r{x[0], x[0]};
    for (const float v : x) r = {std::min(r.low, v), std::max(r.high, v)};
    return r;
}

QuantMatrix empty_matrix(UniformFormat f, MatrixView w) {
    if (w.rows > INT32_MAX || w.cols > INT32_MAX || w.cols == 0)
        throw Error("", fmt::format("a matrix of {} x {}", w.rows, w.cols), "at most 2^31 rows and columns");
    QuantMatrix q;
    q.rows = static_cast<int>(w.rows);
    q.cols = static_cast<int>(w.cols);
    q.bits = f.bits;
    q.group = f.group > 0 ? f.group : q.cols;
    q.codes.resize(w.rows * w.cols);
    q.scales.resize(w.rows * static_cast<std::size_t>(q.groups()));
    q.zeros.resize(q.scales.size());
    if (f.shift == Shift::minimum) q.minima.resize(q.scales.size());
    return q;
}

QuantMatrix quantize_uniform(UniformFormat f, MatrixView w) {
    QuantMatrix q = empty_matrix(f, w);
    const auto groups = static_cast<std::size_t>(q.groups()), length = static_cast<std::size_t>(q.group);
    const Range tensor = f.group < 0 ? range_of(w.all()) : Range{};
    parallel_for(w.rows, [&](std::size_t r) {
        for (std::size_t g = 0; g < groups; ++g) {
            const std::size_t from = g * length;
            const auto x = w.row(r).subspan(from, std::min(length, w.cols - from));
            const Range range = f.group < 0 ? tensor : range_of(x);
            const Step step = step_for(f, range.low, range.high);
            set_step(q, r * groups + g, step);
            const Codes codes = codes_of(f, step);
            for (std::size_t i = 0; i < x.size(); ++i)
                q.codes[r * w.cols + from + i] = static_cast<std::uint8_t>(code_of(codes, x[i]));
        }
    });
    return q;
}

void round_trip_uniform(UniformFormat f, Range tensor, std::span<const float> row, std::span<float> out) {
    const std::size_t length = f.group > 0 ? static_cast<std::size_t>(f.group) : row.size();
    for (std::size_t from = 0; from < row.size(); from += length) {
        const auto x = row.subspan(from, std::min(length, row.size() - from));
        const Range range = f.group < 0 ? tensor : range_of(x);
        const Step step = step_for(f, range.low, range.high);
        const Codes codes = codes_of(f, step);
        for (std::size_t i = 0; i < x.size(); ++i)
            out[from + i] =
                (code_of(codes, x[i]) - static_cast<float>(step.zero)) * step.scale + step.minimum;
    }
}

Step step_at(const QuantMatrix& q, std::size_t at) {
    return {q.scales[at], q.zeros[at], q.minima.empty() ? 0 : q.minima[at]};
}

void set_step(QuantMatrix& q, std::size_t at, Step step) {
    q.scales[at] = step.scale;
    q.zeros[at] = static_cast<std::uint8_t>(step.zero);
    if (!q.minima.empty()) q.minima[at] = step.minimum;
}

Matrix dequantize(const QuantMatrix& q) {
    Matrix w(static_cast<std::size_t>(q.rows), static_cast<std::size_t>(q.cols));
    const auto groups = static_cast<std::size_t>(q.groups()), length = static_cast<std::size_t>(q.group);
    parallel_for(w.rows, [&](std::size_t r) {
        for (std::size_t c = 0; c < w.cols; ++c) {
            const std::size_t g = r * groups + c / length;
            const std::size_t input = q.input_order.empty() ? c : static_cast<std::size_t>(q.input_order[c]);
            const float value = value_of(step_at(q, g), q.codes[r * w.cols + c]);
            w.row(r)[input] = q.input_scale.empty() ? value : value / q.input_scale[input];
        }
    });
    return w;
}

}  // namespace memwall::quantize
