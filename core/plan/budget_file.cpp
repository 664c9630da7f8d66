#include "core/plan/budget_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <set>

#include "core/base/error.h"
#include "core/base/size_text.h"
#include "core/plan/options.h"

namespace memwall::plan {
namespace {

constexpr std::string_view kSchema = "memwall/budgets/1";
constexpr std::array<std::string_view, 3> kExpectations{"must_fit", "must_not_fit", "any"};
constexpr std::size_t kMostChecks = 10'000;

/// An entry before its lists are multiplied out: each key with one or several values.
struct Setting {
    std::string key;
    std::vector<std::string> values;
    std::string place;
};

class Reader {
  public:
    Reader(const std::string& text, const std::string& path) : path_(path) {
        try {
            top_ = YAML::Load(text);
        } catch (const YAML::ParserException& e) {
            throw Error(fmt::format("{}:{}", path, e.mark.line + 1), e.msg, "YAML");
        }
        if (!top_.IsMap() || !top_["schema"] || !top_["schema"].IsScalar() ||
            top_["schema"].Scalar() != kSchema)
            throw Error(path + ":1", "no budgets", fmt::format("'schema: {}'", kSchema));
    }

    BudgetFile read() {
        BudgetFile file{path_, {}};
        YAML::Node checks;
        for (const auto& item : top_) {
            const std::string key = scalar(item.first);
            if (key == "schema") continue;
            if (key == "defaults")
                defaults_ = item.second;
            else if (key == "devices")
                devices_ = texts(item.second);
            else if (key == "checks")
                checks = item.second;
            else
                fail(item.first, "'" + key + "'", "schema, defaults, devices or checks");
        }
        if (!checks || !checks.IsSequence() || checks.size() == 0)
            throw Error(path_ + ":1", "no checks", "a list under 'checks:'");
        for (const YAML::Node& node : checks) {
            if (!node.IsMap()) fail(node, "no map", "a check: name, model, limits ...");
            add_checks(file, node);
            if (file.checks.size() > kMostChecks)
                fail(node, "more than 10,000 checks", "fewer values in lists");
        }
        std::set<std::pair<std::string, std::string>> seen;
        for (const Check& c : file.checks)
            if (!seen.insert({c.name, c.where}).second)
                throw Error(fmt::format("{}:{}", path_, c.line),
                            fmt::format("a second '{}' ({})", c.name, c.where), "another name");
        return file;
    }

  private:
    [[noreturn]] void fail(const YAML::Node& at, const std::string& found,
                           const std::string& expected) const {
        throw Error(place(at), found, expected);
    }
    std::string place(const YAML::Node& at) const { return fmt::format("{}:{}", path_, at.Mark().line + 1); }
    std::string scalar(const YAML::Node& node) const {
        if (!node.IsScalar()) fail(node, "a list or map", "a single value");
        return node.Scalar();
    }
    std::vector<std::string> texts(const YAML::Node& node) const {
        std::vector<std::string> list;
        if (node.IsScalar()) return {node.Scalar()};
        if (!node.IsSequence() || node.size() == 0) fail(node, "no value", "a value or a list");
        for (const YAML::Node& x : node) list.push_back(scalar(x));
        return list;
    }

    /// Options of deployments; `limits` and the like go to `c`.
    void read_entry(const YAML::Node& node, Check& c, std::vector<Setting>& settings,
                    std::vector<std::string>& devices, std::vector<YAML::Node>& together) const {
        for (const auto& item : node) {
            const std::string key = scalar(item.first);
            const YAML::Node& value = item.second;
            const std::string at = place(item.first);
            if (key == "name")
                c.name = scalar(value);
            else if (key == "devices" || key == "device")
                devices = texts(value);
            else if (key == "together") {
                if (!value.IsSequence() || value.size() < 2)
                    fail(item.first, "fewer than two", "deployments that run together");
                for (const YAML::Node& x : value) together.push_back(x);
            } else if (key == "expect") {
                const auto it = std::find(kExpectations.begin(), kExpectations.end(), scalar(value));
                if (it == kExpectations.end())
                    fail(value, "'" + scalar(value) + "'", "must_fit, must_not_fit or any");
                c.expectation = static_cast<Expectation>(it - kExpectations.begin());
            } else if (key == "margin") {
                std::string text = scalar(value);
                const bool percent = !text.empty() && text.back() == '%';
                if (percent) text.pop_back();
                try {
                    c.margin = std::stod(text) / (percent ? 100 : 1);
                } catch (const std::exception&) {
                    c.margin = -1;
                }
                if (!(c.margin >= 0 && c.margin < 1))
                    fail(value, "'" + scalar(value) + "'", "a share from 0% to 99%");
            } else if (key == "limits") {
                read_limits(value, c);
            } else if (key == "model" || find_option(key)) {
                const auto same = [&](const Setting& s) { return s.key == key; };
                settings.erase(std::remove_if(settings.begin(), settings.end(), same), settings.end());
                Setting s{key, {}, at};
                if (value.IsMap()) {  // runtime_options: {n_ctx: 8192}
                    for (const auto& x : value) s.values.push_back(scalar(x.first) + "=" + scalar(x.second));
                    s.key += "{}";
                } else {
                    s.values = texts(value);
                }
                settings.push_back(std::move(s));
            } else {
                fail(item.first, "'" + key + "'",
                     "an option of memwall plan, name, devices, together, expect, limits or margin");
            }
        }
    }

