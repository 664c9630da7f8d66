// What each setting of one option would change: rows of a control's list, each from a Plan, and the one grey
// line below a control.
#pragma once

#include <QMap>
#include <QString>
#include <functional>
#include <memory>
#include <vector>

#include "core/plan/deployment.h"
#include "devices/planning.h"

namespace memwall::gui {

struct Choice {
    enum class State { waiting, planned, impossible };
    QString value;  ///< as the option takes it; empty = the default
    QString label;
    QString about;  ///< a fact of the choice itself: "8.0 B", "17.1 GB/s"
    State state = State::waiting;
    bool current = false, fits = false;
    QString memory, decode, kept;  ///< changes of memory and tokens/s; the share of tokens that stay
    double needed_bytes = 0, decode_rate = 0;
    QString why_not;
};

/// The rows of an option's list, nothing planned yet. Options: model, device, quant, kv-k, kv-v, runtime,
/// draft, flash-attention, offload and all whose help names words ("cpu|gpu|npu"). Empty for options that
/// take free text.
std::vector<Choice> choices_of(const QString& option, const plan::Deployment& deployment,
                               const devices::Planned& planned, const QStringList& recent_files);

/// Plans one row.
void plan_choice(Choice& choice, const QString& option, const plan::Deployment& deployment,
                 const devices::Planned& now, devices::Replanner& planner);

/// `deployment` with one option set: of its table, "model", or "kv" for keys and values. Throws Error.
plan::Deployment with_option(const plan::Deployment& deployment, const QString& option, const QString& text);

/// What changing a control would do, in a line; empty where there is nothing to say.
struct Consequence {
    QString text;
    bool helps = false;
};
/// By option: quant, kv, sequences, runtime, flash-attention, draft, offload. `stop` is asked between plans.
QMap<QString, Consequence> consequences(const plan::Deployment& deployment, const devices::Planned& now,
                                        devices::Replanner& planner, const std::function<bool()>& stop);

}  // namespace memwall::gui
