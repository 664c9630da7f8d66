#include "tests/model/safetensors_writer.h"

#include <fmt/format.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace memwall::test {
namespace {

namespace fs = std::filesystem;

std::int64_t tensor_bytes(const WrittenTensor& t) {
    static const std::map<std::string, std::int64_t> bits{
        {"F32", 32}, {"F16", 16}, {"BF16", 16}, {"I32", 32}, {"I64", 64}, {"U32", 32},
        {"U8", 8},   {"I8", 8},   {"BOOL", 8},  {"F64", 64}, {"F4", 4},   {"F8_E4M3", 8}};
    std::int64_t n = bits.at(t.dtype);
    for (const std::int64_t d : t.shape) n *= d;
    return n / 8;
}

}  // namespace

std::string with_length(const std::string& header) {
    std::string bytes(8, '\0');
    for (std::size_t i = 0; i < 8; ++i) bytes[i] = static_cast<char>(header.size() >> (8 * i) & 0xff);
    return bytes + header;
}

std::string safetensors_header(const std::vector<WrittenTensor>& tensors) {
    nlohmann::ordered_json json;
    json["__metadata__"] = {{"format", "pt"}};
    std::int64_t at = 0;
    for (const WrittenTensor& t : tensors) {
        json[t.name] = {{"dtype", t.dtype}, {"shape", t.shape}, {"data_offsets", {at, at + tensor_bytes(t)}}};
        at += tensor_bytes(t);
    }
    std::string text = json.dump();
    text.append((8 - text.size() % 8) % 8, ' ');  // as the reference writer aligns the data
    return with_length(text);
}

std::int64_t data_bytes(const std::vector<WrittenTensor>& tensors) {
    std::int64_t sum = 0;
    for (const WrittenTensor& t : tensors) sum += tensor_bytes(t);
    return sum;
}

void write_file(const fs::path& path, const std::string& bytes) {
    std::ofstream out(path, std::ios::binary);
    out << bytes;
    if (!out.flush()) throw std::runtime_error("cannot write " + path.string());
}

void write_safetensors(const fs::path& path, const std::vector<WrittenTensor>& tensors) {
    const std::string header = safetensors_header(tensors);
    write_file(path, header);
    fs::resize_file(path, header.size() + static_cast<std::uintmax_t>(data_bytes(tensors)));
}

void write_sharded(const fs::path& folder, const std::vector<std::vector<WrittenTensor>>& shards,
                   std::int64_t total_size) {
    nlohmann::json index;
    index["metadata"] = nlohmann::json::object();
    if (total_size > 0) index["metadata"]["total_size"] = total_size;
    for (std::size_t i = 0; i < shards.size(); ++i) {
        const std::string name = fmt::format("model-{:05}-of-{:05}.safetensors", i + 1, shards.size());
        write_safetensors(folder / name, shards[i]);
        for (const WrittenTensor& t : shards[i]) index["weight_map"][t.name] = name;
    }
    write_file(folder / "model.safetensors.index.json", index.dump(2));
}

std::vector<WrittenTensor> gptq_linear(const std::string& name, std::int64_t in, std::int64_t out, int bits,
                                       std::int64_t group) {
    const std::int64_t groups = (in + group - 1) / group;
    return {{name + ".qweight", "I32", {in * bits / 32, out}},
            {name + ".qzeros", "I32", {groups, out * bits / 32}},
            {name + ".scales", "F16", {groups, out}},
            {name + ".g_idx", "I32", {in}}};
}

std::vector<WrittenTensor> awq_linear(const std::string& name, std::int64_t in, std::int64_t out,
                                      std::int64_t group) {
    return {{name + ".qweight", "I32", {in, out / 8}},
            {name + ".qzeros", "I32", {in / group, out / 8}},
            {name + ".scales", "F16", {in / group, out}}};
}

std::vector<WrittenTensor> fp8_block_linear(const std::string& name, std::int64_t in, std::int64_t out) {
    return {{name + ".weight", "F8_E4M3", {out, in}},
            {name + ".weight_scale_inv", "F32", {(out + 127) / 128, (in + 127) / 128}}};
}

std::vector<WrittenTensor> qwen_tensors(const QwenShape& s) {
    std::vector<WrittenTensor> tensors;
    const auto add = [&](const std::string& name, std::vector<std::int64_t> shape) {
        tensors.push_back({name, "BF16", std::move(shape)});
    };
    add("model.embed_tokens.weight", {s.vocabulary, s.hidden});
    const std::int64_t q = s.heads * s.head_dim, kv = s.kv_heads * s.head_dim;
    for (std::int64_t i = 0; i < s.layers; ++i) {
        const std::string layer = fmt::format("model.layers.{}.", i);
        add(layer + "input_layernorm.weight", {s.hidden});
        add(layer + "mlp.down_proj.weight", {s.hidden, s.ffn});
        add(layer + "mlp.gate_proj.weight", {s.ffn, s.hidden});
        add(layer + "mlp.up_proj.weight", {s.ffn, s.hidden});
        add(layer + "post_attention_layernorm.weight", {s.hidden});
        for (const auto& [name, width] : {std::pair{"k_proj", kv}, {"q_proj", q}, {"v_proj", kv}}) {
            if (s.qkv_bias) add(layer + "self_attn." + name + ".bias", {width});
            add(layer + "self_attn." + name + ".weight", {width, s.hidden});
        }
        add(layer + "self_attn.o_proj.weight", {s.hidden, q});
        if (s.qk_norm) {
            add(layer + "self_attn.q_norm.weight", {s.head_dim});
            add(layer + "self_attn.k_norm.weight", {s.head_dim});
        }
    }
    add("model.norm.weight", {s.hidden});
    if (s.stores_head) add("lm_head.weight", {s.vocabulary, s.hidden});
    return tensors;
}

}  // namespace memwall::test
