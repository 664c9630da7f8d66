#include "gui/model/choices.h"

#include <QCoreApplication>
#include <QFileInfo>
#include <QStringList>
#include <algorithm>

#include "core/base/error.h"
#include "core/base/size_text.h"
#include "core/model/catalog.h"
#include "core/model/model.h"
#include "core/plan/options.h"
#include "core/plan/search.h"
#include "core/quant/recipe.h"
#include "core/view/quality_view.h"
#include "core/view/quantity_text.h"
#include "devices/catalog.h"
#include "devices/recommend.h"
#include "gui/model/numbers.h"

namespace memwall::gui {
namespace {

struct Words {
    Q_DECLARE_TR_FUNCTIONS(choices)
};

Choice row(const QString& value, const QString& label = {}, const QString& about = {}) {
    Choice c;
    c.value = value;
    c.label = label.isEmpty() ? value : label;
    c.about = about;
    return c;
}

std::vector<Choice> models(const QStringList& recent) {
    std::vector<Choice> rows;
    for (const QString& file : recent)
        if (!file.endsWith(".yaml") && !file.endsWith(".yml") && QFileInfo::exists(file))
            rows.push_back(row(file, QFileInfo(file).fileName(), Words::tr("file")));
    for (const std::string_view id : model::catalog_ids()) rows.push_back(row(text_of(id)));
    return rows;
}

std::vector<Choice> device_rows() {
    std::vector<Choice> rows{row("host", Words::tr("host (this machine)"))};
    const auto add = [&](const QString& id, const std::vector<Bytes>& sizes, const QString& about) {
        if (sizes.size() < 2) {
            rows.push_back(row(id, {}, about));
            return;
        }
        for (const Bytes size : sizes) {
            // "8GiB", as resolve_device() reads it.
            const QString text = text_of(bytes_text(size)).remove(' ').replace(".00", "").replace(".0G", "G");
            rows.push_back(row(id + ":" + text, {}, about));
        }
    };
    for (const devices::DeviceSummary& d : devices::list_devices())
        add(text_of(d.id), d.sizes, d.bandwidth.value > 0 ? text_of(rate_text(d.bandwidth)) : QString());
    for (const devices::Product& p : devices::list_products())
        add(text_of(p.alias), p.sizes, text_of(p.name));
    return rows;
}

std::vector<Choice> recipes(const devices::Planned& p) {
    std::vector<Choice> rows;
    if (p.prepared.model.tensors_from_file) rows.push_back(row("", Words::tr("as stored")));
    std::vector<std::string> names = p.prepared.runtime.profile->suggested_recipes;
    if (!p.prepared.recipe_from_file &&
        std::find(names.begin(), names.end(), p.prepared.recipe) == names.end())
        names.insert(names.begin(), p.prepared.recipe);
    for (const std::string& name : names) rows.push_back(row(text_of(name)));
    return rows;
}

std::vector<Choice> drafts(const devices::Planned& p) {
    std::vector<Choice> rows{row("", Words::tr("none"))};
    const std::int64_t size = model::text_parameters(p.prepared.model);
    std::vector<const plan::DraftModel*> family;
    for (const plan::DraftModel& m : devices::catalogue_drafts())
        if (!m.family.empty() && m.family == p.prepared.model.family && m.parameters * 2 < size)
            family.push_back(&m);
    std::sort(family.begin(), family.end(),
              [](const auto* a, const auto* b) { return a->parameters < b->parameters; });
    for (const plan::DraftModel* m : family)
        rows.push_back(row(text_of(m->id), {}, text_of(view::parameters_text(m->parameters))));
    return rows;
}

/// "on|off|auto" as rows, with the default named.
std::vector<Choice> words(const plan::Option& option) {
    std::vector<Choice> rows;
    const QString list = text_of(option.value);
    if (!list.contains('|') || list.contains("FILE") || list.contains("N|")) return rows;
    plan::Deployment fresh;
    const QString usual = text_of(option.get(fresh));
    for (const QString& word : list.split('|')) {
        plan::Deployment d;
        option.set(d, word.toStdString(), "");
        const bool is_default = text_of(option.get(d)) == usual && !text_of(option.help).contains("usual");
        rows.push_back(row(is_default ? QString() : word, word));
    }
    return rows;
}

/// What is needed in all pools together: what a verdict is about.
Interval<Bytes> footprint(const devices::Planned& p) {
    return plan::candidate_of(p.plan, p.knobs).footprint;
}

/// What the deployment resolves to now, as the option would be typed.
QString resolved(const QString& option, const plan::Deployment& d, const devices::Planned& p) {
    if (option == "model") return text_of(d.model);
    if (option == "quant") return p.prepared.recipe_from_file ? QString() : text_of(p.prepared.recipe);
    if (option == "kv-k") return text_of(p.knobs.kv_k.name);
    if (option == "kv-v") return text_of(p.knobs.kv_v.name);
    if (option == "runtime") return text_of(p.prepared.runtime.profile->name);
    if (option == "device") return text_of(d.device);
    const plan::Option* o = plan::find_option(option.toStdString());
    return o ? text_of(o->get(d)) : QString();
}

}  // namespace

plan::Deployment with_option(const plan::Deployment& d, const QString& name, const QString& text) {
    plan::Deployment changed = d;
    if (name == "model") {
        changed.model = text.toStdString();
        return changed;
    }
    const plan::Option* option = plan::find_option(name.toStdString());
    if (!option) throw Error(name.toStdString(), "no such option", "one of 'memwall plan --help'");
    const std::string place = "--" + name.toStdString();
    // kv-k alone: the other half stays what it is, which "kv" may have said.
    if (option->name == "kv-k" || option->name == "kv-v") {
        option->set(changed, text.toStdString(), place);
        return changed;
    }
    // From the defaults up: an empty text means the default, and a repeatable option appends.
    plan::Deployment fresh;
    fresh.model = d.model;
    for (const plan::Option& o : plan::options()) {
        if (o.name == option->name ||
            (option->name == "kv" && o.name.starts_with("kv-") && o.name != "kv-pool"))
            continue;
        for (const QString& line : text_of(o.get(d)).split('\n', Qt::SkipEmptyParts))
            o.set(fresh, line.toStdString(), place);
    }
    for (const QString& line : text.split('\n', Qt::SkipEmptyParts))
        option->set(fresh, line.trimmed().toStdString(), place);
    return fresh;
}

std::vector<Choice> choices_of(const QString& option, const plan::Deployment& deployment,
                               const devices::Planned& planned, const QStringList& recent) {
    std::vector<Choice> rows;
    if (option == "model") {
        rows = models(recent);
    } else if (option == "device") {
        rows = device_rows();
    } else if (option == "quant") {
        rows = recipes(planned);
    } else if (option == "kv-k" || option == "kv-v") {
        for (const std::string& name : planned.prepared.runtime.profile->kv_types)
            rows.push_back(row(text_of(name)));
    } else if (option == "runtime") {
        for (const std::string& name : runtime::profile_names()) rows.push_back(row(text_of(name)));
    } else if (option == "draft") {
        rows = drafts(planned);
    } else if (const plan::Option* o = plan::find_option(option.toStdString())) {
        rows = words(*o);
    }
    const QString now = resolved(option, deployment, planned);
    for (Choice& c : rows) c.current = c.value == now;
    const bool listed = std::any_of(rows.begin(), rows.end(), [](const Choice& c) { return c.current; });
    if (!listed && !now.isEmpty() && !rows.empty()) {
        rows.insert(rows.begin(), row(now, option == "model" ? QFileInfo(now).fileName() : now));
        rows.front().current = true;
    }
    return rows;
}

void plan_choice(Choice& c, const QString& option, const plan::Deployment& deployment,
                 const devices::Planned& now, devices::Replanner& planner) {
    try {
        const devices::Planned p = planner.plan(with_option(deployment, option, c.value), false);
        c.state =
            p.plan.verdict == plan::Verdict::unsupported ? Choice::State::impossible : Choice::State::planned;
        if (c.state == Choice::State::impossible)
            c.why_not = text_of(plan::reason_text(p.prepared, p.knobs, p.target, p.plan));
        if (option == "model")
            c.about = text_of(view::parameters_text(model::text_parameters(p.prepared.model)));
        c.fits = p.plan.verdict == plan::Verdict::fits;
        const Interval<Bytes> needed = footprint(p);
        c.needed_bytes = needed.central.as_double();
        c.memory = c.current ? shown(text_of(view::text(needed)))
                             : shown(text_of(view::change_text(footprint(now), needed)));
        if (p.plan.speed.decode_known) {
            c.decode_rate = p.plan.speed.decode.central.value;
            c.decode = c.current || !now.plan.speed.decode_known
                           ? shown(text_of(view::text(p.plan.speed.decode)))
                           : shown(text_of(view::change_text(now.plan.speed.decode, p.plan.speed.decode)));
        }
        c.kept = p.plan.loss.known() ? text_of(view::agreement_text(p.plan.loss.top1_disagreement.central))
                                     : Words::tr("unknown");
    } catch (const Error& e) {
        c.state = Choice::State::impossible;
        c.why_not = text_of(e.found()) + (e.expected().empty() ? QString() : "; " + text_of(e.expected()));
    } catch (const std::exception& e) {
        c.state = Choice::State::impossible;
        c.why_not = text_of(e.what());
    }
}

namespace {

struct Trials {
    const plan::Deployment& deployment;
    const devices::Planned& now;
    devices::Replanner& planner;
    const std::function<bool()>& stop;

