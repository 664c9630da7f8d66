#include "sim/workload/trace.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/error.h"
#include "sim/event/random.h"

namespace memwall::sim {
namespace {

constexpr std::int64_t kMostTokens = 100'000'000;

std::string_view trimmed(std::string_view s) {
    while (!s.empty() && (s.front() == ' ' || s.front() == '"' || s.front() == '\t')) s.remove_prefix(1);
    while (!s.empty() && (s.back() == ' ' || s.back() == '"' || s.back() == '\r' || s.back() == '\t'))
        s.remove_suffix(1);
    return s;
}

std::string shortened(std::string_view s) {
    return std::string(s.substr(0, 60));
}

std::optional<double> number(std::string_view s) {
    double x = 0;
    const auto [end, failed] = std::from_chars(s.data(), s.data() + s.size(), x);
    if (failed != std::errc() || end != s.data() + s.size() || !std::isfinite(x)) return std::nullopt;
    return x;
}

/// "2023-11-16 18:15:46.680590" as seconds since 1970.
std::optional<double> date(std::string_view s) {
    if (s.size() < 19 || s[4] != '-' || s[7] != '-' || s[13] != ':' || s[16] != ':') return std::nullopt;
    std::array<double, 6> part{};
    constexpr std::array<std::pair<std::size_t, std::size_t>, 5> kPlaces{
        {{0, 4}, {5, 2}, {8, 2}, {11, 2}, {14, 2}}};
    for (std::size_t i = 0; i < kPlaces.size(); ++i) {
        const auto x = number(s.substr(kPlaces[i].first, kPlaces[i].second));
        if (!x || *x < 0 || *x > 9999 || *x != std::floor(*x)) return std::nullopt;
        part[i] = *x;
    }
    const auto seconds = number(s.substr(17));
    if (!seconds) return std::nullopt;
    const std::chrono::year_month_day day{std::chrono::year(static_cast<int>(part[0])),
                                          std::chrono::month(static_cast<unsigned>(part[1])),
                                          std::chrono::day(static_cast<unsigned>(part[2]))};
    if (!day.ok()) return std::nullopt;
    const auto days = std::chrono::sys_days(day).time_since_epoch().count();
    return static_cast<double>(days) * 86400 + part[3] * 3600 + part[4] * 60 + *seconds;
}

class Reader {
  public:
    explicit Reader(const std::string& file) : file_(file) {}

    std::vector<TraceRequest> read(std::string_view text) {
        while (!text.empty()) {
            const std::size_t end = std::min(text.find('\n'), text.size());
            const std::string_view line = trimmed(text.substr(0, end));
            text.remove_prefix(std::min(end + 1, text.size()));
            ++line_;
            if (line.empty()) continue;
            if (line.front() == '{')
                json(line);
            else if (columns_ == 0)
                header(line);
            else
                row(line);
        }
        if (all_.empty()) throw Error(file_, "no requests", "a CSV with a header, or JSON lines");
        return std::move(all_);
    }

  private:
    enum Field : std::size_t { arrival, prompt, output, kFields };
    std::string place() const { return fmt::format("{}:{}", file_, line_); }

    void header(std::string_view line) {
        constexpr std::array<std::pair<std::string_view, Field>, 11> kNames{{{"arrival_seconds", arrival},
                                                                             {"arrived_at", arrival},
                                                                             {"TIMESTAMP", arrival},
                                                                             {"prompt_tokens", prompt},
                                                                             {"num_prefill_tokens", prompt},
                                                                             {"ContextTokens", prompt},
                                                                             {"Request tokens", prompt},
                                                                             {"output_tokens", output},
                                                                             {"num_decode_tokens", output},
                                                                             {"GeneratedTokens", output},
                                                                             {"Response tokens", output}}};
        std::array<bool, kFields> found{};
        each_cell(line, [&](std::size_t column, std::string_view cell) {
            for (const auto& [name, field] : kNames)
                if (cell == name && !found[field]) {
                    column_[field] = column;
                    found[field] = true;
                }
            columns_ = column + 1;
        });
        if (!found[arrival] || !found[prompt] || !found[output])
            throw Error(place(), fmt::format("'{}'", shortened(line)),
                        "a header with arrival_seconds, prompt_tokens and output_tokens");
    }

