#include "devices/fit.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>

#include "core/base/error.h"
#include "core/base/parallel.h"
#include "core/model/catalog.h"
#include "devices/recommend.h"

namespace memwall::devices {
namespace {

constexpr std::array<std::string_view, 5> kRanks{"score", "latency", "memory", "quality", "size"};

bool runs_text(const model::Model& m) {
    return !m.embedder && !m.layers.empty() && m.encoder_positions == 0;
}

/// Smaller comes first.
double rank_key(const Fitted& f, Rank rank) {
    const auto goals = plan::goals(f.best);
    switch (rank) {
        case Rank::score:
            return f.score && !f.score->at_chance ? -f.score->value : 1;
        case Rank::latency:
            return goals[0];
        case Rank::memory:
            return goals[1];
        case Rank::quality:
            return goals[2];
        case Rank::size:
            return -static_cast<double>(f.parameters);
    }
    return 0;
}

/// Throws Error for what this model cannot be planned with; `refused` is set where no recipe of it could be
/// prepared.
Fitted fit_model(const model::Model& m, plan::Deployment d, const plan::Demands& demands,
                 const device::Device& device, quality::Lane lane, std::exception_ptr& refused) {
    d.model = m.id;
    // One context a model: what is asked for, else 4,096 tokens or what it was trained on.
    if (d.context == 0)
        d.context = std::max(demands.limits.min_context,
                             std::min<std::int64_t>(4096, m.trained_context > 0 ? m.trained_context : 4096));
    Fitted f;
    f.grid = plan::default_grid(m, d, d.context, may_spill(device), {});
    const plan::SearchResult r = plan::search(m, d, device, f.grid, open_named_model, 1);
    try {
        refuse_bad_input(m, d, r);
    } catch (const Error&) {
        refused = std::current_exception();
    }
    const plan::Decision decision = plan::decide(r.candidates, demands.limits);
    const std::int64_t answer = decision.best[static_cast<std::size_t>(demands.goal())];
    // Without a known speed there is no answer under latency; what is admitted still runs.
    const auto chosen =
        static_cast<std::size_t>(answer >= 0 ? answer : plan::closest(r.candidates, decision));
    f.model = m.id;
    f.family = m.family;
    f.parameters = model::text_parameters(m);
    f.active_parameters = model::active_parameters(m);
    f.best = r.candidates[chosen];
    f.admitted = !decision.admitted.empty();
    f.broken = decision.broken[chosen];
    f.score = quality::score(m.id, lane);
    f.deployment = plan::deployment_of(f.grid, f.best, d);
    return f;
}

}  // namespace

std::optional<Rank> parse_rank(const std::string& name) {
    const auto it = std::find(kRanks.begin(), kRanks.end(), name);
    if (it == kRanks.end()) return {};
    return static_cast<Rank>(it - kRanks.begin());
}

std::vector<Fitted> fit_catalogue(const plan::Deployment& base, const plan::Demands& demands,
                                  const std::string& search, quality::Lane lane, Rank rank,
                                  const std::function<void(std::size_t, std::size_t)>& progress) {
    const auto ids = model::catalog_ids();
    const device::Device device = open_device(base);
    std::vector<std::optional<Fitted>> all(ids.size());
    std::vector<std::exception_ptr> refused(ids.size());
    std::atomic<std::size_t> done{0};
    parallel_for(ids.size(), [&](std::size_t i) {
        const auto m = model::load_catalog_model(std::string(ids[i]));
        if (m && runs_text(*m) && (m->id + " " + m->family).find(search) != std::string::npos) {
            try {
                all[i] = fit_model(*m, base, demands, device, lane, refused[i]);
            } catch (const Error&) {
                refused[i] = std::current_exception();
            }
        }
        if (progress) progress(++done, ids.size());
    });
    // What no model can be planned with is bad input; one that some lack (--images) is a reason against
    // those.
    std::vector<Fitted> out;
    std::exception_ptr reason;
    bool planned = false;
    for (std::size_t i = 0; i < all.size(); ++i) {
        planned = planned || (all[i] && !refused[i]);
        if (all[i]) out.push_back(std::move(*all[i]));
        if (refused[i] && !reason) reason = refused[i];
    }
    if (!planned && reason) std::rethrow_exception(reason);
    std::stable_sort(out.begin(), out.end(), [&](const Fitted& a, const Fitted& b) {
        if (a.admitted != b.admitted) return a.admitted;
        const auto key = [&](const Fitted& f) {
            return std::pair(rank_key(f, rank), -static_cast<double>(f.parameters));
        };
        return key(a) < key(b);
    });
    return out;
}

}  // namespace memwall::devices
