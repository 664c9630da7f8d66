#include "gui/model/verification.h"

#include <QDir>
#include <QFileInfo>
#include <QSaveFile>
#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/size_text.h"
#include "core/view/quantity_text.h"
#include "devices/device_yaml.h"
#include "devices/host.h"
#include "gui/model/numbers.h"
#include "gui/model/vocabulary.h"

namespace memwall::gui {
namespace {

/// Ends a measurement at its next step: the kernels report progress between steps, and nowhere else can they
/// be left.
struct Cancelled {};

kernels::Progress progress_of(const JobControl& control) {
    return [&control](std::string_view what, double share) {
        if (control.cancelled()) throw Cancelled{};
        control.progress(share, text_of(what));
    };
}

void save_profile(const QString& path, const std::string& yaml) {
    QDir().mkpath(QFileInfo(path).absolutePath());
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(QByteArray::fromStdString(yaml)) < 0 || !file.commit())
        throw Error(path.toStdString(), "cannot be written: " + file.errorString().toStdString(),
                    "a file in a folder to write to");
}

}  // namespace

Verification::Verification(QObject* parent) : QObject(parent) {
    connect(&worker_, &Worker::failed, this, &Verification::failed);
}

QString Verification::default_profile() {
    return text_of(devices::calibration_path());
}

void Verification::calibrate(const kernels::CalibrateOptions& options, const QString& path) {
    const QString to = path.isEmpty() ? default_profile() : path;
    worker_.submit(
        [options, to](const JobControl& control) -> std::optional<kernels::CalibrationRun> {
            if (to.isEmpty())
                throw Error("host.yaml", "neither HOME nor XDG_CONFIG_HOME is set",
                            "a folder to write the profile to");
            try {
                kernels::CalibrationRun run = kernels::calibrate(options, progress_of(control));
                save_profile(to, devices::write_device_yaml(run.device));
                return run;
            } catch (const Cancelled&) {
                return std::nullopt;
            }
        },
        [this, to](std::optional<kernels::CalibrationRun> run) {
            if (!run) return;
            calibration_ = std::move(run);
            profile_ = to;
            Q_EMIT calibrated();
        });
}

void Verification::verify(const kernels::VerifyOptions& options) {
    worker_.submit(
        [options](const JobControl& control) -> std::optional<kernels::VerifyRun> {
            try {
                return kernels::verify(options, progress_of(control));
            } catch (const Cancelled&) {
                return std::nullopt;
            }
        },
        [this](std::optional<kernels::VerifyRun> run) {
            if (run) set_run(std::move(*run));
        });
}

void Verification::set_run(kernels::VerifyRun run) {
    run_ = std::move(run);
    Q_EMIT verified();
}

void Verification::cancel() {
    worker_.cancel();
}

std::size_t Verification::count(kernels::Verdict verdict) const {
    if (!run_) return 0;
    return static_cast<std::size_t>(std::count_if(run_->items.begin(), run_->items.end(),
                                                  [&](const auto& i) { return i.verdict == verdict; }));
}

QString Verification::command(const kernels::VerifyOptions& o) {
    QString line = QStringLiteral("memwall verify");
    for (const std::string& m : o.models) line += u' ' + text_of(m);
    const kernels::VerifyOptions usual;
    if (o.contexts != usual.contexts) {
        QStringList list;
        for (const std::int64_t c : o.contexts) list << QString::number(c);
        line += QStringLiteral(" --contexts ") + list.join(u',');
    }
    if (o.kv != usual.kv) {
        QStringList list;
        for (const std::string& k : o.kv) list << text_of(k);
        line += QStringLiteral(" --kv ") + list.join(u',');
    }
    if (o.threads > 0) line += QStringLiteral(" --threads %1").arg(o.threads);
    if (o.runs != usual.runs) line += QStringLiteral(" --runs %1").arg(o.runs);
    return line;
}

// ---------------------------------------------------------------- the table

