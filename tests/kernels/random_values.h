// Random inputs whose seed a failing test prints.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "kernels/panels/panels.h"
#include "kernels/simd/kernels.h"
#include "tests/catch.h"

namespace memwall::kernels::test {

/// A seed of this run, or the one in MEMWALL_TEST_SEED.
std::uint32_t fresh_seed();

std::vector<float> normal_values(std::size_t n, std::mt19937& rng, float deviation = 1);
/// All codes and scales of the format drawn at random: extreme ones are as likely as others.
QuantMatrix random_matrix(PanelFormat format, std::int64_t rows, std::int64_t k, std::mt19937& rng);

/// How many elements differ in their bits.
std::size_t differing_bits(const std::vector<float>& a, const std::vector<float>& b);

/// Kernels read one way while it lives, whatever this processor prefers: in one stream, attention running
/// ahead of all its work, or in kStreams, running ahead of none.
class WithStreams {
  public:
    explicit WithStreams(int streams) {
        Prefetch p = before_;
        p.streams = streams;
        p.run_ahead_from = streams == 1 ? 1 : 0;
        set_prefetch(p);
    }
    ~WithStreams() { set_prefetch(before_); }
    WithStreams(const WithStreams&) = delete;
    WithStreams& operator=(const WithStreams&) = delete;

  private:
    Prefetch before_ = prefetch();
};

inline constexpr PanelFormat kAllFormats[] = {PanelFormat::w4g32, PanelFormat::w4g128, PanelFormat::q4k,
                                              PanelFormat::w8,    PanelFormat::w8g32,  PanelFormat::f16};

}  // namespace memwall::kernels::test
