// SPDX-License-Identifier: GPL-3.0-only
// Predicted and achieved side by side, a row each: two bars with their intervals, and the ratio at the right.
#pragma once

#include <QAbstractScrollArea>

#include "gui/charts/marks.h"

namespace memwall::gui {

struct PairedBar {
    QString name;                                                 ///< "small-dense decode"
    QString detail;                                               ///< "f16 · 512"
    double predicted = 0, predicted_low = 0, predicted_high = 0;  ///< 0 = nothing was predicted
    double achieved = 0, achieved_low = 0, achieved_high = 0;
    QString predicted_text, achieved_text;
    QString verdict;  ///< in words
    QColor tone{};    ///< of verdict and ratio
    QString mark;     ///< "✓", "✗", "?" beside the word
};

/// Bars of one unit would dwarf each other, so each row has a scale of its own: 1 is the prediction.
class PairedBars : public QAbstractScrollArea {
    Q_OBJECT
  public:
    explicit PairedBars(QWidget* parent = nullptr);

    void set_rows(std::vector<PairedBar> rows);
    void set_selected(int row);
    int selected() const { return selected_; }
    const std::vector<PairedBar>& rows() const { return rows_; }
    QRect row_rect(int row) const;  ///< in the viewport
    QStringList clipped_texts() const { return clipped_; }

  Q_SIGNALS:
    void selected_changed(int row);
    void activated(int row);  ///< Enter or a double click
    void key_pressed(int key);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void changeEvent(QEvent* event) override;

  private:
    int row_height() const;
    void fit();
    int row_at(int y) const;

    std::vector<PairedBar> rows_;
    int selected_ = -1;
    QStringList clipped_;
};

}  // namespace memwall::gui
