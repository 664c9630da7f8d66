// Names of instruction sets that decide which kernels an engine takes and which weights it repacks.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace memwall::devices {

/// Every name a device may list: Linux's names of CPU features, except "neon" and "dotprod" for asimd,
/// asimddp.
std::span<const std::string_view> known_isa_names();

/// "dotprod+i8mm" or a list of names. Throws Error listing the known ones.
std::vector<std::string> parse_isa(std::string_view text, std::string_view place);
void check_isa(const std::string& name, std::string_view place);

/// What the CPU this program runs on offers, of the known names.
std::vector<std::string> host_isa();

}  // namespace memwall::devices
