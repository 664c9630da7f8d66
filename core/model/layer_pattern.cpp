#include "core/model/layer_pattern.h"

#include <algorithm>
#include <charconv>

#include "core/base/error.h"
#include "core/model/check_model.h"

namespace memwall::model {
namespace {

constexpr std::string_view kExample = "\"28 decoder\" or \"34 of (5 local, 1 global)\"";

class PatternParser {
  public:
    PatternParser(std::string_view text, const std::string& place) : text_(text), place_(place) {}

    std::vector<std::string> parse() {
        std::vector<std::string> names = list(true);
        if (!rest().empty()) fail();
        return names;
    }

  private:
    [[noreturn]] void fail() const {
        throw Error(place_, "layers \"" + std::string(text_.substr(0, 60)) + "\"", std::string(kExample));
    }
    std::string_view rest() {
        while (at_ < text_.size() && text_[at_] == ' ') ++at_;
        return text_.substr(at_);
    }
    bool take(char c) {
        if (rest().empty() || text_[at_] != c) return false;
        ++at_;
        return true;
    }
    std::string_view word() {
        const std::string_view from = rest();
        const std::size_t end = std::min(from.find_first_of(" ,()"), from.size());
        at_ += end;
        return from.substr(0, end);
    }
    /// 0 when there is no number.
    std::size_t number() {
        const std::string_view from = rest();
        std::size_t value = 0;
        const auto [end, error] = std::from_chars(from.data(), from.data() + from.size(), value);
        if (error == std::errc::invalid_argument) return 0;
        if (error != std::errc{} || value == 0 || value > kMostLayers) fail();
        // "4x" is a name, "4 x" a number and a name.
        if (end != from.data() + from.size() && *end != ' ') return 0;
        at_ += static_cast<std::size_t>(end - from.data());
        return value;
    }
    std::vector<std::string> list(bool outermost) {
        std::vector<std::string> names;
        do {
            const std::size_t count = number();
            const std::string_view name = word();
            if (name.empty()) fail();
            if (count > 0 && name == "of" && take('(')) {
                if (!outermost) fail();
                const std::vector<std::string> unit = list(false);
                if (!take(')')) fail();
                for (std::size_t i = 0; i < count; ++i) names.push_back(unit[i % unit.size()]);
            } else {
                names.insert(names.end(), std::max<std::size_t>(count, 1), std::string(name));
            }
            if (names.size() > kMostLayers) fail();
        } while (take(','));
        return names;
    }

    std::string_view text_;
    const std::string& place_;
    std::size_t at_ = 0;
};

using Names = std::vector<std::string>;
using Iterator = Names::const_iterator;

/// "2 conv, 1 attention": runs of equal names.
std::string runs(Iterator begin, Iterator end) {
    std::string text;
    for (Iterator i = begin; i != end;) {
        const Iterator next = std::find_if(i, end, [&](const std::string& n) { return n != *i; });
        if (i != begin) text += ", ";
        text += std::to_string(next - i) + " " + *i;
        i = next;
    }
    return text;
}

/// The shorter of runs and one repeated unit.
std::string shortest(Iterator begin, Iterator end) {
    std::string best = runs(begin, end);
    const auto size = end - begin;
    for (std::ptrdiff_t period = 2; period <= size / 2; ++period) {
        if (!std::equal(begin + period, end, begin)) continue;
        const std::string text = std::to_string(size) + " of (" + runs(begin, begin + period) + ")";
        return text.size() < best.size() ? text : best;
    }
    return best;
}

}  // namespace

std::vector<std::string> parse_layer_pattern(std::string_view text, const std::string& place) {
    return PatternParser(text, place).parse();
}

std::string layer_pattern_text(const std::vector<std::string>& names) {
    std::string best = shortest(names.begin(), names.end());
    // Gemma-4's layers repeat one unit and then another.
    for (std::ptrdiff_t split = 1; split < static_cast<std::ptrdiff_t>(names.size()); ++split) {
        const std::string text = shortest(names.begin(), names.begin() + split) + ", " +
                                 shortest(names.begin() + split, names.end());
        if (text.size() < best.size()) best = text;
    }
    return best;
}

std::size_t repeat_length(const std::vector<std::size_t>& kinds) {
    const std::size_t half = kinds.size() / 2;
    for (std::size_t period = 1; period < half; ++period)
        if (std::equal(kinds.begin() + static_cast<std::ptrdiff_t>(half + period), kinds.end(),
                       kinds.begin() + static_cast<std::ptrdiff_t>(half)))
            return period;
    return 1;
}

}  // namespace memwall::model
