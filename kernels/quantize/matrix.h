// Row-major matrices of floats: owned, and views of them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace memwall::quantize {

struct MatrixView {
    const float* data = nullptr;
    std::size_t rows = 0, cols = 0;
    std::span<const float> row(std::size_t r) const { return {data + r * cols, cols}; }
    std::span<const float> all() const { return {data, rows * cols}; }
};

struct Matrix {
    std::vector<float> data;
    std::size_t rows = 0, cols = 0;

    Matrix() = default;
    Matrix(std::size_t r, std::size_t c) : data(r * c), rows(r), cols(c) {}
    std::span<float> row(std::size_t r) { return {data.data() + r * cols, cols}; }
    std::span<const float> row(std::size_t r) const { return {data.data() + r * cols, cols}; }
    MatrixView view() const { return {data.data(), rows, cols}; }
};

}  // namespace memwall::quantize
