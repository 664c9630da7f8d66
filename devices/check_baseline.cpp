#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/version.h"
#include "devices/check.h"

namespace memwall::devices {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::string_view kSchema = "memwall/baseline/1";

}  // namespace

std::string write_baseline(const std::vector<CheckResult>& results) {
    Json j{{"schema", kSchema},
           {"memwall_version", kVersion},
           {"data_version", kDataVersion},
           {"checks", Json::array()}};
    for (const CheckResult& r : results) {
        if (!r.error.empty()) continue;
        j["checks"].push_back({{"name", r.check->name},
                               {"where", r.check->where},
                               {"catalogue", r.figures.catalogue},
                               {"bytes", r.figures.bytes},
                               {"rates", r.figures.rates},
                               {"facts", r.figures.facts}});
    }
    return j.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Baseline read_baseline(const std::string& text, const std::string& path) {
    const Json j = Json::parse(text, nullptr, false);
    if (!j.is_object() || j.value("schema", "") != kSchema)
        throw Error(path, "no baseline",
                    fmt::format("the output of `memwall check --update-baseline` ({})", kSchema));
    Baseline b;
    try {
        b.memwall_version = j.at("memwall_version");
        b.data_version = j.at("data_version");
        for (const Json& c : j.at("checks")) {
            Figures f;
            f.catalogue = c.at("catalogue");
            f.bytes = c.at("bytes").get<std::map<std::string, std::int64_t>>();
            f.rates = c.at("rates").get<std::map<std::string, double>>();
            f.facts = c.at("facts").get<std::map<std::string, std::string>>();
            b.figures[c.at("name").get<std::string>() + " | " + c.at("where").get<std::string>()] =
                std::move(f);
        }
    } catch (const Json::exception& e) {
        throw Error(path, e.what(), "a baseline as `memwall check --update-baseline` writes it");
    }
    return b;
}

}  // namespace memwall::devices
