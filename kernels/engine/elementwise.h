// What a decoder does between its matrices, on one thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace memwall::kernels {

/// to = x / sqrt(mean(x^2) + epsilon) * weight; `to` may be x.
void rms_norm(std::span<const float> x, std::span<const float> weight, float epsilon, std::span<float> to);

/// x += y.
void add_to(std::span<float> x, std::span<const float> y);

/// gate = activation(gate) * up: SiLU, or GELU by its tanh approximation.
void gate_times(std::span<float> gate, std::span<const float> up, bool gelu);

/// Frequency i = base^(-2 i / dim) / factors[i], i < dim / 2; no factors = 1.
std::vector<double> rope_frequencies(int dim, double base, std::span<const float> factors);
/// angles[2 i] = cos(position x frequency i), angles[2 i + 1] = sin.
void rope_angles(std::int64_t position, std::span<const double> frequencies, std::span<float> angles);
/// Turns the pairs (2i, 2i + 1), or (i, i + dim / 2), of a head by them.
void rotate(std::span<float> head, std::span<const float> angles, bool interleaved);

/// The `used` largest of `logits` as indices, highest first (of equal ones the lower index), and their
/// weights: softmax over all logits, divided by their sum if `normalized`.
void choose_experts(std::span<const float> logits, bool normalized, std::span<std::int32_t> chosen,
                    std::span<float> weights);

}  // namespace memwall::kernels
