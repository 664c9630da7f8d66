#include "kernels/quantize/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace memwall::quantize {

void parallel_for(std::size_t count, const std::function<void(std::size_t)>& body) {
    const std::size_t threads =
        std::min<std::size_t>(std::max(1u, std::thread::hardware_concurrency()), count);
    std::atomic<std::size_t> next{0};
    std::exception_ptr failure;
    std::mutex mutex;
    const auto work = [&] {
        try {
            for (std::size_t i = next++; i < count; i = next++) body(i);
        } catch (...) {
            const std::lock_guard lock(mutex);
            if (!failure) failure = std::current_exception();
            next = count;
        }
    };
    std::vector<std::thread> others;
    for (std::size_t t = 1; t < threads; ++t) others.emplace_back(work);
    work();
    for (std::thread& t : others) t.join();
    if (failure) std::rethrow_exception(failure);
}

void parallel_ranges(std::size_t count, std::size_t step,
                     const std::function<void(std::size_t, std::size_t)>& body) {
    parallel_for((count + step - 1) / step,
                 [&](std::size_t i) { body(i * step, std::min(count, (i + 1) * step)); });
}

}  // namespace memwall::quantize
