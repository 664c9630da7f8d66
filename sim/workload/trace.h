// Recorded requests.
//
// CSV: a header line, then one request a line. Columns by name, other columns are ignored:
//   arrival_seconds | arrived_at | TIMESTAMP    seconds, or "2023-11-16 18:15:46.680590"
//   prompt_tokens | num_prefill_tokens | ContextTokens | Request tokens
//   output_tokens | num_decode_tokens | GeneratedTokens | Response tokens
// JSONL: {"timestamp": ms, "input_length": n, "output_length": n, "hash_ids": [..]} a line, where equal ids
// name equal blocks of 512 prompt tokens with everything before them (the Mooncake format).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/event/clock.h"

namespace memwall::sim {

inline constexpr std::int64_t kTraceBlockTokens = 512;

struct TraceRequest {
    Nanoseconds arrival = 0;
    std::int64_t prompt = 0, output = 0;
    std::vector<std::uint64_t> blocks;  ///< names of blocks of 512 tokens; empty = nothing is shared
};

/// The first arrival is moved to 0. Throws Error naming file and line for anything unreadable, out of range
/// or out of order.
std::vector<TraceRequest> read_trace(std::string_view text, const std::string& file);

}  // namespace memwall::sim
