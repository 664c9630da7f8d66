// SPDX-License-Identifier: GPL-3.0-only
// One line of text that gives way: cut with an ellipsis where it is too long, whole in the tool tip.
#pragma once

#include <QLabel>

namespace memwall::gui {

class ElidedLabel : public QLabel {
    Q_OBJECT
  public:
    explicit ElidedLabel(const QString& text = {}, QWidget* parent = nullptr);
    void set_text(const QString& text);
    QString full_text() const { return full_; }
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

  protected:
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;

  private:
    void fit();
    QString full_;
};

}  // namespace memwall::gui
