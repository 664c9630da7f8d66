// The container: magic, version, counts, metadata, tensor table. No key has a meaning here but the alignment.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "core/base/error.h"
#include "core/model/gguf.h"

namespace memwall::model {
namespace {

constexpr std::uint64_t kMaxAlignment = std::uint64_t{1} << 20;
constexpr std::uint64_t kMaxMetadata = 65536;   // files have about 40
constexpr std::uint64_t kMaxKeyLength = 65535;  // by the specification
constexpr std::uint64_t kSmallestEntry = 13;    // key length, type, one byte of value
constexpr std::uint64_t kSmallestTensor = 24;   // name length, dimensions, type, offset
constexpr int kMaxDimensions = 4;
// Of a tensor and, in bytes, of a file: far beyond any, and sums and sizes stay below 2^63.
constexpr std::uint64_t kMaxElements = std::uint64_t{1} << 56;

constexpr std::string_view kTypeNames[] = {"u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
                                           "bool", "string", "array", "u64", "i64", "f64"};
constexpr std::uint64_t kTypeBytes[] = {1, 1, 2,  2, 4, 4, 4,
                                        1, 8, 12, 8, 8, 8};  // least, for text and arrays

/// Reads forward and fails where a length does not fit what is left. Asks the source for a window at a time,
/// so that a source behind a network need not hold the whole file.
class Cursor {
  public:
    explicit Cursor(const ByteSource& source) : source_(source), size_(source.size()) {}

    std::uint64_t offset() const { return at_; }
    std::uint64_t left() const { return size_ - at_; }
    void set_big_endian(bool big) { swap_ = big != (std::endian::native == std::endian::big); }

    std::string place() const { return place(at_); }
    std::string place(std::uint64_t offset) const { return fmt::format("{}@{}", source_.name(), offset); }

    template <class T>
    T number() {
        std::array<std::byte, sizeof(T)> raw;
        std::memcpy(raw.data(), take(sizeof(T)), sizeof(T));
        if (swap_) std::reverse(raw.begin(), raw.end());
        return std::bit_cast<T>(raw);
    }

    /// The length of a string, checked against what is left and against `limit`.
    std::uint64_t length(std::string_view what,
                         std::uint64_t limit = std::numeric_limits<std::uint64_t>::max()) {
        const std::uint64_t start = at_, n = number<std::uint64_t>();
        if (n > left())
            throw Error(place(start), fmt::format("{} of {} bytes, {} left in the file", what, n, left()),
                        "a length inside the file", kCutHint);
        if (n > limit)
            throw Error(place(start), fmt::format("{} of {} bytes", what, n),
                        fmt::format("at most {} bytes", limit));
        return n;
    }

    std::string text(std::string_view what, std::uint64_t limit = std::numeric_limits<std::uint64_t>::max()) {
        const std::uint64_t n = length(what, limit);
        return n == 0 ? std::string() : std::string(reinterpret_cast<const char*>(take(n)), n);
    }

    void skip(std::uint64_t n) {
        if (n > left()) fail_short(n);
        at_ += n;
    }

    /// A key or tensor name: printable, so that messages and tables may show it.
    std::string name(std::string_view what) {
        const std::uint64_t start = at_;
        std::string s = text(what, kMaxKeyLength);
        if (std::any_of(s.begin(), s.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }))
            throw Error(place(start), fmt::format("{} with control characters: '{}'", what, s),
                        "a printable name");
        return s;
    }

    /// A number of items that take at least `least` bytes each.
    std::uint64_t count(std::string_view what, std::uint64_t least) {
        const std::uint64_t start = at_, n = number<std::uint64_t>();
        if (n > left() / least)
            throw Error(place(start), fmt::format("{} {}, {} bytes left in the file", n, what, left()),
                        fmt::format("at most {}", left() / least), kCutHint);
        return n;
    }

  private:
    static constexpr std::uint64_t kWindow = std::uint64_t{1} << 20;
    static constexpr const char* kCutHint =
        "if the file was fetched in part, fetch its whole header (5 to 20 MB with a large vocabulary)";

    [[noreturn]] void fail_short(std::uint64_t n) const {
        throw Error(place(),
                    fmt::format("the file ends inside its header: {} bytes wanted, {} left", n, left()),
                    "a complete header", kCutHint);
    }

    const std::byte* take(std::uint64_t n) {
        if (n > left()) fail_short(n);
        if (at_ < begin_ || at_ + n > begin_ + window_.size()) {
            window_ = source_.view(at_, std::min(left(), std::max(n, kWindow)));
            begin_ = at_;
        }
        const std::byte* p = window_.data() + (at_ - begin_);
        at_ += n;
        return p;
    }

