#include "core/base/edit_distance.h"

#include <random>
#include <string>

#include "tests/catch.h"

namespace memwall {
namespace {

TEST_CASE("Edits are counted", "[base]") {
    CHECK(edit_distance("", "") == 0);
    CHECK(edit_distance("", "abc") == 3);
    CHECK(edit_distance("kitten", "sitting") == 3);  // the textbook case: two replaced, one inserted
    CHECK(edit_distance("Q4_K_M", "Q4_KM") == 1);
    CHECK(edit_distance("pixle", "pixel") == 1);  // neighbours swapped
    CHECK(edit_distance("ca", "abc") == 3);       // a swapped pair is not edited again
}

TEST_CASE("Edits count alike in both directions and never exceed the longer text", "[base]") {
    const unsigned seed = std::random_device{}();
    INFO("seed " << seed);
    std::mt19937 random(seed);
    const auto word = [&] {
        std::string w(random() % 9, ' ');
        for (char& c : w) c = static_cast<char>('a' + random() % 3);
        return w;
    };
    for (int i = 0; i < 500; ++i) {
        const std::string a = word(), b = word();
        const std::size_t d = edit_distance(a, b);
        CHECK(d == edit_distance(b, a));
        CHECK(d <= std::max(a.size(), b.size()));
        CHECK(d >= std::max(a.size(), b.size()) - std::min(a.size(), b.size()));
        CHECK((d == 0) == (a == b));
    }
}

}  // namespace
}  // namespace memwall
