// Tables on narrow screens: nothing is wider than the screen unless a word is, and nothing is lost silently.
#include "core/view/text_table.h"

#include <algorithm>
#include <random>
#include <sstream>

#include "tests/catch.h"

using namespace memwall;
using view::columns;
using view::TextTable;

namespace {

std::vector<std::string> words_of(const std::string& text) {
    std::istringstream in(text);
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    return words;
}

std::size_t widest_line(const std::string& text) {
    std::size_t widest = 0;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) widest = std::max(widest, columns(line));
    return widest;
}

TextTable random_table(std::mt19937_64& random) {
    const auto up_to = [&](std::size_t n) {
        return std::uniform_int_distribution<std::size_t>(0, n)(random);
    };
    const auto text = [&] {
        std::string words;
        for (std::size_t w = up_to(4) + 1; w > 0; --w)
            words +=
                (words.empty() ? "" : " ") + std::string(up_to(7) + 1, static_cast<char>('a' + up_to(25)));
        return words;
    };
    TextTable t;
    const std::size_t width = up_to(5) + 1, rows = up_to(6);
    for (std::size_t i = 0; i < width; ++i) t.header.push_back((up_to(1) ? ">" : "") + text());
    for (std::size_t r = 0; r < rows; ++r) {
        t.rows.emplace_back();
        for (std::size_t i = 0; i < width; ++i) t.rows.back().push_back(text());
    }
    return t;
}

}  // namespace

TEST_CASE("a table is as wide as the screen at most, and keeps all its words", "[view]") {
    const std::uint64_t seed = 20261130;
    std::mt19937_64 random(seed);
    INFO("seed " << seed);
    for (int n = 0; n < 400; ++n) {
        const TextTable t = random_table(random);
        const std::size_t width = 20 + random() % 80;
        const std::string free = view::plain_table(t, false), narrow = view::plain_table(t, false, width);
        INFO("width " << width << "\n" << free << "\n" << narrow);
        if (widest_line(free) <= width) {
            CHECK(narrow == free);
            continue;
        }
        // A label of the block form and the gap beside it may already fill the screen.
        std::size_t label = 0, word = 0;
        for (const std::string& h : t.header) label = std::max(label, columns(h));
        for (const auto& row : t.rows)
            for (const std::string& cell : row) {
                for (const std::string& w : words_of(cell)) word = std::max(word, columns(w));
                label = std::max(label, &cell == &row.front() ? columns(cell) : 0);
            }
        CHECK(widest_line(narrow) <= std::max(width, label + word + 4));
        std::vector<std::string> wanted;
        for (const auto& row : t.rows)
            for (const std::string& cell : row)
                for (std::string& w : words_of(cell)) wanted.push_back(std::move(w));
        std::vector<std::string> found = words_of(narrow);
        std::sort(wanted.begin(), wanted.end());
        std::sort(found.begin(), found.end());
        CHECK(std::includes(found.begin(), found.end(), wanted.begin(), wanted.end()));
    }
}

TEST_CASE("spare columns go first, in their order, and are named", "[view]") {
    TextTable t{{"model", ">parameters", ">memory", "about"}, {{"qwen3-8b", "8.2 B", "5.60 GiB", "dense"}}};
    t.spare = {"parameters", "about"};
    CHECK(view::plain_table(t, false, 40) == view::plain_table(t, false));
    const std::string one = view::plain_table(t, false, 30);
    CHECK_THAT(one, !Catch::Contains("8.2 B") && Catch::Contains("dense") && Catch::Contains("(parameters:"));
    const std::string two = view::plain_table(t, false, 20);
    CHECK_THAT(two, !Catch::Contains("dense") && Catch::Contains("5.60 GiB") &&
                        Catch::Contains("(parameters, about:"));
    CHECK(widest_line(two) <= 20);
}

TEST_CASE("numbers do not break", "[view]") {
    const TextTable t{{"what", ">size of it"}, {{"a few words here", "5.60 GiB"}}};
    const std::string narrow = view::plain_table(t, false, 20);
    CHECK(widest_line(narrow) <= 20);
    CHECK_THAT(narrow, Catch::Contains("5.60 GiB"));
}

TEST_CASE("hung text starts below itself", "[view]") {
    CHECK(view::hung("Note: ", "one two three four five", 24) == "Note: one two three four\n      five\n");
    CHECK(view::hung("Note: ", "one two", 0) == "Note: one two\n");
    CHECK(view::hung("", "", 0) == "\n");
}
