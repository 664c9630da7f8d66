#include "devices/catalog.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "core/base/byte_source.h"
#include "core/base/embedded.h"
#include "core/base/error.h"
#include "core/base/user_directory.h"
#include "devices/device_fields.h"
#include "devices/host.h"
#include "devices/nearest_name.h"
#include "devices/quantity.h"
#include "devices/yaml_fields.h"

namespace memwall::devices {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kCatalog = "devices/catalog/";
constexpr std::string_view kYaml = ".yaml";
constexpr const char* kProducts = "devices/products.yaml";
constexpr std::uint64_t kMaxProfileBytes = std::uint64_t{256} << 10;

std::string user_file(const std::string& id) {
    const std::string directory = user_directory();
    if (directory.empty()) return {};
    std::string path = directory + "/devices/" + id + std::string(kYaml);
    return fs::is_regular_file(path) ? path : std::string();
}

struct DeviceFile {
    std::string text, name;
};

/// The file of an id, the user's own first; empty text when there is none.
DeviceFile find_device_file(const std::string& id) {
    if (const std::string path = user_file(id); !path.empty())
        return {read_text_file(path, kMaxProfileBytes), path};
    std::string path = fmt::format("{}{}{}", kCatalog, id, kYaml);
    const EmbeddedFile* file = embedded_devices().find(path);
    return {file ? std::string(file->text()) : std::string(), path};
}

std::vector<Product> read_products() {
    const EmbeddedFile* file = embedded_devices().find(kProducts);
    if (!file) throw Error(kProducts, "not embedded in this build");
    YamlFields top(parse_yaml(file->text(), kProducts), kProducts);
    std::vector<Product> products;
    for (const auto& pair : top.require("products")) {
        YamlFields fields(pair.second, kProducts);
        Product& product = products.emplace_back();
        product.alias = scalar_text(pair.first, kProducts);
        fields.read("name", product.name);
        fields.read("device", product.device);
        const YAML::Node sizes = fields.require("size");
        for (const std::string& size : scalar_list(sizes, kProducts))
            product.sizes.push_back(parse_size(size, place_of(sizes, kProducts)));
        fields.done();
    }
    return products;
}

/// Lower case with dashes: "Raspberry Pi 5" is raspberry-pi-5.
std::string as_id(std::string_view typed) {
    std::string id;
    for (const char c : typed)
        id += c == ' ' || c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return id;
}

/// A size as printed on a box: "8", "8GB" and "8GiB" are all 8 GiB.
Bytes parse_marketing_size(std::string text, const std::string& place) {
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const bool plain = text.find_first_not_of("0123456789.") == std::string::npos;
    if (plain)
        text += "gib";
    else if (text.ends_with("b") && !text.ends_with("ib"))
        text.insert(text.size() - 1, "i");
    return parse_size(text, place);
}

/// The one size of a product that is meant, checked against what it ships with.
Bytes product_size(const Product& product, const std::optional<Bytes>& size, const std::string& place) {
    if (!size && product.sizes.size() == 1) return product.sizes.front();
    if (!size)
        throw Error(place, fmt::format("'{}' has no memory size", product.alias),
                    sizes_text(product.sizes) + " after a colon",
                    fmt::format("such as {}:{}", product.alias, exact_text(product.sizes.back())));
    if (std::find(product.sizes.begin(), product.sizes.end(), *size) == product.sizes.end())
        throw Error(place, fmt::format("'{}' has no {} version", product.alias, exact_text(*size)),
                    sizes_text(product.sizes), "--set device.ram=SIZE asks what another size would do");
    return *size;
}

/// Ids of the catalogue and of the user's own devices, sorted.
std::vector<std::string> all_ids() {
    std::vector<std::string> ids;
    for (const std::string_view id : catalog_ids()) ids.emplace_back(id);
    const std::string own = user_directory();
    std::error_code none;  // no such directory is no error
    for (const auto& entry : fs::directory_iterator(own.empty() ? own : own + "/devices", none))
        if (entry.path().extension() == kYaml) ids.push_back(entry.path().stem().string());
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    return ids;
}

[[noreturn]] void refuse_unknown(const std::string& name, const std::string& place) {
    std::vector<std::string> known = all_ids();
    known.emplace_back("host");
    for (const Product& product : list_products()) known.push_back(product.alias);
    const std::vector<std::string> nearest = nearest_names(name, known);
    throw Error(place, fmt::format("unknown device '{}'", name),
                "an id of `memwall devices`, host, a profile.yaml or ram=SIZE,bandwidth=RATE,...",
                nearest.empty() ? "" : fmt::format("did you mean {}?", fmt::join(nearest, ", ")));
}

device::Device resolve_name(const std::string& argument, const std::string& place) {
    const auto colon = argument.find(':');
    const std::string id = as_id(std::string_view(argument).substr(0, colon));
    std::optional<Bytes> size;
    if (colon != std::string::npos) size = parse_marketing_size(argument.substr(colon + 1), place);

    if (const DeviceFile file = find_device_file(id); !file.text.empty())
        return read_device_yaml(file.text, file.name, {size, id, place});
    for (const Product& product : list_products())
        if (product.alias == id) {
            const DeviceFile file = find_device_file(product.device);
            device::Device device = read_device_yaml(
                file.text, file.name, {product_size(product, size, place), product.device, place});
            device.id = product.alias;
            device.name = fmt::format("{} ({})", product.name, device.soc);
            return device;
        }
    refuse_unknown(id, place);
}

}  // namespace

std::vector<std::string_view> catalog_ids() {
    std::vector<std::string_view> ids;
    for (const EmbeddedFile& file : embedded_devices())
        if (file.path.starts_with(kCatalog))
            ids.push_back(
                file.path.substr(kCatalog.size(), file.path.size() - kCatalog.size() - kYaml.size()));
    std::sort(ids.begin(), ids.end());
    return ids;
}

std::vector<DeviceSummary> list_devices() {
    std::vector<DeviceSummary> list;
    for (const std::string& id : all_ids()) {
        const DeviceFile file = find_device_file(id);
        list.push_back(read_device_summary(file.text, file.name));
        list.back().id = id;  // what the user has to type
    }
    return list;
}

const std::vector<Product>& list_products() {
    static const std::vector<Product> products = read_products();
    return products;
}

device::Device resolve_device(const std::string& argument, const std::string& place) {
    const bool yaml = argument.ends_with(kYaml) || argument.ends_with(".yml");
    if (argument == "host") return host_device();
    if (!yaml && argument.find('=') != std::string::npos) return inline_device(argument, place);
    if (yaml || argument.find('/') != std::string::npos)
        return read_device_yaml(read_text_file(argument, kMaxProfileBytes), argument);
    return resolve_name(argument, place);
}

}  // namespace memwall::devices
