// SPDX-License-Identifier: GPL-3.0-only
// Three shares that sum to one as places in a triangle, and a handle that the user drags to the balance
// wanted.
#pragma once

#include <QFrame>
#include <array>

#include "gui/charts/marks.h"

class QLabel;

namespace memwall::gui {

using Shares = std::array<double, 3>;  ///< lower left, lower right, top

/// Dots of one look.
struct ShareDots {
    QString key;
    std::vector<Shares> points{};
    QColor color{};
    double radius = 3;
    Shape shape = Shape::disc;
    QColor outline{};
};

class BalanceTriangle : public QFrame {
    Q_OBJECT
  public:
    explicit BalanceTriangle(const QString& title, const QString& note, QWidget* parent = nullptr);

    struct Corner {
        QString name, about;
    };
    void set_title(const QString& title, const QString& note);
    void set_corners(const std::array<Corner, 3>& corners);
    void set_dots(std::vector<ShareDots> dots);
    struct Mark {
        Shares at{};
        QString text{};
        QColor fill{}, ink{};
    };
    void set_badges(std::vector<Mark> badges);
    void set_wanted(const Shares& wanted);
    const Shares& wanted() const { return wanted_; }
    /// The dot the handle selects, with its name; empty = none.
    void set_chosen(const Shares& at, const QString& name);
    void set_ring(const Shares& at, bool shown);  ///< under the pointer
    void set_remark(const QString& words);        ///< a line below the triangle
    void set_description(const QString& words);

    QPointF to_pixels(const Shares& shares) const;
    Shares to_shares(QPointF pixels) const;  ///< the nearest inside
    QStringList clipped_texts() const { return clipped_; }
    QSize sizeHint() const override { return {420, 440}; }
    QSize minimumSizeHint() const override { return {260, 240}; }

  Q_SIGNALS:
    void wanted_moved(const memwall::gui::Shares& wanted, bool finished);
    void hovered(const QString& key, int index);
    void clicked(const QString& key, int index);
    void stepped(int direction);
    void activated();
    void opened();
    void left();
    void key_pressed(int key);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

  private:
    std::array<QPointF, 3> corners_px() const;
    std::pair<int, int> dot_at(QPointF at) const;
    void nudge(int corner, double by);

    QString title_, note_, chosen_name_, remark_;
    std::array<Corner, 3> corners_;
    std::vector<ShareDots> dots_;
    std::vector<Mark> badges_;
    Shares wanted_{1.0 / 3, 1.0 / 3, 1.0 / 3}, chosen_{}, ring_{};
    bool ring_shown_ = false, dragging_ = false;
    std::pair<int, int> hovered_{-1, -1};
    QPointF pressed_;
    QStringList clipped_;
};

}  // namespace memwall::gui
