#include "core/model/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <nlohmann/json.hpp>

#include "core/base/error.h"

namespace memwall::model {
namespace {

constexpr SafetensorsDtype kDtypes[] = {
    {"F32", 32, "F32"},     {"F16", 16, "F16"},     {"BF16", 16, "BF16"}, {"F64", 64, "F64"},
    {"I8", 8, "I8"},        {"I16", 16, "I16"},     {"I32", 32, "I32"},   {"I64", 64, "I64"},
    {"U8", 8, ""},          {"U16", 16, ""},        {"U32", 32, ""},      {"U64", 64, ""},
    {"BOOL", 8, ""},        {"F8_E4M3", 8, ""},     {"F8_E5M2", 8, ""},   {"F8_E8M0", 8, ""},
    {"F6_E2M3", 6, ""},     {"F6_E3M2", 6, ""},     {"F4", 4, ""},        {"C64", 64, ""},
    {"F8_E4M3FNUZ", 8, ""}, {"F8_E5M2FNUZ", 8, ""},
};

constexpr std::uint64_t kMaxHeader = 100'000'000;
constexpr std::uint64_t kMaxElements = std::uint64_t{1} << 56;  // as quant::tensor_bytes()
constexpr std::uint64_t kMaxData = std::uint64_t{1} << 50;      // a PiB: sums over shards cannot overflow
constexpr std::size_t kMaxRank = 64;                            // PyTorch has no tensors of more dimensions
constexpr int kMaxDepth = 32;                                   // the format itself needs 3

const SafetensorsDtype* find_dtype(std::string_view name) {
    for (const SafetensorsDtype& d : kDtypes)
        if (d.name == name) return &d;
    return nullptr;
}

/// Takes the header apart as it is parsed, so that no tree of it is ever built.
class HeaderReader : public nlohmann::json_sax<nlohmann::json> {
  public:
    HeaderReader(SafetensorsFile& file, std::string_view text) : file_(file), text_(text) {}

    bool null() override { return other("null"); }
    bool boolean(bool) override { return other("a boolean"); }
    bool number_integer(number_integer_t) override { return other("a negative number"); }
    bool number_float(number_float_t, const string_t&) override {
        return other("a fraction or a number above 2^64");
    }
    bool binary(binary_t&) override { return other("binary data"); }

    bool number_unsigned(number_unsigned_t value) override {
        if (depth_ != 3 || (field_ != Field::shape && field_ != Field::offsets)) return other("a number");
        if (field_ == Field::offsets) {
            if (offsets_ == 2) fail("more than two data_offsets");
            (offsets_++ == 0 ? tensor_.begin : tensor_.end) = value;
            return true;
        }
        if (value > kMaxElements) fail(fmt::format("a dimension of {}", value), "at most 2^56");
        if (tensor_.shape.size() == kMaxRank) fail("a shape of more than 64 dimensions");
        tensor_.shape.push_back(static_cast<std::int64_t>(value));
        return true;
    }

    bool string(string_t& value) override {
        if (depth_ == 2 && in_metadata_) {
            file_.metadata[metadata_key_] = std::move(value);
            return true;
        }
        if (depth_ != 2 || field_ != Field::dtype) return other("a string");
        tensor_.dtype = find_dtype(value);
        if (!tensor_.dtype) fail(fmt::format("dtype '{}'", value), "a type of the format such as BF16");
        return true;
    }

    bool key(string_t& name) override {
        if (depth_ == 1) {
            in_metadata_ = name == "__metadata__";
            tensor_ = {};
            tensor_.name = std::move(name);
            offsets_ = 0;
            seen_ = {};
        } else if (depth_ == 2 && in_metadata_) {
            metadata_key_ = std::move(name);
        } else if (depth_ == 2) {
            field_ = name == "dtype"          ? Field::dtype
                     : name == "shape"        ? Field::shape
                     : name == "data_offsets" ? Field::offsets
                                              : Field::ignored;
            bool& seen = seen_[static_cast<std::size_t>(field_)];
            if (seen && field_ != Field::ignored) fail(fmt::format("'{}' twice", name));
            seen = true;
        }
        return true;
    }

    bool start_object(std::size_t) override {
        if (depth_ >= 2 && !ignoring()) fail("an object", expected());
        return deeper();
    }
    bool start_array(std::size_t) override {
        const bool list =
            depth_ == 2 && !in_metadata_ && (field_ == Field::shape || field_ == Field::offsets);
        if (!list && !ignoring()) fail("an array", expected());
        return deeper();
    }
    bool end_array() override {
        --depth_;
        return true;
    }
    bool end_object() override {
        if (--depth_ == 1 && !in_metadata_) finish_tensor();
        return true;
    }
    bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) override {
        throw Error(fmt::format("{}@{}", file_.name, 8 + position - std::min<std::size_t>(position, 1)),
                    "a header that is not JSON", "a safetensors header",
                    "the file is damaged or no safetensors file");
    }

    [[noreturn]] void fail_at(const std::string& tensor, const std::string& found,
                              const std::string& wanted) {
        // The name stands in the header as it is unless it has escapes; then the header's start must do.
        const std::size_t at = tensor.empty() ? std::string_view::npos : text_.find('"' + tensor + '"');
        throw Error(fmt::format("{}@{}", file_.name, 8 + (at == std::string_view::npos ? 0 : at)),
                    tensor.empty() ? found : fmt::format("tensor '{}': {}", tensor, found), wanted);
    }

  private:
    enum class Field : std::uint8_t { dtype, shape, offsets, ignored };

