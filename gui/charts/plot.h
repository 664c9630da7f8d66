// SPDX-License-Identifier: GPL-3.0-only
// A chart with axes, bands, stacks, lines and dots; limits and a cursor that are dragged; keyboard, hover,
// a description in words, a table of the same numbers, and export. The one place that knows Qt Charts is
// plot_view.cpp.
//
//   auto* plot = new Plot(tr("Memory against context"), tr("GiB"));
//   plot->set_axes({tr("context, tokens"), 0, 24576, Scale::linear, Ticks::binary, token_text},
//                  {tr("memory, GiB"), 0, 9});
//   plot->draw(Stack{...}); plot->draw(Line{"budget", ...}); plot->set_cursor(Cursor{8192, stops});
//   connect(plot, &Plot::cursor_moved, this, [](double context, bool finished) { ... });
#pragma once

#include <QAbstractTableModel>
#include <QFrame>
#include <optional>

#include "gui/charts/axis.h"
#include "gui/charts/marks.h"

class QLabel;
class QStackedLayout;
class QTableView;

namespace memwall::gui {

class PlotView;

/// Framed as a card, with its title. Colours of what is no data come from theme() at every paint.
class Plot : public QFrame {
    Q_OBJECT
  public:
    explicit Plot(const QString& title = {}, const QString& note = {}, QWidget* parent = nullptr);
    ~Plot() override;

    void set_title(const QString& title, const QString& note);
    QString title() const;

    void set_axes(const Axis& x, const Axis& y);
    const Axis& x_axis() const;
    const Axis& y_axis() const;

    // Each replaces the mark of its key, or all of its kind.
    void draw(const Line& line);
    void draw(const Band& band);
    void draw(const Stack& stack);
    void draw(const Dots& dots);
    void remove(const QString& key);  ///< a line, band or dots
    void clear();                     ///< all marks; axes stay
    void set_limits(std::vector<Limit> limits);
    void set_labels(std::vector<Label> labels);
    void set_regions(std::vector<Region> regions);
    void set_badges(std::vector<Badge> badges);
    void set_cursor(std::optional<Cursor> cursor);
    void set_hover_text(std::function<QString(double x)> text);  ///< a tag at the pointer; empty = none
    const std::optional<Cursor>& cursor() const;
    const std::vector<Limit>& limits() const;

    /// What a screen reader says beside the title; call it when the cursor moves.
    void set_description(const QString& words);

    /// Rows and columns of what is shown, or another table of the same.
    QAbstractItemModel* table() const;
    void set_table(QAbstractItemModel* model);
    bool table_shown() const;

    /// Text for a plot without data, instead of empty axes.
    void set_placeholder(const QString& text);

    /// The place of a value in the canvas's pixels, and back.
    QPointF to_pixels(Point value) const;
    Point to_values(QPointF pixels) const;
    QRectF plot_area() const;  ///< in the canvas's pixels
    QWidget* canvas() const;   ///< what receives mouse events
    /// Texts drawn by the last paint that did not fit where they belong; for tests.
    QStringList clipped_texts() const;

  public Q_SLOTS:
    void show_table(bool on);

  Q_SIGNALS:
    void cursor_moved(double x, bool finished);
    void limit_moved(const QString& key, double value, bool finished);
    /// The nearest hoverable dot under the pointer or by keyboard; an empty key = none.
    void hovered(const QString& key, int index);
    void clicked(const QString& key, int index);
    void clicked_at(double x, double y);
    void stepped(int direction);  ///< Up (-1) and Down (1)
    void activated();             ///< Enter
    void opened();                ///< Space
    void left();                  ///< Esc
    void key_pressed(int key);    ///< a letter the plot does not use itself

  protected:
    void changeEvent(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

  private:
    friend class PlotView;
    void update_title();
    void fit_note();  ///< cut with an ellipsis where the plot is narrow
    QLabel *title_label_, *note_label_;
    QStackedLayout* pages_;
    PlotView* view_;
    QTableView* table_view_ = nullptr;
    QAbstractItemModel* own_table_;
    QAbstractItemModel* table_;
    QString title_, note_;
};

}  // namespace memwall::gui
