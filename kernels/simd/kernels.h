// The kernels of this machine, chosen at run time, and the checked way to call them.
//
//   const Kernels& best = best_kernels();
//   matmul(best, panels, quantize_activations(x, 1, panels.format, 1), y);            // decode
//   matmul(best, panels, quantize_activations(x, tokens, panels.format, 1), y);       // prefill, y
//   [tokens][rows]
//
// Threads take panel ranges (whole panels are independent) and, for attention, page ranges (merge_attention).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/panels/activations.h"
#include "kernels/panels/kv_page.h"
#include "kernels/panels/panels.h"
#include "kernels/simd/cpu_features.h"
#include "kernels/simd/kernel_table.h"

namespace memwall::kernels {

/// The table of widest vectors that `features` allow; the scalar one if nothing else.
const Kernels& kernels_for(const CpuFeatures& features);
/// Every table that `features` allow, best first, the scalar one last.
std::vector<const Kernels*> all_kernels_for(const CpuFeatures& features);

/// For this machine.
const Kernels& best_kernels();
std::span<const Kernels* const> runnable_kernels();

/// How matmul() and attend() below read. By default four streams 1.5 KiB ahead, and by the processor's maker:
/// - Intel: what one stream reads (prefill) also 32 KiB ahead. On a Xeon with AVX-512 (KVM, 2026-11; 17 GB/s
///   a core) four streams brought W8A8 from 0.85 to 1.00 of read and W4A8 from 0.89 to 0.97, 1 to 3 KiB ahead
///   alike, the far level prefill of W8A8 0.69 to 0.75 of peak; running ahead cost attention up to a third.
/// - AMD: attention that computes much runs ahead. On a Zen 5 EPYC (KVM, 2026-11; 43 GB/s a core) that
///   brought 0.60 to 0.80 of read at 9 operations a line (four heads over f16), 0.50 to 0.61 at 11 (eight
///   over int8), and cost 0.05 at 5.5 (four over int8), 0.1 at 2 (one over f16); four streams read 1.2 to 1.3
///   times as much as one, whatever is prefetched there, and a far level costs more than it brings: the L2
///   prefetcher follows such streams by itself.
/// - others: as Intel, unmeasured.
/// A calibration may set better ones; not while kernels run.
Prefetch prefetch();
void set_prefetch(Prefetch distances);

/// Half-open range of panels; {0, -1} means all.
struct PanelRange {
    std::int64_t first = 0, last = -1;
};

/// y[v][row] = panels x activation v; y has m rows of `panels.rows` floats. Only rows of the range are
/// written. `next` is what this thread reads after the range (its part of the next matrix), for the prefetch.
/// Throws Error when formats or sizes do not match.
void matmul(const Kernels& kernels, const Panels& panels, const Activations& activations, std::span<float> y,
            PanelRange range = {}, const void* next = nullptr);

/// Query heads that share a KV head, and what a range of pages gives for them.
struct AttentionPart {
    int heads = 0, value_dim = 0;
    std::vector<float> o;  ///< [heads][value_dim]: sum of exp(score - m) value
    std::vector<float> m;  ///< [heads]: highest score, -infinity without tokens
    std::vector<float> l;  ///< [heads]: sum of exp(score - m)
};

/// Attention of q [heads][key_dim] over pages of one layer and KV head. `digits` (int8 and int4): 1 or 2 of
/// query and probabilities; KERNELS section 4 has their errors. Any number of heads: tiles of kHighestHeads.
/// Tokens outside a page's [begin, end) do not count, whatever their bytes. `next` is what this thread
/// attends to afterwards, for the prefetch. Throws Error when sizes do not match.
void attend(const Kernels& kernels, const KvPageLayout& layout, std::span<const PageRef> pages,
            std::span<const float> q, float scale, int digits, AttentionPart& part,
            std::span<const PageRef> next = {});

/// Adds up parts over disjoint page ranges and divides: out [heads][value_dim]. Heads without any token get
/// zeros.
void merge_attention(std::span<const AttentionPart> parts, std::span<float> out);

}  // namespace memwall::kernels
