#include "core/quality/loss.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace memwall::quality {

std::string_view status_name(Status status) {
    constexpr std::array<std::string_view, 5> names{"measured", "interpolated", "estimated", "bounded",
                                                    "refused"};
    return names[static_cast<std::size_t>(status)];
}

double top1_from_kld(double kld) {
    return kld <= 0 ? 0 : std::min(1.0, 0.336 * std::pow(kld, 0.423));
}

Order compare_losses(std::string_view model_a, const Loss& a, std::string_view model_b, const Loss& b) {
    if (model_a != model_b || !a.known() || !b.known()) return Order::not_comparable;
    const auto holds = [](const Band& band, double x) { return band.low <= x && x <= band.high; };
    if (holds(a.kld, b.kld.central) && holds(b.kld, a.kld.central)) return Order::not_distinguishable;
    return a.kld.central < b.kld.central ? Order::better : Order::worse;
}

}  // namespace memwall::quality
