#include "sim/device/pressure.h"

#include <algorithm>
#include <array>

#include "core/speed/page_cache.h"

namespace memwall::sim {

std::string_view killer_name(Killer k) {
    constexpr std::array<std::string_view, 4> kNames{"none", "lmkd", "jetsam", "oom"};
    return kNames[static_cast<std::size_t>(k)];
}
std::string_view replacement_name(Replacement r) {
    constexpr std::array<std::string_view, 3> kNames{"lru", "random", "pinned"};
    return kNames[static_cast<std::size_t>(r)];
}

Pressure::Pressure(const PressureSettings& settings) : settings_(settings) {
    for (const OtherApp& app : settings_.others) present_.push_back(app.opens_per_second == 0);
}

std::int64_t Pressure::others() const {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < present_.size(); ++i)
        if (present_[i]) sum += settings_.others[i].bytes;
    return sum;
}

std::int64_t Pressure::card_others() const {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < present_.size(); ++i)
        if (present_[i]) sum += settings_.others[i].card;
    return sum;
}

std::int64_t Pressure::available(const OwnMemory& own) const {
    return settings_.ram - settings_.system - others() - own.anonymous;
}

double Pressure::miss(const OwnMemory& own) const {
    return miss_of(own.mapped, std::max<std::int64_t>(0, available(own)));
}

double Pressure::miss_of(std::int64_t bytes, std::int64_t in_memory) const {
    if (!simulated() || bytes == 0) return 0;
    const Bytes size(bytes), cached(in_memory);
    const auto law = settings_.replacement == Replacement::lru      ? speed::lru_miss
                     : settings_.replacement == Replacement::random ? speed::random_miss
                                                                    : speed::pinned_miss;
    const double share = settings_.lru_share;
    return (1 - share) * law(size, cached) + share * speed::lru_miss(size, cached);
}

/// The process with the highest adj of at least `least`; ours only when it has the highest.
int Pressure::highest_adj(const OwnMemory& own, int least) const {
    int victim = -1, adj = least - 1;
    for (std::size_t i = 0; i < present_.size(); ++i)
        if (present_[i] && settings_.others[i].adj > adj) {
            adj = settings_.others[i].adj;
            victim = static_cast<int>(i);
        }
    const int ours = own.busy ? settings_.adj_busy : settings_.adj_idle;
    if (own.anonymous + own.mapped > 0 && ours > adj) return kOurselves;
    return victim;
}

/// Linux's choice: the most resident bytes, a thousandth of memory added for each point of adj.
int Pressure::worst(const OwnMemory& own) const {
    int victim = -1;
    double most = 0;
    const auto consider = [&](int who, std::int64_t bytes, int adj) {
        const double badness = static_cast<double>(bytes) + adj / 1000.0 * static_cast<double>(settings_.ram);
        if (bytes > 0 && adj > kNeverAdj && (victim == -1 || badness > most)) {
            victim = who;
            most = badness;
        }
    };
    for (std::size_t i = 0; i < present_.size(); ++i)
        if (present_[i]) consider(static_cast<int>(i), settings_.others[i].bytes, settings_.others[i].adj);
    const std::int64_t resident = std::clamp<std::int64_t>(available(own), 0, own.mapped);
    consider(kOurselves, own.anonymous + resident, own.busy ? settings_.adj_busy : settings_.adj_idle);
    return victim;
}

int Pressure::victim(const OwnMemory& own, double refaulted) const {
    if (!simulated() || settings_.killer == Killer::none) return -1;
    const auto ram = static_cast<double>(settings_.ram);
    const auto free = static_cast<double>(available(own));
    if (settings_.killer == Killer::oom) return free < 0 ? worst(own) : -1;
    if (settings_.killer == Killer::jetsam) {
        if (static_cast<double>(own.anonymous) > settings_.app_limit * ram) return kOurselves;
        return free < settings_.critical * ram ? highest_adj(own, kCriticalAdj) : -1;
    }
    const double cache = std::max(free, 1.0), thrashing = refaulted / cache;
    if (free < settings_.critical * ram || thrashing > kCriticalThrashing * settings_.thrashing)
        return highest_adj(own, kCriticalAdj);
    if (free < settings_.medium * ram || thrashing > settings_.thrashing) return highest_adj(own, kMediumAdj);
    return -1;
}

std::int64_t Pressure::close(std::size_t app) {
    const std::int64_t freed = present_[app] ? settings_.others[app].bytes : 0;
    present_[app] = false;
    return freed;
}

}  // namespace memwall::sim
