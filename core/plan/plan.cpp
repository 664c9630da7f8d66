#include "core/plan/plan.h"

namespace memwall::plan {

std::string_view verdict_name(Verdict verdict) {
    constexpr std::array<std::string_view, 4> names{"fits", "does_not_fit", "too_close_to_call",
                                                    "unsupported"};
    return names[static_cast<std::size_t>(verdict)];
}

std::string_view item_name(Item item) {
    constexpr std::array<std::string_view, kItems> names{
        "weights",  "kv_cache", "recurrent_state", "compute_buffer", "output_buffer",
        "repacked", "draft",    "projector",       "adapter",        "overhead"};
    return names[static_cast<std::size_t>(item)];
}

}  // namespace memwall::plan
