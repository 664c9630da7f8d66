// YAML mappings read key by key, with errors that name file and line. Private to devices/: parsers stay out
// of public headers.
#pragma once

#include <yaml-cpp/yaml.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/units.h"

namespace memwall::devices {

/// The document in `text`, at most 256 KiB of it. Throws Error with "file:line" for anything that is no YAML.
YAML::Node parse_yaml(std::string_view text, const std::string& file);

/// "file:line" of a node.
std::string place_of(const YAML::Node& node, const std::string& file);

/// The text of a scalar; throws Error for a list, a mapping or nothing.
std::string scalar_text(const YAML::Node& node, const std::string& file);

/// The elements of a list of scalars; a single scalar counts as a list of one.
std::vector<std::string> scalar_list(const YAML::Node& node, const std::string& file);

/// `node` itself, which must be a list: yaml-cpp iterates over anything else without a word.
YAML::Node list_of(const YAML::Node& node, const std::string& file);

/// One mapping. Every reader leaves its target alone when the key is absent and throws Error for a bad value.
/// done() refuses keys that nobody asked for, so a misspelt key is never ignored.
class YamlFields {
  public:
    /// Throws Error when `node` is no mapping or says a key twice.
    YamlFields(const YAML::Node& node, std::string file);

    /// The value of `key`; an undefined node (false) when absent.
    YAML::Node take(const std::string& key);
    /// Throws Error when absent.
    YAML::Node require(const std::string& key);

    void read(const std::string& key, std::string& to);
    void read(const std::string& key, Bytes& to);
    void read(const std::string& key, BytesPerSecond& to);
    void read(const std::string& key, OpsPerSecond& to);
    void read(const std::string& key, Watts& to);
    void read(const std::string& key, Seconds& to);
    /// Whole numbers within 0..high.
    void read(const std::string& key, int& to, int high);
    void read(const std::string& key, std::int64_t& to, std::int64_t high);
    /// A plain number within 0..high.
    void read(const std::string& key, double& to, double high);
    /// A number with a unit that `parse(text, place)` knows.
    void read(const std::string& key, double& to, double (*parse)(std::string_view, std::string_view));

    void done() const;
    const std::string& file() const { return file_; }
    std::string place() const { return place_; }
    /// Of the value of `key`; that of the mapping when the key is absent.
    std::string place(const std::string& key) const;

  private:
    struct Entry {
        YAML::Node key, value;
        bool asked = false;
    };
    std::string file_, place_;
    std::map<std::string, Entry> entries_;
    std::vector<std::string> known_;  // in the order asked for
};

}  // namespace memwall::devices
