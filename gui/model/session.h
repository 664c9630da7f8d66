// What the window shows: one deployment and its plan, with undo. A change that cannot be planned leaves both
// as they were, so the last good state is always there to be looked at.
#pragma once

#include <QObject>
#include <QString>
#include <QStringList>
#include <memory>
#include <vector>

#include "core/base/ledger.h"
#include "core/plan/deployment.h"
#include "devices/planning.h"
#include "gui/model/numbers.h"

namespace memwall::gui {

class Session : public QObject {
    Q_OBJECT
  public:
    explicit Session(QObject* parent = nullptr);

    /// False until the first deployment was planned.
    bool planned_once() const { return planned_ != nullptr; }
    const plan::Deployment& deployment() const { return deployment_; }
    /// Of deployment(). Only after planned_once().
    const devices::Planned& planned() const { return *planned_; }
    std::shared_ptr<const devices::Planned> shared_plan() const { return planned_; }
    /// The ledger of planned(), unfolded when first asked for.
    const LedgerItem& ledger() const;
    double plan_milliseconds() const { return milliseconds_; }
    /// "memwall plan MODEL --option value ...": gives this plan in a terminal.
    QString command() const;
    /// The value of an option as text; empty = its default.
    QString option(const QString& name) const;

    /// Sets one option of core/plan/options.h ("model" too); empty text = back to its default. One undo step;
    /// repeated changes of the same option while `continues` make one step together. False + rejected() when
    /// it cannot be planned.
    bool set_option(const QString& name, const QString& text, bool continues = false);
    /// The next change of the same option is a step of its own (a drag has ended).
    void finish_step() { last_step_.clear(); }
    /// A whole deployment as one undo step.
    bool apply(const plan::Deployment& deployment);
    /// The same for what nobody asked for: no step that can be undone.
    bool start_with(const plan::Deployment& deployment);
    /// One of planned().advice.suggestions.
    bool apply(const plan::Suggestion& suggestion);
    /// A model (GGUF, config.json or its folder, safetensors, model YAML), a deployment or a device profile.
    /// False + failed() with the reader's own line.
    bool open(const QString& path);
    /// The same in two halves: reading, in any thread (throws Error), and showing what was read.
    struct OpenedFile {
        QString path;
        plan::Deployment deployment;
        std::shared_ptr<devices::Replanner> planner;  ///< knows the file already
        std::shared_ptr<const devices::Planned> planned;
        double milliseconds = 0;
    };
    static OpenedFile read(const QString& path, const plan::Deployment& now);
    void show_file(const OpenedFile& file);
    bool save(const QString& path);
    /// Plans again from files: a calibration or profile has changed. No undo step.
    void reload();

    bool can_undo() const { return !undo_.empty(); }
    bool can_redo() const { return !redo_.empty(); }
    void undo();
    void redo();

    /// Newest first.
    const QStringList& recent_files() const { return recent_; }
    void set_recent_files(const QStringList& files) { recent_ = files; }

  Q_SIGNALS:
    void changed();
    void rejected(const QString& option, const QString& message);
    void failed(const QString& message);
    void recent_files_changed();

  private:
    struct State {
        plan::Deployment deployment;
        std::shared_ptr<const devices::Planned> planned;
    };
    /// `step` names the change for joining undo steps; empty = a step of its own.
    void note_undo(const QString& step);
    /// Plans it; throws Error.
    State planned_state(const plan::Deployment& deployment);
    void go_to(const plan::Deployment& deployment, const QString& step);
    void show(State state);

    std::shared_ptr<devices::Replanner> planner_ = std::make_shared<devices::Replanner>();
    plan::Deployment deployment_;
    std::shared_ptr<const devices::Planned> planned_;
    mutable std::unique_ptr<LedgerItem> ledger_;
    double milliseconds_ = 0;
    std::vector<State> undo_, redo_;
    QString last_step_;
    QStringList recent_;
};

}  // namespace memwall::gui
