#include "core/plan/mixed.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "core/base/error.h"
#include "core/model/catalog.h"
#include "core/quality/weight_quality.h"
#include "core/quant/recipe.h"
#include "tests/catch.h"

using namespace memwall;

namespace {

double loss_of(const model::Model& m, const std::vector<quant::Format>& formats) {
    const auto w =
        quality::weight_quality(m, formats, quality::RecipeInfo{"own", 16, 0, {}}, quality::Imatrix::with);
    double sum = 0;
    for (const auto& t : w.types) sum += t.share * t.loss;
    return sum;
}

}  // namespace

TEST_CASE("a mixed recipe keeps its budget and beats every file type that does", "[mixed]") {
    const unsigned seed = std::random_device{}();
    INFO("seed " << seed);
    std::mt19937 random(seed);
    for (const char* id : {"llama-3.2-1b", "qwen2.5-7b", "qwen3-30b-a3b", "qwen2.5-0.5b"}) {
        model::Model m = *model::load_catalog_model(id);
        quant::shape_for_recipe(quant::parse_recipe("Q4_K_M"), m);
        const auto bytes_at = [&](const char* recipe) {
            return quant::weights_bytes(m, quant::assign(quant::parse_recipe(recipe), m)).as_double();
        };
        const double low = bytes_at("Q4_K_S"), high = bytes_at("Q8_0");
        double last_loss = 1e9, last_budget = 0;
        std::vector<double> budgets;
        for (int i = 0; i < 8; ++i)
            budgets.push_back(low + (high - low) * static_cast<double>(random() % 1000) / 1000);
        std::sort(budgets.begin(), budgets.end());
        for (const double budget : budgets) {
            INFO(id << " in " << budget);
            const plan::MixedRecipe r =
                plan::mixed_recipe(m, "Q4_K_M", Bytes(static_cast<std::int64_t>(budget)));
            CHECK(r.weights.as_double() <= budget);
            // The string gives back the same formats, so the same bytes and loss.
            quant::AssignOptions options;
            for (const auto& [pattern, format] : r.tensor_types)
                options.overrides.push_back(quant::parse_override(pattern + "=" + format, "test"));
            const auto formats = quant::assign(quant::parse_recipe("Q4_K_M"), m, options);
            CHECK(quant::weights_bytes(m, formats) == r.weights);
            // In any order: some releases of llama-quantize take the first match, others the last.
            std::reverse(options.overrides.begin(), options.overrides.end());
            CHECK(quant::assign(quant::parse_recipe("Q4_K_M"), m, options) == formats);
            CHECK(loss_of(m, formats) == Approx(r.loss));
            CHECK(r.loss <= last_loss * (1 + 1e-9));  // more bytes never lose more
            last_loss = r.loss, last_budget = budget;
            for (const char* uniform : {"Q4_K_M", "Q4_K_S", "Q5_K_M", "Q5_K_S", "Q6_K", "IQ4_XS", "Q4_0"}) {
                // The output matrix differs between file types; give the mixed recipe as many bytes as that
                // has.
                const auto other = quant::assign(quant::parse_recipe(uniform), m);
                if (quant::weights_bytes(m, other).as_double() > budget) continue;
                INFO("against " << uniform);
                CHECK(r.loss <= loss_of(m, other) * 1.02);
            }
        }
        CHECK(last_budget > 0);
        CHECK_THROWS_AS(plan::mixed_recipe(m, "Q4_K_M", Bytes(1 << 20)), Error);
    }
}
