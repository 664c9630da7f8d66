// The options of decisions, beside those of a deployment (options.h): one table for the command line, budget
// files, completion and man pages.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/plan/decide.h"

namespace memwall::plan {

struct Demands {
    Constraints limits;
    std::optional<Goal> priority;  ///< none = the preset's, else quality
    std::string preset;

    Goal goal() const;
};

struct DecisionOption {
    std::string_view name;   ///< "max-memory"; the option is --max-memory, the YAML key max_memory
    std::string_view value;  ///< placeholder
    std::string_view help;   ///< one line
    /// Parses and stores. Throws Error with `place` on bad text.
    void (*set)(Demands&, std::string_view text, std::string_view place);
};

std::span<const DecisionOption> decision_options();
/// nullptr if there is none; underscores and dashes are the same.
const DecisionOption* find_decision_option(std::string_view name);

/// "2s", "100ms", "1.5 min"; a plain number is seconds.
Seconds parse_seconds(std::string_view text, std::string_view place);

/// The preset's limits where the demands have none of their own, and its prompt and answer where the
/// deployment has none. Throws Error for a preset that does not exist.
void apply_preset(Demands& demands, Deployment& deployment);

}  // namespace memwall::plan
