#include <array>
#include <cmath>

#include "sim/device/battery.h"
#include "sim/device/pressure.h"
#include "sim/device/thermal.h"
#include "tests/catch.h"

using namespace memwall::sim;

namespace {
constexpr std::int64_t kGB = 1'000'000'000, kGiB = std::int64_t{1} << 30;
}

TEST_CASE("the thermal step response is exact, whatever the steps", "[sim][device]") {
    ThermalSettings s;
    s.resistance = 5;
    s.time_constant = 60;
    Thermal coarse(s), fine(s);
    coarse.pass(90, 4);
    for (int i = 0; i < 900; ++i) fine.pass(0.1, 4);
    CHECK(coarse.temperature() == Approx(25 + 20 * (1 - std::exp(-1.5))).epsilon(1e-12));
    CHECK(fine.temperature() == Approx(coarse.temperature()).epsilon(1e-10));
    // Energy balance: what was put in is stored or has left through the resistance.
    double left = 0, before = 25;
    Thermal t(s);
    for (int i = 0; i < 90'000; ++i) {
        t.pass(0.001, 4);
        left += ((t.temperature() + before) / 2 - 25) / 5 * 0.001;
        before = t.temperature();
    }
    CHECK(left + (t.temperature() - 25) * 60 / 5 == Approx(4.0 * 90).epsilon(1e-6));
}

TEST_CASE("governor levels have hysteresis and the cut-off lets go when cool", "[sim][device]") {
    ThermalSettings s;
    s.resistance = 10;
    s.time_constant = 10;
    s.levels = {{40, 36, 0.7}, {50, 45, 0.4}};
    s.cut_off = 60;
    s.resume = 42;
    Thermal t(s);
    CHECK(t.speed() == 1);
    while (t.temperature() < 41) t.pass(0.1, 6);
    CHECK(t.speed() == 0.7);
    while (t.temperature() > 37) t.pass(0.1, 0);
    CHECK(t.speed() == 0.7);
    while (t.temperature() > 35.5) t.pass(0.1, 0);
    CHECK(t.speed() == 1);
    while (!t.cut_off()) t.pass(0.1, 6);
    CHECK(t.speed() == 0.4);
    const double wait = t.until_resume(0);
    t.pass(wait * 0.99, 0);
    CHECK(t.cut_off());
    t.pass(wait * 0.01 + 0.01, 0);
    CHECK_FALSE(t.cut_off());
}

TEST_CASE("two published throttling curves come from one phone", "[sim][device]") {
    // iPhone 17 Pro, Gemma 4 E2B 4-bit (facts: sim_reference_points.json). One resistance, time constant and
    // governor; only the power differs. Powers were not published: what is fitted is each one's product with
    // resistance / span, from the last point of its curve.
    ThermalSettings phone;
    phone.resistance = 8;
    phone.time_constant = 150;
    phone.start = phone.ambient = phone.from = 25;
    phone.span = 40;
    struct Curve {
        const char* runtime;
        double burst, watts;
        std::array<std::pair<double, double>, 3> points;  // seconds, tokens/s
    };
    const Curve curves[] = {{"MLX", 48, 8.33, {{{5, 48 * 0.90}, {35, 48 * 0.75}, {600, 18}}}},
                            {"LiteRT-LM", 56, 5.37, {{{13, 56 * 0.90}, {40, 56 * 0.75}, {600, 27}}}}};
    const auto speed_at = [&](double watts, double until) {
        Thermal t(phone);
        for (double now = 0; now < until; now += 0.01) t.pass(0.01, watts * t.speed());
        return t.speed();
    };
    for (const Curve& c : curves)
        for (const auto& [seconds, tokens] : c.points) {
            INFO(c.runtime << " at " << seconds << " s");
            CHECK(c.burst * speed_at(c.watts, seconds) == Approx(tokens).epsilon(0.15));
        }
    // A third runtime that draws half of MLX's power (12.7 of 24.7 W on an M4 Max) fades far less, as
    // published.
    const double neural = speed_at(8.33 * 12.7 / 24.7, 600);
    CHECK(neural > 1.35 * speed_at(8.33, 600));
}

TEST_CASE("a battery is the integral of what is drawn", "[sim][device]") {
    BatterySettings s;
    s.watt_hours = 10;
    Battery b(s);
    for (int i = 0; i < 3600; ++i) b.pass(1, 4 + (i % 2), false);
    CHECK(b.share() == Approx(1 - 4.5 / 10).epsilon(1e-6));
    s.resistance = 0.1;
    Battery lossy(s);
    CHECK(lossy.drawn(3.85) == Approx(3.85 + 0.1));  // one ampere
    Battery charging({.watt_hours = 10, .start = 0.5, .charger_watts = 9});
    charging.pass(1800, 1, true);
    CHECK(charging.share() == Approx(0.9));
    CHECK(Battery({.plug_hour = 23, .unplug_hour = 7}).plugged(2));
    CHECK_FALSE(Battery({.plug_hour = 23, .unplug_hour = 7}).plugged(12));
}

