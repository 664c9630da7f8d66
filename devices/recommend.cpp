#include "devices/recommend.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/size_text.h"
#include "core/model/catalog.h"
#include "core/plan/mixed.h"
#include "core/plan/options.h"

namespace memwall::devices {

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

bool may_spill(const device::Device& device) {
    const device::Pool* host = device.pool("ram");
    return device.pool("vram") && host && host->capacity.value > 0;
}

std::string unknown_host_note(const device::Device& device) {
    if (!device.pool("vram") || may_spill(device)) return "";
    return "the host's memory is unknown, so nothing is left to it (--set device.ram=32GiB)";
}

void refuse_bad_input(const model::Model& model, const plan::Deployment& deployment,
                      const plan::SearchResult& result) {
    std::size_t recipes = 0;
    bool draft = false;
    for (const plan::GridFailure& f : result.failures) {
        const auto& all = result.grid.recipes;
        recipes += std::count(all.begin(), all.end(), plan::RecipeChoice{f.runtime, f.what}) > 0;
        draft = draft || (!deployment.draft.empty() && f.what == deployment.draft);
    }
    if (recipes < result.grid.recipes.size() && !draft) return;
    plan::Deployment d = deployment;
    d.runtime = result.grid.recipes.front().runtime;
    d.quant = result.grid.recipes.front().recipe;
    if (!draft) d.draft.clear();
    plan::prepare(model, d, open_named_model);
}

namespace {

void no_mixed(view::Recommendation& r, const std::string& why) {
    r.notes.push_back("no mixed recipe: " + why);
}

/// Adds the mixed recipe under the budget that the best configuration by quality leaves, and decides again.
/// Copies that the processor's kernels make grow with the weights, so what is too much is taken back, a few
/// times at most.
void add_mixed(view::Recommendation& r, const Opened& opened) {
    const std::int64_t best = r.decision.best[static_cast<std::size_t>(plan::Goal::quality)];
    if (best < 0) {
        no_mixed(r, "there is no admitted configuration to start from");
        return;
    }
    const plan::Candidate base = r.search.candidates[static_cast<std::size_t>(best)];
    const plan::Deployment d = plan::deployment_of(r.search.grid, base, r.deployment);
    const Planned planned = make_plan(d);
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
        const std::string& first = mixed.tensor_types.front().second;
        if (std::all_of(mixed.tensor_types.begin(), mixed.tensor_types.end(),
                        [&](const auto& t) { return t.second == first; })) {
            no_mixed(r, first + " for every matrix is within the memory, and nothing finer is searched");
            return;
        }
        grid.recipes.front().recipe = mixed.quant;
        plan::SearchResult found =
            plan::search(opened.model, r.deployment, opened.device, grid, open_named_model);
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
    no_mixed(r, "none within the memory is admitted");
}

using Place = const std::string&;

/// One axis of the command line: how its values are stored.
struct AxisReader {
    std::string_view name;
    void (*add)(plan::Axes&, const std::string& value, Place place);
};

void add_kv(plan::Axes& axes, const std::string& value, Place place) {
    const std::size_t slash = value.find('/');
    const std::string key = value.substr(0, slash),
                      values = slash == std::string::npos ? key : value.substr(slash + 1);
    for (const std::string& type : {key, values})
        if (!quant::parse_kv_type(type))
            throw Error(place, fmt::format("'{}'", value),
                        "a KV type of `memwall runtimes NAME`, or KEYS/VALUES");
    axes.kv.emplace_back(key, values);
}

template <std::vector<std::int64_t> plan::Axes::*Field>
void add_count(plan::Axes& axes, const std::string& value, Place place) {
    const std::int64_t n = parse_count(value, place);
    if (n < 1) throw Error(place, fmt::format("'{}'", value), "at least 1");
    (axes.*Field).push_back(n);
}

constexpr AxisReader kReaders[] = {
    {"runtime",
     [](plan::Axes& a, const std::string& v, Place place) {
         runtime::select_profile(v, place);
         a.runtimes.push_back(v);
     }},
    {"quant", [](plan::Axes& a, const std::string& v, Place) { a.recipes.push_back(v); }},
    {"draft", [](plan::Axes& a, const std::string& v, Place) { a.drafts.push_back(v == "none" ? "" : v); }},
    {"kv", add_kv},
    {"context", add_count<&plan::Axes::contexts>},
    {"sequences", add_count<&plan::Axes::sequences>},
    {"offload",
     [](plan::Axes& a, const std::string& v, Place place) {
         if (v != "none" && v != "auto") throw Error(place, fmt::format("'{}'", v), "none or auto");
         a.offload.push_back(v == "auto");
     }},
};

}  // namespace

plan::Axes search_axes(const std::vector<Axis>& given) {
    plan::Axes axes;
    for (const Axis& axis : given) {
        const std::string place = "--axis " + axis.name;
        const auto reader = std::find_if(std::begin(kReaders), std::end(kReaders),
                                         [&](const AxisReader& r) { return r.name == axis.name; });
        if (reader == std::end(kReaders))
            throw Error("--axis", fmt::format("'{}'", axis.name),
                        "runtime, quant, draft, kv, context, sequences or offload",
                        "memwall sweep takes any option");
        for (const std::string& value : axis.values) reader->add(axes, value, place);
    }
    return axes;
}

view::Recommendation recommend(const plan::Deployment& stated, const plan::Demands& demands,
                               const plan::Axes& axes, bool mixed) {
    view::Recommendation r;
    r.demands = demands;
    Opened opened = open_deployment(stated);
    r.model = opened.model.id;
    r.device = stated.device;
    // A hint of the model's folder is a file that exists already; without one the recipe is an axis.
    r.deployment = opened.deployment;
    const bool card = may_spill(opened.device);
    r.search = plan::search(opened.model, r.deployment, opened.device,
                            plan::default_grid(opened.model, r.deployment, r.demands.limits.min_context, card,
                                               catalogue_drafts(), axes),
                            open_named_model);
    refuse_bad_input(opened.model, r.deployment, r.search);
    r.decision = plan::decide(r.search.candidates, r.demands.limits);
    const bool spills = std::count(r.search.grid.offload.begin(), r.search.grid.offload.end(), true) > 0;
    const bool tight = std::any_of(r.decision.broken.begin(), r.decision.broken.end(),
                                   [](std::uint16_t b) { return (b & plan::kDoesNotFit) != 0; });
    if (const std::string note = unknown_host_note(opened.device); !note.empty() && (spills || tight))
        r.notes.push_back(spills ? "the host's memory is unknown, so what would be left to it is undecided "
                                   "(--set device.ram=32GiB)"
                                 : note);
    if (mixed) try {
            add_mixed(r, opened);
        } catch (const Error& e) {  // no matrices under GGUF names, or none coarse enough
            no_mixed(r, e.found() + ", " + e.expected() + " wanted");
        }
    return r;
}

}  // namespace memwall::devices
