#include "core/quant/kv_type.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/quant/name_pattern.h"

namespace memwall::quant {
namespace {

// Block sizes as in format.cpp (ggml d99724f2); the integer types carry f16 scales (DESIGN: values plus one
// scale per token and head, or per channel).
constexpr KvType kKvTypes[] = {
    {"f32", 1, 4, 0, 0},          {"f16", 1, 2, 0, 0},      {"bf16", 1, 2, 0, 0},   {"fp8", 1, 1, 0, 0},
    {"q8_0", 32, 34, 0, 0},       {"q5_1", 32, 24, 0, 0},   {"q5_0", 32, 22, 0, 0}, {"q4_1", 32, 20, 0, 0},
    {"q4_0", 32, 18, 0, 0},       {"iq4_nl", 32, 18, 0, 0}, {"int8", 1, 1, 2, 0},   {"int4", 2, 1, 2, 0},
    {"int8-channel", 1, 1, 0, 2},
};

constexpr std::int64_t kMaxSide = std::int64_t{1} << 28;

void check_sides(const KvType& type, std::int64_t kv_heads, std::int64_t head_dim) {
    if (kv_heads < 0 || kv_heads > kMaxSide || head_dim < 0 || head_dim > kMaxSide)
        throw Error("--kv", fmt::format("{} heads of {} values", kv_heads, head_dim), "at most 2^28 of each");
    if (head_dim % type.block_len != 0)
        throw Error("--kv", fmt::format("heads of {} values in {}", head_dim, type.name),
                    fmt::format("a multiple of {}", type.block_len), "choose f16 or another KV type");
}

}  // namespace

std::span<const KvType> kv_types() {
    return kKvTypes;
}

std::optional<KvType> parse_kv_type(std::string_view name) {
    for (const KvType& t : kKvTypes)
        if (match_name(t.name, name)) return t;
    return std::nullopt;
}

Bytes kv_row_bytes(const KvType& type, std::int64_t kv_heads, std::int64_t head_dim) {
    check_sides(type, kv_heads, head_dim);
    return Bytes(kv_heads * (head_dim / type.block_len * type.block_bytes + type.head_bytes));
}

Bytes kv_channel_bytes(const KvType& type, std::int64_t kv_heads, std::int64_t head_dim) {
    check_sides(type, kv_heads, head_dim);
    return Bytes(kv_heads * head_dim * type.channel_bytes);
}

}  // namespace memwall::quant
