// Values of a scenario file: numbers with units, names from a list, laws. Private to sim/.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "devices/yaml_fields.h"
#include "sim/workload/law.h"

namespace memwall::sim {

using Text = std::string_view;

/// A section: as of devices, but its errors name the key, since many stand on one line.
class YamlFields : public devices::YamlFields {
  public:
    using devices::YamlFields::YamlFields;

    template <class... How>
    void read(const std::string& key, How&&... how) {
        naming(key, [&] { devices::YamlFields::read(key, std::forward<How>(how)...); });
    }
    bool given(const std::string& key) { return static_cast<bool>(take(key)); }
    template <class Read>
    static void naming(const std::string& key, Read read) {
        try {
            read();
        } catch (const Error& e) {
            throw Error(e.place(), key + ": " + e.found(), e.expected(), e.hint());
        }
    }
};

/// Refuses a key that is there and says 0 where that would mean something else, or nothing.
void refuse_zero(YamlFields& fields, const std::string& key, double value, Text expected = "above 0");

// Parsers throw Error with `place` as its place.
double parse_time(Text text, Text place);       ///< seconds: "200ms", "2s", "24h"
double parse_frequency(Text text, Text place);  ///< a second: "10/h"
double parse_share(Text text, Text place);      ///< "30%", "0.3"
double parse_plain(Text text, Text place);

/// One of the names that `name(0), name(1) ...` gives.
template <class Enum, class Name>
void choose(YamlFields& fields, const std::string& key, Enum& to, int count, Name name) {
    const YAML::Node node = fields.take(key);
    if (!node) return;
    std::string text;
    fields.read(key, text);
    std::vector<std::string> known;
    for (int i = 0; i < count; ++i) {
        known.emplace_back(name(static_cast<Enum>(i)));
        if (text == known.back()) {
            to = static_cast<Enum>(i);
            return;
        }
    }
    throw Error(devices::place_of(node, fields.file()), fmt::format("{}: '{}'", key, text.substr(0, 60)),
                fmt::format("one of {}", fmt::join(known, ", ")));
}

void read_switch(YamlFields& fields, const std::string& key, bool& to);
void read_bytes(YamlFields& fields, const std::string& key, std::int64_t& to);
void read_rate(YamlFields& fields, const std::string& key, double& to);
/// Whole numbers from -1000 to 1000.
void read_adj(YamlFields& fields, const std::string& key, int& to);
void read_degrees(YamlFields& fields, const std::string& key, double& to);
/// A plain value, or a mapping with the law's name and numbers, each read by `parse`.
void read_law(YamlFields& fields, const std::string& key, Law& to, double (*parse)(Text, Text));
/// The same of whole numbers from 1.
void read_count_law(YamlFields& fields, const std::string& key, Law& to);

}  // namespace memwall::sim
