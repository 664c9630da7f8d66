#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <iostream>
#include <memory>
#include <mutex>

#include "core/view/text_table.h"

namespace memwall::cli {
namespace {

struct Bar {
    using Clock = std::chrono::steady_clock;
    std::string what;
    std::mutex lock;
    Clock::time_point drawn = Clock::now();
};

}  // namespace

std::function<void(std::size_t, std::size_t)> progress_bar(const std::string& what) {
    if (!::isatty(STDERR_FILENO)) return {};
    auto bar = std::make_shared<Bar>();
    bar->what = what;
    return [bar](std::size_t done, std::size_t all) {
        const std::lock_guard held(bar->lock);
        const auto now = Bar::Clock::now();
        if (done < all && now - bar->drawn < std::chrono::milliseconds(100)) return;
        bar->drawn = now;
        constexpr std::size_t kWidth = 30;
        if (done >= all)
            std::cerr << "\r\033[K" << std::flush;
        else
            std::cerr << fmt::format(
                             "\r{} {} {}/{}\033[K", bar->what,
                             view::pad_right(
                                 view::bar(static_cast<double>(done) / static_cast<double>(all), kWidth),
                                 kWidth),
                             done, all)
                      << std::flush;
    };
}

}  // namespace memwall::cli
