// What a model file holds, as text and JSON: `memwall inspect`.
#pragma once

#include <string>

#include "core/model/gguf.h"
#include "core/model/safetensors_set.h"

namespace memwall::view {

struct FileParts {
    bool tensors = false;
    bool metadata = false;
};

/// memwall/inspect/1 when `json` (then with every part), else text with tables of at most `width` columns.
std::string gguf_view(const model::GgufFile& file, FileParts parts, bool json, bool colour,
                      std::size_t width = 0);
std::string safetensors_view(const model::SafetensorsSet& set, FileParts parts, bool json, bool colour,
                             std::size_t width = 0);

}  // namespace memwall::view
