#include "sim/workload/app.h"

#include <algorithm>

namespace memwall::sim {

Session::Session(const App& app, std::size_t app_index, std::uint64_t number, std::uint64_t seed)
    : app_(&app),
      random_(seed, "session " + app.name, number),
      prefix_(mixed(text_hash(app.name)) | 1),
      content_(mixed(mixed(prefix_ + number) + app_index) | 1) {
    if (app.trace) {
        recorded_ = &(*app.trace)[static_cast<std::size_t>(number)];
        left_ = 1;
    } else {
        left_ = draw_count(app.turns, random_, 1);
        history_ = 0;
    }
}

Turn Session::next() {
    --left_;
    Turn t;
    t.content = content_;
    t.limit = app_->max_output;
    if (recorded_) {
        t.prompt = recorded_->prompt;
        t.output = recorded_->output;
        if (!recorded_->blocks.empty()) t.blocks = &recorded_->blocks;
        return t;
    }
    t.prefix = prefix_;
    t.prefix_tokens = app_->shared_prefix;
    const std::int64_t before = app_->keeps_history && history_ > 0 ? history_ : app_->shared_prefix;
    t.prompt = before + draw_count(app_->prompt, random_, 1);
    t.output = draw_count(app_->output, random_, 1);
    if (t.limit > 0) t.output = std::min(t.output, t.limit);
    if (!app_->keeps_history) content_ = mixed(content_) | 1;
    return t;
}

double Session::think() {
    return app_->think.draw(random_);
}

void name_blocks(const Turn& turn, std::int64_t tokens, std::int64_t block_tokens,
                 std::vector<std::uint64_t>& names) {
    std::uint64_t parent = names.empty() ? 0 : names.back();
    for (auto i = static_cast<std::int64_t>(names.size()); (i + 1) * block_tokens <= tokens; ++i) {
        std::uint64_t what = turn.content;
        if (turn.blocks) {
            // Blocks of the trace name 512 tokens; what lies beyond them is the request's own.
            const auto at = static_cast<std::size_t>(i * block_tokens / kTraceBlockTokens);
            const bool whole =
                ((i + 1) * block_tokens - 1) / kTraceBlockTokens == static_cast<std::int64_t>(at);
            if (at < turn.blocks->size() && whole) what = (*turn.blocks)[at];
        } else if ((i + 1) * block_tokens <= turn.prefix_tokens) {
            what = turn.prefix;
        }
        parent = mixed(parent * 0x9e3779b97f4a7c15u + what + static_cast<std::uint64_t>(i)) | 1;
        names.push_back(parent);
    }
}

}  // namespace memwall::sim