QString measured_text(double value, const std::string& unit) {
    if (unit == "B") return text_of(bytes_text(Bytes(std::llround(value))));
    if (unit == "B/s") return text_of(rate_text(BytesPerSecond(value)));
    if (unit == "ops/s") return text_of(ops_text(OpsPerSecond(value), "OPS"));
    if (unit == "s")
        return value < 1e-3 ? QString::number(value * 1e6, 'f', 1) + QStringLiteral(" µs")
               : value < 1  ? QString::number(value * 1e3, 'f', 1) + QStringLiteral(" ms")
                            : QString::number(value, 'f', 3) + QStringLiteral(" s");
    return text_of(view::number_text(value)) + u' ' + text_of(unit);
}

VerificationModel::VerificationModel(Verification& verification, QObject* parent)
    : QAbstractTableModel(parent), verification_(verification) {
    connect(&verification, &Verification::verified, this, &VerificationModel::reset);
    reset();
}

void VerificationModel::reset() {
    beginResetModel();
    items_ = verification_.run() ? verification_.run()->items : std::vector<kernels::VerifyItem>{};
    endResetModel();
}

int VerificationModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(items_.size());
}

int VerificationModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : columns;
}

QVariant VerificationModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) return {};
    const kernels::VerifyItem& i = items_[static_cast<std::size_t>(index.row())];
    const bool known = i.predicted > 0;
    if (role == raw_role) switch (index.column()) {
            case predicted:
                return known ? QVariant(i.predicted) : QVariant();
            case achieved:
                return i.achieved.median;
            case ratio:
                return known ? QVariant(i.achieved.median / i.predicted) : QVariant();
            case context:
                return i.context > 0 ? QVariant(static_cast<double>(i.context)) : QVariant();
            default:
                return {};
        }
    if (role == item_role) {
        static const std::pair<const char*, const char*> kLines[] = {{"weights", "weights"},
                                                                     {"cache", "kv_cache"},
                                                                     {"resident", "resident"},
                                                                     {"decode", "decode"},
                                                                     {"first token", "time_to_first_token"},
                                                                     {"bandwidth", "decode"},
                                                                     {"compute", "compute_buffer"}};
        for (const auto& [word, line] : kLines)
            if (i.what.find(word) != std::string::npos) return QLatin1String(line);
        return QString();
    }
    if (role == Qt::TextAlignmentRole && index.column() >= context && index.column() <= ratio)
        return QVariant::fromValue(Qt::Alignment(Qt::AlignRight | Qt::AlignVCenter));
    if (role != Qt::DisplayRole) return {};
    switch (index.column()) {
        case model:
            return i.model.empty() ? tr("host") : text_of(i.model);
        case what:
            return in_words(i.what);
        case kv:
            return text_of(i.kv);
        case context:
            return i.context > 0 ? shown_count(i.context) : QString();
        case predicted:
            return known ? shown(measured_text(i.predicted, i.unit)) : QString();
        case achieved:
            return shown(measured_text(i.achieved.median, i.unit));
        case interval:
            return i.achieved.samples > 1
                       ? shown(measured_text(i.achieved.low, i.unit)) + QStringLiteral("–") +
                             shown(measured_text(i.achieved.high, i.unit))
                       : QString();
        case ratio:
            return known ? QString::number(i.achieved.median / i.predicted, 'f', 3) : QString();
        case verdict:
            switch (i.verdict) {
                case kernels::Verdict::holds:
                    return tr("holds");
                case kernels::Verdict::missed:
                    return tr("missed");
                case kernels::Verdict::inconclusive:
                    return tr("inconclusive");
                case kernels::Verdict::measured:
                    return tr("measured");
            }
    }
    return {};
}

QVariant VerificationModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (role != Qt::DisplayRole || orientation != Qt::Horizontal) return {};
    const QString names[] = {tr("Model"),         tr("What"),      QStringLiteral("KV"),
                             tr("Context"),       tr("Predicted"), tr("Achieved"),
                             tr("95 % interval"), tr("Ratio"),     tr("Verdict")};
    return section >= 0 && section < columns ? QVariant(names[section]) : QVariant();
}

}  // namespace memwall::gui
