// Weights to measure: the matrices of a GGUF or safetensors file, or one synthetic matrix.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/byte_source.h"
#include "kernels/lab/random_weights.h"
#include "kernels/quantize/block_codec.h"

namespace memwall::lab {

struct StoredTensor {
    std::string name;
    std::uint64_t rows = 0, cols = 0;             ///< leading dimensions multiplied together; cols = inputs
    std::string format;                           ///< as the file names it: "Q4_K", "BF16"
    const quantize::BlockCodec* codec = nullptr;  ///< null: we cannot read the format
    std::size_t file = 0;                         ///< index into TensorFile::files
    std::uint64_t offset = 0;                     ///< in that file
};

struct TensorFile {
    std::string name;
    std::vector<std::unique_ptr<ByteSource>> files;
    std::vector<StoredTensor> tensors;  ///< of two dimensions and more, in file order
    std::vector<std::string> warnings;
};

/// `path`: a .gguf (one file; of a split set, that shard), a .safetensors or its index with all shards
/// present, or a folder that holds safetensors. Throws Error as the readers do, and for big-endian files.
TensorFile open_tensors(const std::string& path);

/// At most `limit` rows, evenly spread over the tensor, as f32. Throws Error when the format cannot be read,
/// the data leaves the file, or a value is not finite.
Matrix read_rows(const TensorFile& file, const StoredTensor& tensor, std::uint64_t limit);

/// "blk.*.attn_q.weight" with the wildcards of fnmatch(3); a pattern without any is looked for anywhere in
/// the name.
bool name_matches(const std::string& pattern, const std::string& name);

}  // namespace memwall::lab
