#include "cli/demands.h"

#include "core/base/error.h"
#include "core/plan/mixed.h"
#include "devices/draft_models.h"
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

namespace {

/// Adds the mixed recipe under the budget that the best configuration by quality leaves, and decides again.
/// Copies that the processor's kernels make grow with the weights, so what is too much is taken back, a few
/// times at most.
void add_mixed(view::Recommendation& r, const devices::Opened& opened) {
    const std::int64_t best = r.decision.best[static_cast<std::size_t>(plan::Goal::quality)];
    if (best < 0) throw Error("--mixed", "no configuration is admitted", "demands that one meets");
    const plan::Candidate base = r.search.candidates[static_cast<std::size_t>(best)];
    const plan::Deployment d = plan::deployment_of(r.search.grid, base, r.deployment);
    const devices::Planned planned = devices::make_plan(d);
    Bytes spare = base.budget - base.needed.high;
    if (r.demands.limits.max_memory.value > 0)
        spare = std::min(spare, r.demands.limits.max_memory - base.footprint.high);
    Bytes weights = planned.prepared.weights.total.central + spare;
    plan::Grid grid = r.search.grid;
    grid.recipes = {{r.search.grid.recipes[base.recipe].runtime, ""}};
    for (int attempt = 0; attempt < 4; ++attempt) {
        const plan::MixedRecipe mixed =
            plan::mixed_recipe(planned.prepared.model,
                               planned.prepared.recipe.substr(0, planned.prepared.recipe.find(',')), weights);
        grid.recipes.front().recipe = mixed.quant;
        plan::SearchResult found =
            plan::search(opened.model, r.deployment, opened.device, grid, devices::open_named_model);
        const plan::Decision decision = plan::decide(found.candidates, r.demands.limits);
        if (decision.admitted.empty()) {
            Bytes over{};
            for (const plan::Candidate& c : found.candidates)
                if (c.kv == base.kv && c.context == base.context && c.draft == base.draft &&
                    c.offload == base.offload)
                    over = c.needed.high - c.budget;
            weights = mixed.weights - std::max(over, Bytes(16 << 20));
            continue;
        }
        const auto recipe = static_cast<std::uint16_t>(r.search.grid.recipes.size());
        r.search.grid.recipes.push_back(grid.recipes.front());
        for (plan::Candidate& c : found.candidates) {
            c.recipe = recipe;
            r.search.candidates.push_back(c);
        }
        r.decision = plan::decide(r.search.candidates, r.demands.limits);
        r.mixed = mixed;
        return;
    }
}

}  // namespace

view::Recommendation recommendation(plan::Deployment stated, const DemandOptions& demands, bool mixed) {
    view::Recommendation r;
    r.demands = demands.demands(stated);
    devices::Opened opened = devices::open_deployment(stated);
    r.model = opened.model.id;
    r.device = stated.device;
    // A hint of the model's folder is a file that exists already; without one the recipe is an axis.
    r.deployment = opened.deployment;
    const bool card = opened.device.pool("vram") != nullptr;
    r.search = plan::search(opened.model, r.deployment, opened.device,
                            plan::default_grid(opened.model, r.deployment, r.demands.limits.min_context, card,
                                               devices::catalogue_drafts()),
                            devices::open_named_model);
    r.decision = plan::decide(r.search.candidates, r.demands.limits);
    if (mixed) add_mixed(r, opened);
    return r;
}

}  // namespace memwall::cli