    const ByteSource& source_;
    std::uint64_t size_, at_ = 0, begin_ = 0;
    std::span<const std::byte> window_;
    bool swap_ = false;
};

GgufType read_type(Cursor& in) {
    const std::uint64_t start = in.offset();
    const auto type = in.number<std::uint32_t>();
    if (type >= std::size(kTypeNames))
        throw Error(in.place(start), fmt::format("value type {}", type),
                    fmt::format("a GGUF value type, 0 to {}", std::size(kTypeNames) - 1));
    return static_cast<GgufType>(type);
}

bool is_real(GgufType type) {
    return type == GgufType::f32 || type == GgufType::f64;
}

double read_real(Cursor& in, GgufType type) {
    return type == GgufType::f32 ? static_cast<double>(in.number<float>()) : in.number<double>();
}

std::int64_t read_integer(Cursor& in, GgufType type) {
    switch (type) {
        case GgufType::u8:
            return in.number<std::uint8_t>();
        case GgufType::i8:
            return in.number<std::int8_t>();
        case GgufType::u16:
            return in.number<std::uint16_t>();
        case GgufType::i16:
            return in.number<std::int16_t>();
        case GgufType::u32:
            return in.number<std::uint32_t>();
        case GgufType::i32:
            return in.number<std::int32_t>();
        case GgufType::boolean:
            return in.number<std::uint8_t>() != 0;
        case GgufType::i64:
            return in.number<std::int64_t>();
        default: {  // u64: clamped, so that a hostile one stays implausible instead of turning negative
            constexpr auto most = std::uint64_t{std::numeric_limits<std::int64_t>::max()};
            return static_cast<std::int64_t>(std::min(in.number<std::uint64_t>(), most));
        }
    }
}

void read_array(Cursor& in, GgufValue& v) {
    const std::uint64_t start = in.offset();
    v.element = read_type(in);
    if (v.element == GgufType::array)
        throw Error(in.place(start), "an array of arrays", "an array of numbers, booleans or strings");
    const std::uint64_t size = kTypeBytes[static_cast<std::size_t>(v.element)];
    v.count = in.count("array elements", size);
    if (v.element == GgufType::string) {
        for (std::uint64_t i = 0; i < v.count; ++i) in.skip(in.length("a string"));
        return;
    }
    const std::uint64_t kept = v.count <= GgufValue::kKeptElements ? v.count : GgufValue::kShownElements;
    if (is_real(v.element)) {
        auto& out = v.value.emplace<std::vector<double>>(kept);
        for (double& x : out) x = read_real(in, v.element);
    } else {
        auto& out = v.value.emplace<std::vector<std::int64_t>>(kept);
        for (std::int64_t& x : out) x = read_integer(in, v.element);
    }
    in.skip((v.count - kept) * size);
}

GgufEntry read_entry(Cursor& in) {
    GgufEntry e;
    e.offset = in.offset();
    e.key = in.name("a key");
    e.value.type = read_type(in);
    if (e.value.type == GgufType::array)
        read_array(in, e.value);
    else if (e.value.type == GgufType::string)
        e.value.value = in.text("a string");
    else if (is_real(e.value.type))
        e.value.value = read_real(in, e.value.type);
    else
        e.value.value = read_integer(in, e.value.type);
    return e;
}

GgufTensor read_tensor(Cursor& in) {
    GgufTensor t;
    const std::string place = in.place();
    t.name = in.name("a tensor name");
    const auto dimensions = in.number<std::uint32_t>();
    if (dimensions > kMaxDimensions)
        throw Error(place, fmt::format("tensor '{}' with {} dimensions", t.name, dimensions),
                    fmt::format("at most {}", kMaxDimensions));
    t.dimensions = static_cast<int>(dimensions);
    std::int64_t elements = 1;
    for (std::size_t i = 0; i < dimensions; ++i) {
        const auto d = in.number<std::uint64_t>();
        if (d > kMaxElements / static_cast<std::uint64_t>(std::max<std::int64_t>(elements, 1)))
            throw Error(place, fmt::format("tensor '{}' of {} rows or columns", t.name, d),
                        "at most 2^56 elements");
        t.dims[i] = static_cast<std::int64_t>(d);
        elements *= t.dims[i];
    }
    const auto type = in.number<std::uint32_t>();
    if (!quant::find_block_format(type))
        throw Error(place, fmt::format("tensor '{}' of type {}", t.name, type), "a published ggml type",
                    "types of very old files were removed; convert the model again");
    t.format = {.family = quant::Family::ggml, .ggml_type = static_cast<std::uint8_t>(type)};
    t.offset = in.number<std::uint64_t>();
    try {
        t.bytes = quant::tensor_bytes(t.format, t.dims).value;
    } catch (const Error& e) {
        throw Error(place, fmt::format("tensor '{}': {}", t.name, e.found()), e.expected());
    }
    return t;
}

template <class Row>
void refuse_duplicates(const std::vector<Row>& rows, std::string Row::*name, const std::string& file) {
    std::vector<std::string_view> names;
    names.reserve(rows.size());
    for (const Row& r : rows) names.emplace_back(r.*name);
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice != names.end()) throw Error(file, fmt::format("'{}' occurs twice", *twice), "each name once");
}

std::uint64_t padded(std::uint64_t n, std::uint64_t alignment) {
    return (n + alignment - 1) / alignment * alignment;
}

