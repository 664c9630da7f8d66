// SPDX-License-Identifier: GPL-3.0-only
// One page of the window. All pages look at the same session; the window shows one at a time and frames it
// with the controls, the results and the command.
#pragma once

#include <QString>
#include <QVariantMap>
#include <QWidget>
#include <functional>
#include <vector>

#include "gui/model/session.h"

namespace memwall::gui {

/// One cell of the strip above the page.
struct ResultCell {
    QString caption, value, note;
    QString tone;      ///< "", good, warning, bad, accent
    QString quantity;  ///< JSON path in memwall/plan/1; empty when the number is none of the plan's
    double raw = 0;
    QVariantMap note_numbers;  ///< JSON path -> raw value of each number in the note
    int stretch = 1;           ///< width relative to the other cells
    QString ledger_item;       ///< opened by a click; empty = none
};

/// What Ctrl+K finds on a page.
struct FindEntry {
    QString words, kind;
    std::function<void()> act;
};

class Page : public QWidget {
    Q_OBJECT
  public:
    explicit Page(Session& session, QWidget* parent = nullptr) : QWidget(parent), session_(session) {}

    virtual QString title() const = 0;
    /// Shows the session's plan; called after each change while visible, and before the page is shown.
    virtual void refresh() = 0;
    /// What stands at the left in place of the controls; nullptr = the controls.
    virtual QWidget* side_panel() { return nullptr; }
    /// Cells in place of the plan's; empty = the plan's.
    virtual std::vector<ResultCell> results() const { return {}; }
    /// The equivalent command line.
    virtual QString command() const { return session_.command(); }
    /// What is on screen as a file: .png, .svg or .csv by the name's end. False + why.
    virtual bool export_as(const QString& path, QString* why) = 0;
    virtual std::vector<FindEntry> find_entries() { return {}; }
    /// Sets off what a picture of the page should show: a run, a choice. For screenshots.
    virtual void demonstrate() {}
    /// Nothing that demonstrate() or refresh() set off is still running.
    virtual bool ready() const { return true; }
    /// A ledger line was asked for ("kv_cache", a path "memory/kv_cache/..." ); most pages ignore it.
    virtual void select_item(const QString& item) { Q_UNUSED(item) }

  Q_SIGNALS:
    void open_ledger(const QString& item);  ///< shows it on the Explain page
    void show_page(const QString& name);    ///< "explore", "triangle", "explain", "simulate", "verify"
    void results_changed();                 ///< results() or command() have other values
    void message(const QString& text);      ///< an error for the bar under the header

  protected:
    Session& session() const { return session_; }

  private:
    Session& session_;
};

// One function a page; pages.cpp lists them in the order of the header.
Page* make_explore_page(Session& session);
Page* make_triangle_page(Session& session);
Page* make_explain_page(Session& session);
Page* make_simulate_page(Session& session);
Page* make_verify_page(Session& session);

}  // namespace memwall::gui
