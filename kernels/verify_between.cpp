#include "kernels/verify_between.h"

#include <algorithm>

#include "kernels/engine/weights.h"
#include "kernels/lab/random_weights.h"
#include "kernels/simd/kernels.h"

namespace memwall::kernels {
namespace {
constexpr std::size_t kGrain = 4096;  // threads share memory to read by whole pages
// Of one turn, a thread: more than an L2. With 2 MiB of it (a Xeon of 2026) attention started in 7.8 us after
// 2 MiB and in 11.9 after 10; more takes longer to measure.
constexpr std::size_t kLeast = std::size_t{1} << 20, kMost = std::size_t{8} << 20;
}  // namespace

std::vector<float> noise(std::size_t n) {
    std::vector<float> x(n);
    lab::Random random(11);
    for (float& v : x) v = random.gaussian();
    return x;
}

model::Model tall_matrix(PanelFormat format, std::int64_t k, std::int64_t bytes) {
    const Matrix like{format, kPanelRows, k, 1, nullptr, nullptr};
    const std::int64_t panels =
        std::max<std::int64_t>(64, bytes / static_cast<std::int64_t>(like.panel_bytes()));
    model::Model m;
    model::Tensor t;
    t.name = "calibration.weight";
    t.dims = {k, panels * kPanelRows, 1, 1};
    t.role = model::Role::attn_q;
    m.tensors.push_back(t);
    return m;
}

Between::Between(const RatesRequest& r, int threads)
    : other_(r.other.buffer.data(), r.other.buffer.bytes()), threads_(threads) {
    const auto n = static_cast<std::size_t>(threads);
    const std::size_t layer = static_cast<std::size_t>(r.weight_bytes) / r.decoder.layers.size();
    part_ = std::min(std::clamp(layer, kLeast * n, kMost * n), other_.size()) / kGrain * kGrain;
    parts_ = std::max<std::size_t>(1, other_.size() / std::max<std::size_t>(part_, 1));
}

void Between::read(int thread, std::size_t turn) const {
    const Range mine = share_of(part_ / kGrain, thread, threads_);
    const std::byte* start = other_.data() + turn % parts_ * part_;
    const std::uint64_t sum =
        best_kernels().read(start + mine.first * kGrain, mine.size() * kGrain, Access::streams);
    __asm__ volatile("" ::"r"(sum));
}

std::span<const std::byte> Between::memory(std::size_t turns) const {
    return other_.first(std::min(turns, parts_) * part_);
}

}  // namespace memwall::kernels
