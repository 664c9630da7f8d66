#include <cmath>

#include "core/base/error.h"
#include "sim/workload/app.h"
#include "tests/catch.h"

using namespace memwall;
using namespace memwall::sim;

namespace {

/// Counts and the variation of gaps over a long run.
std::pair<double, double> rate_and_cv(const Arrivals& arrivals, int n) {
    ArrivalStream stream(arrivals, 1, 0, Random(4, "arrivals"));
    double last = 0, sum = 0, square = 0;
    for (int i = 0; i < n; ++i) {
        const double t = seconds_of(stream.next()), gap = t - last;
        sum += gap;
        square += gap * gap;
        last = t;
    }
    const double mean = sum / n;
    return {1 / mean, std::sqrt(square / n - mean * mean) / mean};
}

}  // namespace

TEST_CASE("arrivals have the asked rate and variation", "[sim][workload]") {
    const auto poisson = rate_and_cv({Arrivals::Kind::poisson, 2, 1, {}}, 200'000);
    CHECK(poisson.first == Approx(2).epsilon(0.01));
    CHECK(poisson.second == Approx(1).epsilon(0.01));
    const auto gamma = rate_and_cv({Arrivals::Kind::gamma, 2, 3.5, {}}, 400'000);
    CHECK(gamma.first == Approx(2).epsilon(0.03));
    CHECK(gamma.second == Approx(3.5).epsilon(0.05));
    const auto fixed = rate_and_cv({Arrivals::Kind::fixed, 4, 1, {}}, 1000);
    CHECK(fixed.first == Approx(4).epsilon(0.002));
    ArrivalStream never({Arrivals::Kind::poisson, 0, 1, {}}, 1, 0, Random(1, "x"));
    CHECK(never.next() == kNever);
}

TEST_CASE("a diurnal stream follows the hours and keeps its mean", "[sim][workload]") {
    Arrivals a{Arrivals::Kind::diurnal, 0.1, 1, {}};
    a.hours[8] = 3;
    a.hours[20] = 1;
    ArrivalStream stream(a, 1, 6, Random(2, "arrivals"));
    std::array<int, 24> seen{};
    int days = 50, all = 0;
    for (Nanoseconds t = stream.next(); seconds_of(t) < days * 86400.0; t = stream.next(), ++all)
        ++seen[static_cast<std::size_t>(std::fmod(6 + seconds_of(t) / 3600, 24))];
    CHECK(seen[8] + seen[20] == all);  // nothing at other hours
    CHECK(static_cast<double>(all) / (days * 86400.0) == Approx(0.1).epsilon(0.01));
    CHECK(static_cast<double>(seen[8]) / seen[20] == Approx(3).epsilon(0.02));
}

TEST_CASE("laws draw what they say", "[sim][workload]") {
    Random random(3, "lengths");
    for (const Law& law :
         {Law{Law::Kind::lognormal, 151, 0.86, 0, 1e9, {}}, Law{Law::Kind::uniform, 2, 8, 0, 1e9, {}},
          Law{Law::Kind::exponential, 40, 0, 0, 1e9, {}},
          Law{Law::Kind::empirical, 0, 0, 0, 1e9, {1, 2, 9}}}) {
        double sum = 0;
        for (int i = 0; i < 300'000; ++i) sum += law.draw(random);
        INFO(law_name(law.kind));
        CHECK(sum / 300'000 == Approx(law.mean()).epsilon(0.01));
    }
    const Law cut{Law::Kind::lognormal, 100, 2, 10, 500, {}};
    for (int i = 0; i < 1000; ++i) {
        const double x = cut.draw(random);
        CHECK((x >= 10 && x <= 500));
    }
}

TEST_CASE("a session does not depend on others and its history grows", "[sim][workload]") {
    App app;
    app.name = "chat";
    app.turns = always(3);
    app.prompt = {Law::Kind::uniform, 10, 50, 0, 1e9, {}};
    app.output = always(20);
    app.shared_prefix = 100;
    Session a(app, 0, 5, 1), b(app, 0, 5, 1);
    const Turn first = a.next();
    CHECK(first.prompt > 100);
    CHECK(b.next().prompt == first.prompt);
    a.answered(first.prompt, 20);
    const Turn second = a.next();
    CHECK(second.prompt > first.prompt + 20);
    CHECK_FALSE(a.over());
    // Blocks of a later turn begin with those of an earlier one, and sessions share the app's prefix only.
    std::vector<std::uint64_t> one, two, other;
    name_blocks(first, first.prompt, 16, one);
    name_blocks(second, second.prompt, 16, two);
    REQUIRE(two.size() > one.size());
    CHECK(std::equal(one.begin(), one.end(), two.begin()));
    Session c(app, 0, 6, 1);
    const Turn t = c.next();
    name_blocks(t, t.prompt, 16, other);
    CHECK(std::equal(one.begin(), one.begin() + 6, other.begin()));  // 96 of 100 shared tokens
    CHECK(one[6] != other[6]);
}

TEST_CASE("traces are read in their usual spellings", "[sim][workload]") {
    const auto csv =
        read_trace("arrived_at,num_prefill_tokens,num_decode_tokens\n3.5,100,7\n4.0,20,1\n", "t.csv");
    REQUIRE(csv.size() == 2);
    CHECK(csv[0].arrival == 0);
    CHECK(csv[1].arrival == 500'000'000);
    CHECK((csv[0].prompt == 100 && csv[0].output == 7));
    const auto azure = read_trace(
        "TIMESTAMP,ContextTokens,GeneratedTokens\r\n2023-11-16 18:17:03.9799600,4808,10\r\n"
        "2023-11-16 18:17:04.2300000,3180,8\r\n",
        "a.csv");
    CHECK(azure[1].arrival == Approx(250'040'000).margin(300));
    const auto json = read_trace(
        R"({"timestamp": 1000, "input_length": 600, "output_length": 5, "hash_ids": [7, 8]}
{"timestamp": 2000, "input_length": 1100, "output_length": 5, "hash_ids": [7, 9, 10]})",
        "m.jsonl");
    CHECK(json[1].arrival == 1'000'000'000);
    CHECK(json[0].blocks[0] == json[1].blocks[0]);
    CHECK(json[0].blocks[1] != json[1].blocks[1]);
}

TEST_CASE("bad traces are refused with their line", "[sim][workload]") {
    const auto message = [](const char* text) {
        try {
            read_trace(text, "t.csv");
        } catch (const Error& e) {
            return std::string(e.what());
        }
        return std::string();
    };
    using Catch::Contains;
    CHECK_THAT(message("arrival_seconds,prompt_tokens,output_tokens\n5,1,1\n4,1,1\n"),
               Contains("t.csv:3") && Contains("in order"));
    CHECK_THAT(message("arrival_seconds,prompt_tokens,output_tokens\n5,-1,1\n"), Contains("t.csv:2"));
    CHECK_THAT(message("arrival_seconds,prompt_tokens,output_tokens\n5,1e30,1\n"), Contains("t.csv:2"));
    for (const char* date : {"2023--1-16 18:15:46.68", "1e99-11-16 18:15:46.68", "2023-11-16 .5:15:46.68"})
        CHECK_THAT(
            message(("TIMESTAMP,ContextTokens,GeneratedTokens\n" + std::string(date) + ",1,1\n").c_str()),
            Contains("t.csv:2") && Contains("YYYY"));
    CHECK_THAT(message("a,b\n1,2\n"), Contains("t.csv:1") && Contains("header"));
    CHECK_THAT(message(R"({"timestamp": 1})"), Contains("input_length"));
    CHECK_THAT(message(""), Contains("no requests"));
}
