#include "core/runtime/operator_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <mutex>
#include <sstream>

#include "core/base/embedded.h"
#include "core/base/error.h"
#include "core/runtime/graph_symbols.h"

namespace memwall::runtime {
namespace {

/// A line of the head: a keyword and its words.
struct Directive {
    int line;
    std::vector<std::string> words;
};

/// The lines before the first "def" or "shared"; `first_line` becomes the number of that line.
std::vector<Directive> head_of(std::string_view text, int& first_line) {
    std::vector<Directive> head;
    for (first_line = 1; !text.empty(); ++first_line) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        std::istringstream in{std::string(line.substr(0, line.find('#')))};
        Directive d{first_line, {}};
        for (std::string word; in >> word;) d.words.push_back(word);
        if (!d.words.empty()) {
            if (d.words[0] == "def" || d.words[0] == "shared") break;
            head.push_back(std::move(d));
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return head;
}

template <class Number>
Number number_of(const std::string& word, const std::string& place, Number least, Number most) {
    Number n{};
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), n);
    if (error != std::errc{} || end != word.data() + word.size() || !(n >= least && n <= most))
        throw Error(place, word, fmt::format("a number from {} to {}", least, most));
    return n;
}

/// "0.5.0" as numbers, so that 0.10 comes after 0.9.
std::vector<int> version_of(std::string_view release) {
    std::vector<int> parts;
    for (std::size_t i = 0; i < release.size();) {
        int n = 0;
        const auto [end, error] = std::from_chars(release.data() + i, release.data() + release.size(), n);
        if (error != std::errc{}) break;
        parts.push_back(n);
        i = static_cast<std::size_t>(end - release.data()) + 1;
    }
    return parts;
}

constexpr std::string_view kPrefix = "runtimes/llama.cpp-", kSuffix = ".graphs.txt";

/// Release that an embedded file is for; empty if it is none of ours.
std::string_view release_of(std::string_view path) {
    if (!path.starts_with(kPrefix) || !path.ends_with(kSuffix)) return {};
    return path.substr(kPrefix.size(), path.size() - kPrefix.size() - kSuffix.size());
}

}  // namespace

OperatorTables OperatorTables::parse(std::string_view text, const std::string& place) {
    OperatorTables t;
    t.place_ = place;
    int first_line = 1;
    const std::vector<Directive> head = head_of(text, first_line);
    t.program_ = parse_program(text, place, first_line, symbol_names());

    for (const Directive& d : head) {
        const std::string here = fmt::format("{}:{}", place, d.line);
        const std::string& keyword = d.words[0];
        const auto want_words = [&](std::size_t n) {
            if (d.words.size() != n)
                throw Error(here, fmt::format("{} words", d.words.size()), fmt::format("{}", n));
        };
        const auto def = [&](const std::string& name) {
            const int number = t.program_.find_def(name);
            if (number < 0) throw Error(here, fmt::format("table {}", name), "a def of this file");
            if (t.program_.defs[static_cast<std::size_t>(number)].parameters > 0)
                throw Error(here, fmt::format("table {} with required arguments", name), "a def without any");
            return number;
        };
        if (keyword == "release") {
            want_words(2);
            t.release_ = d.words[1];
        } else if (keyword == "alignment") {
            want_words(2);
            t.alignment_ = number_of<std::int64_t>(d.words[1], here, 1, 1 << 20);
        } else if (keyword == "cell_padding") {
            want_words(2);
            t.cell_rules_.padding = number_of<std::int64_t>(d.words[1], here, 1, 1 << 20);
        } else if (keyword == "windowed") {
            t.cell_rules_.windowed.insert(t.cell_rules_.windowed.end(), d.words.begin() + 1, d.words.end());
        } else if (keyword == "table") {
            if (d.words.size() < 3)
                throw Error(here, "a table without architectures", "table NAME ARCHITECTURE ...");
            const int number = def(d.words[1]);
            for (std::size_t i = 2; i < d.words.size(); ++i) t.rows_.push_back({d.words[i], number});
        } else if (keyword == "family") {
            want_words(5);
            Family f{d.words[1], def(d.words[2]), 1, 1};
            f.low = number_of(d.words[3], here, 0.0, 1.0);
            f.high = number_of(d.words[4], here, 1.0, 100.0);
            t.families_.push_back(f);
        } else if (keyword == "recurrent_tables") {
            for (std::size_t i = 1; i < d.words.size(); ++i) t.recurrent_tables_.push_back(def(d.words[i]));
        } else {
            throw Error(
                here, fmt::format("\"{}\"", keyword),
                "release, alignment, cell_padding, windowed, table, family, recurrent_tables, shared or def");
        }
    }
    return t;
}

int OperatorTables::table_of(const std::string& architecture) const {
    const auto row = std::find_if(rows_.begin(), rows_.end(),
                                  [&](const Row& r) { return r.architecture == architecture; });
    return row == rows_.end() ? -1 : row->def;
}

const OperatorTables::Family& OperatorTables::family(std::string_view name) const {
    const auto f =
        std::find_if(families_.begin(), families_.end(), [&](const Family& x) { return x.name == name; });
    if (f == families_.end())
        throw Error(place_, fmt::format("no family {}", name), "one for every kind of layer");
    return *f;
}

const OperatorTables& operator_tables(std::string_view release) {
    const EmbeddedFile* chosen = nullptr;
    for (const EmbeddedFile& file : embedded_runtimes()) {
        const std::string_view of = release_of(file.path);
        if (of.empty()) continue;
        if (of == release) {
            chosen = &file;
            break;
        }
        if (!chosen || version_of(release_of(chosen->path)) < version_of(of)) chosen = &file;
    }
    if (!chosen)
        throw Error("llama.cpp", "no operator tables in this program", "at least those of one release");

    static std::mutex mutex;
    static std::map<std::string_view, OperatorTables> parsed;
    const std::lock_guard lock(mutex);
    const auto known = parsed.find(chosen->path);
    if (known != parsed.end()) return known->second;
    return parsed.emplace(chosen->path, OperatorTables::parse(chosen->text(), std::string(chosen->path)))
        .first->second;
}

}  // namespace memwall::runtime
