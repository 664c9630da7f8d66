#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/version.h"
#include "kernels/lab/choice.h"
#include "kernels/lab/lab_view.h"

namespace memwall::lab {
namespace {

using Json = nlohmann::ordered_json;

/// null for an infinite ratio: nothing was lost.
Json db(double x) {
    return std::isfinite(x) ? Json(x) : Json(nullptr);
}

Json outliers_json(const Outliers& o) {
    return {{"excess_kurtosis", o.excess_kurtosis},
            {"group_max_over_rms", o.group_max_over_rms},
            {"max_over_rms", o.max_over_rms},
            {"top_thousandth_energy", o.top_energy},
            {"channel_max_over_median", o.channel_ratio},
            {"outlier_channels", o.channels},
            {"rotation_gain_db", o.rotation_gain_db},
            {"heavy_tails", o.heavy()},
            {"rotation_helps", o.rotate()}};
}

Json layer_json(const LayerReport& l) {
    Json j{{"rows", l.rows},
           {"channels", l.channels},
           {"calibration_tokens", l.calibration_tokens},
           {"unseen_tokens", l.unseen_tokens},
           {"inputs_int8_error", l.inputs_int8}};
    j["inputs_q8_0_error"] = l.inputs_q8_0 > 0 ? Json(l.inputs_q8_0) : Json(nullptr);
    j["formats"] = Json::array();
    for (const LayerError& e : l.formats)
        j["formats"].push_back(
            {{"format", e.format},
             {"bits_per_weight", e.bits},
             {"calibration", {{"rounding", e.rounding}, {"gptq", e.gptq}, {"awq", e.awq}}},
             {"unseen", {{"rounding", e.rounding_unseen}, {"gptq", e.gptq_unseen}, {"awq", e.awq_unseen}}},
             {"awq_alpha", e.awq_alpha},
             {"awq_clipped", e.awq_clipped}});
    return j;
}

Json tensor_json(const LabReport& r, const TensorReport& t) {
    Json j{{"name", t.name},    {"stored", t.stored},      {"rows", t.total_rows},
           {"columns", t.cols}, {"measured_rows", t.rows}, {"outliers", outliers_json(t.outliers)}};
    const auto best = smallest_method(r, t);
    j["smallest_format"] = best ? Json(r.methods[*best].name) : Json(nullptr);
    j["formats"] = Json::array();
    for (std::size_t m = 0; m < r.methods.size(); ++m) {
        const WeightError& e = t.errors[m];
        Json row{{"format", r.methods[m].name}, {"fits", e.fits}};
        if (e.fits)
            row.update({{"sqnr_db", db(e.sqnr_db)},
                        {"worst_decile_db", db(e.worst_decile_db)},
                        {"worst_row_db", db(e.worst_row_db)},
                        {"worst_row", e.worst_row}});
        j["formats"].push_back(std::move(row));
    }
    if (t.layer) j["layer"] = layer_json(*t.layer);
    return j;
}

}  // namespace

std::string lab_json(const LabReport& r) {
    Json j{
        {"schema", "memwall/quantize-lab/1"}, {"memwall_version", kVersion}, {"data_version", kDataVersion}};
    j.update({{"source", r.source}, {"seed", r.seed}, {"limit_db", r.limit_db}});
    j["layer_inputs"] = r.synthetic_inputs ? "synthetic" : "given";
    j["methods"] = Json::array();
    for (const Method& m : r.methods) j["methods"].push_back({{"name", m.name}, {"bits_per_weight", m.bits}});
    j["tensors"] = Json::array();
    for (const TensorReport& t : r.tensors) j["tensors"].push_back(tensor_json(r, t));
    j["kv"] = Json::array();
    for (const KvReport& head : r.kv) {
        Json rows = Json::array();
        for (const KvError& e : head.errors)
            rows.push_back({{"half", e.keys ? "k" : "v"},
                            {"format", e.format},
                            {"rotated", e.rotated},
                            {"bits_per_value", e.bits},
                            {"logit_rms_error", e.logit_rms},
                            {"softmax_kl_nats", e.softmax_kl},
                            {"output_error", e.output_error}});
        j["kv"].push_back({{"head", head.head}, {"formats", std::move(rows)}});
    }
    j["notes"] = r.notes;
    j["choices"] = r.choices;
    return j.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace memwall::lab
