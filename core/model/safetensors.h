// The header of one safetensors file: which tensors it holds, in what type and shape, and where. Tensor data
// is never touched, so a file of any size is read in the time its header takes.
//
// Layout (github.com/huggingface/safetensors, README, "Format"): a little-endian u64 N, N bytes of JSON, then
// tensor data in row-major order. The JSON maps each name to {"dtype", "shape", "data_offsets": [begin, end]}
// with offsets relative to the data; "__metadata__" maps strings to strings. The tensors cover the data
// without holes or overlap.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/byte_source.h"
#include "core/quant/format.h"

namespace memwall::model {

/// A row of the table of element types.
struct SafetensorsDtype {
    std::string_view name;  ///< as in the file: "BF16"
    std::uint16_t bits;     ///< a value
    std::string_view ggml;  ///< our block format of the same layout; empty = none, the bits say all
};

/// All types of the format. Source: safetensors/src/tensor.rs, enum Dtype and bitsize(), commit 24b0b285
/// (2026-05-12).
std::span<const SafetensorsDtype> safetensors_dtypes();
quant::Format storage_format(const SafetensorsDtype& dtype);

struct SafetensorsTensor {
    std::string name;
    const SafetensorsDtype* dtype = nullptr;  ///< a row of safetensors_dtypes(), never null once parsed
    std::vector<std::int64_t> shape;          ///< outermost dimension first; empty = a scalar
    std::uint64_t begin = 0, end = 0;         ///< byte range in the data section
    std::uint64_t bytes() const { return end - begin; }
};

struct SafetensorsFile {
    std::string name;                             ///< the source's, for messages
    std::vector<SafetensorsTensor> tensors;       ///< in the order of their data
    std::map<std::string, std::string> metadata;  ///< "__metadata__"
    std::uint64_t header_bytes = 0;               ///< everything before the data
    std::uint64_t data_bytes = 0;                 ///< what the tensors take, also where the file is cut
    std::uint64_t missing_bytes = 0;              ///< of these, beyond the end of a file that was cut
    std::uint64_t file_bytes() const { return header_bytes + data_bytes; }  ///< of the complete file
};

/// Reads the header. Throws Error for everything the format forbids: a header beyond the file or beyond
/// 100,000,000 bytes (the limit of the reference implementation), broken JSON, an unknown type, a byte range
/// that is not shape x type, holes, overlap, names used twice, bytes after the last tensor. A file that ends
/// before its data does is read: people fetch only the first megabytes.
SafetensorsFile parse_safetensors(const ByteSource& source);

}  // namespace memwall::model
