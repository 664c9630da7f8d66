// Writes safetensors files for tests: real headers, and data that is a hole in the file, so that a checkpoint
// of any size costs a few kilobytes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace memwall::test {

struct WrittenTensor {
    std::string name;
    std::string dtype;
    std::vector<std::int64_t> shape;
};

/// Header length, header and nothing else.
std::string safetensors_header(const std::vector<WrittenTensor>& tensors);
/// The 8 bytes of length in front of any header text.
std::string with_length(const std::string& header);
/// Bytes of the data section; asks our own reader nothing.
std::int64_t data_bytes(const std::vector<WrittenTensor>& tensors);

void write_file(const std::filesystem::path& path, const std::string& bytes);
void write_safetensors(const std::filesystem::path& path, const std::vector<WrittenTensor>& tensors);
/// Shards model-0000N-of-0000M.safetensors with an index; `total_size` 0 leaves it out of the index.
void write_sharded(const std::filesystem::path& folder, const std::vector<std::vector<WrittenTensor>>& shards,
                   std::int64_t total_size);

/// The linear layer `name` of `in` inputs and `out` outputs as quantizers store it, without bias.
std::vector<WrittenTensor> gptq_linear(const std::string& name, std::int64_t in, std::int64_t out, int bits,
                                       std::int64_t group);
std::vector<WrittenTensor> awq_linear(const std::string& name, std::int64_t in, std::int64_t out,
                                      std::int64_t group);
std::vector<WrittenTensor> fp8_block_linear(const std::string& name, std::int64_t in, std::int64_t out);

/// A Qwen2 or Qwen3 checkpoint in BF16: names and shapes as published.
struct QwenShape {
    std::int64_t layers, hidden, heads, kv_heads, head_dim, ffn, vocabulary;
    bool qkv_bias, qk_norm, stores_head;
};
std::vector<WrittenTensor> qwen_tensors(const QwenShape& shape);
inline constexpr QwenShape kQwen25_05b{24, 896, 14, 2, 64, 4864, 151936, true, false, false};
inline constexpr QwenShape kQwen3_06b{28, 1024, 16, 8, 128, 3072, 151936, false, true, true};

}  // namespace memwall::test
