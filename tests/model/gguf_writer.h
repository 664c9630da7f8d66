// Writes GGUF files for tests: any metadata, any tensor shape, both byte orders, whole, cut or in shards.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/gguf.h"

namespace memwall::test {

/// Numbers and strings as GGUF stores them; also for files that are wrong on purpose.
class GgufBytes {
  public:
    explicit GgufBytes(bool big_endian = false) : big_(big_endian) {}

    template <class T>
    GgufBytes& number(T v);
    GgufBytes& u32(std::uint32_t v) { return number(v); }
    GgufBytes& u64(std::uint64_t v) { return number(v); }
    GgufBytes& text(std::string_view s);
    GgufBytes& raw(std::string_view s) {
        bytes_.append(s);
        return *this;
    }
    /// "GGUF", version and the two counts.
    GgufBytes& begin(std::uint64_t tensors, std::uint64_t keys, std::uint32_t version = 3) {
        return raw("GGUF").u32(version).u64(tensors).u64(keys);
    }
    const std::string& str() const { return bytes_; }

  private:
    bool big_;
    std::string bytes_;
};

class GgufWriter {
  public:
    explicit GgufWriter(int version = 3, bool big_endian = false)
        : version_(version), big_(big_endian), keys_(big_endian) {}

    using Type = model::GgufType;
    GgufWriter& integer(std::string_view key, std::int64_t v, Type type = Type::u32);
    GgufWriter& real(std::string_view key, double v, Type type = Type::f32);
    GgufWriter& flag(std::string_view key, bool v) { return integer(key, v, Type::boolean); }
    GgufWriter& text(std::string_view key, std::string_view v);
    GgufWriter& integers(std::string_view key, const std::vector<std::int64_t>& v, Type element = Type::u32);
    GgufWriter& reals(std::string_view key, const std::vector<double>& v, Type element = Type::f32);
    GgufWriter& texts(std::string_view key, const std::vector<std::string>& v);
    /// Multiple of which tensors and the data section start; adds the key.
    GgufWriter& alignment(std::uint32_t v);
    GgufWriter& tensor(std::string_view name, const std::vector<std::int64_t>& dims,
                       std::string_view format = "F32");

    std::string header() const;  ///< up to the data section
    std::uint64_t data_bytes() const { return data_bytes_; }
    std::int64_t weight_bytes() const { return weight_bytes_; }  ///< data without padding
    /// The header and the data as a hole.
    void write(const std::string& path) const;

  private:
    struct Row {
        std::string name;
        std::vector<std::int64_t> dims;
        std::uint32_t type;
        std::uint64_t offset;
    };
    void number(Type type, std::int64_t v);
    void number(Type type, double v);
    GgufBytes& key(std::string_view name, Type type);

    int version_;
    bool big_;
    GgufBytes keys_;
    std::uint64_t key_count_ = 0, alignment_ = 32, data_bytes_ = 0;
    std::int64_t weight_bytes_ = 0;
    std::vector<Row> tensors_;
};

/// A smallest llama-like file: two layers, hidden 64, 4 heads, 2 KV heads, 100 tokens.
GgufWriter small_llama(int version = 3, bool big_endian = false);

/// The keys every decoder has and a token table of 1000 rows; no layer tensors. `kv_heads` = 0 leaves that
/// key out.
GgufWriter decoder(const std::string& architecture, int layers, int hidden = 512, int heads = 8,
                   int kv_heads = 2);
/// "blk.LAYER.NAME"
std::string blk(int layer, const char* name);

/// What the reader makes of bytes in memory.
model::GgufFile parse(const std::string& bytes);
model::Model read(const GgufWriter& writer);
/// The same with the data present, so that nothing is said to be cut.
model::Model read_whole(const GgufWriter& writer);

/// A folder that is gone when the test is.
class TempDir {
  public:
    TempDir();
    ~TempDir();
    TempDir(const TempDir&) = delete;
    TempDir& operator=(const TempDir&) = delete;
    std::string path(const std::string& name) const { return (dir_ / name).string(); }

  private:
    std::filesystem::path dir_;
};

}  // namespace memwall::test
