#include "core/model/safetensors_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "core/base/error.h"

namespace memwall::model {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".safetensors";
constexpr std::string_view kIndexSuffix = ".safetensors.index.json";
constexpr int kMaxDepth = 64;             // the index itself needs 2
constexpr std::size_t kMaxShards = 4096;  // the largest published models have some hundreds
constexpr std::uint64_t kMaxTotal = std::uint64_t{1} << 62;

bool is_shard_name(std::string_view name) {
    return name.ends_with(kSuffix) &&
           name.find_first_of(std::string_view("/\\\0", 3)) == std::string_view::npos;
}

/// An index of a large mixture of experts names 90,000 tensors, so no tree of it is built either.
class IndexReader : public nlohmann::json_sax<nlohmann::json> {
  public:
    explicit IndexReader(const std::string& place) : place_(place) {}

    bool null() override { return scalar("null"); }
    bool boolean(bool) override { return scalar("a boolean"); }
    bool number_integer(number_integer_t) override { return scalar("a negative number"); }
    bool binary(binary_t&) override { return scalar("binary data"); }
    bool number_float(number_float_t value, const string_t&) override {
        // Some writers store the size as 2471645608.0.
        if (is_total() && value >= 0 && value <= static_cast<double>(kMaxTotal))
            return number_unsigned(static_cast<std::uint64_t>(value));
        return scalar("a fraction");
    }
    bool number_unsigned(number_unsigned_t value) override {
        if (!is_total()) return scalar("a number");
        if (value > kMaxTotal) fail(fmt::format("total_size {}", value), "at most 2^62 bytes");
        total_size = value;
        return true;
    }
    bool string(string_t& value) override {
        if (!in_weight_map()) return scalar("a string");
        if (!is_shard_name(value))
            fail(fmt::format("tensor '{}' in file '{}'", key_, value),
                 "a .safetensors file in the same folder");
        pairs.emplace_back(std::move(key_), std::move(value));
        return true;
    }
    bool key(string_t& name) override {
        if (depth_ == 1) section_ = name;
        key_ = std::move(name);
        return true;
    }
    bool start_object(std::size_t) override {
        if (in_weight_map()) fail("an object in weight_map", "a file name");
        if (depth_ == 1 && section_ == "weight_map") has_weight_map = true;
        return deeper();
    }
    bool start_array(std::size_t) override {
        if (depth_ == 0 || in_weight_map()) fail("an array", "an object that maps tensors to files");
        return deeper();
    }
    bool end_object() override {
        --depth_;
        return true;
    }
    bool end_array() override { return end_object(); }
    bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) override {
        throw Error(fmt::format("{}@{}", place_, position), "text that is not JSON",
                    "an index of safetensors files");
    }

    std::uint64_t total_size = 0;
    bool has_weight_map = false;
    std::vector<std::pair<std::string, std::string>> pairs;

  private:
    bool in_weight_map() const { return depth_ == 2 && section_ == "weight_map"; }
    bool is_total() const { return depth_ == 2 && section_ == "metadata" && key_ == "total_size"; }
    bool scalar(const char* what) {
        if (depth_ == 0 || in_weight_map()) fail(what, "an object that maps tensors to files");
        return true;
    }
    bool deeper() {
        if (++depth_ > kMaxDepth) fail("values nested more than 64 deep", "an index of safetensors files");
        return true;
    }
    [[noreturn]] void fail(const std::string& found, const std::string& wanted) {
        throw Error(place_, found, wanted);
    }

    const std::string& place_;
    std::string section_, key_;
    int depth_ = 0;
};

/// "model-00002-of-00003.safetensors" -> stem "model", 3 shards.
struct ShardName {
    std::string stem;
    int count = 0;
    std::string name(int number) const {
        return fmt::format("{}-{:05}-of-{:05}{}", stem, number, count, kSuffix);
    }
};

std::optional<ShardName> shard_name(const std::string& file) {
    constexpr std::size_t kTail = std::string_view("-00001-of-00003").size();
    if (file.size() <= kTail + kSuffix.size()) return std::nullopt;
    const std::string tail = file.substr(file.size() - kTail - kSuffix.size(), kTail);
    const auto number = [&](std::size_t at) {
        int n = 0;
        for (std::size_t i = at; i < at + 5; ++i) {
            if (tail[i] < '0' || tail[i] > '9') return -1;
            n = n * 10 + (tail[i] - '0');
        }
        return n;
    };
    if (tail[0] != '-' || tail.compare(6, 4, "-of-") != 0) return std::nullopt;
    const ShardName shard{file.substr(0, file.size() - kTail - kSuffix.size()), number(10)};
    const int own = number(1);
    if (own < 1 || own > shard.count) return std::nullopt;
    return shard;
}

SafetensorsFile read_file(const std::string& path) {
    return parse_safetensors(*open_file(path));
}

/// Reads those of `names` that exist; the others become missing_shards.
SafetensorsSet read_shards(const fs::path& folder, const std::vector<std::string>& names,
                           const std::string& place) {
    if (names.size() > kMaxShards)
        throw Error(place, fmt::format("{} shards", names.size()), fmt::format("at most {}", kMaxShards));
    SafetensorsSet set;
    for (const std::string& name : names) {
        const fs::path path = folder / name;
        std::error_code ignored;
        if (fs::exists(path, ignored))
            set.files.push_back(read_file(path.string()));
        else
            set.missing_shards.push_back(name);
    }
    return set;
}

