// Random numbers: one stream for each purpose, so that drawing more of one never shifts another. The numbers
// are a function of (seed, purpose, how many were drawn): the same on every machine and any number of
// threads.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <string_view>

namespace memwall::sim {

/// The finalizer of splitmix64 (Steele, Lea and Flood 2014): a bijection without visible structure.
constexpr std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/// FNV-1a.
constexpr std::uint64_t text_hash(std::string_view text) {
    std::uint64_t h = 0xcbf29ce484222325u;
    for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    return h;
}

class Random {
  public:
    Random() = default;
    /// `index` tells apart streams of one purpose: the number of an app, of a session.
    Random(std::uint64_t seed, std::string_view purpose, std::uint64_t index = 0)
        : state_(mixed(mixed(seed + kStep) ^ mixed(text_hash(purpose)) ^ mixed(~index))) {}

    std::uint64_t bits() { return mixed(state_ += kStep); }
    /// In [0, 1).
    double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
    /// Mean 1.
    double exponential() { return -std::log1p(-uniform()); }
    double normal() {
        // Box and Muller; the second number is not kept, so that a draw always takes two.
        const double radius = std::sqrt(2 * exponential());
        return radius * std::cos(2 * std::numbers::pi * uniform());
    }
    /// Mean 1, coefficient of variation `cv` (Marsaglia and Tsang 2000; below shape 1 by their power of a
    /// uniform).
    double gamma(double cv) {
        if (cv <= 0) return 1;
        const double shape = 1 / (cv * cv);
        const double d = (shape < 1 ? shape + 1 : shape) - 1.0 / 3, c = 1 / std::sqrt(9 * d);
        double value = 0;
        while (true) {
            const double x = normal(), v = std::pow(1 + c * x, 3);
            if (v <= 0) continue;
            if (std::log1p(-uniform()) < 0.5 * x * x + d * (1 - v + std::log(v))) {
                value = d * v;
                break;
            }
        }
        if (shape < 1) value *= std::exp(-exponential() / shape);
        return value / shape;
    }

  private:
    static constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15u;
    std::uint64_t state_ = 0;
};

}  // namespace memwall::sim
