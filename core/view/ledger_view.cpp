#include "core/view/ledger_view.h"

#include <fmt/format.h>

#include <cmath>

#include "core/base/size_text.h"
#include "core/view/json.h"
#include "core/view/json_parts.h"
#include "core/view/quantity_text.h"
#include "core/view/text_table.h"

namespace memwall::view {
namespace {

constexpr std::string_view kUnits[] = {
    "",       "bytes",  "seconds",   "per_second", "bytes_per_second", "ops_per_second",
    "joules", "tokens", "parameters"};

std::string one_value(double v, Unit unit) {
    switch (unit) {
        case Unit::bytes:
            return bytes_text(Bytes(std::llround(v)));
        case Unit::seconds:
            return seconds_text(Seconds(v));
        case Unit::per_second:
            return number_text(v) + " tokens/s";
        case Unit::bytes_per_second:
            return rate_text(BytesPerSecond(v));
        case Unit::ops_per_second:
            return ops_text(OpsPerSecond(v));
        case Unit::joules:
            return number_text(v) + " J";
        case Unit::tokens:
        case Unit::parameters:
            return count_text(std::llround(v));
        case Unit::none:
            return number_text(v);
    }
    return "";
}

void print(std::string& out, const LedgerItem& item, std::size_t depth, bool colour) {
    const std::string indent(2 * depth, ' ');
    out += indent + styled(item.name, Style::bold, colour) + "  " + value_text(item) + "\n";
    if (!item.formula.empty()) out += indent + "  = " + item.formula + "\n";
    std::size_t name = 0, value = 0;
    for (const LedgerInput& i : item.inputs) {
        name = std::max(name, columns(i.name));
        value = std::max(value, columns(i.value));
    }
    for (const LedgerInput& i : item.inputs)
        out += fmt::format("{}    {}  {}  {}\n", indent, pad_right(i.name, name), pad_left(i.value, value),
                           styled(i.source, Style::dim, colour));
    for (const LedgerItem& child : item.children) print(out, child, depth + 1, colour);
}

}  // namespace

std::string value_text(const LedgerItem& item) {
    const Interval<double>& v = item.value;
    std::string text = one_value(v.central, item.unit);
    if (!v.is_exact())
        return fmt::format("{}  [{} - {}, {:.0f} %, {}]", text, one_value(v.low, item.unit),
                           one_value(v.high, item.unit), v.level * 100, v.basis);
    if (item.unit == Unit::bytes && v.central >= 1024)
        text += fmt::format(" ({} bytes)", count_text(std::llround(v.central)));
    return text;
}

std::string ledger_text(const LedgerItem& item, bool colour) {
    std::string out;
    print(out, item, 0, colour);
    return out;
}

Json ledger(const LedgerItem& item) {
    Json j{{"name", item.name}, {"unit", kUnits[static_cast<std::size_t>(item.unit)]}};
    if (item.unit == Unit::bytes) {
        const auto whole = [](double v) { return Bytes(std::llround(v)); };
        j["value"] = quantity(Interval<Bytes>{whole(item.value.low), whole(item.value.central),
                                              whole(item.value.high), item.value.level, item.value.basis});
    } else {
        j["value"] = quantity(item.value);
    }
    if (!item.formula.empty()) j["formula"] = item.formula;
    if (!item.inputs.empty()) {
        j["inputs"] = Json::array();
        for (const LedgerInput& i : item.inputs)
            j["inputs"].push_back({{"name", i.name}, {"value", i.value}, {"source", i.source}});
    }
    if (!item.children.empty()) {
        j["children"] = Json::array();
        for (const LedgerItem& child : item.children) j["children"].push_back(ledger(child));
    }
    return j;
}

std::string ledger_json(const LedgerItem& item) {
    Json d = document("memwall/ledger/1");
    d["ledger"] = ledger(item);
    return d.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace memwall::view
