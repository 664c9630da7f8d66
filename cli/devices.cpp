// memwall devices: list, search and show machines.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>

#include "cli/command.h"
#include "core/base/size_text.h"
#include "core/view/device_view.h"
#include "core/view/records.h"
#include "core/view/text_table.h"
#include "devices/catalog.h"
#include "devices/device_yaml.h"

namespace memwall::cli {
namespace {

struct Options {
    std::string search, show;
    bool json = false, csv = false, markdown = false, yaml = false;
};

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

int list(const Options& o) {
    const std::string wanted = lower(o.search);
    view::TextTable table{{"id", "name", "class", ">year", "memory", ">bandwidth", "products"}, {}};
    table.spare = {"products", "class", "year"};
    const std::vector<std::string> keys{
        "id", "name", "class", "year", "memory_bytes", "bandwidth_bytes_per_second", "products"};
    view::Records records;
    for (const devices::DeviceSummary& d : devices::list_devices()) {
        std::vector<std::string> products;
        for (const devices::Product& p : devices::list_products())
            if (p.device == d.id) products.push_back(p.alias);
        const std::string known_as = fmt::format("{}", fmt::join(products, " "));
        if (lower(d.id + " " + d.name + " " + d.device_class + " " + known_as).find(wanted) ==
            std::string::npos)
            continue;
        table.rows.push_back({d.id, d.name, d.device_class, d.year ? fmt::format("{}", d.year) : "",
                              devices::sizes_text(d.sizes),
                              d.bandwidth.value > 0 ? rate_text(d.bandwidth) : "unknown", known_as});
        view::Json sizes = view::Json::array();
        for (const Bytes size : d.sizes) sizes.push_back(size.value);
        const view::Json values[] = {
            d.id,           d.name,
            d.device_class, d.year ? view::Json(d.year) : nullptr,
            sizes,          d.bandwidth.value > 0 ? view::Json(std::llround(d.bandwidth.value)) : nullptr,
            products};
        records.emplace_back();
        for (std::size_t i = 0; i < keys.size(); ++i) records.back()[keys[i]] = values[i];
    }
    if (o.json) {
        std::cout << view::records_json("memwall/devices/1", "devices", records);
        return kDone;
    }
    if (table.rows.empty()) std::cerr << "memwall: no device matches '" << o.search << "'\n";
    if (!o.csv && !o.markdown)  // product names make the lines longer than a screen
        for (auto& row : table.rows)
            row.back() = row.back().size() > 48 ? row.back().substr(0, row.back().rfind(' ', 45)) + " ..."
                                                : row.back();
    std::cout << (o.csv        ? view::records_csv(keys, records)
                  : o.markdown ? view::markdown_table(table)
                               : view::plain_table(table, colour_output(), table_width()));
    return table.rows.empty() ? kFailed : kDone;
}

int show(const Options& o) {
    const device::Device d = devices::resolve_device(o.show, "DEVICE");
    if (o.yaml)
        std::cout << devices::write_device_yaml(d);
    else
        std::cout << (o.json ? view::device_json(d) : view::device_text(d, colour_output(), table_width()));
    return kDone;
}

}  // namespace

void add_devices(Command command) {
    auto o = std::make_shared<Options>();
    CLI::App* app = command.app.add_subcommand(
        "devices", "List, search and show devices; 'devices show host' describes this machine");
    app->add_option("SEARCH", o->search, "part of an id, a name, a class or a product");
    for (CLI::App* a : {app, app->add_subcommand("show", "one device with the source of every number")}) {
        a->add_flag("--json", o->json, "print one JSON document")->group("Output");
        if (a == app) {
            a->add_flag("--csv", o->csv, "print comma-separated values, numbers in base units")
                ->group("Output");
            a->add_flag("--markdown", o->markdown, "print a Markdown table")->group("Output");
        } else {
            a->add_option("DEVICE", o->show, "id, product, profile, 'host' or ram=...,bandwidth=...")
                ->required();
            a->add_flag("--yaml", o->yaml, "print a device profile to edit")->group("Output");
        }
    }
    app->footer(
        "Examples:\n"
        "  memwall devices phone\n"
        "  memwall devices show raspberry-pi-5:8GiB\n"
        "  memwall devices show host --yaml > my-laptop.yaml");
    app->callback([o, app, &action = command.action] {
        action = [o, app] { return app->got_subcommand("show") ? show(*o) : list(*o); };
    });
}

}  // namespace memwall::cli
