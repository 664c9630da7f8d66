// Sizes and rates as people write them: "8GiB", "7.5 GB", "68GB/s", "45TOPS", "12 TFLOPS".
#pragma once

#include <string>
#include <string_view>

#include "core/base/units.h"

namespace memwall {

// Parsers throw Error with `place` as its place. A blank before the unit is allowed; letters may be of any
// case except that a size without "i" is decimal: MB = 10^6, MiB = 2^20. A plain number of bytes needs no
// unit.
Bytes parse_bytes(std::string_view text, std::string_view place);
/// "68GB/s", "51.2 GB/s", "900 MB/s", "1 GiB/s".
BytesPerSecond parse_bytes_per_second(std::string_view text, std::string_view place);
/// "45TOPS", "12TFLOPS", "800 GFLOPS", "5.1TOPS".
OpsPerSecond parse_ops_per_second(std::string_view text, std::string_view place);
/// A whole number with an optional k/K (1,000), M or Ki/Mi suffix: "4096", "32k" (= 32,000), "32Ki" (=
/// 32,768).
std::int64_t parse_count(std::string_view text, std::string_view place);

/// Memory in binary units, three significant places at least: "4.36 GiB", "119.0 MiB", "512 B".
std::string bytes_text(Bytes bytes);
/// Bandwidth in decimal units: "17.1 GB/s".
std::string rate_text(BytesPerSecond rate);
/// "26.0 TOPS" / "640 GOPS"; pass "FLOPS" for floating point.
std::string ops_text(OpsPerSecond rate, std::string_view noun = "OPS");
/// "850 ms", "12.4 s", "3 min 20 s".
std::string seconds_text(Seconds time);
/// 4096 -> "4,096".
std::string count_text(std::int64_t count);

}  // namespace memwall
