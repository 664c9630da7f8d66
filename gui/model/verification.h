// Calibrating and verifying this machine in the worker: what the probes measured, and every prediction beside
// what was achieved. All from kernels/.
#pragma once

#include <QAbstractTableModel>
#include <QObject>
#include <optional>

#include "gui/model/worker.h"
#include "kernels/calibrate.h"
#include "kernels/verify.h"

namespace memwall::gui {

class Verification : public QObject {
    Q_OBJECT
  public:
    explicit Verification(QObject* parent = nullptr);

    /// Measures and saves the profile at `path` (empty: the user's host.yaml, which `--device host` reads).
    void calibrate(const kernels::CalibrateOptions& options, const QString& path = {});
    void verify(const kernels::VerifyOptions& options);
    /// A run made elsewhere.
    void set_run(kernels::VerifyRun run);
    void cancel();
    Worker& worker() { return worker_; }
    bool running() const { return worker_.busy(); }
    static QString default_profile();

    const std::optional<kernels::CalibrationRun>& calibration() const { return calibration_; }
    const QString& profile() const { return profile_; }  ///< where it was saved
    const std::optional<kernels::VerifyRun>& run() const { return run_; }
    std::size_t count(kernels::Verdict verdict) const;

    static QString command(const kernels::VerifyOptions& options);

  Q_SIGNALS:
    void calibrated();
    void verified();
    void failed(const QString& message);

  private:
    Worker worker_;
    std::optional<kernels::CalibrationRun> calibration_;
    std::optional<kernels::VerifyRun> run_;
    QString profile_;
};

/// Achieved over predicted, a row an item.
class VerificationModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column { model, what, kv, context, predicted, achieved, interval, ratio, verdict, columns };
    enum Role {
        raw_role = Qt::UserRole,
        item_role,  ///< path of the ledger line it proves; empty
    };
    explicit VerificationModel(Verification& verification, QObject* parent = nullptr);
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;
    const kernels::VerifyItem& item(int row) const { return items_[static_cast<std::size_t>(row)]; }

  private:
    void reset();
    const Verification& verification_;
    std::vector<kernels::VerifyItem> items_;
};

/// "3.42 GB/s", "12.1 ms": a measured value by its unit.
QString measured_text(double value, const std::string& unit);

}  // namespace memwall::gui
