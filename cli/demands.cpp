#include "cli/demands.h"

#include "core/model/catalog.h"
#include "devices/planning.h"

namespace memwall::cli {

void DemandOptions::add_to(CLI::App& app) {
    const auto table = plan::decision_options();
    values_.resize(table.size());
    for (std::size_t i = 0; i < table.size(); ++i)
        app.add_option("--" + std::string(table[i].name), values_[i], std::string(table[i].help))
            ->type_name(std::string(table[i].value))
            ->group("Decision");
}

plan::Demands DemandOptions::demands(plan::Deployment& deployment) const {
    plan::Demands d;
    const auto table = plan::decision_options();
    for (std::size_t i = 0; i < table.size(); ++i)
        if (!values_[i].empty()) table[i].set(d, values_[i], "--" + std::string(table[i].name));
    plan::apply_preset(d, deployment);
    return d;
}

const std::vector<plan::DraftModel>& catalogue_drafts() {
    static const std::vector<plan::DraftModel> all = [] {
        std::vector<plan::DraftModel> list;
        for (const std::string_view id : model::catalog_ids())
            if (const auto m = model::load_catalog_model(std::string(id)); m && !m->embedder)
                list.push_back({m->id, m->family, model::text_parameters(*m)});
        return list;
    }();
    return all;
}

view::Recommendation recommendation(plan::Deployment stated, const DemandOptions& demands) {
    view::Recommendation r;
    r.demands = demands.demands(stated);
    devices::Opened opened = devices::open_deployment(stated);
    r.model = opened.model.id;
    r.device = stated.device;
    // A hint of the model's folder is a file that exists already; without one the recipe is an axis.
    r.deployment = std::move(opened.deployment);
    const bool card = opened.device.pool("vram") != nullptr;
    r.search = plan::search(opened.model, r.deployment, opened.device,
                            plan::default_grid(opened.model, r.deployment, r.demands.limits.min_context, card,
                                               catalogue_drafts()),
                            devices::open_named_model);
    r.decision = plan::decide(r.search.candidates, r.demands.limits);
    return r;
}

}  // namespace memwall::cli
