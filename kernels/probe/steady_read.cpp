#include "kernels/probe/steady_read.h"

#include <algorithm>
#include <cmath>

#include "kernels/probe/choose_loops.h"

namespace memwall::kernels {
namespace {
constexpr std::size_t kReadBytes = std::size_t{64} << 20;  // long beside the start of a run of threads
constexpr int kReference = 101, kReads = 3;  // reads whose median counts: alone they differ by 2 to 4 %
}  // namespace

SteadyRead::SteadyRead(const WorkingSet& set, ThreadTeam& team) : set_(set), team_(team) {
    window_ = std::min(kReadBytes, set.buffer.bytes()) / 4096 * 4096;
    windows_ = std::max<std::size_t>(1, set.buffer.bytes() / std::max<std::size_t>(window_, 1));
    double best = 0;
    const ReadPattern* chosen = nullptr;
    for (const ReadPattern& pattern : kReadPatterns) {
        pattern_ = &pattern;
        if (const double rate = median(kReference / 4); rate > best) {
            best = rate;
            chosen = &pattern;
        }
    }
    pattern_ = chosen;
    refer();
}

double SteadyRead::read() {
    const std::byte* start = set_.buffer.data() + turn_++ % windows_ * window_;
    const ProbeLoops& loops = probe_loops();
    const RunTime time = team_.run([&](int thread) {
        const Range pages = share_of(window_ / 4096, thread, team_.threads());
        const std::uint64_t sum = loops.read(start + pages.first * 4096, pages.size() * 4096, *pattern_);
        __asm__ volatile("" ::"r"(sum));
    });
    return static_cast<double>(window_) / std::max(time.wall, 1e-9);
}

double SteadyRead::median(int reads) {
    std::vector<double> rates;
    for (int i = 0; i < reads; ++i) rates.push_back(read());
    std::nth_element(rates.begin(), rates.begin() + reads / 2, rates.end());
    return rates[static_cast<std::size_t>(reads / 2)];
}

void SteadyRead::refer() {
    reference_ = median(kReference);
    lost_ = false;
}

bool SteadyRead::still() {
    return std::abs(median(kReads) - reference_) <= kDrift * reference_;
}

}  // namespace memwall::kernels
