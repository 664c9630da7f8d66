#include "kernels/simd/kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/base/error.h"
#include "kernels/simd/isa_tables.h"

namespace memwall::kernels {
namespace {

/// One row an instruction set, best first: what its translation unit was compiled to use.
struct IsaRow {
    const Kernels* (*table)();
    bool (*runs)(const CpuFeatures&);
};
bool has_avx2(const CpuFeatures& f) {
    return f.os_ymm && f.avx2 && f.fma && f.f16c;
}
const IsaRow kRows[] = {
    {avx512_vnni_kernels,
     [](const CpuFeatures& f) {
         return has_avx2(f) && f.os_zmm && f.avx512f && f.avx512bw && f.avx512dq && f.avx512vl &&
                f.avx512_vnni;
     }},
    {avx_vnni_kernels, [](const CpuFeatures& f) { return has_avx2(f) && f.avx_vnni; }},
    {avx2_kernels, has_avx2},
    {neon_dotprod_kernels, [](const CpuFeatures& f) { return f.neon_dotprod; }},
    {scalar_kernels, [](const CpuFeatures&) { return true; }},
};

void expect(bool right, const char* place, const std::string& found, const std::string& expected) {
    if (!right) throw Error(place, found, expected);
}

}  // namespace

std::vector<const Kernels*> all_kernels_for(const CpuFeatures& features) {
    std::vector<const Kernels*> all;
    for (const IsaRow& row : kRows)
        if (row.table() != nullptr && row.runs(features)) all.push_back(row.table());
    return all;
}

const Kernels& kernels_for(const CpuFeatures& features) {
    return *all_kernels_for(features).front();
}

std::span<const Kernels* const> runnable_kernels() {
    static const std::vector<const Kernels*> all = all_kernels_for(cpu_features());
    return all;
}

const Kernels& best_kernels() {
    return *runnable_kernels().front();
}

namespace {
Prefetch& distances() {
    static Prefetch chosen = cpu_made_by_amd() ? Prefetch{.far = 0, .run_ahead_from = 6} : Prefetch{};
    return chosen;
}
}  // namespace

Prefetch prefetch() {
    return distances();
}
void set_prefetch(Prefetch chosen) {
    distances() = chosen;
}

void matmul(const Kernels& kernels, const Panels& p, const Activations& a, std::span<float> y,
            PanelRange range, const void* next) {
    const PanelLayout& layout = panel_layout(p.format);
    if (range.last < 0) range.last = p.panels();
    expect(a.format == p.format && a.k == p.k, "matmul",
           "activations of " + std::to_string(a.k) + " values for " + panel_layout(a.format).name,
           std::to_string(p.k) + " for " + layout.name);
    expect(y.size() == static_cast<std::size_t>(a.m * p.rows), "matmul",
           std::to_string(y.size()) + " results", std::to_string(a.m) + " x " + std::to_string(p.rows));
    expect(range.first >= 0 && range.first <= range.last && range.last <= p.panels(), "matmul",
           "panels " + std::to_string(range.first) + " to " + std::to_string(range.last),
           "0 to " + std::to_string(p.panels()));
    if (range.first == range.last) return;
    MatmulJob job{};
    job.format = p.format;
    job.digits = a.digits;
    job.m = a.m;
    job.rows = p.rows;
    job.blocks = p.blocks();
    job.panel_bytes = p.panel_bytes();
    job.panels = p.data.as<std::uint8_t>();
    job.row_scales = p.row_scales.data();
    job.padded_k = a.padded_k;
    job.codes = a.codes.data();
    job.scales = a.scales.data();
    job.offsets = a.offsets.data();
    job.sums = a.sums.data();
    job.values = a.values.data();
    job.first_panel = range.first;
    job.last_panel = range.last;
    job.y = y.data();
    job.y_stride = p.rows;
    job.prefetch = prefetch();
    job.next = static_cast<const std::uint8_t*>(next);
    kernels.matmul(job);
}

void attend(const Kernels& kernels, const KvPageLayout& layout, std::span<const PageRef> pages,
            std::span<const float> q, float scale, int digits, AttentionPart& part,
            std::span<const PageRef> next) {
    const auto key_dim = static_cast<std::size_t>(layout.key_dim);
    expect(key_dim > 0 && !q.empty() && q.size() % key_dim == 0, "attention",
           std::to_string(q.size()) + " query values", "whole heads of " + std::to_string(layout.key_dim));
    expect(digits == 1 || digits == 2, "attention", std::to_string(digits) + " digits", "1 or 2");
    for (const PageRef& page : pages)
        expect(page.data != nullptr && page.begin >= 0 && page.end <= kPageTokens, "attention",
               "tokens " + std::to_string(page.begin) + " to " + std::to_string(page.end),
               "0 to 64 of a page");
    part.heads = static_cast<int>(q.size() / key_dim);
    part.value_dim = layout.value_dim;
    part.o.resize(static_cast<std::size_t>(part.heads) * static_cast<std::size_t>(layout.value_dim));
    part.m.resize(static_cast<std::size_t>(part.heads));
    part.l.resize(static_cast<std::size_t>(part.heads));
    AttendJob job{};
    job.format = layout.format;
    job.digits = digits;
    job.key_dim = layout.key_dim;
    job.value_dim = layout.value_dim;
    job.page_scales = layout.scales;
    job.page_keys = layout.keys;
    job.page_bytes = layout.bytes();
    job.q_stride = layout.key_dim;
    job.scale = scale;
    job.pages = pages.data();
    job.page_count = static_cast<std::int64_t>(pages.size());
    job.prefetch = prefetch();
    for (int first = 0; first < part.heads; first += kHighestHeads) {
        const std::span<const PageRef> then = first + kHighestHeads < part.heads ? pages : next;
        job.next = then.data();
        job.next_count = static_cast<std::int64_t>(then.size());
        job.heads = std::min(part.heads - first, kHighestHeads);
        job.q = q.data() + first * layout.key_dim;
        job.o = part.o.data() + first * layout.value_dim;
        job.m = part.m.data() + first;
        job.l = part.l.data() + first;
        kernels.attend(job);
    }
}

void merge_attention(std::span<const AttentionPart> parts, std::span<float> out) {
    if (parts.empty()) return;
    const AttentionPart& like = parts.front();
    const auto dim = static_cast<std::size_t>(like.value_dim);
    expect(out.size() == static_cast<std::size_t>(like.heads) * dim, "attention",
           std::to_string(out.size()) + " results",
           std::to_string(like.heads) + " x " + std::to_string(like.value_dim));
    for (const AttentionPart& part : parts)
        expect(part.heads == like.heads && part.value_dim == like.value_dim, "attention",
               "parts of different shape", "the same heads of each page range");
    std::fill(out.begin(), out.end(), 0.0f);
    for (std::size_t h = 0; h < static_cast<std::size_t>(like.heads); ++h) {
        float most = -std::numeric_limits<float>::infinity();
        for (const AttentionPart& part : parts) most = std::max(most, part.m[h]);
        if (most == -std::numeric_limits<float>::infinity()) continue;
        float total = 0;
        for (const AttentionPart& part : parts) total += part.l[h] * std::exp(part.m[h] - most);
        for (const AttentionPart& part : parts) {
            const float weight = std::exp(part.m[h] - most) / total;
            for (std::size_t d = 0; d < dim; ++d) out[h * dim + d] += weight * part.o[h * dim + d];
        }
    }
}

}  // namespace memwall::kernels
