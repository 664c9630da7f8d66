#include "core/view/device_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/size_text.h"
#include "core/view/json_parts.h"
#include "core/view/text_table.h"

namespace memwall::view {
namespace {

struct Rate {
    const char* name;
    OpsPerSecond device::Processor::*value;
    const char* noun;
};
constexpr Rate kRates[] = {{"fp32", &device::Processor::fp32, "FLOPS"},
                           {"fp16", &device::Processor::fp16, "FLOPS"},
                           {"int8", &device::Processor::int8, "OPS"},
                           {"int4", &device::Processor::int4, "OPS"}};

std::string rates(const device::Processor& p) {
    std::string text;
    for (const Rate& r : kRates)
        if ((p.*r.value).value > 0)
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", r.name, ops_text(p.*r.value, r.noun));
    return text.empty() ? "peak rates unknown" : text;
}

Json rate_or_null(double v) {
    return v > 0 ? Json(v) : Json(nullptr);
}

}  // namespace

std::string device_text(const device::Device& d, bool colour, std::size_t width) {
    std::string out = styled(d.name, Style::bold, colour) + "  " + d.id + "\n";
    const auto row = [&](std::string_view name, const std::string& text) {
        out += hung(fmt::format("  {:<10} ", name), text, width);
    };
    out += hung(
        "  ",
        fmt::format("{}{}{}{}", d.device_class, d.os.empty() ? "" : ", " + d.os,
                    d.year ? fmt::format(", {}", d.year) : "",
                    d.confidence.empty() ? "" : fmt::format(", memory line of {} confidence", d.confidence)),
        width);
    for (const device::Pool& p : d.pools) {
        row(p.name, fmt::format("{}, usable by one process {} ({})",
                                p.capacity.value > 0 ? bytes_text(p.capacity) : "size unknown",
                                bytes_text(p.usable), p.usable_rule.empty() ? "no rule" : p.usable_rule));
        const bool calibrated = p.measured_bandwidth == p.bandwidth;  // no data sheet says it
        row("", fmt::format(
                    "{}{}{}", p.memory_type.empty() ? "" : p.memory_type + " ",
                    p.bandwidth.value > 0 ? rate_text(p.bandwidth) + (calibrated ? " measured" : " peak")
                                          : "bandwidth unknown",
                    p.measured_bandwidth.value > 0 && !calibrated
                        ? fmt::format(", {} measured ({})", rate_text(p.measured_bandwidth), p.measured_scope)
                        : ""));
    }
    for (const device::Processor& p : d.processors) {
        row(device::kind_name(p.kind), fmt::format("{}; {}", p.name, rates(p)));
        if (!p.isa.empty()) row("", fmt::format("{}", fmt::join(p.isa, " ")));
        if (p.max_allocation.value > 0)
            row("", fmt::format("at most {} in one buffer", bytes_text(p.max_allocation)));
    }
    if (d.link) row("link", fmt::format("{} {}", d.link->name, rate_text(d.link->bandwidth)));
    if (d.storage.read.value > 0)
        row("storage", fmt::format("{} reads {}", d.storage.type, rate_text(d.storage.read)));
    if (d.sustained_fraction > 0)
        row("sustained", fmt::format("{:.0f} % of the cold rate after minutes", d.sustained_fraction * 100));
    const std::size_t text = text_columns(width);
    for (const std::string& note : d.notes) out += hung("  note       ", note, text);
    if (!d.sources.empty()) out += "  " + styled("sources", Style::bold, colour) + "\n";
    for (const auto& [field, source] : d.sources)
        out += hung(fmt::format("    {:<18} ", field), source, text, Style::dim, colour);
    return out;
}

std::string device_json(const device::Device& d) {
    Json j = document("memwall/device-view/1");
    j.update({{"id", d.id},
              {"name", d.name},
              {"class", d.device_class},
              {"os", d.os},
              {"year", d.year},
              {"confidence", d.confidence}});
    j["pools"] = Json::array();
    for (const device::Pool& p : d.pools)
        j["pools"].push_back(
            {{"name", p.name},
             {"capacity_bytes", p.capacity.value},
             {"usable_bytes", p.usable.value},
             {"usable_rule", p.usable_rule},
             {"bandwidth_bytes_per_second", rate_or_null(p.bandwidth.value)},
             {"measured_bandwidth_bytes_per_second", rate_or_null(p.measured_bandwidth.value)}});
    j["processors"] = Json::array();
    for (const device::Processor& p : d.processors) {
        Json row{{"kind", device::kind_name(p.kind)},
                 {"name", p.name},
                 {"efficiency_class", p.efficiency_class},
                 {"cores", p.cores},
                 {"isa", p.isa},
                 {"pool", p.pool}};
        for (const Rate& r : kRates)
            row[fmt::format("{}_per_second", r.name)] = rate_or_null((p.*r.value).value);
        j["processors"].push_back(std::move(row));
    }
    if (d.link)
        j["link"] = {{"name", d.link->name},
                     {"bandwidth_bytes_per_second", rate_or_null(d.link->bandwidth.value)}};
    j["storage_read_bytes_per_second"] = rate_or_null(d.storage.read.value);
    j["os_reserved_bytes"] = d.os_reserved.value;
    j["sustained_fraction"] = rate_or_null(d.sustained_fraction);
    j["notes"] = d.notes;
    j["sources"] = d.sources;
    return j.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace memwall::view
