#include <cmath>
#include <cstdint>

#include "kernels/engine/weight_source.h"
#include "kernels/lab/random_weights.h"

namespace memwall::kernels {
namespace {

std::uint64_t hash_of(const std::string& name) {  // FNV-1a
    std::uint64_t h = 0xcbf29ce484222325u;
    for (const char c : name) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    return h;
}

/// n values in [-range, range): four of 16 bits from each draw.
void fill(lab::Random& random, float range, float* to, std::int64_t n) {
    for (std::int64_t i = 0; i < n; i += 4) {
        std::uint64_t bits = random.bits();
        for (std::int64_t j = i; j < std::min(i + 4, n); ++j, bits >>= 16)
            to[j] = range * (static_cast<float>(bits & 0xffff) - 32767.5f) * (1 / 32768.0f);
    }
}

class Synthetic final : public WeightSource {
  public:
    Synthetic(const EngineSettings& s, std::uint64_t seed, std::int64_t distinct)
        : linear_(s.linear), table_(s.table), seed_(seed), distinct_(distinct) {}

    PanelFormat format(const model::Tensor& t) const override {
        switch (t.role) {
            case model::Role::router:
                return PanelFormat::f16;
            case model::Role::token_embedding:
            case model::Role::output:
                return table_;
            default:
                return linear_;
        }
    }

    QuantMatrix rows(const model::Tensor& t, std::int64_t index, std::int64_t first,
                     std::int64_t n) const override {
        const std::int64_t k = t.dims[0];
        std::vector<float> w(static_cast<std::size_t>(n * k));
        const float range = std::sqrt(3.0f / static_cast<float>(k));
        for (std::int64_t r = 0; r < n; ++r) {
            lab::Random random(seed_ ^ hash_of(t.name),
                               static_cast<std::uint64_t>(index * t.dims[1] + first + r));
            fill(random, range, w.data() + r * k, k);
        }
        return round_to_nearest(format(t), w, n, k);
    }

    std::vector<float> vector(const model::Tensor& t) const override {
        std::vector<float> v(static_cast<std::size_t>(t.elements()));
        lab::Random random(seed_, hash_of(t.name));
        fill(random, 0.1f, v.data(), t.elements());
        if (t.role != model::Role::bias)
            for (float& x : v) x += 1;
        return v;
    }

    std::int64_t distinct_panels(const model::Tensor& t) const override {
        return t.role == model::Role::router ? 0 : distinct_;
    }

  private:
    PanelFormat linear_, table_;
    std::uint64_t seed_;
    std::int64_t distinct_;
};

}  // namespace

std::unique_ptr<WeightSource> synthetic_weights(const EngineSettings& settings, std::uint64_t seed,
                                                std::int64_t distinct) {
    return std::make_unique<Synthetic>(settings, seed, distinct);
}

}  // namespace memwall::kernels
