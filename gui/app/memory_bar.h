// SPDX-License-Identifier: GPL-3.0-only
// What each memory pool holds, to scale: parts, the uncertain end hatched, the budget, and what is left to
// others.
#pragma once

#include <QWidget>
#include <vector>

#include "core/plan/curves.h"
#include "gui/theme/theme.h"

namespace memwall::gui {

/// Name of a class of memory as charts label it.
QString part_words(plan::Part part);
inline DataClass data_class(plan::Part part) {
    return static_cast<DataClass>(part);  // the same order: charts stack them so
}
/// The ledger's item that a part opens.
QString ledger_item_of(plan::Part part);

class MemoryBar : public QWidget {
    Q_OBJECT
  public:
    explicit MemoryBar(QWidget* parent = nullptr);
    void set_plan(const plan::Plan& plan);
    /// Marks the segment that an item of the ledger ("memory/kv_cache/...") belongs to.
    void select(const QString& ledger_path);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;
    QStringList clipped_texts() const { return clipped_; }

  Q_SIGNALS:
    void clicked(const QString& ledger_item);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;

  private:
    struct Segment {
        plan::Part part;
        QRectF box;
        double bytes;
        std::size_t pool;
    };
    struct Bar {
        QString name;
        plan::Parts parts{};
        double low = 0, central = 0, high = 0, budget = 0, capacity = 0, scale = 0;
        bool limited = false;
    };
    int segment_at(QPointF at) const;
    void draw_bar(QPainter& p, std::size_t i, const QRectF& row);
    void draw_legend(QPainter& p, double y);

    std::vector<Bar> bars_;
    std::vector<Segment> segments_;  // of the last paint
    QStringList clipped_;
    int chosen_ = -1;
};

}  // namespace memwall::gui