    [[noreturn]] void fail(const std::string& found, const std::string& wanted = {}) {
        fail_at(depth_ == 0 ? std::string() : tensor_.name, found, wanted);
    }
    /// Fields the format does not name are skipped with all they hold, as the reference implementation does.
    bool ignoring() const { return depth_ >= 2 && !in_metadata_ && field_ == Field::ignored; }
    bool other(const char* what) {
        if (!ignoring()) fail(what, expected());
        return true;
    }
    const char* expected() const {
        if (depth_ == 0) return "a JSON object";
        if (depth_ == 1) return "an object with dtype, shape and data_offsets";
        if (in_metadata_) return "a string";
        if (field_ == Field::dtype) return "the name of a type";
        return field_ == Field::shape ? "a list of dimensions" : "a list of two byte offsets";
    }
    bool deeper() {
        if (++depth_ > kMaxDepth) fail("values nested more than 32 deep");
        return true;
    }

    void finish_tensor() {
        if (!tensor_.dtype) fail("no dtype");
        if (!seen_[static_cast<std::size_t>(Field::shape)]) fail("no shape");
        if (offsets_ != 2) fail("no data_offsets", "[begin, end]");
        std::uint64_t elements = 1;
        for (const std::int64_t dim : tensor_.shape) {
            const auto d = static_cast<std::uint64_t>(dim);
            if (d > 0 && elements > kMaxElements / d) fail("a shape of more than 2^56 values");
            elements *= d;
        }
        const std::uint64_t bits = elements * tensor_.dtype->bits;  // at most 2^56 x 64
        if (bits % 8 != 0) fail(fmt::format("{} values of {}", elements, tensor_.dtype->name), "whole bytes");
        if (tensor_.begin > tensor_.end || tensor_.bytes() != bits / 8)
            fail(fmt::format("data_offsets [{}, {}]", tensor_.begin, tensor_.end),
                 fmt::format("{} bytes for {} values of {}", bits / 8, elements, tensor_.dtype->name));
        file_.tensors.push_back(std::move(tensor_));
    }

    SafetensorsFile& file_;
    std::string_view text_;
    SafetensorsTensor tensor_;
    std::string metadata_key_;
    int depth_ = 0;
    int offsets_ = 0;
    std::array<bool, 4> seen_{};
    Field field_ = Field::ignored;
    bool in_metadata_ = false;
};

/// Tensors one after the other from 0 on, each name once.
void check_layout(SafetensorsFile& file, HeaderReader& header) {
    auto& tensors = file.tensors;
    std::sort(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) {
        return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
    });
    for (const SafetensorsTensor& t : tensors) {
        if (t.begin != file.data_bytes)
            header.fail_at(t.name,
                           fmt::format("data from {} on, {} the tensor before it", t.begin,
                                       t.begin < file.data_bytes ? "inside" : "with a hole after"),
                           fmt::format("data from {} on", file.data_bytes));
        if (t.end > kMaxData)
            header.fail_at(t.name, fmt::format("data up to {}", t.end), "at most 2^50 bytes");
        file.data_bytes = t.end;
    }
    std::vector<std::string_view> names;
    names.reserve(tensors.size());
    for (const SafetensorsTensor& t : tensors) names.push_back(t.name);
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice != names.end()) header.fail_at(std::string(*twice), "in the header twice", "each name once");
}

std::uint64_t header_length(const ByteSource& source) {
    if (source.size() < 8)
        throw Error(source.name() + "@0", fmt::format("a file of {} bytes", source.size()),
                    "a safetensors file, which starts with 8 bytes of header length");
    const auto bytes = source.view(0, 8);
    if (std::memcmp(bytes.data(), "version ", 8) == 0)
        throw Error(source.name() + "@0", "a Git LFS pointer", "the file it stands for", "run git lfs pull");
    std::uint64_t length = 0;
    for (std::size_t i = 8; i-- > 0;) length = length << 8 | std::to_integer<std::uint64_t>(bytes[i]);
    if (length > kMaxHeader)
        throw Error(source.name() + "@0", fmt::format("a header of {} bytes", length),
                    fmt::format("at most {}", kMaxHeader), "this is no safetensors file");
    if (length > source.size() - 8)
        throw Error(source.name() + "@0",
                    fmt::format("a header of {} bytes in a file of {}", length, source.size()),
                    "at least the whole header", fmt::format("fetch the first {} bytes", length + 8));
    return length;
}

}  // namespace

std::span<const SafetensorsDtype> safetensors_dtypes() {
    return kDtypes;
}

quant::Format storage_format(const SafetensorsDtype& dtype) {
    if (!dtype.ggml.empty()) return quant::ggml(dtype.ggml);
    return {.family = quant::Family::raw,
            .ggml_type = 0,
            .milli_bits = static_cast<std::uint16_t>(dtype.bits * 1000),
            .group = 0};
}

SafetensorsFile parse_safetensors(const ByteSource& source) {
    SafetensorsFile file;
    file.name = source.name();
    const std::uint64_t length = header_length(source);
    const auto bytes = source.view(8, length);
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    HeaderReader header(file, text);
    if (text.empty() || text.front() != '{')
        header.fail_at("", "a header that does not start with '{'", "JSON");
    nlohmann::json::sax_parse(text.begin(), text.end(), &header);
    file.header_bytes = 8 + length;
    check_layout(file, header);

    const std::uint64_t present = source.size() - file.header_bytes;
    if (present > file.data_bytes)
        throw Error(fmt::format("{}@{}", file.name, file.file_bytes()),
                    fmt::format("{} bytes after the last tensor", present - file.data_bytes),
                    "the end of the file");
    file.missing_bytes = file.data_bytes - present;
    return file;
}

}  // namespace memwall::model
