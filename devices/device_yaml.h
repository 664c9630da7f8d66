// Device files, schema memwall/device/1: the catalogue, a user's profiles and saved calibrations.
//
// A file describes one device; its main pool may come in several sizes ("size: [4GiB, 8GiB]"), of which the
// caller picks one. Unknown is left out, never written as null or 0.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/device/device.h"

namespace memwall::devices {

/// What a list of devices shows.
struct DeviceSummary {
    std::string id, name, device_class;
    int year = 0;
    std::string confidence;    ///< about the memory line
    std::string pool;          ///< the pool that `sizes` speaks of: "ram", "vram", "module"
    std::vector<Bytes> sizes;  ///< empty = unknown
    BytesPerSecond bandwidth;  ///< peak of that pool; 0 = unknown
};

/// Which memory size is wanted, and how messages name the device and the place it was asked for.
struct SizeChoice {
    std::optional<Bytes> size;
    std::string name;   ///< "raspberry-pi-5"; empty = the file
    std::string place;  ///< "--device"; empty = the line of the file
};

/// Throws Error with "file:line" for anything that is no device file.
DeviceSummary read_device_summary(std::string_view text, const std::string& file);

/// The device with the chosen memory size, usable bytes computed from its rule. Throws Error with "file:line"
/// for bad text, and one that lists the sizes when the choice is missing or none of them.
device::Device read_device_yaml(std::string_view text, const std::string& file,
                                const SizeChoice& choice = {});

/// A file that read_device_yaml() turns into the same device.
std::string write_device_yaml(const device::Device& device);

/// "2GiB, 4GiB or 8GiB".
std::string sizes_text(const std::vector<Bytes>& sizes);

}  // namespace memwall::devices
