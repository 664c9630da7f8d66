// SPDX-License-Identifier: GPL-3.0-only
// Header, controls, results, page and footer around one session.
#pragma once

#include <QMainWindow>
#include <vector>

#include "gui/app/page.h"
#include "gui/model/worker.h"

class QAction;
class QMenu;
class QStackedWidget;

namespace memwall::gui {

class ControlPanel;
class ErrorBar;
class FindBox;
class Footer;
class Header;
class ResultStrip;

class MainWindow : public QMainWindow {
    Q_OBJECT
  public:
    explicit MainWindow(Session& session, QWidget* parent = nullptr);

    /// The deployment of the last start, else a useful one (start_afresh()). Also geometry and recent
    /// files.
    void restore();
    /// A small model at once, and the best one for the device as soon as a worker has found it.
    void start_afresh(const std::string& device = "");
    void save_settings() const;
    void set_save_on_close(bool on) { save_on_close_ = on; }

    Page* page(const QString& name) const;
    void show_page(const QString& name);
    QString current_page() const;
    QStringList page_names() const;
    /// Of the page shown; see Page.
    void demonstrate();
    bool ready() const;
    ControlPanel& controls() { return *controls_; }
    Footer& footer() { return *footer_; }
    ErrorBar& errors() { return *errors_; }
    FindBox& find_box() { return *find_; }
    /// Writes what is on screen; by the name's end .png, .svg or .csv. False + a message in the bar.
    bool export_to(const QString& path);
    void open_path(const QString& path);
    void open_find();

  protected:
    void closeEvent(QCloseEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

  private:
    void build_actions();
    void fill_open_menu();
    void choose_file();
    void choose_save();
    void choose_export(const QString& ending);
    void refresh();
    void refresh_frame();
    void show_help();
    void show_about();
    std::vector<FindEntry> find_entries();

    Session& session_;
    Header* header_;
    ErrorBar* errors_;
    QStackedWidget* left_;
    ControlPanel* controls_;
    ResultStrip* results_;
    QStackedWidget* pages_;
    Footer* footer_;
    FindBox* find_;
    Worker files_;
    QMenu *open_menu_, *export_menu_, *more_menu_;
    QAction *undo_, *redo_, *open_, *save_, *export_, *find_action_, *copy_;
    std::vector<std::pair<QString, Page*>> named_;
    bool save_on_close_ = true;
};

}  // namespace memwall::gui
