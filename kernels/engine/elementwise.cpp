#include "kernels/engine/elementwise.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <vector>

namespace memwall::kernels {
namespace {

constexpr std::size_t kRun = 64;  // values that pass through the stages of gate_times() together

/// 1 / (1 + exp(-z)), exp to 2e-7 relative: 2^n times a Taylor polynomial, in a form that compilers
/// vectorise. Clamping is a loop of its own, since compilers turn it into branches around the rest otherwise.
inline void sigmoids(float* z, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) z[i] = -z[i] > -87.0f ? -z[i] : -87.0f;
    for (std::size_t i = 0; i < n; ++i) z[i] = z[i] < 87.0f ? z[i] : 87.0f;
    for (std::size_t i = 0; i < n; ++i) {
        const float shifted = z[i] * 1.442695041f + 0x1.8p23f;
        const float whole = shifted - 0x1.8p23f;
        float r = z[i] - whole * 0.693359375f;
        r = r + whole * 2.12194440e-4f;
        float p = 1.0f / 5040;
        p = p * r + 1.0f / 720;
        p = p * r + 1.0f / 120;
        p = p * r + 1.0f / 24;
        p = p * r + 1.0f / 6;
        p = p * r + 0.5f;
        p = p * r + 1.0f;
        p = p * r + 1.0f;
        const auto exponent = (std::bit_cast<std::uint32_t>(shifted) + 127u) << 23;
        z[i] = 1 / (1 + p * std::bit_cast<float>(exponent));
    }
}

}  // namespace

void rms_norm(std::span<const float> x, std::span<const float> weight, float epsilon, std::span<float> to) {
    constexpr std::size_t kChains = 16;
    float sums[kChains] = {};
    std::size_t i = 0;
    for (; i + kChains <= x.size(); i += kChains)
        for (std::size_t j = 0; j < kChains; ++j) sums[j] += x[i + j] * x[i + j];
    float sum = std::accumulate(sums, sums + kChains, 0.0f);
    for (; i < x.size(); ++i) sum += x[i] * x[i];
    const float scale = 1 / std::sqrt(sum / static_cast<float>(x.size()) + epsilon);
    for (i = 0; i < x.size(); ++i) to[i] = x[i] * scale * weight[i];
}

void add_to(std::span<float> x, std::span<const float> y) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += y[i];
}

void gate_times(std::span<float> gate, std::span<const float> up, bool gelu) {
    float z[kRun];
    for (std::size_t from = 0; from < gate.size(); from += kRun) {
        const std::size_t n = std::min(kRun, gate.size() - from);
        float* g = gate.data() + from;
        const float* u = up.data() + from;
        // SiLU is x sigmoid(x). GELU is x/2 (1 + tanh y) = x sigmoid(2 y), y = sqrt(2/pi) (x + 0.044715 x^3).
        if (gelu)
            for (std::size_t i = 0; i < n; ++i)
                z[i] = 1.5957691216f * (g[i] + 0.044715f * g[i] * g[i] * g[i]);
        else
            for (std::size_t i = 0; i < n; ++i) z[i] = g[i];
        sigmoids(z, n);
        for (std::size_t i = 0; i < n; ++i) g[i] = g[i] * z[i] * u[i];
    }
}

std::vector<double> rope_frequencies(int dim, double base, std::span<const float> factors) {
    std::vector<double> f(static_cast<std::size_t>(dim) / 2);
    for (std::size_t i = 0; i < f.size(); ++i)
        f[i] = std::pow(base, -2.0 * static_cast<double>(i) / dim) /
               (factors.empty() ? 1.0 : double{factors[i]});
    return f;
}

void rope_angles(std::int64_t position, std::span<const double> frequencies, std::span<float> angles) {
    for (std::size_t i = 0; i < frequencies.size(); ++i) {
        const double angle = static_cast<double>(position) * frequencies[i];
        angles[2 * i] = static_cast<float>(std::cos(angle));
        angles[2 * i + 1] = static_cast<float>(std::sin(angle));
    }
}

void rotate(std::span<float> head, std::span<const float> angles, bool interleaved) {
    const std::size_t pairs = head.size() / 2;
    for (std::size_t i = 0; i < pairs; ++i) {
        float& a = head[interleaved ? 2 * i : i];
        float& b = head[interleaved ? 2 * i + 1 : i + pairs];
        const float c = angles[2 * i], s = angles[2 * i + 1], x = a, y = b;
        a = x * c - y * s;
        b = x * s + y * c;
    }
}

void choose_experts(std::span<const float> logits, bool normalized, std::span<std::int32_t> chosen,
                    std::span<float> weights) {
    const float most = *std::max_element(logits.begin(), logits.end());
    float all = 0;
    for (const float l : logits) all += std::exp(l - most);
    float sum = 0;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        std::int32_t best = -1;
        for (std::int32_t e = 0; e < static_cast<std::int32_t>(logits.size()); ++e) {
            if (std::find(chosen.begin(), chosen.begin() + static_cast<std::ptrdiff_t>(i), e) !=
                chosen.begin() + static_cast<std::ptrdiff_t>(i))
                continue;
            if (best < 0 || logits[static_cast<std::size_t>(e)] > logits[static_cast<std::size_t>(best)])
                best = e;
        }
        chosen[i] = best;
        weights[i] = std::exp(logits[static_cast<std::size_t>(best)] - most) / all;
        sum += weights[i];
    }
    if (normalized)
        for (float& w : weights) w /= sum;
}

}  // namespace memwall::kernels
