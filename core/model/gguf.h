// GGUF files: container versions 2 and 3, both byte orders, single files and split sets
// (layout: the GGUF specification of ggml, docs/gguf.md).
//
// Everything in a file is hostile until checked: counts, lengths, offsets and shapes are compared with the
// size of the file before anything is stored. String arrays (vocabularies) are walked, never built. All
// functions throw memwall::Error with "file@offset" as its place.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/byte_source.h"
#include "core/model/model.h"
#include "core/quant/format.h"

namespace memwall::model {

/// Value types by their number in the file.
enum class GgufType : std::uint8_t { u8, i8, u16, i16, u32, i32, f32, boolean, string, array, u64, i64, f64 };

std::string_view gguf_type_name(GgufType type);

/// A scalar, or a summary of an array. Integers are widened to 64 bits and clamped to their signed range.
struct GgufValue {
    GgufType type = GgufType::u32;
    GgufType element = GgufType::u32;  ///< of an array
    std::uint64_t count = 1;           ///< elements of an array; 1 for scalars
    /// A scalar; or all elements of an array of up to kKeptElements numbers, the first kShownElements of a
    /// longer one; empty (monostate) for arrays of strings.
    std::variant<std::monostate, std::int64_t, double, std::string, std::vector<std::int64_t>,
                 std::vector<double>>
        value;

    static constexpr std::uint64_t kKeptElements = 4096;  ///< enough for one number a layer
    static constexpr std::uint64_t kShownElements = 8;
};

struct GgufEntry {
    std::string key;
    GgufValue value;
    std::uint64_t offset = 0;  ///< of the key's length field in the file
};

struct GgufTensor {
    std::string name;
    std::array<std::int64_t, 4> dims{1, 1, 1, 1};  ///< dims[0] = row length
    int dimensions = 1;                            ///< as written, at most 4
    quant::Format format;
    std::int64_t bytes = 0;    ///< without padding
    std::uint64_t offset = 0;  ///< from the start of the data section of its shard
    int shard = 0;             ///< 0-based
    std::int64_t elements() const { return dims[0] * dims[1] * dims[2] * dims[3]; }
};

/// One file, or a split set after open_gguf(): tensors of all shards that were found, metadata of the first.
struct GgufFile {
    std::string name;
    int version = 3;
    bool big_endian = false;
    std::vector<GgufEntry> metadata;  ///< in file order
    std::vector<GgufTensor> tensors;  ///< in file order, shard by shard
    std::uint64_t alignment = 32;
    std::uint64_t data_offset = 0;   ///< of the (first) data section
    std::uint64_t header_bytes = 0;  ///< everything before the data section, all shards
    std::uint64_t data_bytes = 0;    ///< data sections of all shards, padding included
    bool truncated = false;          ///< the file ends before its data does
    int missing_shards = 0;          ///< of a split set
    std::vector<std::string> warnings;

    const GgufEntry* find(std::string_view key) const;
    const GgufTensor* find_tensor(std::string_view name) const;
};

/// The container of one file, nothing of what it means (for `memwall inspect`).
GgufFile parse_gguf(const ByteSource& source);

/// Any shard of a split set (NAME-00001-of-00003.gguf) or a single file. A missing sibling is a warning, but
/// the shard with the model's keys must be there.
GgufFile open_gguf(const std::string& path);

/// Keys and tensors as a Model; `id` is kept as its id. Throws Error naming the key when one is missing that
/// cannot be guessed (head count, block count, embedding length) or has an impossible value.
Model model_from_gguf(const GgufFile& file, const std::string& id);

/// open_gguf and model_from_gguf; the id is the file's name without its folder and ".gguf".
Model read_gguf(const std::string& path);

/// What `general.file_type` calls the mix of formats ("Q4_K_M"); empty for numbers nobody published.
/// Source: enum llama_ftype in include/llama.h of llama.cpp v0.5.0, and the removed numbers of older
/// releases.
std::string_view gguf_file_type_name(std::int64_t file_type);

}  // namespace memwall::model
