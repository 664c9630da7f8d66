#include "core/view/ledger_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

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

std::string one_value_heading(Unit unit) {
    return unit == Unit::per_second ? ">all" : unit == Unit::seconds ? ">time" : ">value";
}

/// Rows that differ only in their numbers are read side by side.
bool is_table(const LedgerItem& item) {
    if (item.children.size() < 3) return false;
    const LedgerItem& first = item.children.front();
    return std::all_of(item.children.begin(), item.children.end(),
                       [&](const LedgerItem& child) {
                           return child.children.empty() &&
                                  child.value.is_exact() == first.value.is_exact() &&
                                  child.unit == first.unit && child.formula == first.formula &&
                                  !child.inputs.empty();
                       }) &&
           first.unit != Unit::bytes;
}

/// One line a child, one column an input; the sources stay in the JSON document.
void print_table(std::string& out, const LedgerItem& item, std::size_t depth, bool colour,
                 std::size_t width) {
    TextTable table;
    table.header = {"", one_value_heading(item.children.front().unit)};
    std::vector<std::string> names;
    for (const LedgerItem& child : item.children)
        for (const LedgerInput& i : child.inputs)
            if (std::find(names.begin(), names.end(), i.name) == names.end()) names.push_back(i.name);
    for (const std::string& name : names) table.header.push_back(">" + name);
    for (const LedgerItem& child : item.children) {
        std::vector<std::string> row{child.name, one_value(child.value.central, child.unit)};
        for (const std::string& name : names) {
            const auto it = std::find_if(child.inputs.begin(), child.inputs.end(),
                                         [&](const LedgerInput& i) { return i.name == name; });
            row.push_back(it == child.inputs.end() ? "" : it->value);
        }
        table.rows.push_back(std::move(row));
    }
    const std::string indent(2 * depth, ' ');
    if (!item.children.front().formula.empty())
        out += hung(indent + "  each = ", item.children.front().formula, width);
    const std::size_t left = width > indent.size() + 4 ? width - indent.size() - 4 : 0;
    std::istringstream lines(plain_table(table, colour, left));
    for (std::string line; std::getline(lines, line);) out += indent + "    " + line + "\n";
}

void print(std::string& out, const LedgerItem& item, std::size_t depth, bool colour, std::size_t width) {
    const std::string indent(2 * depth, ' ');
    const std::string head = hung(indent + item.name + "  ", value_text(item), width);
    out += indent + styled(item.name, Style::bold, colour) + head.substr(indent.size() + item.name.size());
    if (!item.formula.empty()) out += hung(indent + "  = ", item.formula, width);
    std::size_t name = 0, value = 0;
    for (const LedgerInput& i : item.inputs) {
        name = std::max(name, columns(i.name));
        value = std::max(value, columns(i.value));
    }
    for (const LedgerInput& i : item.inputs)
        out += hung(fmt::format("{}    {}  {}  ", indent, pad_right(i.name, name), pad_left(i.value, value)),
                    i.source, width, Style::dim, colour);
    if (is_table(item)) return print_table(out, item, depth, colour, width);
    for (const LedgerItem& child : item.children) print(out, child, depth + 1, colour, width);
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

std::string ledger_text(const LedgerItem& item, bool colour, std::size_t width) {
    std::string out;
    print(out, item, 0, colour, width);
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
