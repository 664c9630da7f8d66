#include "core/view/plan_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/base/size_text.h"
#include "core/view/quality_view.h"
#include "core/view/quantity_text.h"
#include "core/view/text_table.h"

namespace memwall::view {
namespace {

constexpr std::size_t kLabel = 22, kValue = 10, kBar = 19;

struct Screen {
    bool colour;
    std::size_t width;
    std::string out;

    /// Of the memory bars: what the longest range leaves; none where that is too little to compare by.
    std::size_t bar_columns() const {
        constexpr std::size_t kAround = 2 + kLabel + 1 + kValue + 2 + 2 + 21, kLeast = 4;
        const std::size_t left = width > kAround ? width - kAround : 0;
        return left < kLeast ? 0 : std::min(left, kBar);
    }
    void line(const std::string& text = "") { out += text + "\n"; }
    void head(const std::string& text) { line("\n" + styled(text, Style::bold, colour)); }
    void dim_note(std::string_view lead, std::string_view text) {
        for (const std::string& part : wrapped(std::string(lead) + std::string(text), width - 4))
            line("    " + styled(part, Style::dim, colour));
    }
    /// A note, wrapped and indented.
    void note(std::string_view lead, std::string_view text) {
        bool first = true;
        for (const std::string& part : wrapped(text, width - 2 - columns(lead))) {
            line("  " + (first ? std::string(lead) : std::string(columns(lead), ' ')) + part);
            first = false;
        }
    }
};

std::string item_label(const plan::Prepared& p, const plan::Knobs& k, plan::Item item) {
    std::string label(item_words(item));
    if (item == plan::Item::weights) label += " " + p.recipe;
    if (item == plan::Item::kv_cache)
        label += k.kv_k == k.kv_v ? fmt::format(" {}", k.kv_k.name)
                                  : fmt::format(" {}/{}", k.kv_k.name, k.kv_v.name);
    return label;
}

/// One line: label, value, bar, and the range or a remark.
void memory_row(Screen& s, const std::string& label, const Interval<Bytes>& value, Bytes scale,
                std::string_view remark) {
    const double share = scale.value > 0 ? value.central.as_double() / scale.as_double() : 0;
    const std::string tail =
        bytes_text(value.low) == bytes_text(value.high) ? std::string(remark) : range_text(value);
    const std::size_t length = s.bar_columns();
    std::string row = fmt::format("  {} {}", pad_right(label, kLabel), pad_left(text(value), kValue));
    if (length > 0) row += "  " + pad_right(bar(share, length), length);
    std::string full = hung(row + "  ", tail, s.width, Style::dim, s.colour);
    full.erase(full.find_last_not_of(" \n") + 1);
    s.line(full);
}

void memory_part(Screen& s, const plan::Prepared& p, const plan::Knobs& k, const plan::Plan& plan) {
    const plan::Memory& m = plan.memory;
    for (std::size_t n = 0; n < m.pool_count; ++n) {
        const plan::PoolUse& pool = m.pools[n];
        s.head(m.pool_count > 1 ? fmt::format("Memory in {}", pool.name) : "Memory");
        const Bytes scale = std::max(pool.used.central, pool.budget);
        for (std::size_t i = 0; i < plan::kItems; ++i) {
            const Interval<Bytes>& value = pool.items[i];
            if (value.high.value == 0) continue;
            const auto item = static_cast<plan::Item>(i);
            std::string remark;
            if (item == plan::Item::weights && m.file_backed.central.value > 0 && n + 1 == m.pool_count)
                remark = "clean pages of the file";
            if (item == plan::Item::repacked) remark = "second copy for the CPU's kernels";
            memory_row(s, item_label(p, k, item), value, scale, remark);
        }
        std::map<std::string_view, std::string> bases;  // what the ranges rest on, once each
        for (std::size_t i = 0; i < plan::kItems; ++i)
            if (!pool.items[i].is_exact()) {
                std::string& items = bases[pool.items[i].basis];
                items += (items.empty() ? "" : ", ") + item_label(p, k, static_cast<plan::Item>(i));
            }
        memory_row(s, "total", pool.used, scale, "");
        if (pool.droppable.high.value > 0)
            memory_row(s, "needed", pool.needed, scale, "file pages are dropped once copied");
        if (pool.limited)
            memory_row(s, "budget", Interval<Bytes>::exact(pool.budget), scale,
                       pool.capacity.value > 0 ? fmt::format("of {}", bytes_text(pool.capacity))
                                               : std::string("as told"));
        else
            s.out += hung(fmt::format("  {} unknown: ", pad_right("budget", kLabel)),
                          n == 0 ? std::string("--budget SIZE decides")
                                 : fmt::format("--set device.{}=SIZE says it", pool.name),
                          s.width);
        for (const auto& [basis, items] : bases) s.dim_note(items + ": ", basis);
    }
}

void rate_row(Screen& s, const std::string& label, const std::string& value, const std::string& range,
              const std::string& tail) {
    const std::string row = fmt::format("  {} {}  ", pad_right(label, kLabel),
                                        pad_left(value, s.width < 80 ? kValue + 5 : kValue + 9));
    if (tail.empty()) return s.line(row + range);
    const bool beside = columns(row) + std::max(kBar, columns(range)) + 2 + columns(tail) <= s.width;
    if (beside) return s.line(row + pad_right(range, kBar) + "  " + styled(tail, Style::dim, s.colour));
    s.line(row + range);
    s.out += hung(std::string(4, ' '), tail, s.width, Style::dim, s.colour);
}

void speed_part(Screen& s, const plan::Knobs& k, const plan::Plan& plan) {
    const plan::Speed& v = plan.speed;
    if (!v.decode_known) return;
    s.head(fmt::format("Speed ({:.0f} % intervals, {})", v.decode.level * 100, v.decode.basis));
    const std::string bound = fmt::format("bound by {}", v.bound);
    rate_row(s, v.speculative ? "decode with draft" : "decode", text(v.decode) + " tokens/s",
             range_text(v.decode), bound);
    if (v.speculative)
        rate_row(s, "decode without it", text(v.plain_decode) + " tokens/s", range_text(v.plain_decode),
                 v.break_even_acceptance <= 1
                     ? fmt::format("draft pays above {:.0f} % acceptance", v.break_even_acceptance * 100)
                     : "the draft never pays");
    if (k.sequences > 1)
        rate_row(s, fmt::format("all {} sequences", k.sequences), text(v.decode_all) + " tokens/s",
                 range_text(v.decode_all), "");
    if (v.prefill_known) {
        rate_row(s, "prefill", text(v.prefill) + " tokens/s", range_text(v.prefill), "");
        rate_row(s, "first token", text(v.first_token), range_text(v.first_token),
                 fmt::format("prompt of {} tokens", count_text(k.prompt)));
        rate_row(s, "whole answer", text(v.job), range_text(v.job),
                 fmt::format("{} tokens", count_text(k.generate)));
    }
    if (v.load_known) rate_row(s, "loading", text(v.load), range_text(v.load), "cold, from storage");
    if (v.energy_known)
        rate_row(s, "energy", number_text(v.energy_per_token.central.value) + " J/token",
                 fmt::format("{} - {}", number_text(v.energy_per_token.low.value),
                             number_text(v.energy_per_token.high.value)),
                 v.battery_percent_per_1000_tokens > 0
                     ? fmt::format("{:.1f} % of the battery per 1,000", v.battery_percent_per_1000_tokens)
                     : "");
    s.out += hung(fmt::format("  {} ", pad_right("helps most", kLabel)), v.helps, s.width);
    if (v.sustained_fraction > 0 && v.sustained_fraction < 1)
        rate_row(s, "after minutes", text(plan::scaled_rate(v.decode, v.sustained_fraction)) + " tokens/s",
                 range_text(plan::scaled_rate(v.decode, v.sustained_fraction)),
                 fmt::format("heat leaves {:.0f} %", v.sustained_fraction * 100));
}

void quality_part(Screen& s, const quality::Loss& loss) {
    const QualityBlock block = quality_block(loss);
    s.head(block.heading);
    for (const std::string& line : block.lines) s.note("", line);
    if (!block.note.empty()) s.dim_note("", block.note);
}

}  // namespace

std::string_view item_words(plan::Item item) {
    constexpr std::array<std::string_view, plan::kItems> words{
        "weights",         "KV cache",    "recurrent state", "compute buffer", "output buffer",
        "repacked copies", "draft model", "projector",       "adapter",        "overhead"};
    return words[static_cast<std::size_t>(item)];
}

std::string device_text(const plan::Target& t) {
    const device::Pool& pool = t.device.pools[t.pool];
    return pool.capacity.value > 0
               ? fmt::format("{} ({} of {})", t.device.name, bytes_text(pool.capacity), pool.name)
               : t.device.name;
}

std::string plan_text(const plan::Prepared& p, const plan::Knobs& k, const plan::Target& t,
                      const plan::Plan& plan, const plan::Advice& advice, bool colour, std::size_t width) {
    Screen s{colour, std::max<std::size_t>(width, 60), {}};
    constexpr std::array<std::string_view, 3> processors{"CPU", "GPU", "NPU"};
    s.line(styled(fmt::format("{} on {}", p.model.id, device_text(t)), Style::bold, colour));
    s.line(styled(fmt::format("{}{}, {}, context {}{}", p.runtime.profile->name,
                              p.runtime.release.empty() ? "" : " " + p.runtime.release,
                              processors[static_cast<std::size_t>(t.processor)], count_text(k.context),
                              k.sequences > 1 ? fmt::format(" x {} sequences", k.sequences) : ""),
                  Style::dim, colour));

    const Style style = plan.verdict == plan::Verdict::fits                ? Style::good
                        : plan.verdict == plan::Verdict::too_close_to_call ? Style::warn
                                                                           : Style::bad;
    std::string word(plan::verdict_name(plan.verdict));
    std::replace(word.begin(), word.end(), '_', ' ');
    std::transform(word.begin(), word.end(), word.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    s.line();
    const auto reason = wrapped(advice.reason, s.width - columns(word) - 4);
    for (std::size_t i = 0; i < reason.size(); ++i)
        s.line("  " + (i == 0 ? styled(word, style, colour) : std::string(columns(word), ' ')) + "  " +
               reason[i]);

    memory_part(s, p, k, plan);
    speed_part(s, k, plan);
    quality_part(s, plan.loss);

    if (advice.max_context_tokens > 0) s.line();
    if (advice.max_context_tokens > 0)
        s.note("Largest context that fits: ",
               count_text(advice.max_context_tokens) + " tokens" + (k.sequences > 1 ? " per sequence" : "") +
                   (advice.max_context_is_trained ? " (all the model was trained for)" : "") + "." +
                   (advice.kv_exceeds_weights_at_tokens > 0
                        ? fmt::format(" The cache outgrows the weights at {}.",
                                      count_text(advice.kv_exceeds_weights_at_tokens))
                        : ""));
    if (!advice.suggestions.empty()) {
        s.head("Smallest changes that make it fit");
        for (const plan::Suggestion& x : advice.suggestions)
            s.note(fmt::format("{} {}  ", pad_right(x.option, 18), pad_right(x.to, 12)), x.effect);
    }
    if (!advice.warnings.empty()) s.line();
    for (const plan::Warning& w : advice.warnings) s.note("Note: ", w.text);
    return s.out;
}

}  // namespace memwall::view
