// Split sets: NAME-00001-of-00003.gguf and its siblings, and reading models from paths.
#include <fmt/format.h>

#include <filesystem>

#include "core/base/error.h"
#include "core/model/gguf.h"

namespace memwall::model {
namespace {

constexpr std::size_t kTailLength = 20;  // "-00001-of-00003.gguf"

struct ShardName {
    std::string stem;  ///< path up to the number
    int number = 0;    ///< as written, from 1
    int count = 0;
};

std::optional<int> five_digits(std::string_view text) {
    int n = 0;
    for (const char c : text) {
        if (c < '0' || c > '9') return std::nullopt;
        n = 10 * n + (c - '0');
    }
    return n;
}

std::optional<ShardName> parse_shard_name(const std::string& path) {
    if (path.size() <= kTailLength) return std::nullopt;
    const std::string_view tail = std::string_view(path).substr(path.size() - kTailLength);
    const auto number = five_digits(tail.substr(1, 5)), count = five_digits(tail.substr(10, 5));
    if (tail[0] != '-' || tail.substr(6, 4) != "-of-" || tail.substr(15) != ".gguf" || !number || !count)
        return std::nullopt;
    return ShardName{path.substr(0, path.size() - kTailLength), *number, *count};
}

std::string shard_path(const ShardName& name, int number) {
    return fmt::format("{}-{:05d}-of-{:05d}.gguf", name.stem, number, name.count);
}

std::optional<std::int64_t> split_key(const GgufFile& file, std::string_view key) {
    const GgufEntry* e = file.find(key);
    const auto* v = e ? std::get_if<std::int64_t>(&e->value.value) : nullptr;
    return v ? std::optional<std::int64_t>(*v) : std::nullopt;
}

/// Adds a shard: tensors follow those of the shards before, keys count where there were none.
void append(GgufFile& set, GgufFile&& shard, int number) {
    for (GgufTensor& t : shard.tensors) {
        t.shard = number;
        set.tensors.push_back(std::move(t));
    }
    set.header_bytes += shard.header_bytes;
    set.data_bytes += shard.data_bytes;
    set.truncated |= shard.truncated;
    for (std::string& w : shard.warnings) set.warnings.push_back(std::move(w));
}

GgufFile open_set(const ShardName& name, std::int64_t tensors_of_set) {
    GgufFile set;
    std::string first_missing;
    for (int i = 0; i < name.count; ++i) {
        const std::string path = shard_path(name, i + 1);
        if (std::error_code error; !std::filesystem::exists(path, error)) {
            ++set.missing_shards;
            if (first_missing.empty()) first_missing = path;
            continue;
        }
        GgufFile shard = parse_gguf(*open_file(path));
        // split.no counts from 0, names from 1
        if (split_key(shard, "split.no") != i || split_key(shard, "split.count") != name.count)
            throw Error(
                path,
                fmt::format("split.no and split.count {} of {}", split_key(shard, "split.no").value_or(-1),
                            split_key(shard, "split.count").value_or(-1)),
                fmt::format("{} of {}, as its name says", i, name.count), "was the file renamed?");
        if (set.name.empty()) {
            set.name = shard.name;
            set.version = shard.version;
            set.big_endian = shard.big_endian;
            set.metadata = std::move(shard.metadata);
            set.alignment = shard.alignment;
            set.data_offset = shard.data_offset;
        }
        append(set, std::move(shard), i);
    }
    if (set.missing_shards > 0)
        set.warnings.push_back(
            fmt::format("{} of {} shards are missing, the first is {}; {} of {} tensors are here",
                        set.missing_shards, name.count, first_missing, set.tensors.size(), tensors_of_set));
    else if (static_cast<std::int64_t>(set.tensors.size()) != tensors_of_set)
        set.warnings.push_back(fmt::format("the shards hold {} tensors, split.tensors.count says {}",
                                           set.tensors.size(), tensors_of_set));
    return set;
}

}  // namespace

GgufFile open_gguf(const std::string& path) {
    GgufFile file = parse_gguf(*open_file(path));
    const std::int64_t count = split_key(file, "split.count").value_or(1);
    if (count <= 1) return file;
    const std::int64_t tensors = split_key(file, "split.tensors.count").value_or(0);
    const auto name = parse_shard_name(path);
    if (!name || name->count != count) {
        file.missing_shards = static_cast<int>(std::min<std::int64_t>(count - 1, 65535));
        file.warnings.push_back(fmt::format(
            "a shard of {} whose name is not NAME-00001-of-{:05d}.gguf, so the others cannot be found; "
            "{} of {} tensors are here",
            count, count, file.tensors.size(), tensors));
        return file;
    }
    return open_set(*name, tensors);
}

Model read_gguf(const std::string& path) {
    const std::filesystem::path p(path);
    std::string id = p.extension() == ".gguf" ? p.stem().string() : p.filename().string();
    if (const auto shard = parse_shard_name(path))
        id = std::filesystem::path(shard->stem).filename().string();
    return model_from_gguf(open_gguf(path), id);
}

}  // namespace memwall::model
