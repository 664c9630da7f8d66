// The text of a config.json as transformers writes it. Internal to the readers: includes the JSON library.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace memwall::model {

/// The object of a config.json. Python's json module writes Infinity and NaN, which JSON does not have
/// (`time_step_limit` of Mamba-2 models): they count as null. Throws Error with place and line on text that
/// is no JSON, no object, deeper than 64 levels, larger than 16 MiB or holds a number beyond any double.
nlohmann::json parse_config_text(const std::string& text, const std::string& place);

}  // namespace memwall::model
