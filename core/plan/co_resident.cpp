#include "core/plan/co_resident.h"

#include <algorithm>

namespace memwall::plan {

CoResidence together(std::span<const Plan> plans) {
    CoResidence all;
    all.needed = Interval<Bytes>::exact(Bytes(0));
    for (const Plan& p : plans) {
        all.needed += p.memory.pools[0].needed;
        all.budget = std::max(all.budget, p.memory.pools[0].budget);
        if (p.verdict == Verdict::unsupported) all.verdict = Verdict::unsupported;
    }
    if (all.verdict == Verdict::unsupported) return all;
    all.verdict = all.needed.high <= all.budget ? Verdict::fits
                  : all.needed.low > all.budget ? Verdict::does_not_fit
                                                : Verdict::too_close_to_call;
    const auto unknown = [](const Plan& p) { return p.reason == Reason::pool_size_unknown; };
    if (all.verdict == Verdict::fits && std::any_of(plans.begin(), plans.end(), unknown))
        all.verdict = Verdict::too_close_to_call;
    return all;
}

}  // namespace memwall::plan
