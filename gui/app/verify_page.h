// SPDX-License-Identifier: GPL-3.0-only
// Predicted against achieved on this machine: calibrate, verify, and the paired bars of what came out.
#pragma once

#include "gui/app/page.h"
#include "gui/model/verification.h"

class QCheckBox;
class QComboBox;
class QLabel;
class QProgressBar;
class QPushButton;
class QScrollArea;
class QSpinBox;
class QStackedWidget;
class QTableView;
class QVBoxLayout;

namespace memwall::gui {

class Card;
class PairedBars;

class VerifyPage : public Page {
    Q_OBJECT
  public:
    explicit VerifyPage(Session& session, QWidget* parent = nullptr);
    QString title() const override { return tr("Verify"); }
    void refresh() override;
    QWidget* side_panel() override;
    std::vector<ResultCell> results() const override;
    QString command() const override { return Verification::command(options()); }
    bool export_as(const QString& path, QString* why) override;
    bool ready() const override { return !verification_.running(); }
    void demonstrate() override;

    Verification& verification() { return verification_; }
    VerificationModel& table() { return *table_; }
    PairedBars* bars() const { return bars_; }
    QPushButton* verify_button() const { return verify_; }
    QPushButton* calibrate_button() const { return calibrate_; }
    kernels::VerifyOptions options() const;

  protected:
    void changeEvent(QEvent* event) override;

  private:
    void build_panel();
    void draw();
    void draw_probes();
    void show_busy(bool busy);
    void show_detail(int row);
    void show_table(bool on);

    Verification verification_;
    VerificationModel* table_;
    PairedBars* bars_;
    Card *bars_card_, *probes_card_, *detail_card_;
    QStackedWidget* views_;
    QTableView *table_view_, *probes_;
    QLabel *empty_, *detail_, *probes_note_;
    QScrollArea* panel_ = nullptr;
    QComboBox *model_, *extent_;
    QSpinBox *runs_, *seconds_;
    QPushButton *calibrate_, *verify_, *cancel_, *use_device_;
    QProgressBar* progress_;
    QLabel *progress_note_, *profile_note_;
    class ProbesModel* probes_model_;
    QVBoxLayout* side_ = nullptr;
};

}  // namespace memwall::gui
