// Independent pieces of work on all cores.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace memwall {

/// Calls work(i) for i in [0, count), each once, on at most `threads` threads (0 = all cores). The first
/// exception thrown is thrown here after all threads have ended; pieces not begun by then are skipped.
/// Results are the caller's: writing to element i of a vector needs no lock.
template <class Work>
void parallel_for(std::size_t count, Work&& work, unsigned threads = 0) {
    if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
    if (threads > count) threads = static_cast<unsigned>(count);
    if (threads <= 1) {
        for (std::size_t i = 0; i < count; ++i) work(i);
        return;
    }
    std::atomic<std::size_t> next{0};
    std::exception_ptr failure;
    std::mutex lock;
    const auto run = [&] {
        for (std::size_t i; (i = next++) < count;) {
            try {
                work(i);
            } catch (...) {
                next = count;
                const std::lock_guard held(lock);
                if (!failure) failure = std::current_exception();
            }
        }
    };
    std::vector<std::thread> others;
    for (unsigned i = 1; i < threads; ++i) others.emplace_back(run);
    run();
    for (std::thread& t : others) t.join();
    if (failure) std::rethrow_exception(failure);
}

/// Ranges [first, last) of at most `step`: for pieces that share something costly to set up.
template <class Work>
void parallel_ranges(std::size_t count, std::size_t step, Work&& work, unsigned threads = 0) {
    parallel_for((count + step - 1) / step,
                 [&](std::size_t i) { work(i * step, std::min(count, (i + 1) * step)); }, threads);
}

}  // namespace memwall
