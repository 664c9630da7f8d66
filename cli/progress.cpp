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

constexpr std::size_t kWidth = 30;

/// "\r", the line, and the rest of the terminal's line erased; nothing but the erasing when all is done.
void draw(double share, const std::string& text) {
    if (share >= 1)
        std::cerr << "\r\033[K" << std::flush;
    else
        std::cerr << fmt::format("\r{} {}\033[K", view::pad_right(view::bar(share, kWidth), kWidth), text)
                  << std::flush;
}

struct Throttle {
    using Clock = std::chrono::steady_clock;
    std::mutex lock;
    Clock::time_point drawn = Clock::now();
};

}  // namespace

std::function<void(std::size_t, std::size_t)> progress_bar(const std::string& what) {
    if (!::isatty(STDERR_FILENO)) return {};
    return [what, throttle = std::make_shared<Throttle>()](std::size_t done, std::size_t all) {
        const std::lock_guard held(throttle->lock);
        const auto now = Throttle::Clock::now();
        if (done < all && now - throttle->drawn < std::chrono::milliseconds(100)) return;
        throttle->drawn = now;
        draw(static_cast<double>(done) / static_cast<double>(all), fmt::format("{} {}/{}", what, done, all));
    };
}

std::function<void(std::string_view, double)> progress_line() {
    if (!::isatty(STDERR_FILENO)) return {};
    return [](std::string_view what, double share) {
        draw(share, fmt::format("{:3.0f} % {:.60}", 100 * share, what));
    };
}

}  // namespace memwall::cli
