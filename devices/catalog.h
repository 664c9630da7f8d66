// The DEVICE argument: catalogue ids, product names, profile files, inline devices and this machine.
//
// A user's $XDG_CONFIG_HOME/memwall/devices/ID.yaml comes before the catalogue's file of that id.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/device/device.h"
#include "devices/device_yaml.h"

namespace memwall::devices {

/// Ids of the built-in catalogue, sorted. Parses nothing.
std::vector<std::string_view> catalog_ids();

/// The catalogue and the user's own devices, sorted by id. Parses every file.
std::vector<DeviceSummary> list_devices();

/// A name people use and the device behind it.
struct Product {
    std::string alias;  ///< "pixel-9-pro"
    std::string name;   ///< "Pixel 9 Pro"
    std::string device;
    std::vector<Bytes> sizes;  ///< the memory sizes it ships with
};
const std::vector<Product>& list_products();

/// The device that `argument` names:
///   ID, PRODUCT             the only memory size there is
///   ID:8GiB, ID:8GB, ID:8   one of several; sizes as printed on the box, so GB and GiB mean the same here
///   FILE.yaml, DIR/FILE     a profile
///   host                    this machine, with its saved calibration if there is one
///   ram=8GiB,bandwidth=...  an inline device (device_fields.h)
/// `place` stands in front of errors. Throws Error; for an unknown name it lists the nearest ones.
device::Device resolve_device(const std::string& argument, const std::string& place = "--device");

}  // namespace memwall::devices
