#include "cli/require_view.h"

#include <fmt/format.h>

#include "core/base/size_text.h"
#include "core/plan/options.h"
#include "core/view/json_parts.h"
#include "core/view/quantity_text.h"
#include "core/view/text_table.h"

namespace memwall::cli {
namespace {

std::string change(double before, double after, std::string (*print)(double)) {
    if (before == after) return print(before);
    return fmt::format("{} -> {}", print(before), print(after));
}

std::string deployed(const devices::Opened& o, const devices::Requirement& r) {
    plan::Deployment d = o.deployment;
    for (const std::string& s : r.set) d.set.push_back(s);
    return plan::command_line(d);
}

}  // namespace

std::string requirement_text(const devices::Opened& o, const plan::Demands& demands,
                             const devices::Requirement& r,
                             const std::vector<devices::Sensitivity>& sensitivities, bool colour,
                             std::size_t width) {
    using view::styled;
    std::string out = fmt::format("{} on a device like {}\n\n", o.model.id, o.deployment.device);
    if (r.unreachable) {
        const std::string word = "Out of reach: ";
        const auto lines = view::wrapped(word + *r.unreachable, view::text_columns(width));
        for (std::size_t i = 0; i < lines.size(); ++i)
            out += (i == 0 ? styled(word, view::Style::bad, colour) + lines[i].substr(word.size())
                           : "    " + lines[i]) +
                   "\n";
        out += fmt::format("memory alone: {}\n", bytes_text(r.memory));
    } else {
        view::TextTable t{{"needs", ">at least", "for"}, {}};
        t.rows.push_back({"memory", bytes_text(r.memory), "verdict fits"});
        if (r.bandwidth.value > 0) {
            const std::string sure =
                demands.limits.confidence == 0.5
                    ? "central estimates"
                    : fmt::format("{:.3g} % confidence", 100 * demands.limits.confidence);
            t.rows.push_back({"bandwidth", rate_text(r.bandwidth), sure});
            if (r.compute.value > 0)
                t.rows.push_back({"compute (" + r.compute_name + ")", ops_text(r.compute),
                                  fmt::format("{:.3g} of the device's", r.compute_factor)});
        }
        out += view::plain_table(t, colour, width);
        std::string there;
        if (r.plan.speed.decode_known)
            there = fmt::format("There it decodes {} tokens/s ({})", view::text(r.plan.speed.decode),
                                view::range_text(r.plan.speed.decode));
        if (r.plan.speed.prefill_known)
            there +=
                fmt::format(", first token after {} ({})", seconds_text(r.plan.speed.first_token.central),
                            view::range_text(r.plan.speed.first_token));
        out += "\n" + view::hung("", there, width);
        out += "\n" + styled("See it: ", view::Style::bold, colour) + deployed(o, r) + "\n";
    }
    if (!sensitivities.empty()) {
        view::TextTable t{{"more", ">tokens/s", ">first token", ">largest context"}, {}};
        for (const devices::Sensitivity& s : sensitivities)
            t.rows.push_back({s.change,
                              s.timed ? change(s.decode_before, s.decode_after,
                                               [](double x) { return view::number_text(x); })
                                      : "unknown",
                              s.timed ? change(s.first_token_before, s.first_token_after,
                                               [](double x) { return seconds_text(Seconds(x)); })
                                      : "unknown",
                              change(static_cast<double>(s.context_before),
                                     static_cast<double>(s.context_after), [](double x) {
                                         return x == 0 ? "does not fit"
                                                       : count_text(static_cast<std::int64_t>(x));
                                     })});
        out += "\n" +
               styled("What more of one resource buys on the device as it is:", view::Style::bold, colour) +
               "\n" + view::plain_table(t, colour, width);
    }
    return out;
}

std::string requirement_json(const devices::Opened& o, const plan::Demands& demands,
                             const devices::Requirement& r,
                             const std::vector<devices::Sensitivity>& sensitivities) {
    using view::Json;
    Json j = view::document("memwall/require/1");
    const plan::Constraints& c = demands.limits;
    j["model"] = o.model.id;
    j["device"] = o.deployment.device;
    j["limits"] = {{"min_decode_tokens_per_second", c.min_decode},
                   {"max_ttft_seconds", c.max_ttft},
                   {"max_job_seconds", c.max_job},
                   {"max_energy_joules", c.max_energy},
                   {"max_memory_bytes", c.max_memory.value},
                   {"max_load_seconds", c.max_load},
                   {"min_context", c.min_context},
                   {"min_quality", c.min_quality},
                   {"confidence", c.confidence}};
    j["memory_bytes"] = r.memory.value;
    j["reachable"] = !r.unreachable;
    if (r.unreachable) {
        j["reason"] = *r.unreachable;
    } else if (r.bandwidth.value > 0) {
        j["bandwidth_bytes_per_second"] = r.bandwidth.value;
        if (r.compute.value > 0) {
            j["compute_ops_per_second"] = r.compute.value;
            j["compute_rate"] = r.compute_name;
        }
        j["compute_factor"] = r.compute_factor;
    }
    j["set"] = r.set;
    j["command"] = deployed(o, r);
    if (r.plan.speed.decode_known) j["decode_tokens_per_second"] = view::quantity(r.plan.speed.decode);
    if (r.plan.speed.prefill_known)
        j["time_to_first_token_seconds"] = view::quantity(r.plan.speed.first_token);
    j["sensitivities"] = Json::array();
    for (const devices::Sensitivity& s : sensitivities) {
        Json x{{"change", s.change}};
        if (s.timed) {
            x["decode_tokens_per_second"] = {{"before", s.decode_before}, {"after", s.decode_after}};
            x["time_to_first_token_seconds"] = {{"before", s.first_token_before},
                                                {"after", s.first_token_after}};
        }
        x["max_context_tokens"] = {{"before", s.context_before}, {"after", s.context_after}};
        j["sensitivities"].push_back(std::move(x));
    }
    return j.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace memwall::cli
