#include "core/view/file_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "core/base/error.h"
#include "core/base/size_text.h"
#include "core/view/json_parts.h"
#include "core/view/model_view.h"
#include "core/view/text_table.h"

namespace memwall::view {
namespace {

constexpr std::size_t kLongestText = 60;

struct ValueText {
    std::string operator()(std::monostate) const { return ""; }
    std::string operator()(std::int64_t n) const { return fmt::format("{}", n); }
    std::string operator()(double x) const { return fmt::format("{:g}", x); }
    std::string operator()(const std::string& s) const {
        std::string line = s.substr(0, kLongestText);
        for (char& c : line)
            if (static_cast<unsigned char>(c) < 0x20) c = ' ';
        return line + (s.size() > kLongestText ? " ..." : "");
    }
    template <class T>
    std::string operator()(const std::vector<T>& a) const {
        const std::size_t n = std::min<std::size_t>(a.size(), model::GgufValue::kShownElements);
        return fmt::format("{}{}", fmt::join(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(n), " "),
                           n < a.size() ? " ..." : "");
    }
};

std::string value_text(const model::GgufValue& v) {
    const std::string text = std::visit(ValueText{}, v.value);
    if (v.type == model::GgufType::boolean) return text == "0" ? "false" : "true";
    if (v.type != model::GgufType::array) return text;
    return fmt::format("{} {}s{}{}", count_text(static_cast<std::int64_t>(v.count)),
                       model::gguf_type_name(v.element), text.empty() ? "" : ": ", text);
}

std::string shape(const std::array<std::int64_t, 4>& dims, int n) {
    return fmt::format("{}", fmt::join(dims.begin(), dims.begin() + std::max(n, 1), " x "));
}

struct FormatUse {
    std::int64_t tensors = 0, elements = 0, bytes = 0;
};

TextTable format_table(const std::map<std::string, FormatUse>& formats) {
    TextTable t{{"format", ">tensors", ">values", ">bytes", ">bits a value"}, {}};
    for (const auto& [name, use] : formats)
        t.rows.push_back({name, count_text(use.tensors), count_text(use.elements), count_text(use.bytes),
                          use.elements > 0 ? fmt::format("{:.3f}", 8.0 * static_cast<double>(use.bytes) /
                                                                       static_cast<double>(use.elements))
                                           : "-"});
    return t;
}

}  // namespace

std::string gguf_view(const model::GgufFile& f, FileParts parts, bool json, bool colour, std::size_t width) {
    std::map<std::string, FormatUse> formats;
    std::int64_t total = 0;
    for (const model::GgufTensor& t : f.tensors) {
        FormatUse& use = formats[quant::format_name(t.format)];
        ++use.tensors;
        use.elements += t.elements();
        use.bytes += t.bytes;
        total += t.bytes;
    }
    std::string description;
    std::vector<std::string> warnings = f.warnings;
    try {
        const model::Model m = model::model_from_gguf(f, f.name);
        description = model_text(m, colour, width);
        for (const std::string& w : m.warnings) warnings.push_back(w);
    } catch (const Error& e) {
        description = fmt::format("no plan can be made of it: {}\n", e.what());
    }
    if (json) {
        Json j = document("memwall/inspect/1");
        j.update({{"file", f.name},
                  {"format", "gguf"},
                  {"version", f.version},
                  {"big_endian", f.big_endian},
                  {"alignment", f.alignment},
                  {"header_bytes", f.header_bytes},
                  {"tensor_bytes", total},
                  {"truncated", f.truncated},
                  {"missing_shards", f.missing_shards},
                  {"warnings", warnings}});
        j["metadata"] = Json::array();
        for (const model::GgufEntry& e : f.metadata)
            j["metadata"].push_back({{"key", e.key},
                                     {"type", model::gguf_type_name(e.value.type)},
                                     {"value", value_text(e.value)},
                                     {"offset", e.offset}});
        j["tensors"] = Json::array();
        for (const model::GgufTensor& t : f.tensors)
            j["tensors"].push_back(
                {{"name", t.name},
                 {"dims", std::vector<std::int64_t>(t.dims.begin(), t.dims.begin() + t.dimensions)},
                 {"format", quant::format_name(t.format)},
                 {"bytes", t.bytes},
                 {"offset", t.offset},
                 {"shard", t.shard}});
        return j.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
    }
    std::string out = description;
    out +=
        fmt::format("\nGGUF version {}{}, {} metadata keys, {} tensors, {} of tensors, header {}\n",
                    f.version, f.big_endian ? ", big-endian" : "", f.metadata.size(), f.tensors.size(),
                    bytes_text(Bytes(total)), bytes_text(Bytes(static_cast<std::int64_t>(f.header_bytes))));
    out += plain_table(format_table(formats), colour, width);
    if (parts.metadata) {
        TextTable t{{"key", "type", "value"}, {}};
        for (const model::GgufEntry& e : f.metadata)
            t.rows.push_back({e.key, std::string(model::gguf_type_name(e.value.type)), value_text(e.value)});
        out += "\n" + plain_table(t, colour, width);
    }
    if (parts.tensors) {
        TextTable t{{"tensor", "shape", "format", ">bytes"}, {}};
        for (const model::GgufTensor& x : f.tensors)
            t.rows.push_back(
                {x.name, shape(x.dims, x.dimensions), quant::format_name(x.format), count_text(x.bytes)});
        out += "\n" + plain_table(t, colour, width);
    }
    for (const std::string& w : f.warnings) out += "Note: " + w + "\n";
    return out;
}

std::string safetensors_view(const model::SafetensorsSet& set, FileParts parts, bool json, bool colour,
                             std::size_t width) {
    std::map<std::string, FormatUse> formats;
    TextTable tensors{{"tensor", "shape", "type", ">bytes"}, {}};
    std::size_t count = 0;
    for (const model::SafetensorsFile& f : set.files)
        for (const model::SafetensorsTensor& t : f.tensors) {
            std::int64_t elements = 1;
            for (std::int64_t d : t.shape) elements *= d;
            FormatUse& use = formats[std::string(t.dtype->name)];
            ++use.tensors;
            use.elements += elements;
            use.bytes += static_cast<std::int64_t>(t.bytes());
            ++count;
            tensors.rows.push_back({t.name, fmt::format("{}", fmt::join(t.shape, " x ")),
                                    std::string(t.dtype->name),
                                    count_text(static_cast<std::int64_t>(t.bytes()))});
        }
    if (json) {
        Json j = document("memwall/inspect/1");
        j.update({{"format", "safetensors"},
                  {"files", set.files.size()},
                  {"missing_shards", set.missing_shards},
                  {"header_bytes", set.header_bytes()},
                  {"tensor_bytes", set.data_bytes()},
                  {"warnings", set.warnings}});
        j["tensors"] = Json::array();
        for (const model::SafetensorsFile& f : set.files)
            for (const model::SafetensorsTensor& t : f.tensors)
                j["tensors"].push_back(
                    {{"name", t.name}, {"dims", t.shape}, {"format", t.dtype->name}, {"bytes", t.bytes()}});
        return j.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
    }
    std::string out = fmt::format("safetensors, {} file{}, {} tensors, {} of tensors\n", set.files.size(),
                                  set.files.size() == 1 ? "" : "s", count,
                                  bytes_text(Bytes(static_cast<std::int64_t>(set.data_bytes()))));
    out += plain_table(format_table(formats), colour, width);
    if (parts.metadata && !set.files.empty())
        for (const auto& [key, value] : set.files.front().metadata)
            out += fmt::format("  {}  {}\n", key, value.substr(0, 80));
    if (parts.tensors) out += "\n" + plain_table(tensors, colour, width);
    for (const std::string& w : set.warnings) out += "Note: " + w + "\n";
    return out;
}

}  // namespace memwall::view
