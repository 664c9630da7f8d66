#include "devices/quantity.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <initializer_list>

#include "core/base/error.h"
#include "core/base/size_text.h"

namespace memwall::devices {
namespace {

constexpr double kLargest = 1e15;
constexpr Bytes kLargestSize{std::int64_t{1} << 50};

struct Unit {
    std::string_view text;
    double factor;
};

double with_unit(std::string_view text, std::string_view place, std::initializer_list<Unit> units,
                 std::string_view expected) {
    double number = 0;
    const char* end = text.data() + text.size();
    const auto [rest, ec] = std::from_chars(text.data(), end, number);
    if (ec == std::errc() && std::isfinite(number) && number >= 0 && number <= kLargest) {
        std::string_view unit(rest, static_cast<std::size_t>(end - rest));
        while (unit.starts_with(' ')) unit.remove_prefix(1);
        for (const Unit& u : units)
            if (u.text == unit) return number * u.factor;
    }
    throw Error(std::string(place), fmt::format("'{}'", text), std::string(expected));
}

/// `value` in units of `factor`, with as few digits as `parse` needs to give `value` back; empty when no
/// number of digits does (value / factor x factor need not be value).
template <class Parse>
std::string shortest(double value, double factor, std::string_view suffix, Parse parse) {
    for (int digits = 6; digits <= 17; ++digits) {
        std::string text = fmt::format("{:.{}g}{}", value / factor, digits, suffix);
        if (parse(text) == value) return text;
    }
    return {};
}

}  // namespace

double parse_number(std::string_view text, std::string_view place) {
    const std::string_view expected = "a number such as 0.6";
    const auto slash = text.find('/');
    if (slash == std::string_view::npos) return with_unit(text, place, {{"", 1}}, expected);
    const double below = with_unit(text.substr(slash + 1), place, {{"", 1}}, expected);
    if (below == 0) throw Error(std::string(place), fmt::format("'{}'", text), std::string(expected));
    return with_unit(text.substr(0, slash), place, {{"", 1}}, expected) / below;
}

Bytes parse_size(std::string_view text, std::string_view place) {
    const Bytes bytes = parse_bytes(text, place);
    if (bytes > kLargestSize)
        throw Error(std::string(place), fmt::format("'{}'", text), "a size of at most 1024 TiB");
    return bytes;
}

double parse_watts(std::string_view text, std::string_view place) {
    return with_unit(text, place, {{"W", 1}, {"mW", 1e-3}}, "a power such as 12W");
}

double parse_watt_hours(std::string_view text, std::string_view place) {
    return with_unit(text, place, {{"Wh", 1}}, "a battery's energy such as 19Wh");
}

double parse_joules_per_gb(std::string_view text, std::string_view place) {
    return with_unit(text, place, {{"J", 1}, {"J/GB", 1}}, "joules per GB read such as 1.1J");
}

double parse_seconds(std::string_view text, std::string_view place) {
    return with_unit(text, place, {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}}, "a time such as 5us");
}

std::string exact_text(Bytes bytes) {
    if (bytes.value > 0 && bytes.value % kGiB == 0) return fmt::format("{}GiB", bytes.value / kGiB);
    if (bytes.value > 0 && bytes.value % kMiB == 0) return fmt::format("{}MiB", bytes.value / kMiB);
    return fmt::format("{}", bytes.value);
}

std::string exact_text(BytesPerSecond rate) {
    const std::string text = shortest(
        rate.value, 1e9, "GB/s", [](const std::string& t) { return parse_bytes_per_second(t, "").value; });
    return text.empty() ? fmt::format("{}B/s", rate.value) : text;
}

std::string exact_text(OpsPerSecond rate, std::string_view noun) {
    const auto parse = [](const std::string& t) { return parse_ops_per_second(t, "").value; };
    const bool tera = rate.value >= 1e12;
    for (const bool t : {tera, !tera})
        if (std::string text =
                shortest(rate.value, t ? 1e12 : 1e9, (t ? "T" : "G") + std::string(noun), parse);
            !text.empty())
            return text;
    return fmt::format("{:.17g}T{}", rate.value / 1e12, noun);
}

std::string exact_text(double value) {
    return fmt::format("{}", value);
}

}  // namespace memwall::devices
