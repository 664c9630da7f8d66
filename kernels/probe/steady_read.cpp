#include "kernels/probe/steady_read.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/host/evict.h"
#include "kernels/probe/choose_loops.h"

namespace memwall::kernels {
namespace {
constexpr std::size_t kReadBytes = std::size_t{64} << 20;  // long beside the start of a run of threads
constexpr int kReference = 101, kReads = 3;  // reads whose median counts: alone they differ by 2 to 4 %

double middle(std::vector<double> x) {
    const auto half = x.begin() + static_cast<std::ptrdiff_t>(x.size() / 2);
    std::nth_element(x.begin(), half, x.end());
    return *half;
}
}  // namespace

void Pace::refer(std::vector<double> reads) {
    reads_ = std::move(reads);
    first_ = reference_ = middle(reads_);
}

bool Pace::still(const std::vector<double>& reads) {
    reads_.insert(reads_.end(), reads.begin(), reads.end());
    reference_ = middle(reads_);
    return std::abs(middle(reads) - reference_) <= kDrift * reference_ &&
           std::abs(reference_ - first_) <= kDrift / 2 * first_;
}

SteadyRead::SteadyRead(const WorkingSet& set, ThreadTeam& team) : set_(set), team_(team) {
    window_ = std::min(kReadBytes, set.buffer.bytes()) / 4096 * 4096;
    windows_ = std::max<std::size_t>(1, set.buffer.bytes() / std::max<std::size_t>(window_, 1));
    double best = 0;
    const ReadPattern* chosen = nullptr;
    for (const ReadPattern& pattern : kReadPatterns) {
        pattern_ = &pattern;
        if (const double rate = middle(reads(kReference / 4)); rate > best) {
            best = rate;
            chosen = &pattern;
        }
    }
    pattern_ = chosen;
    refer();
}

double SteadyRead::read() {
    const std::byte* start = set_.buffer.data() + turn_++ % windows_ * window_;
    evict({start, window_}, team_);
    const ProbeLoops& loops = probe_loops();
    const RunTime time = team_.run([&](int thread) {
        const Range pages = share_of(window_ / 4096, thread, team_.threads());
        const std::uint64_t sum = loops.read(start + pages.first * 4096, pages.size() * 4096, *pattern_);
        __asm__ volatile("" ::"r"(sum));
    });
    return static_cast<double>(window_) / std::max(time.wall, 1e-9);
}

std::vector<double> SteadyRead::reads(int count) {
    std::vector<double> rates;
    for (int i = 0; i < count; ++i) rates.push_back(read());
    return rates;
}

void SteadyRead::refer() {
    pace_.refer(reads(kReference));
    lost_ = false;
}

double SteadyRead::pace() const {
    return lost_ || beside_.empty() ? 1 : middle(beside_) / pace_.first();
}

bool SteadyRead::still() {
    const std::vector<double> now = reads(kReads);
    beside_.insert(beside_.end(), now.begin(), now.end());
    return pace_.still(now);
}

}  // namespace memwall::kernels
