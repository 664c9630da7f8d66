// Matrix products of a layer, shared among the threads by bytes of weights.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/engine/weights.h"
#include "kernels/panels/activations.h"
#include "kernels/simd/kernels.h"

namespace memwall::kernels {

/// y[token][row] of one matrix of a stack. The tokens come in parts, one a thread, since each thread
/// quantizes its own; a part may be empty (m = 0).
struct MatmulTask {
    const Matrix* weights = nullptr;
    std::int64_t index = 0;
    std::span<const Activations> parts;
    float* y = nullptr;  ///< rows of weights->rows floats
};

/// The panels of every task that `thread` of `threads` takes: contiguous in the bytes of all tasks together.
/// `next` is what this thread reads afterwards.
void multiply_share(const Kernels& kernels, std::span<const MatmulTask> tasks, int thread, int threads,
                    const void* next = nullptr);

/// One task, panels [first, last).
void multiply_panels(const Kernels& kernels, const MatmulTask& task, std::int64_t first, std::int64_t last,
                     const void* next = nullptr);

/// Where multiply_share() of the same arguments starts to read.
const void* start_of_share(std::span<const MatmulTask> tasks, int thread, int threads);

}  // namespace memwall::kernels