std::uint64_t read_alignment(const GgufFile& file) {
    const GgufEntry* e = file.find("general.alignment");
    if (!e) return 32;
    const auto* v = std::get_if<std::int64_t>(&e->value.value);
    if (!v || *v <= 0 || static_cast<std::uint64_t>(*v) > kMaxAlignment ||
        !std::has_single_bit(static_cast<std::uint64_t>(*v)))
        throw Error(fmt::format("{}@{}", file.name, e->offset),
                    v ? fmt::format("general.alignment = {}", *v) : "general.alignment that is no integer",
                    fmt::format("a power of two of at most {}", kMaxAlignment));
    return static_cast<std::uint64_t>(*v);
}

/// Tensors lie one after the other, each at the next multiple of the alignment; engines insist on it, and it
/// catches every shape that was tampered with. Returns the bytes of the data section.
std::uint64_t check_offsets(const GgufFile& file) {
    std::uint64_t next = 0;
    for (const GgufTensor& t : file.tensors) {
        if (t.offset != next)
            throw Error(file.name, fmt::format("tensor '{}' at data offset {}", t.name, t.offset),
                        fmt::format("{}, where the tensors before it end", next),
                        "the shapes and offsets of the file disagree; it is damaged");
        next += padded(static_cast<std::uint64_t>(t.bytes), file.alignment);
        if (next > kMaxElements)
            throw Error(file.name, "more than 2^56 bytes of tensors", "a file that can exist");
    }
    return next;
}

/// Sets version and byte order, both from one number: the order in which it is small is the file's.
void read_version(Cursor& in, GgufFile& file) {
    static constexpr std::array<std::uint8_t, 4> magic{'G', 'G', 'U', 'F'};
    std::array<std::uint8_t, 4> found;
    for (std::uint8_t& b : found) b = in.number<std::uint8_t>();
    if (found == std::array<std::uint8_t, 4>{'v', 'e', 'r', 's'})  // "version https://git-lfs..."
        throw Error(in.place(0), "a Git LFS pointer", "the GGUF file it stands for", "run git lfs pull");
    if (found[0] == '<')
        throw Error(in.place(0), "a web page", "a GGUF file, which begins with 'GGUF'",
                    "the download failed: fetch it again");
    if (found != magic)
        throw Error(in.place(0),
                    fmt::format("bytes {:02x} {:02x} {:02x} {:02x}", found[0], found[1], found[2], found[3]),
                    "a GGUF file, which begins with 'GGUF'");
    in.set_big_endian(false);
    std::uint32_t version = in.number<std::uint32_t>();
    if ((version & 0xffff) == 0) {
        version = version >> 24 | (version >> 8 & 0xff00);
        file.big_endian = true;
        in.set_big_endian(true);
    }
    if (version != 2 && version != 3)
        throw Error(in.place(4), fmt::format("GGUF version {}", version), "2 or 3",
                    version == 1 ? "convert the model again with current tools" : "");
    file.version = static_cast<int>(version);
}

}  // namespace

std::string_view gguf_type_name(GgufType type) {
    return kTypeNames[static_cast<std::size_t>(type)];
}

const GgufEntry* GgufFile::find(std::string_view key) const {
    for (const GgufEntry& e : metadata)
        if (e.key == key) return &e;
    return nullptr;
}

const GgufTensor* GgufFile::find_tensor(std::string_view tensor) const {
    for (const GgufTensor& t : tensors)
        if (t.name == tensor) return &t;
    return nullptr;
}

GgufFile parse_gguf(const ByteSource& source) {
    GgufFile file;
    file.name = source.name();
    Cursor in(source);
    read_version(in, file);
    // The tensor count comes first in the file; both counts are checked before anything is read.
    const std::uint64_t tensors = in.count("tensors", kSmallestTensor);
    const std::uint64_t entries = in.count("metadata keys", kSmallestEntry);
    if (entries > kMaxMetadata)
        throw Error(in.place(), fmt::format("{} metadata keys", entries),
                    fmt::format("at most {}", kMaxMetadata));
    for (std::uint64_t i = 0; i < entries; ++i) file.metadata.push_back(read_entry(in));
    refuse_duplicates(file.metadata, &GgufEntry::key, file.name);
    for (std::uint64_t i = 0; i < tensors; ++i) file.tensors.push_back(read_tensor(in));
    refuse_duplicates(file.tensors, &GgufTensor::name, file.name);

    file.alignment = read_alignment(file);
    file.data_offset = file.header_bytes = padded(in.offset(), file.alignment);
    file.data_bytes = check_offsets(file);
    const std::uint64_t whole = file.data_offset + file.data_bytes;
    // The padding after the last tensor may be missing.
    const std::uint64_t last =
        file.tensors.empty() ? 0 : static_cast<std::uint64_t>(file.tensors.back().bytes);
    const std::uint64_t needed = whole - (file.tensors.empty() ? 0 : padded(last, file.alignment) - last);
    if (source.size() < needed && !file.tensors.empty()) {
        file.truncated = true;
        file.warnings.push_back(
            fmt::format("{}: only {} of {} bytes are here; sizes are what the header declares", file.name,
                        source.size(), whole));
    }
    return file;
}

}  // namespace memwall::model
