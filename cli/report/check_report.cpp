#include "cli/report/check_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "cli/report/xml.h"
#include "core/base/version.h"
#include "core/view/json_parts.h"
#include "core/view/text_table.h"

namespace memwall::cli {
namespace {

using devices::CheckResult;
using devices::Judgement;
using devices::Outcome;
using view::Json;

Outcome counted(const CheckRun& run, Outcome o) {
    return o == Outcome::undecided && run.undecided_passes ? Outcome::passed : o;
}

/// Of all judgements those that say something is wrong, or the error.
std::vector<Judgement> problems(const CheckRun& run, const CheckResult& r) {
    if (!r.error.empty()) return {{"plan", Outcome::failed, r.error}};
    std::vector<Judgement> list;
    for (const Judgement& j : r.judgements)
        if (counted(run, j.outcome) != Outcome::passed) list.push_back(j);
    return list;
}

std::string title(const CheckResult& r) {
    return fmt::format("{} ({})", r.check->name, r.check->where);
}

std::string sentence(const Judgement& j) {
    return j.limit + (j.outcome == Outcome::undecided ? " undecided: " : ": ") + j.text;
}

struct Counts {
    std::size_t passed = 0, failed = 0, undecided = 0;
};

Counts count(const CheckRun& run) {
    Counts c;
    for (const CheckResult& r : run.results) {
        const Outcome o = counted(run, r.outcome);
        ++(o == Outcome::passed ? c.passed : o == Outcome::failed ? c.failed : c.undecided);
    }
    return c;
}

std::string total(const CheckRun& run) {
    const Counts c = count(run);
    return fmt::format("{} passed, {} failed, {} undecided", c.passed, c.failed, c.undecided);
}

/// A path as a relative reference of RFC 3986: a colon would end a scheme.
std::string uri(const std::string& path) {
    std::string out;
    for (const char c : path)
        if (std::isalnum(static_cast<unsigned char>(c)) ||
            std::string_view("-._~/").find(c) != std::string_view::npos)
            out += c;
        else
            out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    return out;
}

/// GitHub's escapes of workflow commands; properties escape two characters more.
std::string github(const std::string& text, bool property) {
    std::string out;
    for (const char c : text) switch (c) {
            case '%':
                out += "%25";
                break;
            case '\r':
                out += "%0D";
                break;
            case '\n':
                out += "%0A";
                break;
            case ':':
                out += property ? "%3A" : ":";
                break;
            case ',':
                out += property ? "%2C" : ",";
                break;
            default:
                out += c;
        }
    return out;
}

}  // namespace

std::string check_text(const CheckRun& run, bool colour, std::size_t width) {
    using view::Style;
    using view::styled;
    view::TextTable t{{"", "check", "where", "why"}, {}};
    for (const CheckResult& r : run.results) {
        const Outcome o = counted(run, r.outcome);
        const auto wrong = problems(run, r);
        const std::string mark = o == Outcome::passed ? "ok" : o == Outcome::failed ? "FAIL" : "?";
        t.rows.push_back(
            {mark, r.check->name, r.check->where, wrong.empty() ? r.summary : sentence(wrong.front())});
        for (std::size_t i = 1; i < wrong.size(); ++i) t.rows.push_back({"", "", "", sentence(wrong[i])});
    }
    std::string out = view::plain_table(t, colour, width);
    if (!run.differences.empty()) {
        out += "\n" + styled("Against the baseline", Style::bold, colour) + "\n";
        for (const devices::Difference& d : run.differences)
            out += fmt::format("  {} {} ({}): {}\n",
                               d.data         ? "data"
                               : d.regression ? "WORSE"
                                              : "note",
                               d.name, d.where, d.text);
    }
    const Counts c = count(run);
    out += "\n" +
           styled(total(run),
                  c.failed      ? Style::bad
                  : c.undecided ? Style::warn
                                : Style::good,
                  colour) +
           "\n";
    return out;
}

std::string check_json(const CheckRun& run) {
    Json j = view::document("memwall/check/1");
    const Counts c = count(run);
    j["file"] = run.file.path;
    j["passed"] = c.passed;
    j["failed"] = c.failed;
    j["undecided"] = c.undecided;
    j["checks"] = Json::array();
    for (const CheckResult& r : run.results) {
        Json x{{"name", r.check->name}, {"where", r.check->where},
               {"line", r.check->line}, {"outcome", devices::outcome_name(r.outcome)},
               {"command", r.command},  {"limits", Json::array()}};
        if (!r.error.empty()) x["error"] = r.error;
        for (const Judgement& g : r.judgements)
            x["limits"].push_back(
                {{"limit", g.limit}, {"outcome", devices::outcome_name(g.outcome)}, {"text", g.text}});
        x["bytes"] = r.figures.bytes;
        x["rates"] = r.figures.rates;
        j["checks"].push_back(std::move(x));
    }
    j["differences"] = Json::array();
    for (const devices::Difference& d : run.differences)
        j["differences"].push_back({{"name", d.name},
                                    {"where", d.where},
                                    {"text", d.text},
                                    {"regression", d.regression},
                                    {"data", d.data}});
    return j.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string check_junit(const CheckRun& run) {
    std::size_t failures = 0, errors = 0;
    for (const CheckResult& r : run.results)
        if (!r.error.empty())
            ++errors;
        else if (counted(run, r.outcome) != Outcome::passed)
            ++failures;
    std::string out = fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
        "<testsuite name=\"memwall check {}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"0\" "
        "time=\"0\">\n",
        escaped(run.file.path), run.results.size(), failures, errors);
    for (const CheckResult& r : run.results) {
        out += fmt::format("<testcase name=\"{}\" classname=\"{}\" time=\"0\"", escaped(r.check->where),
                           escaped(r.check->name));
        const auto wrong = problems(run, r);
        if (wrong.empty()) {
            out += "/>\n";
            continue;
        }
        std::string all;
        for (const Judgement& j : wrong) all += sentence(j) + "\n";
        const char* kind = r.error.empty() ? "failure" : "error";
        out += fmt::format(">\n<{0} message=\"{1}\" type=\"{2}\">{3}</{0}>\n</testcase>\n", kind,
                           escaped(sentence(wrong.front())), escaped(wrong.front().limit), escaped(all));
    }
    return out + "</testsuite>\n</testsuites>\n";
}

std::string check_sarif(const CheckRun& run) {
    Json rules = Json::array(), results = Json::array();
    std::vector<std::string> known;
    const auto add = [&](const std::string& rule, const char* level, const std::string& text, int line) {
        if (std::find(known.begin(), known.end(), rule) == known.end()) {
            known.push_back(rule);
            rules.push_back({{"id", rule}, {"shortDescription", {{"text", "memwall limit " + rule}}}});
        }
        results.push_back({{"ruleId", rule},
                           {"level", level},
                           {"message", {{"text", text}}},
                           {"locations",
                            {{{"physicalLocation",
                               {{"artifactLocation", {{"uri", uri(run.file.path)}}},
                                {"region", {{"startLine", line}}}}}}}}});
    };
    for (const CheckResult& r : run.results)
        for (const Judgement& j : problems(run, r))
            add(j.limit, j.outcome == Outcome::failed ? "error" : "warning", title(r) + ": " + sentence(j),
                r.check->line);
    for (const devices::Difference& d : run.differences)
        if (d.regression && !d.data)
            for (const CheckResult& r : run.results)
                if (r.check->name == d.name && r.check->where == d.where)
                    add("baseline", "warning", title(r) + ": " + d.text, r.check->line);
    const Json j{{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                 {"version", "2.1.0"},
                 {"runs",
                  {{{"tool", {{"driver", {{"name", "memwall"}, {"version", kVersion}, {"rules", rules}}}}},
                    {"results", results}}}}};
    return j.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string check_github(const CheckRun& run) {
    std::string out;
    for (const CheckResult& r : run.results)
        for (const Judgement& j : problems(run, r))
            out +=
                fmt::format("::{} file={},line={},title={}::{}\n",
                            j.outcome == Outcome::failed ? "error" : "warning", github(run.file.path, true),
                            r.check->line, github(title(r), true), github(sentence(j), false));
    for (const devices::Difference& d : run.differences)
        if (d.regression)
            out += fmt::format("::{} file={},title={}::{}\n", d.data ? "notice" : "warning",
                               github(run.file.path, true),
                               github(fmt::format("{} ({})", d.name, d.where), true), github(d.text, false));
    return out + "::notice title=memwall check::" + total(run) + "\n";
}

std::string check_markdown(const CheckRun& run) {
    view::TextTable t{{"", "check", "where", "needed", "why"}, {}};
    for (const CheckResult& r : run.results) {
        const Outcome o = counted(run, r.outcome);
        std::string all;
        for (const Judgement& j : problems(run, r)) all += (all.empty() ? "" : "<br>") + sentence(j);
        t.rows.push_back({o == Outcome::passed   ? "✅"
                          : o == Outcome::failed ? "❌"
                                                 : "❓",
                          r.check->name, r.check->where, r.summary, all});
    }
    std::string out = fmt::format("## memwall check: {}\n\n", total(run)) + view::markdown_table(t);
    if (!run.differences.empty()) {
        out += "\n### Against the baseline\n\n";
        for (const devices::Difference& d : run.differences)
            out += fmt::format("- {}**{}** ({}): {}\n", d.regression && !d.data ? "⚠️ " : "", d.name,
                               d.where, d.text);
    }
    return out;
}

}  // namespace memwall::cli
