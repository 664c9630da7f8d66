// tests/data/model_facts.json: configurations of published models with their parameter counts and cache
// sizes.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>

inline const nlohmann::json& model_facts() {
    static const nlohmann::json models = [] {
        nlohmann::json all;
        std::ifstream(MEMWALL_TEST_DATA "/model_facts.json") >> all;
        return all.at("models");
    }();
    return models;
}

/// Elements that a checkpoint stores beyond the config's model: a second copy of a tied output, FP8 scales.
inline std::int64_t stored_beside(const nlohmann::json& fact) {
    std::int64_t sum = 0;
    if (fact.contains("stored_extra"))
        for (const char* key : {"second_copy_of_tied_output", "fp8_block_scales"})
            sum += fact["stored_extra"].value(key, std::int64_t{0});
    return sum;
}
