#include "core/plan/measured.h"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "core/base/byte_source.h"
#include "core/base/error.h"
#include "core/base/size_text.h"
#include "core/plan/placement.h"
#include "core/speed/calibrate.h"

namespace memwall::plan {
namespace {

using device::Measurement;

double rate(std::string_view text, const std::string& place) {
    double value = 0;
    const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (ec != std::errc() || end != text.data() + text.size() || !(value > 0 && value < 1e9))
        throw Error(place, fmt::format("'{}'", text), "tokens per second above 0");
    return value;
}

constexpr const char* kForm = "\"MODEL QUANT pp=.. tg=..\", a .json of llama-bench or a .log of llama.cpp";

/// A llama-bench row holds one test: a prompt (n_prompt) or a generation (n_gen) at a depth.
Measurement bench_row(const nlohmann::json& row, const std::string& place) {
    Measurement m;
    const std::string file = row.value("model_filename", std::string());
    m.model = file.substr(file.find_last_of('/') + 1);
    m.quant = row.value("model_type", std::string());
    const double speed = row.value("avg_ts", 0.0);
    const std::int64_t prompt = row.value("n_prompt", std::int64_t{0}),
                       generated = row.value("n_gen", std::int64_t{0});
    if (!(speed > 0) || (prompt > 0) == (generated > 0))
        throw Error(place, "a row without avg_ts, n_prompt or n_gen", "llama-bench -o json, pp and tg tests");
    if (prompt > 0) {
        m.prompt = prompt;
        m.prefill_per_second = speed;
    } else {
        m.context = row.value("n_depth", std::int64_t{0}) + generated / 2;  // the mean depth of the run
        m.decode_per_second = speed;
    }
    return m;
}

/// "prompt eval time =  1234.56 ms /  512 tokens (  2.41 ms per token,  414.72 tokens per second)", or "eval
/// time" with "runs"; nothing for other lines.
std::optional<Measurement> log_line(const std::string& line, const std::string& place) {
    const std::size_t at = line.find("eval time ="), slash = line.find(" ms /"),
                      per = line.find(" tokens per second");
    const std::size_t comma = line.rfind(',', per);
    if (at == std::string::npos || slash == std::string::npos || per == std::string::npos ||
        comma == std::string::npos || slash > comma)
        return std::nullopt;
    const auto word = [&](std::size_t from) {
        const std::size_t begin = line.find_first_not_of(' ', from);
        return line.substr(begin, line.find(' ', begin) - begin);
    };
    const std::int64_t tokens = parse_count(word(slash + 5), place);
    Measurement m;
    if (at >= 7 && line.compare(at - 7, 7, "prompt ") == 0) {
        m.prompt = tokens;
        m.prefill_per_second = rate(word(comma + 1), place);
    } else {
        m.context = tokens / 2;  // the mean depth of the run
        m.decode_per_second = rate(word(comma + 1), place);
    }
    return m;
}

}  // namespace

Measurement parse_measurement(const std::string& text, const std::string& place) {
    std::istringstream words(text);
    Measurement m;
    std::string word;
    m.source = place;
    if (!(words >> m.model >> m.quant) || m.quant.find('=') != std::string::npos)
        throw Error(place, fmt::format("'{}'", text), kForm);
    while (words >> word) {
        const std::size_t at = word.find('=');
        const std::string key = word.substr(0, at),
                          value = at == std::string::npos ? "" : word.substr(at + 1);
        if (key == "pp")
            m.prefill_per_second = rate(value, place);
        else if (key == "tg")
            m.decode_per_second = rate(value, place);
        else if (key == "context")
            m.context = parse_count(value, place);
        else if (key == "prompt")
            m.prompt = parse_count(value, place);
        else
            throw Error(place, fmt::format("'{}'", word), "pp=, tg=, context= or prompt=");
    }
    if (m.prefill_per_second == 0 && m.decode_per_second == 0) throw Error(place, "no rate", "pp= or tg=");
    return m;
}

std::vector<Measurement> import_measurements(const std::string& text, const std::string& place,
                                             const std::string& model, const std::string& quant) {
    std::vector<Measurement> rows;
    if (text.find_first_not_of(" \n\t") != std::string::npos &&
        text[text.find_first_not_of(" \n\t")] == '[') {
        const auto json = nlohmann::json::parse(text, nullptr, false);
        if (!json.is_array()) throw Error(place, "broken JSON", "llama-bench -o json");
        for (const auto& row : json) {
            if (!row.is_object()) throw Error(place, "a row that is no object", "llama-bench -o json");
            rows.push_back(bench_row(row, place));
        }
    } else {
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);)
            if (const auto m = log_line(line, place)) rows.push_back(*m);
    }
    if (rows.empty()) throw Error(place, "no measured run", kForm);
    for (Measurement& m : rows) {
        if (!model.empty()) m.model = model;
        if (!quant.empty()) m.quant = quant;
        m.source = place;
    }
    return rows;
}

void apply_measurements(Target& t, const Prepared& p, OpenModel open_model) {
    if (!t.machine_known) return;
    std::vector<Measurement> rows = t.device.measurements;
    for (const std::string& text : p.deployment.measured) {
        if (text.ends_with(".json") || text.ends_with(".log")) {
            // A file names no catalogue model; its runs are taken to be of the model that is planned.
            const auto imported =
                import_measurements(read_text_file(text), text, p.deployment.model, p.deployment.quant);
            rows.insert(rows.end(), imported.begin(), imported.end());
        } else {
            rows.push_back(parse_measurement(text, "--measured"));
        }
    }
    std::vector<speed::MeasuredRun> runs;
    for (const Measurement& m : rows) {
        Deployment d;
        d.model = m.model;
        d.quant = m.quant;
        d.runtime = p.deployment.runtime;
        d.context = m.context > 0 ? m.context : 128;
        const bool same = m.model == p.deployment.model && (m.quant == p.recipe || m.quant.empty());
        const Prepared other = same ? Prepared{} : prepare(open_model(m.model), d);
        const Prepared& run = same ? p : other;
        Knobs k;
        k.context = d.context;
        k.kv_k = k.kv_v = *quant::parse_kv_type("f16");
        k.prompt = m.prompt > 0 ? m.prompt : 512;
        speed::MeasuredRun r{run.workload, kv_traffic(run, k), speed_settings(run, k), m.decode_per_second,
                             m.prefill_per_second};
        runs.push_back(r);
    }
    if (!runs.empty()) speed::calibrate(t.machine, runs);
}

}  // namespace memwall::plan
