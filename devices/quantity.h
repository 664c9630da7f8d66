// Numbers with the units of device files that core/base/size_text.h does not know, and numbers printed so
// that reading them again gives the same value to the last bit.
#pragma once

#include <string>
#include <string_view>

#include "core/base/units.h"

namespace memwall::devices {

// Parsers throw Error with `place` as its place for text that is no number with that unit, for negative,
// infinite and absurdly large values.

/// "0.6", "2/3", "4266".
double parse_number(std::string_view text, std::string_view place);
/// A size as in parse_bytes(), within 0 .. 1 PiB, so that sums of sizes stay far from overflow.
Bytes parse_size(std::string_view text, std::string_view place);
/// "12W", "500 mW".
double parse_watts(std::string_view text, std::string_view place);
/// "19Wh".
double parse_watt_hours(std::string_view text, std::string_view place);
/// "1.15J" or "1.15J/GB".
double parse_joules_per_gb(std::string_view text, std::string_view place);
/// "5us", "1.5 ms", "2s".
double parse_seconds(std::string_view text, std::string_view place);

/// "8GiB", "8MiB", else a plain number of bytes.
std::string exact_text(Bytes bytes);
/// "17.07GB/s".
std::string exact_text(BytesPerSecond rate);
/// "153.5GFLOPS", "26TOPS": `noun` is "FLOPS" or "OPS". The one that may be off in the last bit, where
/// neither unit has a number that reads as `rate`.
std::string exact_text(OpsPerSecond rate, std::string_view noun);
/// `value` in the shortest form that reads as the same number.
std::string exact_text(double value);

}  // namespace memwall::devices
