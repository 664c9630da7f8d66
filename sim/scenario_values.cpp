#include "sim/scenario_values.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "core/base/size_text.h"
#include "devices/quantity.h"

namespace memwall::sim {
namespace {

constexpr double kMost = 1e15;

/// A number and the unit behind it.
std::pair<double, Text> split(Text text, Text place, Text expected) {
    const std::size_t digits = std::min(text.find_first_not_of("0123456789.eE+-"), text.size());
    std::size_t end = digits;  // "2e" of "2eggs" is no number, but nor is "eggs" a unit
    const std::string number(text.substr(0, end));
    while (end < text.size() && text[end] == ' ') ++end;
    char* rest = nullptr;
    const double value = std::strtod(number.c_str(), &rest);
    if (number.empty() || *rest != '\0' || !std::isfinite(value) || value < 0 || value > kMost)
        throw Error(std::string(place), fmt::format("'{}'", text.substr(0, 60)), std::string(expected));
    return {value, text.substr(end)};
}

template <std::size_t N>
double with_unit(Text text, Text place, Text expected, const std::array<std::pair<Text, double>, N>& units) {
    const auto [value, unit] = split(text, place, expected);
    for (const auto& [name, factor] : units)
        if (unit == name) return value * factor;
    throw Error(std::string(place), fmt::format("'{}'", text.substr(0, 60)), std::string(expected));
}

}  // namespace

double parse_time(Text text, Text place) {
    constexpr std::array<std::pair<Text, double>, 7> kUnits{
        {{"s", 1}, {"", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"min", 60}, {"h", 3600}, {"d", 86400}}};
    return with_unit(text, place, "a time: 200ms, 2s, 1.5min, 24h, 7d", kUnits);
}

double parse_frequency(Text text, Text place) {
    constexpr std::array<std::pair<Text, double>, 4> kUnits{
        {{"/s", 1}, {"/min", 1.0 / 60}, {"/h", 1.0 / 3600}, {"/d", 1.0 / 86400}}};
    return with_unit(text, place, "a rate, not negative: 0.5/s, 3/min, 10/h, 40/d", kUnits);
}

double parse_share(Text text, Text place) {
    constexpr std::array<std::pair<Text, double>, 2> kUnits{{{"%", 0.01}, {"", 1}}};
    const double x = with_unit(text, place, "a share from 0 % to 100 %", kUnits);
    if (x > 1) throw Error(std::string(place), fmt::format("'{}'", text), "a share from 0 % to 100 %");
    return x;
}

double parse_plain(Text text, Text place) {
    return devices::parse_number(text, place);
}

void refuse_zero(YamlFields& fields, const std::string& key, double value, Text expected) {
    if (fields.given(key) && !(value > 0)) throw Error(fields.place(key), key + ": 0", std::string(expected));
}

void read_switch(YamlFields& fields, const std::string& key, bool& to) {
    if (!fields.given(key)) return;
    std::string text;
    fields.read(key, text);
    if (text != "on" && text != "off" && text != "true" && text != "false")
        throw Error(fields.place(key), fmt::format("{}: '{}'", key, text.substr(0, 60)), "on or off");
    to = text == "on" || text == "true";
}

void read_bytes(YamlFields& fields, const std::string& key, std::int64_t& to) {
    Bytes bytes(to);
    fields.read(key, bytes);
    to = bytes.value;
}

void read_rate(YamlFields& fields, const std::string& key, double& to) {
    BytesPerSecond rate(to);
    fields.read(key, rate);
    to = rate.value;
}

void read_adj(YamlFields& fields, const std::string& key, int& to) {
    if (!fields.given(key)) return;
    std::string text;
    fields.read(key, text);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to);
    if (error != std::errc() || end != text.data() + text.size() || to < -1000 || to > 1000)
        throw Error(fields.place(key), fmt::format("{}: '{}'", key, text.substr(0, 60)),
                    "a whole number from -1000 to 1000");
}

void read_degrees(YamlFields& fields, const std::string& key, double& to) {
    fields.read(key, to, [](Text text, Text place) {
        const bool below = text.starts_with('-');
        const double x = devices::parse_number(text.substr(below ? 1 : 0), place);
        if (x > (below ? 273 : 1000))
            throw Error(std::string(place), fmt::format("'{}'", text), "degrees Celsius from -273 to 1000");
        return below ? -x : x;
    });
}

namespace {

Law law_of(const YAML::Node& node, const std::string& file, double (*parse)(Text, Text)) {
    if (node.IsScalar()) return always(parse(node.Scalar(), devices::place_of(node, file)));
    YamlFields f(node, file);
    Law law;
    law.kind = Law::Kind::lognormal;
    choose(f, "law", law.kind, 5, law_name);
    const auto must = [&](const char* key, double& to, double (*how)(Text, Text)) {
        f.require(key);
        f.read(key, to, how);
    };
    switch (law.kind) {
        case Law::Kind::fixed:
            must("value", law.first, parse);
            break;
        case Law::Kind::exponential:
            must("mean", law.first, parse);
            break;
        case Law::Kind::lognormal:
            must("median", law.first, parse);
            must("sigma", law.second, parse_plain);
            if (law.second > 10)
                throw Error(f.place("sigma"), fmt::format("sigma {}", law.second), "at most 10");
            break;
        case Law::Kind::empirical:
            for (const YAML::Node& x : devices::list_of(f.require("values"), file))
                law.values.push_back(parse(devices::scalar_text(x, file), devices::place_of(x, file)));
            if (law.values.empty()) throw Error(f.place("values"), "no values", "one at least");
            break;
        case Law::Kind::uniform:
            break;
    }
    if (law.kind == Law::Kind::uniform) {
        must("least", law.first, parse);
        must("most", law.second, parse);
        law.least = law.first;
        law.most = law.second;
    } else {
        f.read("least", law.least, parse);
        f.read("most", law.most, parse);
    }
    if (law.least > law.most)
        throw Error(f.place("least"), fmt::format("least {} above most {}", law.least, law.most),
                    "the other way round");
    f.done();
    return law;
}

}  // namespace

void read_law(YamlFields& fields, const std::string& key, Law& to, double (*parse)(Text, Text)) {
    if (const YAML::Node node = fields.take(key))
        YamlFields::naming(key, [&] { to = law_of(node, fields.file(), parse); });
}

void read_count_law(YamlFields& fields, const std::string& key, Law& to) {
    read_law(fields, key, to, parse_plain);
    const bool spread = to.kind == Law::Kind::exponential || to.kind == Law::Kind::lognormal;
    double largest = spread                          ? (to.first > 0 ? to.most : 0)
                     : to.kind == Law::Kind::uniform ? to.second
                                                     : to.first;
    for (const double x : to.values) largest = std::max(largest, x);
    largest = std::min(std::max(largest, to.least), to.most);
    if (fields.given(key) && largest < 1)
        throw Error(fields.place(key), fmt::format("{}: at most {:g}", key, largest), "1 at least");
}

}  // namespace memwall::sim
