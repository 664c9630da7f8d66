#include "core/plan/prepare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/base/byte_source.h"
#include "core/base/error.h"
#include "core/base/size_text.h"
#include "core/model/edit.h"
#include "core/plan/usual_recipe.h"

namespace memwall::plan {
namespace {

/// The model as the engine sees it: windows it ignores are gone; tensors stay with the original.
model::Model engine_view(const model::Model& model, const runtime::Profile& profile,
                         const runtime::OperatorTables* tables) {
    model::Model view = model;
    view.tensors.clear();
    const bool honoured =
        profile.windows && (!tables || tables->cell_rules().honours_windows(model.architecture));
    if (!honoured)
        for (model::Layer& layer : view.layers)
            if (layer.attention) layer.attention->window = 0;
    return view;
}

void force_window(model::Model& view, std::int64_t window, std::int64_t sinks) {
    if (window == 0) return;
    for (model::Layer& layer : view.layers)
        if (layer.attention && layer.attention->window == 0) layer.attention->window = window + sinks;
}

/// A size given as text, or the size of the file of that name.
Bytes file_or_size(const std::string& text, std::string_view place) {
    try {
        return parse_bytes(text, place);
    } catch (const Error&) {
        return Bytes(static_cast<std::int64_t>(open_file(text)->size()));
    }
}

Bytes projector_bytes(const model::Model& model, const std::string& option, std::int64_t images) {
    if (option == "none" || (option.empty() && images == 0)) return Bytes(0);
    if (!option.empty()) return file_or_size(option, "--projector");
    std::int64_t parameters = 0;
    for (const model::Component& c : model.components)
        if (c.separate_file) parameters += c.parameters;  // else its tensors are among the weights
    return Bytes(2 *
                 parameters);  // projector files are usually f16 whatever the text type (MODELS section 5)
}

/// "RECIPE[,PATTERN=FORMAT...]": a recipe, and formats for tensors whose names match.
quant::Recipe read_quant(const std::string& text, const runtime::Profile& profile,
                         quant::AssignOptions& options) {
    std::size_t comma = text.find(',');
    quant::Recipe recipe = quant::parse_recipe(text.substr(0, comma));
    if (const auto meant = profile.recipe_aliases.find(recipe.name); meant != profile.recipe_aliases.end())
        recipe = quant::parse_recipe(meant->second);
    while (comma != std::string::npos) {
        const std::size_t next = text.find(',', comma + 1);
        options.overrides.push_back(
            quant::parse_override(text.substr(comma + 1, next - comma - 1), "--quant"));
        comma = next;
    }
    return recipe;
}

bool has_gguf_names(const model::Model& model) {
    return std::any_of(model.tensors.begin(), model.tensors.end(),
                       [](const model::Tensor& t) { return t.name.starts_with("blk."); });
}

bool is_recipe(const std::string& name) {
    try {
        quant::parse_recipe(name);
        return true;
    } catch (const Error&) {
        return false;
    }
}

void apply_what_ifs(model::Model& model, const std::vector<std::string>& sets) {
    for (const std::string& s : sets) {
        const std::size_t dot = s.find('.'), equals = s.find('=');
        if (dot == std::string::npos || equals == std::string::npos || dot > equals ||
            (s.substr(0, dot) != "model" && s.substr(0, dot) != "device"))
            throw Error("--set", fmt::format("'{}'", s), "model.FIELD=VALUE or device.FIELD=VALUE");
        if (s.starts_with("model."))
            model::set_field(model, s.substr(6, equals - 6), s.substr(equals + 1), "--set");
    }
}

/// A layer has one group, two with cross attention.
std::vector<std::vector<int>> groups_of_layers(const model::Model& view,
                                               const std::vector<memory::KvGroup>& groups,
                                               bool latent_cache) {
    std::vector<std::vector<int>> index;
    model::Model one = view;
    for (const model::Layer& layer : view.layers) {
        one.layers = {layer};
        std::vector<int>& found = index.emplace_back();
        for (const memory::KvGroup& own : memory::kv_groups(one, latent_cache))
            for (std::size_t i = 0; i < groups.size(); ++i) {
                memory::KvGroup g = groups[i];
                g.layers = own.layers;
                if (g == own) found.push_back(static_cast<int>(i));
            }
    }
    return index;
}

/// A recipe with the overrides typed beside it.
struct ChosenRecipe {
    quant::Recipe recipe;
    quant::AssignOptions options;
    bool from_file = false;  ///< the file's own formats
};

ChosenRecipe choose_recipe(const Deployment& deployment, const model::Model& model,
                           const runtime::Profile& profile) {
    ChosenRecipe c;
    c.options.group_size = static_cast<std::int32_t>(deployment.group_size);
    c.from_file = deployment.quant.empty() && model.tensors_from_file;
    c.recipe = c.from_file
                   ? quant::parse_recipe("as-stored")
                   : read_quant(deployment.quant.empty() ? usual_recipe(profile, model) : deployment.quant,
                                profile, c.options);
    return c;
}

/// Everything of `p` that depends on the recipe; the model has its shape already.
void assign_recipe(Prepared& p, const ChosenRecipe& c) {
    const runtime::Profile& profile = *p.runtime.profile;
    p.recipe_from_file = c.from_file;
    p.formats = quant::assign(c.recipe, p.model, c.options);
    p.output_copy = Bytes(0);
    if (c.from_file) {
        p.recipe = p.model.stored_recipe.empty() ? "as stored" : p.model.stored_recipe;
        p.recipe_loads = true;
    } else {
        p.output_copy = quant::output_copy_bytes(c.recipe, p.model, c.options);
        const bool gguf = c.recipe.kind == quant::RecipeKind::llama_cpp;
        p.recipe_loads = std::find(profile.recipes.begin(), profile.recipes.end(),
                                   gguf ? "gguf" : "checkpoint") != profile.recipes.end();
        p.recipe = c.options.overrides.empty() ? c.recipe.name : p.deployment.quant;
    }
    p.recipe_kind = c.recipe.kind;
    p.deployment.quant = c.from_file ? "" : p.recipe;
    p.weights = memory::weigh(p.model, p.formats);
    p.weights.total += Interval<Bytes>::exact(p.output_copy);
    p.weights.outside += p.output_copy;
    const std::string& a = p.deployment.activations;
    p.workload = speed::prepare_workload(p.model, p.formats,
                                         a == "a8"    ? speed::Activations::int8
                                         : a == "a16" ? speed::Activations::f16
                                                      : speed::Activations::automatic);
    p.recipe_info = {p.recipe, a == "a8" ? 8 : 16, p.deployment.images, p.deployment.evidence};
    const bool imatrix = c.from_file && p.model.importance_matrix;
    p.quality = quality::weight_quality(p.model, p.formats, p.recipe_info,
                                        imatrix ? quality::Imatrix::with : quality::Imatrix::unknown);
}

}  // namespace

Prepared prepare(model::Model model, const Deployment& deployment, OpenModel open_draft) {
    Prepared p;
    p.deployment = deployment;
    apply_what_ifs(model, deployment.set);
    p.runtime = runtime::select_profile(deployment.runtime, "--runtime");
    const runtime::Profile& profile = *p.runtime.profile;
    p.warnings = model.warnings;

    ChosenRecipe chosen = choose_recipe(deployment, model, profile);
    if (!chosen.from_file) {
        if (model.tensors_from_file && !has_gguf_names(model)) {  // a checkpoint that will be converted
            model.tensors_from_file = false;
            model::generate_tensors(model);
        }
        quant::shape_for_recipe(chosen.recipe, model);
    }
    p.model = std::move(model);
    const runtime::OperatorTables* tables = profile.compute == runtime::ComputeRule::replay
                                                ? &runtime::operator_tables(p.runtime.release)
                                                : nullptr;
    p.engine_model = engine_view(p.model, profile, tables);
    force_window(p.engine_model, deployment.window, deployment.sinks);
    if (tables)
        p.replay = std::make_shared<runtime::ComputeBufferMemo>(
            runtime::ReplayModel(*tables, p.engine_model, p.runtime.release));
    assign_recipe(p, chosen);
    p.kv_groups = memory::kv_groups(p.engine_model, profile.latent_cache);
    p.layer_kv_groups = groups_of_layers(p.engine_model, p.kv_groups, profile.latent_cache);
    p.recurrent_per_sequence = memory::recurrent_state_bytes(p.engine_model);
    for (const model::Layer& layer : p.engine_model.layers)
        p.layer_state.emplace_back(
            layer.recurrent ? 4 * memory::recurrent_state_elements(*layer.recurrent, p.model.hidden) : 0);
    p.projector = projector_bytes(p.model, deployment.projector, deployment.images);
    for (const model::Component& c : p.model.components)
        p.tokens_per_image = std::max(p.tokens_per_image, c.tokens_per_image);
    if (!deployment.lora.empty()) p.adapter = file_or_size(deployment.lora, "--lora");

    if (!deployment.draft.empty() && deployment.draft != "none") {
        if (!open_draft) throw Error("--draft", "no way to open another model here");
        // MODEL[:RECIPE]; a path may hold a colon, so only a known recipe name ends it.
        Deployment d;
        d.runtime = deployment.runtime;
        d.model = deployment.draft;
        const std::size_t colon = deployment.draft.rfind(':');
        if (colon != std::string::npos && is_recipe(deployment.draft.substr(colon + 1))) {
            d.model = deployment.draft.substr(0, colon);
            d.quant = deployment.draft.substr(colon + 1);
        }
        d.projector = "none";
        p.draft = std::make_shared<const Prepared>(prepare(open_draft(d.model), d));
    }
    return p;
}

Prepared with_recipe(const Prepared& prepared, const std::string& quant) {
    Prepared p = prepared;
    p.deployment.quant = quant;
    const ChosenRecipe chosen = choose_recipe(p.deployment, p.model, *p.runtime.profile);
    if (chosen.recipe.kind != prepared.recipe_kind)
        throw Error("--quant", fmt::format("{} beside {}", quant, prepared.recipe),
                    "recipes of one kind: files of both kinds differ in more than their formats");
    assign_recipe(p, chosen);
    return p;
}

}  // namespace memwall::plan
