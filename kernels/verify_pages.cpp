// What attention costs, on all threads.
#include <algorithm>

#include "kernels/engine/attention.h"
#include "kernels/verify_between.h"

namespace memwall::kernels {

void measure_pages(const RatesRequest& r, ThreadTeam& team, Stopwatch& watch, HostRates& rates) {
    const DecoderLayer& l = r.decoder.layers.front();
    // Enough layers that a page is in no cache when its turn comes again.
    constexpr std::int64_t kPages = 32, kTokens = kPages * kPageTokens;
    const KvPageLayout layout = kv_page_layout(r.settings.kv.format, l.key_dim, l.value_dim);
    const std::int64_t layers = std::clamp<std::int64_t>(
        r.weight_bytes / (kPages * l.kv_heads * static_cast<std::int64_t>(layout.bytes())), 1, 64);
    const KvShape shape{layers, l.kv_heads, l.key_dim, l.value_dim, 0, 0, r.settings.kv};
    const auto cache = make_kv_cache(shape, {KvSettings::Layout::paged, kTokens, 1, ""});
    const SequenceId id = cache->add();
    cache->extend(id, kTokens);
    const auto width = static_cast<std::int64_t>(std::max(l.key_dim, l.value_dim));
    const std::vector<float> kv = noise(static_cast<std::size_t>(kPageTokens * width));
    team.run([&](int t) {
        const Range mine = share_of(static_cast<std::size_t>(shape.streams()), t, team.threads());
        for (std::size_t s = mine.first; s < mine.last; ++s)
            for (std::int64_t from = 0; from < kTokens; from += kPageTokens)
                cache->store(id, static_cast<std::int64_t>(s) / l.kv_heads,
                             static_cast<std::int64_t>(s) % l.kv_heads, from, kPageTokens, kv.data(), width,
                             kv.data(), width);
    });
    const std::int64_t run = std::max<std::int64_t>(1, kHighestHeads / l.group_heads());
    // Tokens of a prefill step: four runs a thread and head, within half of the pages.
    const std::int64_t many = std::min(run * 4 * team.threads(), kTokens / 2 / run * run);
    const std::vector<float> q = noise(static_cast<std::size_t>(many * l.heads * l.key_dim));
    std::vector<float> out(static_cast<std::size_t>(many * l.heads * l.value_dim));
    std::vector<AttentionScratch> scratch;
    for (int t = 0; t < team.threads(); ++t)
        scratch.emplace_back(kPages + 1, l.group_heads(), l.key_dim, l.value_dim);
    SharedParts parts(l.kv_heads, team.threads(), l.group_heads(), l.value_dim);
    AttentionStep step;
    step.kernels = &best_kernels();
    step.cache = cache.get();
    step.sequence = id;
    step.group_heads = l.group_heads();
    step.digits = r.settings.kv_digits;
    step.q = q.data();
    step.out = out.data();
    const Between between(r, team.threads());
    const auto turns = static_cast<std::size_t>(layers);
    const auto one_token = [&](std::int64_t pages) {
        const auto work = [&] {
            double seconds = 0;  // without what is between
            RunTime time = team.run([&](int t) {
                AttentionStep mine = step;
                mine.m = 1;
                mine.first = pages * kPageTokens - 1;
                const Range heads = share_of(static_cast<std::size_t>(l.kv_heads), t, team.threads());
                for (mine.layer = 0; mine.layer < layers; ++mine.layer) {
                    between.read(t, static_cast<std::size_t>(mine.layer));
                    team.barrier();
                    const double start = wall_seconds();
                    for (std::size_t head = heads.first; head < heads.last; ++head)
                        cache->store(id, mine.layer, static_cast<std::int64_t>(head), mine.first, 1,
                                     kv.data(), width, kv.data(), width);
                    team.barrier();
                    attend_one(mine, t, scratch[static_cast<std::size_t>(t)], parts);
                    team.barrier();
                    if (t == 0) {
                        merge_one(mine, parts);
                        seconds += wall_seconds() - start;
                    }
                    team.barrier();  // the others wait, as in a layer
                }
            });
            time.wall = seconds;
            return time;
        };
        const double seconds = watch.streamed(
            "attend", std::string(r.settings.kv.name) + ", one token, " + std::to_string(pages) + " pages",
            static_cast<double>(layers), work,
            settled(r.streams, {between.memory(turns), cache->arena().memory()}, team, work));
        return seconds - 2 * rates.barrier;
    };
    const auto prompt = [&](std::int64_t first) {
        const std::int64_t some = std::min<std::int64_t>(layers, 4);
        const double seconds = watch.median(
            "attend", std::string(r.settings.kv.name) + ", a prompt from " + std::to_string(first), 1, [&] {
                return team.run([&](int t) {
                    AttentionStep mine = step;
                    mine.m = many;
                    mine.first = first;
                    for (mine.layer = 0; mine.layer < some; ++mine.layer) {
                        attend_many(mine, t, team.threads(), scratch[static_cast<std::size_t>(t)]);
                        team.barrier();
                    }
                });
            });
        const double units = static_cast<double>(many / run * l.kv_heads) / team.threads();
        return (seconds / static_cast<double>(some) - rates.barrier) / units;
    };
    const auto line = [](double x1, double y1, double x2, double y2) {
        const double page = (y2 - y1) / (x2 - x1);
        return PageCost{std::max(0.0, y1 - page * x1), page};
    };
    const double few = 2, all = kPages;
    rates.decode_pages = line(few, one_token(2), all, one_token(kPages));
    const std::int64_t late = kTokens - many;
    const auto pages_at = [&](std::int64_t first) {
        return static_cast<double>(first) / kPageTokens + static_cast<double>(many) / 2 / kPageTokens;
    };
    rates.prefill_pages = line(pages_at(0), prompt(0), pages_at(late), prompt(late));
}

}  // namespace memwall::kernels
