#include "kernels/lab/tensor_file.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/base/error.h"
#include "core/model/checkpoint_folder.h"
#include "core/model/gguf.h"
#include "core/model/safetensors_set.h"
#include "kernels/quantize/parallel.h"

namespace memwall::lab {
namespace {

TensorFile open_gguf_tensors(const std::string& path) {
    TensorFile file{path, {}, {}, {}};
    file.files.push_back(open_file(path));
    const model::GgufFile gguf = model::parse_gguf(*file.files.back());
    if (gguf.big_endian) throw Error(path, "a big-endian file", "little-endian tensors");
    file.warnings = gguf.warnings;
    for (const model::GgufTensor& t : gguf.tensors) {
        if (t.dimensions < 2) continue;
        file.tensors.push_back({t.name, static_cast<std::uint64_t>(t.dims[1] * t.dims[2] * t.dims[3]),
                                static_cast<std::uint64_t>(t.dims[0]), quant::format_name(t.format),
                                quantize::find_codec(t.format), 0, gguf.data_offset + t.offset});
    }
    return file;
}

TensorFile open_safetensors(const std::string& path) {
    TensorFile file{path, {}, {}, {}};
    const model::SafetensorsSet set = model::read_safetensors_set(path);
    file.warnings = set.warnings;
    for (const model::SafetensorsFile& f : set.files) {
        file.files.push_back(open_file(f.name));
        for (const model::SafetensorsTensor& t : f.tensors) {
            if (t.shape.size() < 2) continue;
            std::uint64_t rows = 1;  // the reader has compared the product with the file's size
            for (std::size_t i = 0; i + 1 < t.shape.size(); ++i)
                rows *= static_cast<std::uint64_t>(t.shape[i]);
            file.tensors.push_back({t.name, rows, static_cast<std::uint64_t>(t.shape.back()),
                                    std::string(t.dtype->name),
                                    t.dtype->ggml.empty() ? nullptr : quantize::find_codec(t.dtype->ggml),
                                    file.files.size() - 1, f.header_bytes + t.begin});
        }
    }
    return file;
}

}  // namespace

TensorFile open_tensors(const std::string& path) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) {
        const std::string weights = model::find_weights(path);
        if (weights.empty())
            throw Error(path, "a folder without safetensors", "a .gguf or .safetensors file");
        return open_safetensors(weights);
    }
    if (path.ends_with(".safetensors") || path.ends_with(".safetensors.index.json"))
        return open_safetensors(path);
    if (path.ends_with(".gguf")) return open_gguf_tensors(path);
    throw Error(path, "a name that says no format", "a .gguf or .safetensors file, or synthetic:gaussian");
}

Matrix read_rows(const TensorFile& file, const StoredTensor& t, std::uint64_t limit) {
    const ByteSource& source = *file.files[t.file];
    const std::string place = fmt::format("{}@{}", source.name(), t.offset);
    if (!t.codec)
        throw Error(place, fmt::format("tensor '{}' in {}", t.name, t.format), "a format we can decode");
    if (t.rows == 0 || t.cols == 0 || limit == 0) return {};
    const std::uint64_t row_bytes = quantize::encoded_bytes(*t.codec, t.cols);
    // The last row first: nothing is allocated for a tensor that the file does not hold.
    source.view(t.offset + (t.rows - 1) * row_bytes, row_bytes);
    Matrix m(std::min(t.rows, limit), t.cols);
    quantize::parallel_for(m.rows, [&](std::size_t i) {
        // The middle of each of m.rows equal portions; all rows when there are no more.
        const std::uint64_t r = (2 * i + 1) * t.rows / (2 * m.rows);
        quantize::decode(*t.codec, source.view(t.offset + r * row_bytes, row_bytes), m.row(i));
    });
    if (!std::all_of(m.data.begin(), m.data.end(), [](float x) { return std::isfinite(x); }))
        throw Error(place, fmt::format("tensor '{}' holds a value that is not finite", t.name),
                    "finite weights");
    return m;
}

bool name_matches(const std::string& pattern, const std::string& name) {
    if (pattern.empty()) return true;
    if (pattern.find_first_of("*?[") == std::string::npos) return name.find(pattern) != std::string::npos;
    return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

}  // namespace memwall::lab
