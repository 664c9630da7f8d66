#include "core/plan/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "core/base/error.h"
#include "core/base/parallel.h"
#include "core/plan/auto_placement.h"
#include "core/plan/measured.h"
#include "core/plan/usual_recipe.h"

namespace memwall::plan {
namespace {

Interval<Bytes> sum_of_pools(const Memory& m) {
    Interval<Bytes> sum = m.pools[0].needed;
    for (std::size_t i = 1; i < m.pool_count; ++i) sum += m.pools[i].needed;
    return sum;
}

void evaluate_block(const Grid& grid, const Prepared& p, const Target& t, const Knobs& base, Candidate* out) {
    for (const auto& [key_type, value_type] : grid.kv) {
        Knobs k = base;
        k.kv_k = *quant::parse_kv_type(key_type);
        k.kv_v = *quant::parse_kv_type(value_type);
        const auto& supported = p.runtime.profile->kv_types;
        const auto has = [&](std::string_view name) {
            return std::find(supported.begin(), supported.end(), name) != supported.end();
        };
        const bool available =
            has(k.kv_k.name) && has(k.kv_v.name) &&
            (k.flash_attention || k.kv_v.block_len == 1 || !p.runtime.profile->quantized_values_need_flash);
        for (const std::int64_t context : grid.contexts) {
            k.context = context;
            k.prompt = std::min(base.prompt, context);
            k.cached_prompt = std::min(base.cached_prompt, k.prompt - 1);
            for (const std::int64_t sequences : grid.sequences) {
                k.sequences = sequences;
                for (const bool offload : grid.offload) {
                    Candidate& c = *out++;
                    // A runtime that does not run here at all lacks more than a KV type.
                    c.reason = t.refusal != Reason::fits ? t.refusal : Reason::kv_type;
                    if (!available) continue;
                    try {
                        const Knobs placed = offload ? spill(p, t, k, true) : place_automatically(p, t, k);
                        Candidate found = candidate_of(evaluate(p, placed, t), placed);
                        found.recipe = c.recipe, found.draft = c.draft, found.kv = c.kv;
                        found.context_index = c.context_index, found.sequences_index = c.sequences_index;
                        found.offload = c.offload;
                        c = found;
                    } catch (const Error&) {
                        // heads that do not divide into this type's blocks, latent caches with two types
                        c.verdict = Verdict::unsupported;
                    }
                }
            }
        }
    }
}

void number_candidates(SearchResult& r) {
    const Grid& g = r.grid;
    r.candidates.resize(g.size());
    std::size_t i = 0;
    for (std::size_t recipe = 0; recipe < g.recipes.size(); ++recipe)
        for (std::size_t draft = 0; draft < g.drafts.size(); ++draft)
            for (std::size_t kv = 0; kv < g.kv.size(); ++kv)
                for (std::size_t context = 0; context < g.contexts.size(); ++context)
                    for (std::size_t sequences = 0; sequences < g.sequences.size(); ++sequences)
                        for (const bool offload : g.offload) {
                            Candidate& c = r.candidates[i++];
                            c.recipe = static_cast<std::uint16_t>(recipe);
                            c.draft = static_cast<std::uint16_t>(draft);
                            c.kv = static_cast<std::uint16_t>(kv);
                            c.context_index = static_cast<std::uint16_t>(context);
                            c.sequences_index = static_cast<std::uint16_t>(sequences);
                            c.context = g.contexts[context];
                            c.sequences = g.sequences[sequences];
                            c.offload = offload;
                        }
}

/// What all recipes of one runtime and kind share; recipes of another kind need a model of another shape.
struct Bases {
    const model::Model& model;
    const Deployment& deployment;
    std::map<std::pair<std::string, int>, Prepared> made;

    Prepared with(const RecipeChoice& choice) {
        Deployment d = deployment;
        d.runtime = choice.runtime;
        d.quant = choice.recipe;
        d.draft.clear();
        const int kind = choice.recipe.empty() ? -1 : static_cast<int>(recipe_kind(choice));
        const auto key = std::pair(choice.runtime, kind);
        if (const auto it = made.find(key); it != made.end() && kind >= 0)
            return with_recipe(it->second, choice.recipe);
        return made.insert_or_assign(key, prepare(model, d)).first->second;
    }

