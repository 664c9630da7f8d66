#include "kernels/engine/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/host/thread_team.h"

namespace memwall::kernels {
namespace {

/// Tokens whose heads fill one job of the kernel.
std::int64_t run_length(std::int64_t group_heads) {
    return std::max<std::int64_t>(1, kHighestHeads / group_heads);
}

std::size_t part_bytes(std::int64_t heads, int value_dim) {
    return static_cast<std::size_t>(heads * (value_dim + 2)) * sizeof(float);
}
std::size_t part_bytes(const AttentionPart& p) {
    return (p.o.capacity() + p.m.capacity() + p.l.capacity()) * sizeof(float);
}
void reserve(AttentionPart& p, std::int64_t heads, int value_dim) {
    p.o.reserve(static_cast<std::size_t>(heads * value_dim));
    p.m.reserve(static_cast<std::size_t>(heads));
    p.l.reserve(static_cast<std::size_t>(heads));
}

bool same(const PageRef& a, const PageRef& b) {
    return a.data == b.data && a.begin == b.begin && a.end == b.end;
}

float scale_of(const AttentionStep& s) {
    return 1 / std::sqrt(static_cast<float>(s.cache->shape().key_dim));
}

/// The queries of a KV head for tokens [token, token + n) of the step, side by side, channel scales folded
/// in.
std::span<const float> gather_queries(const AttentionStep& s, std::int64_t head, std::int64_t token,
                                      std::int64_t n, std::vector<float>& into) {
    const KvShape& shape = s.cache->shape();
    const std::int64_t width = s.group_heads * shape.key_dim;
    into.resize(static_cast<std::size_t>(n * width));
    for (std::int64_t i = 0; i < n; ++i)
        std::copy_n(s.q + ((token + i) * shape.kv_heads + head) * width, width, into.data() + i * width);
    s.cache->fold_channel_scales(s.layer, head, into);
    return into;
}

/// out[heads][dim] from the heads of two disjoint sets of pages.
void merge_two(const AttentionPart& a, std::int64_t a_first, const AttentionPart& b, std::int64_t heads,
               float* out) {
    const auto dim = static_cast<std::size_t>(b.value_dim);
    for (std::int64_t h = 0; h < heads; ++h, out += dim) {
        const auto i = static_cast<std::size_t>(a_first + h), j = static_cast<std::size_t>(h);
        const float most = std::max(a.m[i], b.m[j]);
        float wa = std::exp(a.m[i] - most), wb = std::exp(b.m[j] - most);
        const float total = wa * a.l[i] + wb * b.l[j];
        wa /= total;
        wb /= total;
        for (std::size_t d = 0; d < dim; ++d) out[d] = wa * a.o[i * dim + d] + wb * b.o[j * dim + d];
    }
}

}  // namespace

AttentionScratch::AttentionScratch(std::int64_t pages, std::int64_t group_heads, int key_dim, int value_dim) {
    const std::int64_t run = run_length(group_heads);
    for (auto* list : {&first, &last, &common, &own}) list->reserve(static_cast<std::size_t>(pages));
    q.reserve(static_cast<std::size_t>(run * group_heads * key_dim));
    reserve(common_part, run * group_heads, value_dim);
    reserve(own_part, group_heads, value_dim);
}
std::size_t AttentionScratch::bytes(std::int64_t pages, std::int64_t group_heads, int key_dim,
                                    int value_dim) {
    const std::int64_t run = run_length(group_heads);
    return 4 * static_cast<std::size_t>(pages) * sizeof(PageRef) +
           static_cast<std::size_t>(run * group_heads * key_dim) * sizeof(float) +
           part_bytes(run * group_heads, value_dim) + part_bytes(group_heads, value_dim);
}
std::size_t AttentionScratch::allocated() const {
    return (first.capacity() + last.capacity() + common.capacity() + own.capacity()) * sizeof(PageRef) +
           q.capacity() * sizeof(float) + part_bytes(common_part) + part_bytes(own_part);
}

SharedParts::SharedParts(std::int64_t kv_heads, int team, std::int64_t group_heads, int value_dim)
    : parts(static_cast<std::size_t>(kv_heads * team)), threads(team) {
    for (AttentionPart& p : parts) reserve(p, group_heads, value_dim);
}
std::size_t SharedParts::bytes(std::int64_t kv_heads, int threads, std::int64_t group_heads, int value_dim) {
    return static_cast<std::size_t>(kv_heads * threads) *
           (sizeof(AttentionPart) + part_bytes(group_heads, value_dim));
}
std::size_t SharedParts::allocated() const {
    std::size_t all = parts.capacity() * sizeof(AttentionPart);
    for (const AttentionPart& p : parts) all += part_bytes(p);
    return all;
}

void attend_one(const AttentionStep& s, int thread, AttentionScratch& scratch, SharedParts& shared) {
    const KvShape& shape = s.cache->shape();
    s.cache->pages(s.sequence, s.layer, 0, s.first, scratch.first);
    const std::size_t pages = scratch.first.size();
    const Range mine = share_of(pages * static_cast<std::size_t>(shape.kv_heads), thread, shared.threads);
    bool follows = false;  // the pages of this head are there and were read ahead
    for (std::int64_t head = 0; head < shape.kv_heads; ++head) {
        AttentionPart& part = shared.parts[static_cast<std::size_t>(head * shared.threads + thread)];
        const std::size_t start = static_cast<std::size_t>(head) * pages;
        const std::size_t from = std::clamp(mine.first, start, start + pages) - start,
                          to = std::clamp(mine.last, start, start + pages) - start;
        part.heads = 0;
        if (from >= to) continue;
        if (!follows) s.cache->pages(s.sequence, s.layer, head, s.first, scratch.own);
        scratch.last.clear();
        if (to == pages && mine.last > start + pages)
            s.cache->pages(s.sequence, s.layer, head + 1, s.first, scratch.last);
        attend(*s.kernels, shape.page(), std::span(scratch.own).subspan(from, to - from),
               gather_queries(s, head, 0, 1, scratch.q), scale_of(s), s.digits, part, scratch.last);
        follows = !scratch.last.empty();
        std::swap(scratch.own, scratch.last);
    }
}

void merge_one(const AttentionStep& s, const SharedParts& shared) {
    const KvShape& shape = s.cache->shape();
    const std::int64_t width = s.group_heads * shape.value_dim;
    for (std::int64_t head = 0; head < shape.kv_heads; ++head) {
        // Threads take contiguous shares, so those with a part of this head are neighbours.
        const auto* first = shared.parts.data() + head * shared.threads;
        const auto* end = first + shared.threads;
        const auto has = [](const AttentionPart& p) { return p.heads > 0; };
        first = std::find_if(first, end, has);
        end = std::find_if_not(first, end, has);
        merge_attention({first, end}, {s.out + head * width, static_cast<std::size_t>(width)});
    }
}

void attend_many(const AttentionStep& s, int thread, int threads, AttentionScratch& c) {
    const KvShape& shape = s.cache->shape();
    const KvPageLayout layout = shape.page();
    const std::int64_t run = run_length(s.group_heads);
    const std::int64_t units = (s.m + run - 1) / run * shape.kv_heads;
    for (std::int64_t unit = thread; unit < units; unit += threads) {
        const std::int64_t head = unit % shape.kv_heads, token = unit / shape.kv_heads * run;
        const std::int64_t n = std::min(run, s.m - token);
        // Both lists are runs of pages in token order; what they have in common, every list between has.
        s.cache->pages(s.sequence, s.layer, head, s.first + token, c.first);
        s.cache->pages(s.sequence, s.layer, head, s.first + token + n - 1, c.last);
        c.common.clear();
        for (std::size_t i = 0, j = 0; i < c.first.size(); ++i) {
            std::size_t k = j;
            while (k < c.last.size() && !same(c.first[i], c.last[k])) ++k;
            if (k == c.last.size()) continue;
            c.common.push_back(c.first[i]);
            j = k + 1;
        }
        const std::span<const float> q = gather_queries(s, head, token, n, c.q);
        attend(*s.kernels, layout, c.common, q, scale_of(s), s.digits, c.common_part);
        const auto width = static_cast<std::size_t>(s.group_heads * shape.key_dim);
        for (std::int64_t i = 0; i < n; ++i) {
            s.cache->pages(s.sequence, s.layer, head, s.first + token + i, c.last);
            c.own.clear();
            std::size_t next = 0;
            for (const PageRef& page : c.last)
                if (next < c.common.size() && same(page, c.common[next]))
                    ++next;
                else
                    c.own.push_back(page);
            attend(*s.kernels, layout, c.own, q.subspan(static_cast<std::size_t>(i) * width, width),
                   scale_of(s), s.digits, c.own_part);
            merge_two(c.common_part, i * s.group_heads, c.own_part, s.group_heads,
                      s.out + ((token + i) * shape.kv_heads + head) * s.group_heads * shape.value_dim);
        }
    }
}

}  // namespace memwall::kernels