TEST_CASE("a model of 20 GB in 16 GB of memory takes 20 s a token", "[sim][device]") {
    // llama.cpp pull request 711: mapped, storage of about 1 GB/s, every page missed under LRU.
    PressureSettings s;
    s.ram = 16 * kGB;
    s.system = 2 * kGB;
    s.replacement = Replacement::lru;
    const OwnMemory own{0, 20 * kGB, true};
    CHECK(Pressure(s).miss(own) * 20 * kGB / 1e9 == Approx(20));
    s.replacement = Replacement::pinned;
    CHECK(Pressure(s).miss(own) * 20 * kGB / 1e9 == Approx(6));  // (20 - 14) / 1
    s.replacement = Replacement::random;
    const double m = Pressure(s).miss(own);
    CHECK(m == Approx(1 - std::exp(-m * 20 / 14)));
    s.lru_share = 0.25;
    CHECK(Pressure(s).miss(own) == Approx(0.25 + 0.75 * m));
    CHECK(Pressure(s).miss({0, 13 * kGB, true}) == 0);
}

TEST_CASE("lmkd kills by adj and never without pressure", "[sim][device]") {
    PressureSettings s;
    s.ram = 8 * kGiB;
    s.system = 2 * kGiB;
    s.killer = Killer::lmkd;
    s.others = {{"music", kGiB / 2, 200, 0, 0}, {"browser", kGiB, 900, 0, 0}, {"mail", kGiB / 4, 850, 0, 0}};
    s.adj_busy = 0;
    s.adj_idle = 700;
    Pressure p(s);
    // 8 - 2 - 1.75 GiB of others: 4.25 GiB for us.
    CHECK(p.available({kGiB, 0, true}) == kGiB * 13 / 4);
    CHECK(p.victim({kGiB, 0, true}, 0) == -1);
    // 0.7 GiB left: medium (below 0.8), so only 800 and above may go, the highest first.
    const OwnMemory medium{kGiB * 355 / 100, 0, true};
    CHECK(p.victim(medium, 0) == 1);
    CHECK(p.close(1) == kGiB);
    CHECK(p.victim(medium, 0) == -1);  // freed enough
    // 0.3 GiB left after that: critical, anybody, but the highest adj first.
    const OwnMemory critical{kGiB * 495 / 100, 0, true};
    CHECK(p.victim(critical, 0) == 2);
    p.close(2);
    OwnMemory more{kGiB * 525 / 100, 0, true};
    CHECK(p.victim(more, 0) == 0);
    more.busy = false;  // in the background we are the first of what is left
    CHECK(p.victim(more, 0) == Pressure::kOurselves);
    p.close(0);
    more.busy = true;
    more.anonymous = kGiB * 59 / 10;
    CHECK(p.victim(more, 0) == Pressure::kOurselves);
    // Refaults: mapped weights that do not fit are what the thrashing rule sees.
    Pressure q(s);
    const OwnMemory calm{kGiB, 2 * kGiB, true};
    CHECK(q.victim(calm, 0) == -1);
    CHECK(q.victim(calm, 3.5 * static_cast<double>(kGiB)) ==
          1);  // more than the 3.25 GiB of file cache in a second
}

TEST_CASE("jetsam has a limit for the app", "[sim][device]") {
    PressureSettings s;
    s.ram = 8 * kGiB;
    s.system = kGiB;
    s.killer = Killer::jetsam;
    s.app_limit = 0.6;
    Pressure p(s);
    CHECK(p.victim({kGiB * 47 / 10, 0, true}, 0) == -1);
    CHECK(p.victim({kGiB * 49 / 10, 0, true}, 0) == Pressure::kOurselves);
}

TEST_CASE("Linux kills the largest when memory is gone", "[sim][device]") {
    PressureSettings s;
    s.ram = 16 * kGiB;
    s.system = 2 * kGiB;
    s.killer = Killer::oom;
    s.others = {{"database", 6 * kGiB, 0}, {"editor", kGiB, 300}, {"guard", 5 * kGiB, -1000}};
    Pressure p(s);
    // 16 - 2 - 12 GiB: 2 GiB for us, to the last byte. Mapped pages give way before anybody is killed.
    CHECK(p.victim({2 * kGiB, 8 * kGiB, true}, 1e12) == -1);
    // Badness: database 6, editor 1 + 0.3 x 16 = 5.8, ours 3 GiB; the guard is never killed.
    CHECK(p.victim({3 * kGiB, 0, true}, 0) == 0);
    CHECK(p.close(0) == 6 * kGiB);
    const OwnMemory large{kGiB * 85 / 10, 0, true};
    CHECK(p.victim(large, 0) == Pressure::kOurselves);  // 8.5 against 5.8
    CHECK(p.victim({8 * kGiB, kGiB, true}, 0) == -1);   // they fit again
    p.open(0);
    s.adj_busy = -1000;
    Pressure spared(s);
    CHECK(spared.victim(large, 0) == 0);
    spared.close(0);
    CHECK(spared.victim(large, 0) == 1);
    spared.close(1);
    CHECK(spared.victim({12 * kGiB, 0, true}, 0) == -1);  // nobody is left that may be killed
}

TEST_CASE("what others have of a card is not left for the model", "[sim][device]") {
    PressureSettings s;
    s.card_budget = 8 * kGB;
    s.card_taken = kGB;
    s.others = {{.name = "display server", .card = kGB / 2},
                {.name = "game", .opens_per_second = 1, .card = 3 * kGB}};
    Pressure p(s);
    CHECK_FALSE(p.simulated());
    CHECK(p.card_left() == kGB * 13 / 2);
    p.open(1);
    CHECK(p.card_left() == kGB * 7 / 2);
    p.close(1);
    p.close(0);
    CHECK(p.card_left() == 7 * kGB);
}