/// What the index and the headers say of each other's tensors.
void compare_with_index(SafetensorsSet& set, const SafetensorsIndex& index, const std::string& place) {
    std::vector<std::string_view> stored;
    for (const SafetensorsFile& f : set.files)
        for (const SafetensorsTensor& t : f.tensors) stored.push_back(t.name);
    std::sort(stored.begin(), stored.end());
    const auto twice = std::adjacent_find(stored.begin(), stored.end());
    if (twice != stored.end())
        throw Error(place, fmt::format("tensor '{}' in two shards", *twice), "each tensor once");

    std::vector<bool> missing(index.shards.size());
    for (std::size_t i = 0; i < missing.size(); ++i)
        missing[i] = std::find(set.missing_shards.begin(), set.missing_shards.end(), index.shards[i]) !=
                     set.missing_shards.end();
    std::size_t absent = 0, known = 0;
    for (const auto& [name, shard] : index.tensors) {
        const bool found = std::binary_search(stored.begin(), stored.end(), name);
        known += found;
        absent += !found && !missing[shard];
    }
    if (absent > 0)
        set.warnings.push_back(
            fmt::format("{}: {} tensors are not in the shard that it names", place, absent));
    if (known < stored.size())
        set.warnings.push_back(fmt::format("{}: {} stored tensors are not in it; they are counted", place,
                                           stored.size() - known));
}

SafetensorsSet read_index(const std::string& path) {
    const SafetensorsIndex index = parse_safetensors_index(read_text_file(path), path);
    SafetensorsSet set = read_shards(fs::path(path).parent_path(), index.shards, path);
    compare_with_index(set, index, path);
    if (!set.missing_shards.empty() && index.total_size > set.data_bytes())
        set.missing_shard_bytes = index.total_size - set.data_bytes();
    return set;
}

SafetensorsSet read_without_index(const fs::path& path) {
    const auto shard = shard_name(path.filename().string());
    if (!shard) {
        SafetensorsSet set;
        set.files.push_back(read_file(path.string()));
        return set;
    }
    const fs::path index = path.parent_path() / (shard->stem + std::string(kIndexSuffix));
    std::error_code ignored;
    if (fs::exists(index, ignored)) return read_index(index.string());
    std::vector<std::string> names;
    for (int i = 1; i <= shard->count; ++i) names.push_back(shard->name(i));
    return read_shards(path.parent_path(), names, path.string());
}

void warn_of_gaps(SafetensorsSet& set, const std::string& path) {
    if (!set.missing_shards.empty())
        set.warnings.push_back(
            fmt::format("{}: {} of {} shards are missing ({}{}); {}", path, set.missing_shards.size(),
                        set.missing_shards.size() + set.files.size(), set.missing_shards.front(),
                        set.missing_shards.size() > 1 ? ", ..." : "",
                        set.missing_shard_bytes > 0
                            ? fmt::format("by its total_size they hold {} bytes", set.missing_shard_bytes)
                            : "their size is unknown"));
    for (const SafetensorsFile& f : set.files)
        if (f.missing_bytes > 0)
            set.warnings.push_back(
                fmt::format("{}: the last {} of {} bytes are missing; sizes are those of the complete file",
                            f.name, f.missing_bytes, f.file_bytes()));
}

template <class Member>
std::uint64_t sum(const std::vector<SafetensorsFile>& files, Member member) {
    return std::accumulate(
        files.begin(), files.end(), std::uint64_t{0},
        [&](std::uint64_t total, const SafetensorsFile& f) { return total + std::invoke(member, f); });
}

}  // namespace

std::uint64_t SafetensorsSet::data_bytes() const {
    return sum(files, &SafetensorsFile::data_bytes);
}
std::uint64_t SafetensorsSet::header_bytes() const {
    return sum(files, &SafetensorsFile::header_bytes);
}
std::uint64_t SafetensorsSet::file_bytes() const {
    return sum(files, &SafetensorsFile::file_bytes);
}

SafetensorsIndex parse_safetensors_index(const std::string& json_text, const std::string& place) {
    IndexReader reader(place);
    nlohmann::json::sax_parse(json_text.begin(), json_text.end(), &reader);
    if (!reader.has_weight_map)
        throw Error(place, "no weight_map",
                    "an index of safetensors files: {\"weight_map\": {tensor: file}}");

    SafetensorsIndex index;
    index.total_size = reader.total_size;
    for (const auto& [tensor, file] : reader.pairs) index.shards.push_back(file);
    std::sort(index.shards.begin(), index.shards.end());
    index.shards.erase(std::unique(index.shards.begin(), index.shards.end()), index.shards.end());
    index.shards.shrink_to_fit();
    index.tensors.reserve(reader.pairs.size());
    for (auto& [tensor, file] : reader.pairs) {
        const auto at = std::lower_bound(index.shards.begin(), index.shards.end(), file);
        index.tensors.emplace_back(std::move(tensor), static_cast<std::uint32_t>(at - index.shards.begin()));
    }
    std::sort(index.tensors.begin(), index.tensors.end());
    return index;
}

SafetensorsSet read_safetensors_set(const std::string& path) {
    SafetensorsSet set = path.ends_with(".json") ? read_index(path) : read_without_index(path);
    warn_of_gaps(set, path);
    return set;
}

}  // namespace memwall::model