    /// nullptr where it cannot be planned.
    std::unique_ptr<devices::Planned> of(const QString& option, const QString& value) const {
        if (stop()) return nullptr;
        try {
            auto p = std::make_unique<devices::Planned>(
                planner.plan(with_option(deployment, option, value), false));
            return p->plan.verdict == plan::Verdict::unsupported ? nullptr : std::move(p);
        } catch (const std::exception&) {
            return nullptr;
        }
    }
    QString memory(const devices::Planned& p) const {
        return shown(text_of(view::change_text(footprint(now), footprint(p))));
    }
    QString decode(const devices::Planned& p) const {
        if (!p.plan.speed.decode_known || !now.plan.speed.decode_known) return {};
        const QString by = shown(text_of(view::change_text(now.plan.speed.decode, p.plan.speed.decode)));
        return by == "0" ? QString() : Words::tr("%1 tok/s").arg(by);
    }
    QString both(const devices::Planned& p) const {
        const QString m = memory(p), d = decode(p);
        if (m == "0" && d.isEmpty()) return Words::tr("no change");
        return m == "0" ? d : d.isEmpty() ? m : m + ", " + d;
    }
};

/// The next smaller and the next larger recipe of those the runtime usually has.
Consequence of_recipes(const Trials& t) {
    std::unique_ptr<devices::Planned> below, above;
    const std::int64_t size = t.now.prepared.weights.total.central.value;
    for (const std::string& name : t.now.prepared.runtime.profile->suggested_recipes) {
        if (name == t.now.prepared.recipe) continue;
        auto p = t.of("quant", text_of(name));
        if (!p) continue;
        const std::int64_t bytes = p->prepared.weights.total.central.value;
        if (bytes < size && (!below || bytes > below->prepared.weights.total.central.value))
            below = std::move(p);
        else if (bytes > size && (!above || bytes < above->prepared.weights.total.central.value))
            above = std::move(p);
    }
    QStringList parts;
    for (const auto* p : {&below, &above})
        if (*p) parts << text_of((*p)->prepared.recipe) + " " + t.memory(**p);
    return {parts.join(QStringLiteral(" · ")), false};
}

/// The first type that is smaller than both in use.
Consequence of_kv(const Trials& t) {
    if (t.now.prepared.kv_groups.empty()) return {Words::tr("this model keeps no KV cache"), false};
    const auto& types = t.now.prepared.runtime.profile->kv_types;
    const auto cache = [](const devices::Planned& p) {
        return p.plan.memory.items[static_cast<std::size_t>(plan::Item::kv_cache)];
    };
    const bool plain = t.now.knobs.kv_k.block_len == 1;
    for (const std::string& name : types) {
        if (name == t.now.knobs.kv_k.name && name == t.now.knobs.kv_v.name) continue;
        const auto p = t.of("kv", text_of(name));
        if (!p) continue;
        if (plain && cache(*p).central < cache(t.now).central)
            return {Words::tr("%1 for both: %2").arg(text_of(name), t.memory(*p)), true};
        if (!plain && cache(*p).central > cache(t.now).central && name == "f16")
            return {Words::tr("%1 for both: %2").arg(text_of(name), t.memory(*p)), false};
    }
    return {};
}

Consequence of_sequences(const Trials& t) {
    const QString twice = QString::number(t.now.knobs.sequences * 2);
    const auto p = t.of("sequences", twice);
    if (!p) return {};
    QString words = Words::tr("%1 sequences: %2").arg(twice, t.memory(*p));
    if (p->plan.speed.decode_known)
        words += Words::tr(", %1 tok/s in all").arg(shown(text_of(view::text(p->plan.speed.decode_all))));
    return {words, false};
}

Consequence of_runtime(const Trials& t) {
    for (const char* name : {"llama.cpp", "vllm", "mlx", "executorch", "generic"}) {
        if (name == t.now.prepared.runtime.profile->name) continue;
        // Its own recipe and cache types where those in use are not its.
        plan::Deployment d = t.deployment;
        auto p = t.of("runtime", name);
        if (p) return {Words::tr("%1: %2").arg(name, t.both(*p)), false};
    }
    return {};
}

Consequence of_flash(const Trials& t) {
    const bool on = t.now.knobs.flash_attention;
    const auto p = t.of("flash-attention", on ? "off" : "on");
    if (!p) return {Words::tr("cannot be changed with this cache"), false};
    return {Words::tr("%1: %2").arg(on ? Words::tr("off") : Words::tr("on"), t.both(*p)), false};
}

Consequence of_draft(const Trials& t) {
    if (t.now.prepared.draft) {
        const auto p = t.of("draft", "");
        return p ? Consequence{Words::tr("none: %1").arg(t.both(*p)), false} : Consequence{};
    }
    const auto rows = drafts(t.now);
    if (rows.size() < 2) return {Words::tr("no smaller model of this tokenizer is known"), false};
    const auto p = t.of("draft", rows[1].value);
    if (!p) return {};
    return {Words::tr("%1: %2").arg(rows[1].label, t.both(*p)),
            p->plan.speed.decode_known && p->plan.speed.decode.central > t.now.plan.speed.decode.central};
}

Consequence of_offload(const Trials& t) {
    if (!t.now.target.discrete) return {Words::tr("this device has one memory pool"), false};
    const bool automatic = t.deployment.offload == "auto";
    const auto p = t.of("offload", automatic ? "none" : "auto");
    if (!p) return {};
    return {Words::tr("%1: %2").arg(automatic ? "none" : "auto", t.both(*p)),
            p->plan.verdict == plan::Verdict::fits};
}

}  // namespace

QMap<QString, Consequence> consequences(const plan::Deployment& deployment, const devices::Planned& now,
                                        devices::Replanner& planner, const std::function<bool()>& stop) {
    const Trials t{deployment, now, planner, stop};
    // Those that only turn knobs come first: they need no model prepared anew.
    return {{"kv", of_kv(t)},           {"sequences", of_sequences(t)}, {"flash-attention", of_flash(t)},
            {"offload", of_offload(t)}, {"quant", of_recipes(t)},       {"runtime", of_runtime(t)},
            {"draft", of_draft(t)}};
}

}  // namespace memwall::gui
