// SPDX-License-Identifier: GPL-3.0-only
// Left of the Triangle page: limits as sliders, what is searched, and why not.
#pragma once

#include <QScrollArea>
#include <functional>
#include <map>

#include "gui/model/triangle.h"

class QComboBox;
class QLabel;
class QVBoxLayout;
class QProgressBar;
class QPushButton;
class QSlider;
class QVBoxLayout;

namespace memwall::gui {

class LimitsPanel : public QScrollArea {
    Q_OBJECT
  public:
    explicit LimitsPanel(Triangle& triangle, QWidget* parent = nullptr);

    /// Ends of a slider, in the option's own unit; `logarithmic` for what spans decades.
    void set_range(const QString& option, double low, double high, bool logarithmic);
    double range_low(const QString& option) const { return rows_.at(option).low; }
    double range_high(const QString& option) const { return rows_.at(option).high; }
    void refresh();
    void show_why_not(std::optional<std::size_t> candidate);
    QSlider* slider(const QString& option) const { return rows_.at(option).slider; }
    QComboBox* scope_box() const { return scope_; }
    QString why_text() const;

  Q_SIGNALS:
    void shown_instead(std::size_t candidate);  ///< the change was asked for

  private:
    struct Row {
        QLabel* name = nullptr;
        QLabel* value = nullptr;
        QSlider* slider = nullptr;
        double low = 0, high = 1;
        bool logarithmic = false;
    };
    void add_row(QVBoxLayout* column, const QString& option, const QString& name);
    double value_of(const QString& option) const;

    Triangle& triangle_;
    std::map<QString, Row> rows_;
    QComboBox *scope_, *lane_;
    QLabel *lane_note_, *facts_, *why_title_, *why_reasons_, *why_change_;
    QPushButton *clear_, *show_change_, *move_limits_, *clear_pins_;
    QProgressBar* progress_;
    std::optional<std::size_t> why_;
    bool refreshing_ = false;
};

}  // namespace memwall::gui