    static quant::RecipeKind recipe_kind(const RecipeChoice& choice) {
        const auto& aliases = runtime::select_profile(choice.runtime, "--runtime").profile->recipe_aliases;
        const std::string name = choice.recipe.substr(0, choice.recipe.find(','));
        const quant::Recipe recipe = quant::parse_recipe(name);
        const auto meant = aliases.find(recipe.name);
        return (meant == aliases.end() ? recipe : quant::parse_recipe(meant->second)).kind;
    }
};

}  // namespace

Candidate candidate_of(const Plan& plan, const Knobs& k) {
    Candidate c;
    c.context = k.context;
    c.sequences = k.sequences;
    c.loss = plan.loss;
    c.gpu_layers = k.gpu_layers;
    c.experts_on_host = k.experts_on_host;
    c.kv_on_host = k.kv_on_host;
    c.verdict = plan.verdict;
    c.reason = plan.reason;
    c.needed = plan.memory.pools[plan.memory.deciding_pool].needed;
    c.budget = plan.memory.budget;
    c.footprint = sum_of_pools(plan.memory);
    c.decode_known = plan.speed.decode_known;
    c.load_known = plan.speed.load_known;
    c.energy_known = plan.speed.energy_known;
    c.timed = plan.speed.decode_known && plan.speed.prefill_known;
    c.latency = c.timed          ? plan.speed.job.central.value
                : c.decode_known ? static_cast<double>(k.generate) / plan.speed.decode.central.value
                                 : std::numeric_limits<double>::infinity();
    c.decode = plan.speed.decode;
    c.first_token = plan.speed.first_token;
    c.job = plan.speed.job;
    c.load = plan.speed.load;
    c.energy_per_token = plan.speed.energy_per_token;
    return c;
}

Grid default_grid(const model::Model& model, const Deployment& d, std::int64_t least_context, bool card,
                  const std::vector<DraftModel>& catalogue, const Axes& axes) {
    Grid g;
    const std::vector<std::string> runtimes = axes.runtimes.empty() ? std::vector{d.runtime} : axes.runtimes;
    const auto profile_of = [](const std::string& runtime) -> const runtime::Profile& {
        return *runtime::select_profile(runtime, "--runtime").profile;
    };
    for (const std::string& runtime : runtimes) {
        std::vector<std::string> recipes = axes.recipes;
        if (recipes.empty() && (!d.quant.empty() || model.tensors_from_file)) recipes = {d.quant};
        if (recipes.empty()) {
            const runtime::Profile& profile = profile_of(runtime);
            const std::string usual = usual_recipe(profile, model);
            recipes = profile.suggested_recipes;
            if (recipes.empty() || usual != profile.default_recipe) recipes.insert(recipes.begin(), usual);
        }
        for (const std::string& recipe : recipes) g.recipes.push_back({runtime, recipe});
    }

    g.drafts = axes.drafts;
    if (g.drafts.empty()) {
        g.drafts = {d.draft == "none" ? "" : d.draft};
        const std::int64_t parameters = model::text_parameters(model);
        const DraftModel* best = nullptr;
        for (const DraftModel& m : catalogue)
            if (m.id != model.id && !model.family.empty() && m.family == model.family &&
                m.parameters * 5 <= parameters && (!best || m.parameters < best->parameters))
                best = &m;
        // Each of several runtimes stores the draft its own usual way.
        if (d.draft.empty() && best)
            g.drafts.push_back(runtimes.size() > 1 ? best->id
                                                   : best->id + ":" + profile_of(runtimes[0]).default_recipe);
    }

    const auto usual_kv = [&] { return profile_of(runtimes[0]).kv_types.front(); };
    if (!axes.kv.empty()) {
        g.kv = axes.kv;
    } else if (!d.kv_k.empty() || !d.kv_v.empty()) {
        g.kv = {{d.kv_k.empty() ? usual_kv() : d.kv_k, d.kv_v.empty() ? usual_kv() : d.kv_v}};
    } else {
        const auto has = [&](const std::string& runtime, std::string_view name) {
            const auto& types = profile_of(runtime).kv_types;
            return std::find(types.begin(), types.end(), name) != types.end();
        };
        constexpr std::pair<const char*, const char*> kPairs[] = {{"f16", "f16"},   {"q8_0", "q8_0"},
                                                                  {"q8_0", "q4_0"}, {"q4_0", "q4_0"},
                                                                  {"fp8", "fp8"},   {"int8", "int8"}};
        for (const auto& [key, value] : kPairs)
            if (std::any_of(runtimes.begin(), runtimes.end(),
                            [&](const std::string& r) { return has(r, key) && has(r, value); }))
                g.kv.emplace_back(key, value);
        if (g.kv.empty()) g.kv = {{usual_kv(), usual_kv()}};
    }

    if (!axes.contexts.empty()) {
        g.contexts = axes.contexts;
    } else if (d.context > 0) {
        g.contexts = {d.context};
    } else {
        const std::int64_t trained = model.trained_context > 0 ? model.trained_context : 4096;
        const std::int64_t least = std::max<std::int64_t>(least_context, 1024);
        for (std::int64_t c = 1024; c <= trained; c *= 2)
            if (c >= least) g.contexts.push_back(c);
        if (g.contexts.empty()) g.contexts = {std::min(least, trained)};
    }
    g.sequences = axes.sequences.empty() ? std::vector{d.sequences} : axes.sequences;
    g.offload = axes.offload;
    if (g.offload.empty()) {
        g.offload = {d.offload == "auto"};
        if (card && d.offload != "auto") g.offload.push_back(true);
    }
    return g;
}

PreparedGrid prepare_grid(const model::Model& model, const Deployment& deployment, const Grid& grid,
                          OpenModel open_draft) {
    for (const auto& [key, value] : grid.kv)
        for (const auto& [option, name] :
             {std::pair(key == value ? "--kv" : "--kv-k", key), std::pair("--kv-v", value)})
            if (!quant::parse_kv_type(name))
                throw Error(option, fmt::format("'{}'", name), "a KV type of `memwall runtimes NAME`");
    PreparedGrid g{grid, deployment, {}, {}};

    // Each draft is prepared once a runtime and shared by all recipes of it.
    std::map<std::pair<std::string, std::size_t>, std::shared_ptr<const Prepared>> drafts;
    for (const RecipeChoice& choice : grid.recipes)
        for (std::size_t i = 0; i < grid.drafts.size(); ++i) {
            const auto key = std::pair(choice.runtime, i);
            if (grid.drafts[i].empty() || drafts.contains(key)) continue;
            std::shared_ptr<const Prepared>& draft = drafts[key];
            try {
                Deployment d = deployment;
                d.quant = choice.recipe;
                d.runtime = choice.runtime;
                d.draft = grid.drafts[i];
                draft = prepare(model, d, open_draft).draft;
            } catch (const Error& e) {
                g.failures.push_back({choice.runtime, grid.drafts[i], e.what()});
            }
        }
    Bases bases{model, deployment, {}};
    for (const RecipeChoice& choice : grid.recipes) {
        std::shared_ptr<const Prepared> plain;
        try {
            plain = std::make_shared<const Prepared>(bases.with(choice));
        } catch (const Error& e) {
            g.failures.push_back({choice.runtime, choice.recipe, e.what()});
        }
        for (std::size_t i = 0; i < grid.drafts.size(); ++i) {
            const auto draft = drafts.find(std::pair(choice.runtime, i));
            if (!plain || (draft != drafts.end() && !draft->second)) {
                g.blocks.push_back(nullptr);
            } else if (draft == drafts.end()) {
                g.blocks.push_back(plain);
            } else {
                Prepared with_draft = *plain;
                with_draft.draft = draft->second;
                g.blocks.push_back(std::make_shared<const Prepared>(std::move(with_draft)));
            }
        }
    }
    return g;
}

SearchResult search(const PreparedGrid& g, const device::Device& device, OpenModel open_draft,
                    unsigned threads) {
    SearchResult r;
    r.grid = g.grid;
    r.failures = g.failures;
    number_candidates(r);
    const std::size_t block =
        g.grid.kv.size() * g.grid.contexts.size() * g.grid.sequences.size() * g.grid.offload.size();
    parallel_for(
        g.blocks.size(),
        [&](std::size_t i) {
            Candidate* const out = r.candidates.data() + i * block;
            for (std::size_t j = 0; j < block; ++j) out[j].reason = Reason::recipe;
            if (!g.blocks[i]) return;
            const Prepared& p = *g.blocks[i];
            Target t = aim(p, device);
            apply_measurements(t, p, open_draft);
            evaluate_block(g.grid, p, t, resolve_knobs(p, t), out);
        },
        threads);
    return r;
}

SearchResult search(const model::Model& model, const Deployment& deployment, const device::Device& device,
                    const Grid& grid, OpenModel open_draft, unsigned threads) {
    return search(prepare_grid(model, deployment, grid, open_draft), device, open_draft, threads);
}

Deployment deployment_of(const Grid& grid, const Candidate& c, const Deployment& deployment) {
    Deployment d = deployment;
    d.runtime = grid.recipes[c.recipe].runtime;
    d.quant = grid.recipes[c.recipe].recipe;
    d.draft = grid.drafts[c.draft];
    d.kv_k = grid.kv[c.kv].first;
    d.kv_v = grid.kv[c.kv].second;
    d.context = c.context;
    d.prompt = std::min(d.prompt, c.context);
    d.cached_prompt = std::min(d.cached_prompt, std::max<std::int64_t>(d.prompt - 1, 0));
    d.sequences = c.sequences;
    if (c.offload) d.offload = "auto";
    return d;
}

}  // namespace memwall::plan
