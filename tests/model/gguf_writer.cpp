#include "tests/model/gguf_writer.h"

#include <stdlib.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>

#include "core/base/byte_source.h"

namespace memwall::test {

using model::GgufType;

template <class T>
GgufBytes& GgufBytes::number(T v) {
    std::array<char, sizeof(T)> raw;
    std::memcpy(raw.data(), &v, sizeof(T));
    if (big_ == (std::endian::native == std::endian::little)) std::reverse(raw.begin(), raw.end());
    bytes_.append(raw.data(), raw.size());
    return *this;
}

GgufBytes& GgufBytes::text(std::string_view s) {
    return u64(s.size()).raw(s);
}

GgufBytes& GgufWriter::key(std::string_view name, GgufType type) {
    ++key_count_;
    return keys_.text(name).u32(static_cast<std::uint32_t>(type));
}

void GgufWriter::number(GgufType type, std::int64_t v) {
    switch (type) {
        case GgufType::u8:
        case GgufType::boolean:
            keys_.number(static_cast<std::uint8_t>(v));
            return;
        case GgufType::i8:
            keys_.number(static_cast<std::int8_t>(v));
            return;
        case GgufType::u16:
            keys_.number(static_cast<std::uint16_t>(v));
            return;
        case GgufType::i16:
            keys_.number(static_cast<std::int16_t>(v));
            return;
        case GgufType::i32:
            keys_.number(static_cast<std::int32_t>(v));
            return;
        case GgufType::u64:
            keys_.number(static_cast<std::uint64_t>(v));
            return;
        case GgufType::i64:
            keys_.number(v);
            return;
        default:
            keys_.number(static_cast<std::uint32_t>(v));
            return;
    }
}

void GgufWriter::number(GgufType type, double v) {
    if (type == GgufType::f64)
        keys_.number(v);
    else
        keys_.number(static_cast<float>(v));
}

GgufWriter& GgufWriter::integer(std::string_view name, std::int64_t v, GgufType type) {
    key(name, type);
    number(type, v);
    return *this;
}

GgufWriter& GgufWriter::real(std::string_view name, double v, GgufType type) {
    key(name, type);
    number(type, v);
    return *this;
}

GgufWriter& GgufWriter::text(std::string_view name, std::string_view v) {
    key(name, GgufType::string).text(v);
    return *this;
}

GgufWriter& GgufWriter::integers(std::string_view name, const std::vector<std::int64_t>& v,
                                 GgufType element) {
    key(name, GgufType::array).u32(static_cast<std::uint32_t>(element)).u64(v.size());
    for (const std::int64_t x : v) number(element, x);
    return *this;
}

GgufWriter& GgufWriter::reals(std::string_view name, const std::vector<double>& v, GgufType element) {
    key(name, GgufType::array).u32(static_cast<std::uint32_t>(element)).u64(v.size());
    for (const double x : v) number(element, x);
    return *this;
}

GgufWriter& GgufWriter::texts(std::string_view name, const std::vector<std::string>& v) {
    key(name, GgufType::array).u32(static_cast<std::uint32_t>(GgufType::string)).u64(v.size());
    for (const std::string& s : v) keys_.text(s);
    return *this;
}

GgufWriter& GgufWriter::alignment(std::uint32_t v) {
    alignment_ = v;
    return integer("general.alignment", v);
}

GgufWriter& GgufWriter::tensor(std::string_view name, const std::vector<std::int64_t>& dims,
                               std::string_view format) {
    const quant::Format f = quant::ggml(format);
    std::array<std::int64_t, 4> four{1, 1, 1, 1};
    std::copy(dims.begin(), dims.end(), four.begin());
    const std::int64_t bytes = quant::tensor_bytes(f, four).value;
    tensors_.push_back({std::string(name), dims, f.ggml_type, data_bytes_});
    weight_bytes_ += bytes;
    data_bytes_ += (static_cast<std::uint64_t>(bytes) + alignment_ - 1) / alignment_ * alignment_;
    return *this;
}

std::string GgufWriter::header() const {
    GgufBytes out(big_);
    out.begin(tensors_.size(), key_count_, static_cast<std::uint32_t>(version_)).raw(keys_.str());
    for (const Row& t : tensors_) {
        out.text(t.name).u32(static_cast<std::uint32_t>(t.dims.size()));
        for (const std::int64_t d : t.dims) out.u64(static_cast<std::uint64_t>(d));
        out.u32(t.type).u64(t.offset);
    }
    std::string bytes = out.str();
    bytes.resize((bytes.size() + alignment_ - 1) / alignment_ * alignment_, '\0');
    return bytes;
}

void GgufWriter::write(const std::string& path) const {
    const std::string bytes = header();
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    std::filesystem::resize_file(path, bytes.size() + data_bytes_);
}

GgufWriter small_llama(int version, bool big_endian) {
    GgufWriter w(version, big_endian);
    w.text("general.architecture", "llama").integer("general.file_type", 15);
    w.integer("llama.block_count", 2).integer("llama.context_length", 2048);
    w.integer("llama.embedding_length", 64).integer("llama.feed_forward_length", 96);
    w.integer("llama.attention.head_count", 4).integer("llama.attention.head_count_kv", 2);
    w.tensor("token_embd.weight", {64, 100}).tensor("output_norm.weight", {64});
    for (const char* layer : {"blk.0.", "blk.1."}) {
        const auto add = [&](const char* name, const std::vector<std::int64_t>& dims) {
            w.tensor(std::string(layer) + name, dims);
        };
        add("attn_norm.weight", {64});
        add("attn_q.weight", {64, 64});
        add("attn_k.weight", {64, 32});
        add("attn_v.weight", {64, 32});
        add("attn_output.weight", {64, 64});
        add("ffn_norm.weight", {64});
        add("ffn_gate.weight", {64, 96});
        add("ffn_up.weight", {64, 96});
        add("ffn_down.weight", {96, 64});
    }
    return w;
}

GgufWriter decoder(const std::string& arch, int layers, int hidden, int heads, int kv_heads) {
    GgufWriter w;
    w.text("general.architecture", arch);
    w.integer(arch + ".block_count", layers).integer(arch + ".context_length", 8192);
    w.integer(arch + ".embedding_length", hidden).integer(arch + ".feed_forward_length", 4 * hidden);
    w.integer(arch + ".attention.head_count", heads);
    if (kv_heads > 0) w.integer(arch + ".attention.head_count_kv", kv_heads);
    w.tensor("token_embd.weight", {hidden, 1000}).tensor("output_norm.weight", {hidden});
    return w;
}

std::string blk(int layer, const char* name) {
    return "blk." + std::to_string(layer) + "." + name;
}

model::GgufFile parse(const std::string& bytes) {
    return model::parse_gguf(*bytes_source(std::as_bytes(std::span(bytes)), "test.gguf"));
}

model::Model read(const GgufWriter& writer) {
    return model::model_from_gguf(parse(writer.header()), "test");
}

model::Model read_whole(const GgufWriter& writer) {
    std::string bytes = writer.header();
    bytes.resize(bytes.size() + writer.data_bytes());
    return model::model_from_gguf(parse(bytes), "test");
}

TempDir::TempDir() {
    std::string name = (std::filesystem::temp_directory_path() / "memwall-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
    dir_ = name;
}

TempDir::~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(dir_, ignored);
}

}  // namespace memwall::test
