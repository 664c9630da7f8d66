// SPDX-License-Identifier: GPL-3.0-only
// The ledger: every number with its formula, its inputs and where they came from.
#pragma once

#include "gui/app/page.h"

class QGridLayout;
class QLabel;
class QLineEdit;
class QModelIndex;
class QPushButton;
class QTreeView;

namespace memwall::gui {

class ElidedLabel;
class LedgerFilter;
class LedgerModel;

class ExplainPage : public Page {
    Q_OBJECT
  public:
    explicit ExplainPage(Session& session, QWidget* parent = nullptr);
    QString title() const override { return tr("Explain"); }
    void refresh() override;
    QString command() const override;
    bool export_as(const QString& path, QString* why) override;
    void select_item(const QString& item) override;
    std::vector<FindEntry> find_entries() override;

    LedgerModel& ledger() { return *model_; }
    LedgerFilter& filter() { return *filter_; }
    QString selected_path() const;  ///< "memory/kv_cache"; empty = none
    QTreeView* tree() const { return tree_; }
    QLineEdit* filter_field() const { return field_; }

  protected:
    void changeEvent(QEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void show_item(const QModelIndex& source);
    void fit_columns();

    LedgerModel* model_;
    LedgerFilter* filter_;
    QLineEdit* field_;
    QTreeView* tree_;
    QLabel *name_, *value_, *raw_, *formula_head_, *formula_, *inputs_head_;
    ElidedLabel* place_;
    QWidget* inputs_;
    QGridLayout* input_rows_;
    QPushButton *copy_text_, *copy_json_, *to_chart_;
    std::shared_ptr<const devices::Planned> shown_;
};

}  // namespace memwall::gui
