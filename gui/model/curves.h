// The curves of the Explore page, sampled from Plans. Kept while only the context or the prompt is dragged,
// since neither moves them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/plan/curves.h"
#include "core/plan/operator_times.h"
#include "devices/planning.h"

namespace memwall::gui {

struct Curves {
    std::vector<plan::ContextPoint> context;
    std::vector<plan::PromptPoint> prompt;
    std::vector<plan::OperatorTime> decode, prefill;
    std::int64_t context_end = 0;  ///< of the axis
    std::int64_t prompt_first = 0, prompt_last = 0;
};

class CurveSampler {
  public:
    /// `keep_axis`: the context axis stays as it is while it can show the plan (a drag must not move the
    /// ground).
    const Curves& of(const devices::Planned& planned, bool keep_axis);

  private:
    Curves curves_;
    std::string context_key_, prompt_key_;
};

/// `tokens` rounded up to a power of two or one and a half of it.
std::int64_t round_axis(std::int64_t tokens);

}  // namespace memwall::gui
