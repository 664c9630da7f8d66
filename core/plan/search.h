// Every configuration of a grid, evaluated: recipe x draft x KV types x context x sequences x placement, for
// one model on one device. Exact: each candidate's numbers are evaluate()'s, nothing is estimated or skipped.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/plan/prepare.h"

namespace memwall::plan {

struct RecipeChoice {
    std::string runtime;  ///< NAME or NAME@RELEASE
    std::string recipe;   ///< "" = the file's own formats
    friend bool operator==(const RecipeChoice&, const RecipeChoice&) = default;
};

/// The axes; none is empty. Values as their options take them.
struct Grid {
    std::vector<RecipeChoice> recipes;                    ///< --runtime and --quant
    std::vector<std::string> drafts;                      ///< --draft; "" = none
    std::vector<std::pair<std::string, std::string>> kv;  ///< --kv-k, --kv-v
    std::vector<std::int64_t> contexts;                   ///< --context
    std::vector<std::int64_t> sequences;                  ///< --sequences
    std::vector<bool> offload;  ///< true: --offload auto, where all of it does not fit the card

    std::size_t size() const {
        return recipes.size() * drafts.size() * kv.size() * contexts.size() * sequences.size() *
               offload.size();
    }
};

/// A model that could draft for another: what default_grid() needs to know of the catalogue.
struct DraftModel {
    std::string id, family;
    std::int64_t parameters = 0;
};

/// Axes that a user spelled out; an empty one is left to the deployment, or where that says nothing either,
/// to default_grid().
struct Axes {
    std::vector<std::string> runtimes, recipes, drafts;
    std::vector<std::pair<std::string, std::string>> kv;
    std::vector<std::int64_t> contexts, sequences;
    std::vector<bool> offload;
};

/// The grid of fit and recommend, written down in docs/decisions.md. What `axes` or the deployment says stays
/// as it is; the rest becomes an axis:
/// - recipes: the usual ones of each runtime (one: the deployment's); of a file only what it holds
/// - drafts: none, and the smallest model of the same tokenizer family with at most a fifth of the parameters
/// - KV: f16, q8_0, q8_0 keys with q4_0 values, q4_0, fp8, int8, as far as one of the runtimes has them
/// - contexts: powers of two from max(`least_context`, 1,024) to the trained context
/// - offload: none; with `card` (memory apart from the host's) also auto
Grid default_grid(const model::Model& model, const Deployment& deployment, std::int64_t least_context,
                  bool card, const std::vector<DraftModel>& catalogue, const Axes& axes = {});

/// One evaluated configuration: indices into the grid, and what decisions are made from.
struct Candidate {
    std::uint16_t recipe = 0, draft = 0, kv = 0, context_index = 0, sequences_index = 0;
    bool offload = false;
    std::int64_t context = 0, sequences = 1, gpu_layers = -1;
    bool experts_on_host = false, kv_on_host = false;

    Verdict verdict = Verdict::unsupported;
    Reason reason = Reason::fits;
    Interval<Bytes> needed;     ///< in the pool that decides
    Bytes budget;               ///< of that pool
    Interval<Bytes> footprint;  ///< needed in all pools together: the memory of the triangle
    bool decode_known = false, load_known = false, energy_known = false;
    bool timed = false;  ///< prompt processing too, so first token and job
    Interval<PerSecond> decode;
    Interval<Seconds> first_token, job;
    /// Seconds of the job; where prompt processing is unknown those of the answer alone; infinite when decode
    /// is unknown too. What candidates are compared by.
    double latency = 0;
    Interval<Seconds> load;
    Interval<Joules> energy_per_token;
    quality::Loss loss;
};

/// A plan as a candidate, its indices left at zero.
Candidate candidate_of(const Plan& plan, const Knobs& knobs);

/// A recipe or draft that the model cannot have under a runtime; its candidates are `unsupported`.
struct GridFailure {
    std::string runtime, what, why;
};

struct SearchResult {
    Grid grid;
    std::vector<Candidate> candidates;  ///< in the order of the axes, the last turning fastest
    std::vector<GridFailure> failures;
};

/// What a grid's recipes and drafts share, made once: searching another device, or again, costs evaluations
/// only (replays already made are found again).
struct PreparedGrid {
    Grid grid;
    Deployment deployment;
    std::vector<std::shared_ptr<const Prepared>> blocks;  ///< recipe x draft; null = the model cannot have it
    std::vector<GridFailure> failures;
};
PreparedGrid prepare_grid(const model::Model& model, const Deployment& deployment, const Grid& grid,
                          OpenModel open_draft);
SearchResult search(const PreparedGrid& prepared, const device::Device& device, OpenModel open_draft,
                    unsigned threads = 0);

/// Evaluates the whole grid on `threads` threads (0 = all cores). The deployment gives everything that is no
/// axis. Throws Error for a runtime or KV type that does not exist.
SearchResult search(const model::Model& model, const Deployment& deployment, const device::Device& device,
                    const Grid& grid, OpenModel open_draft, unsigned threads = 0);

/// The deployment of one candidate: what `plan` takes to show it again.
Deployment deployment_of(const Grid& grid, const Candidate& candidate, const Deployment& deployment);

}  // namespace memwall::plan
