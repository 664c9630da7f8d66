#include "core/base/size_text.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

#include "core/base/error.h"

namespace memwall {
namespace {

struct Suffix {
    std::string_view text;  // lower case
    double factor;
};

constexpr std::array kSizes{Suffix{"", 1},
                            Suffix{"b", 1},
                            Suffix{"kb", 1e3},
                            Suffix{"mb", 1e6},
                            Suffix{"gb", 1e9},
                            Suffix{"tb", 1e12},
                            Suffix{"kib", 1024.0},
                            Suffix{"mib", 1048576.0},
                            Suffix{"gib", 1073741824.0},
                            Suffix{"tib", 1099511627776.0}};
constexpr std::array kOps{Suffix{"tops", 1e12},    Suffix{"gops", 1e9},    Suffix{"mops", 1e6},
                          Suffix{"tflops", 1e12},  Suffix{"gflops", 1e9},  Suffix{"mflops", 1e6},
                          Suffix{"tflop/s", 1e12}, Suffix{"gflop/s", 1e9}, Suffix{"pflops", 1e15}};
constexpr std::array kCounts{Suffix{"", 1}, Suffix{"k", 1e3}, Suffix{"m", 1e6}, Suffix{"ki", 1024.0},
                             Suffix{"mi", 1048576.0}};

/// Number and unit of `text`; negative or non-finite numbers are refused.
template <std::size_t N>
double scaled(std::string_view text, std::string_view place, const std::array<Suffix, N>& suffixes,
              std::string_view strip, std::string_view expected) {
    const auto fail = [&] {
        return Error(std::string(place), fmt::format("'{}'", text), std::string(expected));
    };
    double number = 0;
    const char* end = text.data() + text.size();
    const auto [rest, ec] = std::from_chars(text.data(), end, number);
    if (ec != std::errc() || rest == text.data() || !std::isfinite(number) || number < 0) throw fail();
    std::string unit;
    for (const char* c = rest; c != end; ++c)
        if (*c != ' ') unit += static_cast<char>(std::tolower(static_cast<unsigned char>(*c)));
    if (!strip.empty()) {
        if (!unit.ends_with(strip)) throw fail();
        unit.resize(unit.size() - strip.size());
    }
    for (const Suffix& s : suffixes)
        if (s.text == unit) return number * s.factor;
    throw fail();
}

std::int64_t whole(double value, std::string_view text, std::string_view place) {
    if (value >= 9.2e18) throw Error(std::string(place), fmt::format("'{}'", text), "a number below 9.2e18");
    return std::llround(value);
}

}  // namespace

Bytes parse_bytes(std::string_view text, std::string_view place) {
    return Bytes(whole(scaled(text, place, kSizes, "", "a size such as 8GiB, 7.5GB or 512MiB"), text, place));
}

BytesPerSecond parse_bytes_per_second(std::string_view text, std::string_view place) {
    return BytesPerSecond(scaled(text, place, kSizes, "/s", "a rate such as 68GB/s or 900MB/s"));
}

OpsPerSecond parse_ops_per_second(std::string_view text, std::string_view place) {
    return OpsPerSecond(scaled(text, place, kOps, "", "a rate such as 45TOPS or 12TFLOPS"));
}

std::int64_t parse_count(std::string_view text, std::string_view place) {
    return whole(scaled(text, place, kCounts, "", "a whole number such as 4096, 32k or 32Ki"), text, place);
}

std::string bytes_text(Bytes bytes) {
    const double v = std::abs(bytes.as_double());
    const std::string_view sign = bytes.value < 0 ? "-" : "";
    if (v < 1024) return fmt::format("{}{} B", sign, std::llround(v));
    if (v < 1048576.0) return fmt::format("{}{:.1f} KiB", sign, v / 1024);
    if (v < 1073741824.0) return fmt::format("{}{:.1f} MiB", sign, v / 1048576.0);
    if (v < 1099511627776.0) return fmt::format("{}{:.2f} GiB", sign, v / 1073741824.0);
    return fmt::format("{}{:.2f} TiB", sign, v / 1099511627776.0);
}

std::string rate_text(BytesPerSecond rate) {
    if (rate.value < 1e9) return fmt::format("{:.0f} MB/s", rate.value / 1e6);
    return fmt::format("{:.1f} GB/s", rate.value / 1e9);
}

std::string ops_text(OpsPerSecond rate, std::string_view noun) {
    if (rate.value < 1e12) return fmt::format("{:.0f} G{}", rate.value / 1e9, noun);
    return fmt::format("{:.1f} T{}", rate.value / 1e12, noun);
}

std::string seconds_text(Seconds time) {
    const double s = time.value;
    if (s < 0.0095) return fmt::format("{:.1f} ms", s * 1e3);
    if (s < 0.95) return fmt::format("{:.0f} ms", s * 1e3);
    if (s < 99.5) return fmt::format("{:.1f} s", s);
    if (s < 6000) {
        const auto whole = std::lround(s);  // rounded first, or 479.8 s would be 7 min 60 s
        return fmt::format("{} min {} s", whole / 60, whole % 60);
    }
    return fmt::format("{:.1f} h", s / 3600);
}

std::string count_text(std::int64_t count) {
    std::string digits = fmt::format("{}", count < 0 ? -count : count);
    for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
        digits.insert(static_cast<std::size_t>(at), ",");
    return count < 0 ? "-" + digits : digits;
}

}  // namespace memwall
