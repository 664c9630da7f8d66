// Fields of a device by name: `--set device.bandwidth=+8GB/s` and inline devices speak the same words.
#pragma once

#include <string>

#include "core/device/device.h"

namespace memwall::devices {

/// Changes one field. `field` may carry the prefix "device.". Known fields:
///
///   ram vram module                        size of a pool (added when absent); its usable part follows the
///   rule bandwidth usable                       of the first pool; ram_bandwidth, vram_usable ... of a named
///   one max_allocation max_mapping             of the first pool fp32 fp16 int8 int4 cores isa          of a
///   processor: cpu.int8, gpu.fp16 ...; without a name the one that max_session the device has the most of
///   (rates) or its CPU (cores, isa) link link_latency storage              bandwidth, latency; sequential
///   read class os os_reserved                   efficiency class of a processor; operating system and what
///   it keeps sustained power max_power battery      heat, watts, watt-hours energy static_power joules per
///   GB read, watts name
///
/// A number may be relative: "+8GB/s" and "-2GiB" add, "x1.5" and "*1.5" multiply. `usable` also takes the
/// name of a variant of the pool ("without_entitlement"). Device::sources notes `place` as the field's
/// origin. Throws Error with `place` for unknown fields, bad values, and relative changes of unknown numbers.
void set_field(device::Device& device, const std::string& field, const std::string& value,
               const std::string& place);

/// "ram=8GiB,bandwidth=68GB/s,int8=45TOPS,class=phone_npu": fields as above. At least one pool is needed. The
/// class says which processor the rates belong to, and the usual system, whose rule gives the usable bytes.
device::Device inline_device(const std::string& argument, const std::string& place);

}  // namespace memwall::devices
