#include "devices/calibration_yaml.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "devices/quantity.h"
#include "devices/yaml_fields.h"

namespace memwall::devices {
namespace {

using device::Calibration;
using device::ProbeResult;

constexpr std::array<std::string_view, 3> kUnits = {"B/s", "ops/s", "s"};
constexpr double kLargest = 1e18;
constexpr int kMostThreads = 4096, kMostSamples = 1 << 20;

struct Number {
    const char* key;
    double ProbeResult::*value;
};
constexpr Number kNumbers[] = {{"median", &ProbeResult::median},
                               {"low", &ProbeResult::low},
                               {"high", &ProbeResult::high},
                               {"min", &ProbeResult::min},
                               {"max", &ProbeResult::max}};

ProbeResult read_result(const YAML::Node& node, const std::string& file) {
    YamlFields fields(node, file);
    ProbeResult r;
    fields.require("probe");
    fields.read("probe", r.probe);
    const YAML::Node unit = fields.require("unit");
    r.unit = scalar_text(unit, file);
    if (std::find(kUnits.begin(), kUnits.end(), r.unit) == kUnits.end())
        throw Error(place_of(unit, file), fmt::format("unit '{}'", r.unit),
                    fmt::format("one of {}", fmt::join(kUnits, ", ")));
    fields.read("threads", r.threads, kMostThreads);
    for (const Number& n : kNumbers) {
        fields.require(n.key);
        fields.read(n.key, r.*n.value, kLargest);
    }
    if (!(r.median > 0 && r.min <= r.low && r.low <= r.median && r.median <= r.high && r.high <= r.max))
        throw Error(place_of(node, file), "a median outside its range",
                    "0 < min <= low <= median <= high <= max");
    fields.read("samples", r.samples, kMostSamples);
    fields.read("unclean", r.unclean, kMostSamples);
    fields.read("steal", r.steal, 1.0);
    fields.read("how", r.how);
    fields.done();
    return r;
}

void write_result(YAML::Emitter& out, const ProbeResult& r) {
    const auto put = [&](const char* key, const auto& value) {
        out << YAML::Key << key << YAML::Value << value;
    };
    out << YAML::Flow << YAML::BeginMap;
    put("probe", r.probe);
    put("threads", r.threads);
    put("unit", r.unit);
    for (const Number& n : kNumbers) put(n.key, exact_text(r.*n.value));
    put("samples", r.samples);
    put("unclean", r.unclean);
    if (r.steal != 0) put("steal", exact_text(r.steal));
    if (!r.how.empty()) put("how", r.how);
    out << YAML::EndMap;
}

struct Text {
    const char* key;
    std::string Calibration::*value;
};
constexpr Text kTexts[] = {{"date", &Calibration::date},
                           {"memwall", &Calibration::version},
                           {"kernel", &Calibration::kernel},
                           {"isa", &Calibration::isa},
                           {"pages", &Calibration::pages}};

}  // namespace

Calibration read_calibration(const YAML::Node& node, const std::string& file) {
    YamlFields fields(node, file);
    Calibration c;
    for (const Text& t : kTexts) fields.read(t.key, c.*t.value);
    fields.read("threads", c.threads, kMostThreads);
    fields.read("steal", c.steal, 1.0);
    for (const YAML::Node& result : list_of(fields.require("results"), file))
        c.results.push_back(read_result(result, file));
    fields.done();
    return c;
}

void write_calibration(YAML::Emitter& out, const Calibration& c) {
    const auto key = [&](const char* name) -> YAML::Emitter& {
        return out << YAML::Key << name << YAML::Value;
    };
    out << YAML::BeginMap;
    for (const Text& t : kTexts)
        if (!(c.*t.value).empty()) key(t.key) << YAML::DoubleQuoted << c.*t.value;  // a bare date is no text
    key("threads") << c.threads;
    if (c.steal != 0) key("steal") << exact_text(c.steal);
    key("results") << YAML::BeginSeq;
    for (const ProbeResult& r : c.results) write_result(out, r);
    out << YAML::EndSeq << YAML::EndMap;
}

}  // namespace memwall::devices
