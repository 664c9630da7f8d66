// The files that make up one checkpoint: a single safetensors file, or the shards that an index names.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/model/safetensors.h"

namespace memwall::model {

/// model.safetensors.index.json: {"metadata": {"total_size": bytes}, "weight_map": {tensor: file}}.
struct SafetensorsIndex {
    std::uint64_t total_size = 0;     ///< bytes of all tensors, headers not included; 0 = not given
    std::vector<std::string> shards;  ///< plain file names beside the index, sorted
    std::vector<std::pair<std::string, std::uint32_t>> tensors;  ///< name and index into `shards`, sorted
};

/// Throws Error for broken JSON, a weight_map that is none, and a shard that is not a plain file name: an
/// index must not lead out of its folder.
SafetensorsIndex parse_safetensors_index(const std::string& json_text, const std::string& place);

struct SafetensorsSet {
    std::vector<SafetensorsFile> files;
    std::vector<std::string> missing_shards;
    std::uint64_t missing_shard_bytes = 0;  ///< data of missing shards; 0 = unknown where some are missing
    std::vector<std::string> warnings;

    std::uint64_t data_bytes() const;  ///< of the tensors known by name
    std::uint64_t header_bytes() const;
    std::uint64_t file_bytes() const;
};

/// `path` is a file, any shard of a set ("model-00002-of-00003.safetensors"), or an index. All headers of the
/// set are read; shards that are not there, all of them even, give a warning. Throws Error when a file is
/// malformed.
SafetensorsSet read_safetensors_set(const std::string& path);

}  // namespace memwall::model