    template <class Visit>
    static void each_cell(std::string_view line, Visit visit) {
        for (std::size_t column = 0;; ++column) {
            const std::size_t comma = std::min(line.find(','), line.size());
            visit(column, trimmed(line.substr(0, comma)));
            if (comma == line.size()) return;
            line.remove_prefix(comma + 1);
        }
    }

    void row(std::string_view line) {
        std::array<std::string_view, kFields> cell{};
        each_cell(line, [&](std::size_t column, std::string_view text) {
            for (std::size_t f = 0; f < kFields; ++f)
                if (column_[f] == column) cell[f] = text;
        });
        auto at = number(cell[arrival]);
        if (!at) at = date(cell[arrival]);
        if (!at)
            throw Error(place(), fmt::format("'{}'", shortened(cell[arrival])),
                        "seconds, or YYYY-MM-DD HH:MM:SS");
        add(*at, tokens(number(cell[prompt]), cell[prompt]), tokens(number(cell[output]), cell[output]), {});
    }

    std::int64_t tokens(std::optional<double> x, std::string_view shown) const {
        if (!x || *x < 0 || *x > static_cast<double>(kMostTokens) || *x != std::floor(*x))
            throw Error(place(), fmt::format("'{}'", shortened(shown)), "a count of tokens");
        return static_cast<std::int64_t>(*x);
    }

    void json(std::string_view line) {
        const nlohmann::json j = nlohmann::json::parse(line, nullptr, false);
        if (!j.is_object())
            throw Error(place(), "no JSON object", "{\"timestamp\": ..., \"input_length\": ...}");
        const auto field = [&](const char* name) -> double {
            if (!j.contains(name) || !j[name].is_number())
                throw Error(place(), fmt::format("no number '{}'", name),
                            "timestamp, input_length, output_length");
            return j[name].get<double>();
        };
        std::vector<std::uint64_t> blocks;
        if (j.contains("hash_ids")) {
            if (!j["hash_ids"].is_array()) throw Error(place(), "hash_ids is no list", "whole numbers");
            for (const auto& id : j["hash_ids"]) {
                if (!id.is_number_integer())
                    throw Error(place(), "hash_ids hold something else", "whole numbers");
                blocks.push_back(
                    mixed(static_cast<std::uint64_t>(id.get<std::int64_t>()) + 0x5851f42d4c957f2du));
            }
        }
        const std::int64_t in = tokens(field("input_length"), "input_length");
        if (static_cast<std::int64_t>(blocks.size()) > (in + kTraceBlockTokens - 1) / kTraceBlockTokens)
            throw Error(place(), fmt::format("{} hash_ids for {} tokens", blocks.size(), in),
                        "one for 512 tokens");
        add(field("timestamp") / 1000, in, tokens(field("output_length"), "output_length"),
            std::move(blocks));
    }

    void add(double at, std::int64_t in, std::int64_t out, std::vector<std::uint64_t> blocks) {
        if (all_.empty()) first_ = last_ = at;
        if (at < last_)
            throw Error(place(), fmt::format("arrival {:g} s after {:g} s", at - first_, last_ - first_),
                        "arrivals in order");
        if (at - first_ > 3e9)
            throw Error(place(), fmt::format("arrival after {:g} s", at - first_), "at most 95 years");
        last_ = at;
        all_.push_back({nanoseconds_of(at - first_), std::max<std::int64_t>(in, 1),
                        std::max<std::int64_t>(out, 1), std::move(blocks)});
    }

    const std::string& file_;
    std::vector<TraceRequest> all_;
    std::array<std::size_t, kFields> column_{};
    std::size_t columns_ = 0;
    int line_ = 0;
    double first_ = 0, last_ = 0;
};

}  // namespace

std::vector<TraceRequest> read_trace(std::string_view text, const std::string& file) {
    return Reader(file).read(text);
}

}  // namespace memwall::sim