    void read_limits(const YAML::Node& node, Check& c) const {
        if (node.IsScalar() && node.Scalar() == "none") {  // those of `defaults` too
            c.limits = {}, c.min_headroom = {}, c.min_max_context = 0, c.decided = false;
            return;
        }
        if (!node.IsMap()) fail(node, "no map", "limits: none, or {max_memory: 3GiB, min_decode: 8 ...}");
        for (const auto& item : node) {
            const std::string key = scalar(item.first), value = scalar(item.second), at = place(item.first);
            if (key == "min_headroom") {
                c.min_headroom = parse_bytes(value, at);
            } else if (key == "min_max_context") {
                c.min_max_context = parse_count(value, at);
            } else if (const DecisionOption* o = find_decision_option(key);
                       o && key != "preset" && key != "priority") {
                Demands d;
                d.limits = c.limits;
                o->set(d, value, at);
                c.limits = d.limits;
                if (key == "confidence") c.decided = true;
            } else {
                fail(item.first, "'" + key + "'",
                     "max_memory, min_headroom, min_decode, max_ttft, max_job, max_load, max_energy, "
                     "min_context, "
                     "min_max_context, min_quality or confidence");
            }
        }
    }

    void apply(Deployment& d, const std::string& key, const std::string& value, const std::string& at) const {
        if (key == "model")
            d.model = value;
        else
            find_option(key)->set(d, value, at);
    }

    /// All combinations of the lists, as one check each.
    void add_checks(BudgetFile& file, const YAML::Node& node) const {
        Check base;
        base.line = static_cast<int>(node.Mark().line) + 1;
        std::vector<Setting> settings;
        std::vector<std::string> devices = devices_;
        std::vector<YAML::Node> together;
        if (!defaults_.IsNull()) {
            if (!defaults_.IsMap()) fail(defaults_, "no map", "options and limits");
            read_entry(defaults_, base, settings, devices, together);
        }
        read_entry(node, base, settings, devices, together);
        if (base.name.empty()) base.name = fmt::format("check {}", file.checks.size() + 1);
        if (devices.empty()) fail(node, "no device", "devices: [...] here, in defaults or at the top");
        if (together.empty() &&
            std::none_of(settings.begin(), settings.end(), [](const Setting& s) { return s.key == "model"; }))
            fail(node, "no model", "model: ID or FILE");

        std::size_t combinations = 1;
        const auto multiplied = [](const Setting& s) {
            const Option* o = find_option(s.key);
            return s.values.size() > 1 && !s.key.ends_with("{}") && !(o && o->repeatable);
        };
        for (const Setting& s : settings) {
            if (multiplied(s)) combinations *= s.values.size();
            if (combinations > kMostChecks) fail(node, "more than 10,000 checks", "fewer values in lists");
        }
        for (const std::string& device : devices)
            for (std::size_t n = 0; n < combinations; ++n) {
                Check c = base;
                c.where = device;
                Deployment d;
                d.device = device;
                std::size_t rest = n;
                for (const Setting& s : settings) {
                    if (multiplied(s)) {
                        const std::string& value = s.values[rest % s.values.size()];
                        rest /= s.values.size();
                        apply(d, s.key, value, s.place);
                        c.where += fmt::format(", {} {}", s.key, value);
                    } else {
                        const std::string key =
                            s.key.ends_with("{}") ? s.key.substr(0, s.key.size() - 2) : s.key;
                        for (const std::string& value : s.values) apply(d, key, value, s.place);
                    }
                }
                if (together.empty()) {
                    c.deployments = {d};
                } else {
                    for (const YAML::Node& one : together) {
                        Deployment own = d;
                        if (!one.IsMap()) fail(one, "no map", "a deployment: model, quant ...");
                        for (const auto& item : one) {
                            const std::string key = scalar(item.first);
                            if (key != "model" && !find_option(key))
                                fail(item.first, "'" + key + "'", "an option of memwall plan");
                            for (const std::string& value : texts(item.second))
                                apply(own, key, value, place(item.first));
                        }
                        if (own.model.empty()) fail(one, "no model", "model: ID or FILE");
                        c.deployments.push_back(std::move(own));
                    }
                }
                file.checks.push_back(std::move(c));
            }
    }

    std::string path_;
    YAML::Node top_, defaults_;
    std::vector<std::string> devices_;
};

}  // namespace

std::string_view expectation_name(Expectation e) {
    return kExpectations[static_cast<std::size_t>(e)];
}

BudgetFile read_budgets(const std::string& text, const std::string& path) {
    return Reader(text, path).read();
}

std::string first_budgets(const std::vector<std::string>& models, const std::vector<std::string>& devices) {
    std::string out = fmt::format(
        "# Sizing checks: run them with `memwall check FILE`. docs/check.md explains every key.\n"
        "schema: {}\n"
        "devices: [{}]\n"
        "defaults:\n"
        "  limits: {{min_headroom: 128MiB}}\n"
        "checks:\n",
        kSchema, fmt::join(devices, ", "));
    for (const std::string& m : models)
        out += fmt::format("  - name: {}\n    model: {}\n    context: 4096\n    expect: must_fit\n", m, m);
    return out;
}

}  // namespace memwall::plan
