#include "kernels/engine/matmul_step.h"

#include <algorithm>

namespace memwall::kernels {
namespace {

/// Calls f(task, first panel, last panel) for what lies in a thread's share.
template <class F>
void for_share(std::span<const MatmulTask> tasks, int thread, int threads, F f) {
    std::size_t total = 0;
    for (const MatmulTask& t : tasks) total += t.weights->bytes();
    const auto boundary = [&](int i) {
        return total * static_cast<std::size_t>(i) / static_cast<std::size_t>(threads);
    };
    std::size_t start = 0;
    for (const MatmulTask& t : tasks) {
        const std::size_t step = t.weights->panel_bytes();
        // The panel nearest to a boundary; the neighbour computes the same.
        const auto panel = [&](std::size_t at) {
            return at <= start ? 0
                               : std::min(static_cast<std::int64_t>((at - start + step / 2) / step),
                                          t.weights->panels());
        };
        const std::int64_t first = panel(boundary(thread)), last = panel(boundary(thread + 1));
        if (first < last) f(t, first, last);
        start += t.weights->bytes();
    }
}

}  // namespace

void multiply_panels(const Kernels& kernels, const MatmulTask& task, std::int64_t first, std::int64_t last,
                     const void* next) {
    const Matrix& w = *task.weights;
    MatmulJob job{};
    job.format = w.format;
    job.rows = w.rows;
    job.blocks = w.blocks();
    job.panel_bytes = w.panel_bytes();
    job.panels = w.matrix(task.index);
    job.row_scales = w.row_scales + task.index * w.panels() * kPanelRows;
    job.y_stride = w.rows;
    job.prefetch = prefetch();
    const auto busy =
        std::count_if(task.parts.begin(), task.parts.end(), [](const Activations& a) { return a.m > 0; });
    // Several parts take turns panel by panel, so that weights come from memory once.
    const std::int64_t step = busy > 1 ? 1 : last - first;
    for (std::int64_t p = first; p < last; p += step) {
        job.first_panel = p;
        job.last_panel = p + step;
        job.next = p + step < last ? job.panels + static_cast<std::size_t>(p + step) * job.panel_bytes
                                   : static_cast<const std::uint8_t*>(next);
        float* y = task.y;
        for (const Activations& a : task.parts) {
            if (a.m == 0) continue;
            job.digits = a.digits;
            job.m = a.m;
            job.padded_k = a.padded_k;
            job.codes = a.codes.data();
            job.scales = a.scales.data();
            job.offsets = a.offsets.data();
            job.sums = a.sums.data();
            job.values = a.values.data();
            job.y = y;
            kernels.matmul(job);
            y += a.m * w.rows;
        }
    }
}

void multiply_share(const Kernels& kernels, std::span<const MatmulTask> tasks, int thread, int threads,
                    const void* next) {
    const MatmulTask* waiting = nullptr;
    std::int64_t from = 0, to = 0;
    for_share(tasks, thread, threads, [&](const MatmulTask& t, std::int64_t first, std::int64_t last) {
        if (waiting)
            multiply_panels(
                kernels, *waiting, from, to,
                t.weights->matrix(t.index) + static_cast<std::size_t>(first) * t.weights->panel_bytes());
        waiting = &t;
        from = first;
        to = last;
    });
    if (waiting) multiply_panels(kernels, *waiting, from, to, next);
}

const void* start_of_share(std::span<const MatmulTask> tasks, int thread, int threads) {
    const void* start = nullptr;
    for_share(tasks, thread, threads, [&](const MatmulTask& t, std::int64_t first, std::int64_t) {
        if (!start)
            start = t.weights->matrix(t.index) + static_cast<std::size_t>(first) * t.weights->panel_bytes();
    });
    return start;
}

}  // namespace memwall::kernels
