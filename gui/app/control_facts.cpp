// SPDX-License-Identifier: GPL-3.0-only
// What the controls say of the plan: the fact each stands for, and the grey line of what changing it does.
#include <QFileInfo>
#include <QLabel>
#include <QLineEdit>
#include <algorithm>

#include "core/base/size_text.h"
#include "core/model/model.h"
#include "core/plan/curves.h"
#include "core/quant/recipe.h"
#include "core/view/quantity_text.h"
#include "gui/app/choice_box.h"
#include "gui/app/context_slider.h"
#include "gui/app/control_panel.h"
#include "gui/app/elided_label.h"
#include "gui/app/suggestions.h"
#include "gui/charts/axis.h"
#include "gui/theme/theme.h"

namespace memwall::gui {

void ControlPanel::set_note(const QString& key, const QString& text, bool helps) {
    QLabel* note = controls_[key].note;
    if (!note) return;
    if (note->text() != text) note->setText(text);
    const QString tone = helps ? QStringLiteral("good") : QString();
    if (note->property("tone").toString() != tone) {
        note->setProperty("tone", tone);
        restyle(note);
    }
}

void ControlPanel::refresh_facts() {
    const devices::Planned& p = session_.planned();
    const plan::Deployment& d = session_.deployment();
    const model::Model& m = p.prepared.model;
    const auto fact = [&](const char* key, const QString& text, const QString& quantity = {},
                          double raw = 0) {
        ElidedLabel* label = controls_[key].fact;
        label->set_text(text);
        label->setProperty("quantity", quantity);
        label->setProperty("raw", raw);
    };
    // Model.
    choice("model")->set_value(QFileInfo(text_of(d.model)).fileName());
    fact("model", shown(view::parameters_text(model::text_parameters(m))), "model.parameters",
         static_cast<double>(model::text_parameters(m)));
    QStringList words{tr("%n layer(s)", nullptr, static_cast<int>(m.layers.size()))};
    for (const model::Layer& layer : m.layers)
        if (layer.attention) {
            words << tr("%n KV head(s)", nullptr, static_cast<int>(layer.attention->kv_heads));
            break;
        }
    if (m.trained_context > 0)
        words << tr("trained to %1").arg(token_text(static_cast<double>(m.trained_context)));
    set_note("model", words.join(QStringLiteral(" · ")));
    // Device.
    choice("device")->set_value(text_of(d.device));
    const device::Device& device = p.target.device;
    const device::Pool& pool = device.pools[p.target.pool];
    fact("device", pool.bandwidth.value > 0 ? shown(rate_text(pool.bandwidth)) : tr("bandwidth unknown"),
         QStringLiteral("device.pools.%1.bandwidth_bytes_per_second").arg(p.target.pool),
         pool.bandwidth.value);
    QString memory = pool.capacity.value > 0
                         ? tr("%1 %2, %3 per process")
                               .arg(shown(bytes_text(pool.capacity)), text_of(pool.name).toUpper(),
                                    shown(bytes_text(pool.usable)))
                         : tr("size of its memory unknown");
    memory += QStringLiteral(" · ") + text_of(device::kind_name(p.target.processor)).toUpper();
    set_note("device", memory);
    // Recipe.
    choice("quant")->set_value(p.prepared.recipe_from_file
                                   ? tr("%1 (as stored)").arg(text_of(p.prepared.recipe))
                                   : text_of(p.prepared.recipe));
    const double bits = quant::bits_per_weight(m, p.prepared.formats);
    fact("quant", tr("%1 bits a weight").arg(shown(view::number_text(bits))), "model.bits_per_weight", bits);
    // Cache.
    choice("kv-k")->set_value(text_of(p.knobs.kv_k.name));
    choice("kv-v")->set_value(text_of(p.knobs.kv_v.name));
    const Bytes token = plan::kv_bytes_per_token(p.prepared, p.knobs);
    fact("kv", token.value > 0 ? tr("%1 a token").arg(shown(bytes_text(token))) : QString());
    for (const char* key : {"kv-k", "kv-v"}) choice(key)->setEnabled(!p.prepared.kv_groups.empty());
    // Context.
    const std::int64_t trained = m.trained_context > 0 ? m.trained_context : 1 << 20;
    const std::int64_t last = std::max(trained, p.knobs.context);
    slider_->set_last(last);
    slider_->set_context(p.knobs.context);
    const std::int64_t most = p.advice.max_context_tokens;
    set_note("context", p.plan.verdict == plan::Verdict::unsupported ? QString()
                        : most <= 0                                  ? tr("does not fit at any context")
                                    : tr("largest that fits: %1").arg(shown_count(most)));
    if (controls_["context"].note) {
        controls_["context"].note->setProperty("quantity", most > 0 ? "max_context_tokens" : "");
        controls_["context"].note->setProperty("raw", static_cast<double>(most));
    }
    // Placement.
    choice("runtime")->set_value(text_of(d.runtime));
    fact("runtime", text_of(p.prepared.runtime.release));
    choice("flash-attention")
        ->set_value(d.flash_attention == plan::Switch::automatic
                        ? (p.knobs.flash_attention ? tr("auto (on)") : tr("auto (off)"))
                    : d.flash_attention == plan::Switch::on ? tr("on")
                                                            : tr("off"));
    choice("draft")->set_value(d.draft.empty() ? tr("none") : text_of(d.draft));
    fact("draft",
         p.plan.speed.speculative
             ? tr("%1 tokens a round").arg(shown(view::number_text(p.plan.speed.tokens_per_round)))
             : QString(),
         p.plan.speed.speculative ? "speed.speculation.tokens_per_round" : QString(),
         p.plan.speed.tokens_per_round);
    choice("offload")->set_value(d.offload == "none" ? tr("none") : text_of(d.offload));
    choice("offload")->setEnabled(p.target.discrete);
    fact("offload", p.target.discrete
                        ? tr("%n layer(s) on the card", nullptr, static_cast<int>(p.plan.gpu_layers))
                        : QString());
}

void ControlPanel::refresh() {
    refreshing_ = true;
    refresh_facts();
    const devices::Planned& p = session_.planned();
    for (const auto& [key, control] : controls_)
        for (const auto& [option, field] : control.fields)
            if (auto* edit = qobject_cast<QLineEdit*>(field)) {
                if (edit->hasFocus() && edit->isModified()) continue;
                QString text =
                    session_.option(option).replace('\n', QStringLiteral("; "));  // repeatable ones
                if (option == "context") text = shown_count(p.knobs.context);
                if (option == "sequences") text = QString::number(p.knobs.sequences);
                if (option == "prompt") text = QString::number(p.knobs.prompt);
                if (option == "generate") text = QString::number(p.knobs.generate);
                if (edit->text() != text) edit->setText(text);
                edit->setModified(false);
            } else if (auto* box = qobject_cast<ChoiceBox*>(field);
                       box && key == option && more_->isAncestorOf(box)) {
                const QString text = session_.option(option);
                box->set_value(text.isEmpty() ? tr("default") : text);
            }
    // What was refused is gone once something else is planned.
    for (const auto& [option, key] : control_of_)
        if (controls_[key].error && controls_[key].error->isVisibleTo(this)) show_error(option, {});
    suggestions_->refresh();
    refreshing_ = false;
    ask_consequences();
}

void ControlPanel::ask_consequences() {
    set_note("offload",
             session_.planned().target.discrete ? QString() : tr("this device has one memory pool"));
    consequences_.submit(
        [deployment = session_.deployment(), now = session_.shared_plan(),
         planner = for_consequences_](const JobControl& control) {
            return consequences(deployment, *now, *planner, [&] { return control.cancelled(); });
        },
        [this](const QMap<QString, Consequence>& lines) {
            for (auto it = lines.begin(); it != lines.end(); ++it)
                set_note(it.key(), it.value().text, it.value().helps);
        });
}

}  // namespace memwall::gui
