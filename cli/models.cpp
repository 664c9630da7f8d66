// memwall models: list, search and show models of the catalogue.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>

#include "cli/command.h"
#include "core/base/size_text.h"
#include "core/model/catalog.h"
#include "core/model/model_yaml.h"
#include "core/model/open_model.h"
#include "core/view/model_view.h"
#include "core/view/quantity_text.h"
#include "core/view/records.h"
#include "core/view/text_table.h"

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
    view::TextTable table{{"id", "family", ">parameters", ">active", ">layers", ">trained context",
                           ">KV f16 a token", "licence"},
                          {}};
    table.spare = {"licence", "family", "active"};
    const std::vector<std::string> keys{"id",
                                        "family",
                                        "parameters",
                                        "active_parameters",
                                        "layers",
                                        "trained_context_tokens",
                                        "kv_f16_bytes_per_token",
                                        "licence"};
    view::Records records;
    for (const std::string_view id : model::catalog_ids()) {
        const auto m = model::load_catalog_model(std::string(id));
        if (!m || lower(m->id + " " + m->family + " " + m->hf_repo).find(wanted) == std::string::npos)
            continue;
        table.rows.push_back({m->id, m->family, view::parameters_text(model::text_parameters(*m)),
                              view::parameters_text(model::active_parameters(*m)),
                              fmt::format("{}", m->layers.size()),
                              m->trained_context > 0 ? count_text(m->trained_context) : "-",
                              view::kv_per_token_text(*m), m->licence});
        const view::Json values[] = {m->id,
                                     m->family,
                                     model::text_parameters(*m),
                                     model::active_parameters(*m),
                                     m->layers.size(),
                                     m->trained_context > 0 ? view::Json(m->trained_context) : nullptr,
                                     view::kv_per_token(*m).value,
                                     m->licence};
        records.emplace_back();
        for (std::size_t i = 0; i < keys.size(); ++i) records.back()[keys[i]] = values[i];
    }
    if (o.json) {
        std::cout << view::records_json("memwall/models/1", "models", records);
        return kDone;
    }
    if (table.rows.empty()) std::cerr << "memwall: no model matches '" << o.search << "'\n";
    std::cout << (o.csv        ? view::records_csv(keys, records)
                  : o.markdown ? view::markdown_table(table)
                               : view::plain_table(table, colour_output(), table_width()));
    return table.rows.empty() ? kFailed : kDone;
}

int show(const Options& o) {
    const model::Model m = model::open_model(o.show).model;
    std::cout << (o.yaml   ? model::write_model_yaml(m)
                  : o.json ? view::model_json(m)
                           : view::model_text(m, colour_output(), table_width()));
    return kDone;
}

}  // namespace

void add_models(Command command) {
    auto o = std::make_shared<Options>();
    CLI::App* app = command.app.add_subcommand("models", "List, search and show models of the catalogue");
    app->add_option("SEARCH", o->search, "part of an id, a family or a repository");
    for (CLI::App* a : {app, app->add_subcommand("show", "one model: layers, cache, parameters, sources")}) {
        a->add_flag("--json", o->json, "print one JSON document")->group("Output");
        if (a == app) {
            a->add_flag("--csv", o->csv, "print comma-separated values, numbers in base units")
                ->group("Output");
            a->add_flag("--markdown", o->markdown, "print a Markdown table")->group("Output");
        } else {
            a->add_option("MODEL", o->show, "catalogue id or file")->required();
            a->add_flag("--yaml", o->yaml, "print a model YAML to edit")->group("Output");
        }
    }
    app->footer("Examples:\n  memwall models qwen3\n  memwall models show deepseek-v3");
    app->callback([o, app, &action = command.action] {
        action = [o, app] { return app->got_subcommand("show") ? show(*o) : list(*o); };
    });
}

}  // namespace memwall::cli
