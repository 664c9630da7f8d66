#include "kernels/probe/steady_read.h"

#include <vector>

#include "tests/catch.h"

namespace memwall::kernels {
namespace {

/// What sample_steadily() kept when still() and take() answered as the lists say, and then always the same.
struct Session {
    std::vector<bool> still, take;
    bool still_then = true, take_then = true;
    std::size_t asked = 0, taken = 0;
    std::vector<bool> kept;

    bool run(int wanted, Patience patience) {
        const auto next = [](const std::vector<bool>& list, std::size_t& at, bool then) {
            return at < list.size() ? bool(list[at++]) : (++at, then);
        };
        return sample_steadily(
            wanted, patience, [&] { return next(still, asked, still_then); },
            [&] { return next(take, taken, take_then); }, [&](bool clean) { kept.push_back(clean); });
    }
};

TEST_CASE("memory keeps its pace within 5 % of the median of all reads, and that within 2.5 %",
          "[kernels][verify]") {
    Pace pace;
    pace.refer(std::vector<double>(11, 100));
    CHECK(pace.reference() == 100);
    CHECK(pace.still({104.9, 95.1, 104.9}));
    CHECK_FALSE(pace.still({105.2, 105.2, 100}));
    CHECK_FALSE(pace.still({94.8, 94.8, 100}));
    CHECK(pace.still({100, 60, 100}));  // one read of three counts for nothing
    // A reference at the edge moves to the middle ...
    pace.refer({100, 100, 103.5});
    CHECK(pace.still({102, 102, 102}));
    CHECK(pace.reference() == 102);
    CHECK(pace.first() == 100);  // what drift is counted from
    // ... but another pace than at the beginning is one, however slowly it came.
    pace.refer({100, 100, 100});
    CHECK(pace.still({102, 102, 102}));
    CHECK_FALSE(pace.still({103, 103, 103, 103, 103, 103, 103}));
    CHECK(pace.reference() == 103);
}

TEST_CASE("the pace is that of the reads beside the last samples", "[kernels][verify]") {
    ThreadTeam team(1);
    const WorkingSet set = make_working_set(std::size_t{8} << 20, team);
    SteadyRead steady(set, team);
    CHECK(steady.pace() == 1);  // nothing yet
    int kept = 0;
    steady.sample(
        3, [] { return true; }, [&](bool) { ++kept; });
    CHECK(kept >= 1);
    CHECK(steady.pace() > 0);
    if (steady.lost()) CHECK(steady.pace() == 1);
}

TEST_CASE("a sample is clean between two steady reads, on cores of its own", "[kernels][verify]") {
    Session calm;
    CHECK(calm.run(5, {3, 0}));
    CHECK(calm.kept == std::vector<bool>(5, true));
    CHECK(calm.asked == 6);  // neighbours share a read

    Session noise;
    noise.still = {true, true, false, true};  // the second sample ends and the third begins in noise
    noise.take = {true, true, true, false};   // somebody else had the core in the fourth
    CHECK(noise.run(3, {3, 0}));
    CHECK(noise.kept == std::vector<bool>{true, false, false, false, true, true});
}

TEST_CASE("tries for clean samples end by number, and by time when they are short", "[kernels][verify]") {
    Session other_pace;
    other_pace.still_then = false;
    CHECK_FALSE(other_pace.run(4, {3, 0}));
    CHECK(other_pace.kept == std::vector<bool>(12, false));

    Session short_tries;
    short_tries.still_then = false;
    const double start = wall_seconds();
    CHECK_FALSE(short_tries.run(1, {3, 0.02}));
    CHECK(wall_seconds() - start >= 0.02);
    CHECK(short_tries.kept.size() > 3);
}

}  // namespace
}  // namespace memwall::kernels
