#include "gui/model/session.h"

#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QFileInfo>
#include <QSaveFile>

#include "core/base/error.h"
#include "core/plan/explain.h"
#include "core/plan/options.h"
#include "gui/model/choices.h"

namespace memwall::gui {
namespace {

constexpr std::size_t kUndoSteps = 200;
constexpr qsizetype kRecentFiles = 10;
constexpr qint64 kYamlMost = 1 << 20;  // deployments and profiles are a screen of text

/// The value of the file's "schema:" line; empty when it has none.
QString yaml_schema(const QString& path) {
    QFile file(path);
    if (file.size() > kYamlMost || !file.open(QIODevice::ReadOnly)) return {};
    for (const QByteArray& line : file.readAll().split('\n'))
        if (line.startsWith("schema:")) return QString::fromUtf8(line.mid(7)).trimmed();
    return {};
}

std::string file_text(const QString& path) {
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        throw Error(path.toStdString(), file.errorString().toStdString(), "a file that can be read");
    return file.readAll().toStdString();
}

}  // namespace

Session::Session(QObject* parent) : QObject(parent) {}

const LedgerItem& Session::ledger() const {
    if (!ledger_)
        ledger_ = std::make_unique<LedgerItem>(
            plan::explain(planned_->prepared, planned_->knobs, planned_->target, planned_->plan));
    return *ledger_;
}

QString Session::command() const {
    return text_of(plan::command_line(deployment_));
}

QString Session::option(const QString& name) const {
    if (name == "model") return text_of(deployment_.model);
    const plan::Option* option = plan::find_option(name.toStdString());
    return option ? text_of(option->get(deployment_)) : QString();
}

Session::State Session::planned_state(const plan::Deployment& deployment) {
    QElapsedTimer timer;
    timer.start();
    auto planned = std::make_shared<const devices::Planned>(planner_->plan(deployment));
    milliseconds_ = static_cast<double>(timer.nsecsElapsed()) / 1e6;
    return {deployment, std::move(planned)};
}

void Session::go_to(const plan::Deployment& deployment, const QString& step) {
    State state = planned_state(deployment);
    note_undo(step);
    show(std::move(state));
}

void Session::note_undo(const QString& step) {
    if (planned_ && (step.isEmpty() || step != last_step_)) {
        if (undo_.size() == kUndoSteps) undo_.erase(undo_.begin());
        undo_.push_back({deployment_, planned_});
    }
    redo_.clear();
    last_step_ = step;
}

void Session::show(State state) {
    deployment_ = std::move(state.deployment);
    planned_ = std::move(state.planned);
    ledger_.reset();
    Q_EMIT changed();
}

bool Session::set_option(const QString& name, const QString& text, bool continues) {
    try {
        const plan::Deployment wanted = with_option(deployment_, name, text.trimmed());
        if (planned_ && plan::command_line(wanted) == plan::command_line(deployment_)) return true;
        go_to(wanted, continues ? name : QString());
        return true;
    } catch (const std::exception& e) {
        Q_EMIT rejected(name, text_of(e.what()));
        return false;
    }
}

bool Session::apply(const plan::Deployment& deployment) {
    try {
        go_to(deployment, {});
        return true;
    } catch (const std::exception& e) {
        Q_EMIT failed(text_of(e.what()));
        return false;
    }
}

bool Session::start_with(const plan::Deployment& deployment) {
    try {
        show(planned_state(deployment));
        return true;
    } catch (const std::exception& e) {
        Q_EMIT failed(text_of(e.what()));
        return false;
    }
}

bool Session::apply(const plan::Suggestion& s) {
    try {
        plan::Deployment wanted = deployment_;
        const plan::Option* option =
            plan::find_option(std::string_view(s.option).substr(s.option.find_first_not_of('-')));
        if (!option) throw Error(s.option, "no such option");
        option->set(wanted, s.to, s.option);
        go_to(wanted, {});
        return true;
    } catch (const std::exception& e) {
        Q_EMIT failed(text_of(e.what()));
        return false;
    }
}

Session::OpenedFile Session::read(const QString& path, const plan::Deployment& now) {
    OpenedFile file;
    file.path = QFileInfo(path).absoluteFilePath();
    file.deployment = now;
    const QString schema = yaml_schema(path);
    if (schema.startsWith("memwall/deployment/")) {
        file.deployment = plan::read_deployment(file_text(path), path.toStdString());
    } else if (schema.startsWith("memwall/device/")) {
        file.deployment.device = file.path.toStdString();
    } else {
        file.deployment.model = file.path.toStdString();
        file.deployment.quant.clear();  // as the file stores it
        file.deployment.draft.clear();  // of another tokenizer, most likely
    }
    QElapsedTimer timer;
    timer.start();
    file.planner = std::make_shared<devices::Replanner>();
    file.planned = std::make_shared<const devices::Planned>(file.planner->plan(file.deployment));
    file.milliseconds = static_cast<double>(timer.nsecsElapsed()) / 1e6;
    return file;
}

void Session::show_file(const OpenedFile& file) {
    planner_ = file.planner;
    milliseconds_ = file.milliseconds;
    note_undo({});
    recent_.removeAll(file.path);
    recent_.prepend(file.path);
    while (recent_.size() > kRecentFiles) recent_.removeLast();
    show({file.deployment, file.planned});
    Q_EMIT recent_files_changed();
}

bool Session::open(const QString& path) {
    try {
        show_file(read(path, deployment_));
        return true;
    } catch (const std::exception& e) {
        Q_EMIT failed(text_of(e.what()));
        return false;
    }
}

bool Session::save(const QString& path) {
    const std::string text = plan::write_deployment(deployment_);
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(text.data(), static_cast<qint64>(text.size())) < 0 ||
        !file.commit()) {
        Q_EMIT failed(path + ": " + file.errorString());
        return false;
    }
    return true;
}

void Session::reload() {
    if (!planned_) return;
    planner_->forget();
    try {
        show({deployment_, std::make_shared<const devices::Planned>(planner_->plan(deployment_))});
    } catch (const std::exception& e) {
        Q_EMIT failed(text_of(e.what()));
    }
}

void Session::undo() {
    if (undo_.empty()) return;
    redo_.push_back({deployment_, planned_});
    State state = std::move(undo_.back());
    undo_.pop_back();
    last_step_.clear();
    show(std::move(state));
}

void Session::redo() {
    if (redo_.empty()) return;
    undo_.push_back({deployment_, planned_});
    State state = std::move(redo_.back());
    redo_.pop_back();
    last_step_.clear();
    show(std::move(state));
}

}  // namespace memwall::gui
