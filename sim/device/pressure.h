// Memory beside the model: other apps, what the system does when memory runs short, and what of the mapped
// weights stays in the page cache.
//
// Ours is one process among them. Its anonymous memory (cache, buffers, unmapped weights) cannot be taken
// away; its mapped weights live in whatever is left and are read again from storage when they are needed.
//
// A card has memory of its own, of which nothing can be taken away or read again: who comes when it is full
// is turned away.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace memwall::sim {

enum class Killer : std::uint8_t {
    none,
    lmkd,    ///< Android: by oom_adj, levels of pressure, refaults of the page cache
    jetsam,  ///< iOS: a limit for each app, then by priority
    oom      ///< Linux: nothing until memory is gone, then the largest process, its adj added
};
enum class Replacement : std::uint8_t { lru, random, pinned };
std::string_view killer_name(Killer killer);
std::string_view replacement_name(Replacement replacement);

/// Another app: open now and then.
struct OtherApp {
    std::string name;
    std::int64_t bytes = 0;       ///< anonymous, while it is there
    int adj = 900;                ///< oom_adj: the higher, the sooner killed
    double opens_per_second = 0;  ///< 0 = there from the start
    double stays = 0;             ///< mean seconds; 0 = until it is killed
    std::int64_t card = 0;        ///< bytes on the card, while it is there
};

struct PressureSettings {
    std::int64_t ram = 0;     ///< 0 = memory beside the model is not simulated
    std::int64_t system = 0;  ///< of the system itself, never given up
    std::vector<OtherApp> others;
    Killer killer = Killer::none;
    int adj_busy = 0, adj_idle = 0;  ///< ours, while requests are served and while not
    double medium = 0.10;    ///< share of RAM available below which lmkd kills adj 800 and above (assumed)
    double critical = 0.05;  ///< below which it kills any adj of 0 and above (assumed)
    double thrashing = 1.0;  ///< refaults of a second over the file cache: pressure; three times it: critical
    double app_limit = 0.6;  ///< jetsam: share of RAM that one app may have (0.50 to 0.67 were measured)
    Replacement replacement = Replacement::random;
    double lru_share = 0;          ///< of each pass, by the law of lru instead: real kernels lie between
    std::int64_t card_budget = 0;  ///< of a card's memory, for all processes; 0 = not simulated
    std::int64_t card_taken = 0;   ///< of that, what display and driver keep
};

/// lmkd's own numbers (its README): adj that medium and critical pressure may kill, and the pause between
/// kills.
inline constexpr int kMediumAdj = 800, kCriticalAdj = 0;
inline constexpr double kKillPause = 0.1, kCriticalThrashing = 3;
/// Of the Linux OOM killer (proc(5), oom_score_adj): a process of this adj is never killed; 1000 is all of
/// memory.
inline constexpr int kNeverAdj = -1000;

/// What our process has in the host's memory.
struct OwnMemory {
    std::int64_t anonymous = 0;
    std::int64_t mapped = 0;  ///< weights mapped from a file and read in every step
    bool busy = false;
};

class Pressure {
  public:
    Pressure() = default;
    explicit Pressure(const PressureSettings& settings);
    bool simulated() const { return settings_.ram > 0; }
    bool card_simulated() const { return settings_.card_budget > 0; }

    /// Bytes that file pages may fill: RAM less system, other apps and our anonymous memory. May be negative.
    std::int64_t available(const OwnMemory& own) const;
    /// Share of a pass over our mapped weights that is read from storage again.
    double miss(const OwnMemory& own) const;
    /// Share of a pass over `bytes` of a file that is read, when `cached` of them are in memory.
    double miss_of(std::int64_t bytes, std::int64_t cached) const;
    /// Which process the killer ends now; -1 = none, kOurselves = ours. `refaulted`: bytes read again in the
    /// last second.
    static constexpr int kOurselves = -2;
    int victim(const OwnMemory& own, double refaulted) const;

    void open(std::size_t app) { present_[app] = true; }
    /// The bytes that come free.
    std::int64_t close(std::size_t app);
    bool present(std::size_t app) const { return present_[app]; }
    std::int64_t others() const;
    std::int64_t card_others() const;
    /// Bytes of the card that others leave. Never negative: who finds no room is turned away.
    std::int64_t card_left() const { return settings_.card_budget - settings_.card_taken - card_others(); }
    const PressureSettings& settings() const { return settings_; }

  private:
    int highest_adj(const OwnMemory& own, int least) const;
    int worst(const OwnMemory& own) const;
    PressureSettings settings_;
    std::vector<bool> present_;
};

}  // namespace memwall::sim
