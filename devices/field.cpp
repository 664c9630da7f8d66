#include "devices/field.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>

#include "core/base/parallel.h"
#include "core/model/catalog.h"
#include "devices/recommend.h"

namespace memwall::devices {
namespace {

struct Searched {
    FieldModel model;
    std::vector<plan::Candidate> candidates;
};

bool runs_text(const model::Model& m) {
    return !m.embedder && !m.layers.empty() && m.encoder_positions == 0;
}

Searched searched(const model::Model& m, const plan::Deployment& d, const plan::Grid& grid,
                  const device::Device& device, unsigned threads) {
    Searched s;
    s.candidates = plan::search(m, d, device, grid, open_named_model, threads).candidates;
    s.model = {m.id, m.family, model::text_parameters(m), model::active_parameters(m), d, grid, 0};
    return s;
}

void append(Field& field, Searched s) {
    s.model.first = field.candidates.size();
    field.model_of.insert(field.model_of.end(), s.candidates.size(),
                          static_cast<std::uint32_t>(field.models.size()));
    field.candidates.insert(field.candidates.end(), s.candidates.begin(), s.candidates.end());
    field.models.push_back(std::move(s.model));
}

}  // namespace

plan::Deployment opened_axes(const plan::Deployment& deployment) {
    plan::Deployment d = deployment;
    d.quant.clear();
    d.kv_k.clear();
    d.kv_v.clear();
    d.draft.clear();
    d.context = 0;
    d.offload = "none";
    d.gpu_layers = "all";
    return d;
}

Field search_model(const plan::Deployment& open, std::int64_t least_context) {
    // As recommend: a hint of the model's folder is a file that exists already; without one the recipe is an
    // axis.
    const Opened opened = open_deployment(open);
    const plan::Grid grid = plan::default_grid(opened.model, opened.deployment, least_context,
                                               may_spill(opened.device), catalogue_drafts());
    Field field;
    field.device = open.device;
    Searched s = searched(opened.model, opened.deployment, grid, opened.device, 0);
    append(field, std::move(s));
    return field;
}

Field search_catalogue(const plan::Deployment& open, const std::vector<std::int64_t>& contexts,
                       const FieldProgress& progress, const std::atomic<bool>* stop) {
    const auto ids = model::catalog_ids();
    const device::Device device = open_device(open);
    std::vector<std::optional<Searched>> all(ids.size());
    std::atomic<std::size_t> done{0};
    parallel_for(ids.size(), [&](std::size_t i) {
        if (stop != nullptr && *stop) return;
        const auto m = model::load_catalog_model(std::string(ids[i]));
        if (m && runs_text(*m)) {
            plan::Deployment d = open;
            d.model = m->id;
            plan::Grid grid = plan::default_grid(*m, d, 0, may_spill(device), {});
            std::vector<std::int64_t> within;
            for (const std::int64_t c : contexts)
                if (m->trained_context == 0 || c <= m->trained_context) within.push_back(c);
            if (!within.empty()) {
                grid.contexts = within;
                Searched s = searched(*m, d, grid, device, 1);
                if (std::any_of(s.candidates.begin(), s.candidates.end(), [](const plan::Candidate& c) {
                        return c.verdict == plan::Verdict::fits ||
                               c.verdict == plan::Verdict::too_close_to_call;
                    }))
                    all[i] = std::move(s);
            }
        }
        if (progress)
            progress(static_cast<double>(++done) / static_cast<double>(ids.size()), std::string(ids[i]));
    });
    Field field;
    field.device = open.device;
    for (auto& s : all)
        if (s) append(field, std::move(*s));
    return field;
}

}  // namespace memwall::devices
