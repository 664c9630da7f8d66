#include "core/device/device.h"

#include <algorithm>

namespace memwall::device {

const Processor* Device::processor(ProcessorKind kind) const {
    const auto it = std::find_if(processors.begin(), processors.end(),
                                 [&](const Processor& p) { return p.kind == kind; });
    return it == processors.end() ? nullptr : &*it;
}

const Pool* Device::pool(const std::string& name) const {
    const auto it = std::find_if(pools.begin(), pools.end(), [&](const Pool& p) { return p.name == name; });
    return it == pools.end() ? nullptr : &*it;
}

const UsableVariant* Pool::variant(const std::string& wanted) const {
    const auto it = std::find_if(variants.begin(), variants.end(),
                                 [&](const UsableVariant& v) { return v.name == wanted; });
    return it == variants.end() ? nullptr : &*it;
}

std::string Device::default_pool(ProcessorKind kind) const {
    if (kind == ProcessorKind::gpu && pool("vram")) return "vram";
    if (kind == ProcessorKind::npu && pool("module")) return "module";
    return pools.empty() ? "" : pools.front().name;
}

const std::string& Device::source(const std::string& field) const {
    static const std::string catalogue = "catalogue";
    auto it = sources.find(field);
    if (it == sources.end()) it = sources.find(field.substr(0, field.find('.')));
    return it == sources.end() ? catalogue : it->second;
}

}  // namespace memwall::device
