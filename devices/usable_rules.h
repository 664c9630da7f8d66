// What an operating system lets one process use: named rules, one small file each (rules/*.yaml). A rule's
// file holds `fraction`, `minus_os_reserved`, `minus` (see Share), `variants` with the same keys, the rule in
// words
// (`text`, `note`) and its `sources`. A fraction may depend on the memory size: {4GiB: 0.6, 6GiB: 0.7, above:
// 0.75} means 0.6 up to 4 GiB, 0.7 up to 6 GiB, 0.75 beyond.
#pragma once

#include <string>
#include <vector>

#include "core/device/device.h"

namespace memwall::devices {

/// usable = fraction(memory) x memory - what is kept back, rounded down, never negative.
struct UsableRule {
    struct Share {
        struct Step {
            Bytes up_to;  ///< memory sizes up to here; the last step has none (0) and holds beyond
            double fraction = 1;
        };
        std::vector<Step> steps;         ///< empty = this rule does not say
        bool minus_os_reserved = false;  ///< Device::os_reserved is kept back
        Bytes minus;                     ///< and this, whatever the device
        Bytes bytes(Bytes memory, Bytes os_reserved) const;
    };
    struct Variant {
        std::string name, condition;  ///< see device::UsableVariant
        Share share;                  ///< without steps, a device has to bring the number
    };
    std::string name;
    std::string text;           ///< the rule in words
    std::string note;           ///< what the user should know on every such device; may be empty
    Bytes default_os_reserved;  ///< for devices that do not say
    Share share;
    std::vector<Variant> variants;
    std::string sources;  ///< joined by "; "
    const Variant* variant(const std::string& name) const;
};

std::vector<std::string> usable_rule_names();

/// The rule of that name, nullptr when there is none. Lives as long as the program; its file is read when
/// first asked for.
const UsableRule* find_usable_rule(const std::string& name);

/// Sets `usable`, its source and the variants of a pool from its rule (`usable_rule`) and capacity. Variants
/// that only a device can bring stay as they are. No effect on a pool without a rule.
void apply_usable_rule(device::Device& device, device::Pool& pool);

/// Sets where the usable bytes come from: what the device says of them, else its rule.
void set_usable_source(const device::Device& device, device::Pool& pool);

/// Gives a pool that names no rule the one of its kind and of the device's system or class ("android" ->
/// "android-half"), and applies it. With no such rule the whole pool is usable and a note says so.
void apply_default_rule(device::Device& device, device::Pool& pool);

/// Rewrites the notes about usable memory ("ram: 6.00 GiB usable ...; 3.00 GiB without the entitlement").
void refresh_usable_notes(device::Device& device);
/// Whether `note` is one of those: they are derived and never written to files.
bool is_usable_note(const device::Device& device, const std::string& note);

/// The key of Device::sources that tells where a pool's usable bytes come from: "usable" for the first pool,
/// "vram_usable" and the like for others.
std::string usable_source_key(const device::Device& device, const device::Pool& pool);

}  // namespace memwall::devices
