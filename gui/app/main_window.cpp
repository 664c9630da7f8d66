// SPDX-License-Identifier: GPL-3.0-only
#include "gui/app/main_window.h"

#include <QAction>
#include <QActionGroup>
#include <QApplication>
#include <QCloseEvent>
#include <QDialog>
#include <QDialogButtonBox>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QMessageBox>
#include <QMimeData>
#include <QSettings>
#include <QStackedWidget>
#include <QTextBrowser>
#include <QVBoxLayout>

#include "core/base/error.h"
#include "core/base/version.h"
#include "core/model/catalog.h"
#include "core/plan/options.h"
#include "devices/catalog.h"
#include "gui/app/control_panel.h"
#include "gui/app/error_bar.h"
#include "gui/app/explain_page.h"
#include "gui/app/find_box.h"
#include "gui/app/footer.h"
#include "gui/app/header.h"
#include "gui/app/pages.h"
#include "gui/app/result_strip.h"
#include "gui/app/start.h"
#include "gui/model/choices.h"
#include "gui/theme/theme.h"

namespace memwall::gui {
namespace {

constexpr int kPanelWidth = 258;

}  // namespace

MainWindow::MainWindow(Session& session, QWidget* parent)
    : QMainWindow(parent),
      session_(session),
      header_(new Header),
      errors_(new ErrorBar),
      left_(new QStackedWidget),
      controls_(new ControlPanel(session)),
      results_(new ResultStrip),
      pages_(new QStackedWidget),
      footer_(new Footer),
      open_menu_(new QMenu(this)),
      export_menu_(new QMenu(this)),
      more_menu_(new QMenu(this)) {
    setWindowTitle(QStringLiteral("memwall explorer"));
    setWindowIcon(QIcon(QStringLiteral(":/icons/memwall-explorer.svg")));
    setMinimumSize(1024, 700);
    resize(1280, 800);
    setAcceptDrops(true);

    auto* middle = new QWidget;
    auto* row = new QHBoxLayout(middle);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(0);
    left_->setFixedWidth(kPanelWidth);
    left_->addWidget(controls_);
    row->addWidget(left_);
    auto* body = new QWidget;
    auto* column = new QVBoxLayout(body);
    column->setContentsMargins(10, 10, 10, 10);
    column->setSpacing(8);
    column->addWidget(results_);
    column->addWidget(pages_, 1);
    row->addWidget(body, 1);

    auto* all = new QWidget;
    auto* stack = new QVBoxLayout(all);
    stack->setContentsMargins(0, 0, 0, 0);
    stack->setSpacing(0);
    stack->addWidget(header_);
    stack->addWidget(errors_);
    stack->addWidget(middle, 1);
    stack->addWidget(footer_);
    setCentralWidget(all);
    find_ = new FindBox(this);

    for (const NamedPage& named : make_pages(session_)) {
        named_.emplace_back(named.name, named.page);
        pages_->addWidget(named.page);
        header_->add_page(named.page->title());
        if (QWidget* side = named.page->side_panel()) left_->addWidget(side);
        connect(named.page, &Page::open_ledger, this, [this](const QString& item) {
            show_page("explain");
            page("explain")->select_item(item);
        });
        connect(named.page, &Page::show_page, this, [this, from = named.page](const QString& name) {
            const auto* explain = qobject_cast<ExplainPage*>(from);
            show_page(name);
            if (explain && page(name)) page(name)->select_item(explain->selected_path());
        });
        connect(named.page, &Page::results_changed, this, &MainWindow::refresh_frame);
        connect(named.page, &Page::message, this,
                [this](const QString& text) { errors_->show_message(text, false); });
    }
    build_actions();
    connect(header_, &Header::page_chosen, this,
            [this](int index) { show_page(named_[static_cast<std::size_t>(index)].first); });
    connect(results_, &ResultStrip::clicked, this, [this](const QString& item) {
        show_page("explain");
        page("explain")->select_item(item);
    });
    connect(&files_, &Worker::failed, &session_, &Session::failed);
    connect(errors_, &ErrorBar::choose_another, this, &MainWindow::choose_file);
    connect(&session_, &Session::changed, this, &MainWindow::refresh);
    connect(&session_, &Session::failed, this,
            [this](const QString& message) { errors_->show_message(message, true); });
    connect(&session_, &Session::recent_files_changed, this, &MainWindow::fill_open_menu);
    fill_open_menu();
    header_->set_page(0);
    setFocusPolicy(Qt::ClickFocus);
    setFocus();  // not into the first field: nothing is being typed yet
    if (session_.planned_once()) refresh();
}

void MainWindow::build_actions() {
    const auto action = [this](const QString& text, const QKeySequence& key, auto slot) {
        auto* a = new QAction(text, this);
        a->setShortcut(key);
        addAction(a);
        connect(a, &QAction::triggered, this, slot);
        return a;
    };
    undo_ = action(tr("&Undo"), QKeySequence::Undo, [this] { session_.undo(); });
    redo_ = action(tr("&Redo"), QKeySequence(QStringLiteral("Ctrl+Shift+Z")), [this] { session_.redo(); });
    open_ = action(tr("&Open…"), QKeySequence::Open, [this] { choose_file(); });
    save_ = action(tr("&Save deployment…"), QKeySequence::Save, [this] { choose_save(); });
    export_ =
        action(tr("&Export…"), QKeySequence(QStringLiteral("Ctrl+E")), [this] { choose_export("png"); });
    find_action_ = action(tr("&Find"), QKeySequence(QStringLiteral("Ctrl+K")), [this] { open_find(); });
    copy_ = action(tr("&Copy command"), QKeySequence(QStringLiteral("Ctrl+Shift+C")),
                   [this] { footer_->copy_command(); });
    auto* help = action(tr("&Help"), QKeySequence::HelpContents, [this] { show_help(); });
    auto* quit = action(tr("&Quit"), QKeySequence::Quit, [this] { close(); });
    for (std::size_t i = 0; i < named_.size(); ++i)
        action(named_[i].second->title(), QKeySequence(QStringLiteral("Ctrl+%1").arg(i + 1)),
               [this, i] { show_page(named_[i].first); });
    undo_->setEnabled(false);
    redo_->setEnabled(false);

    for (const char* ending : {"png", "svg", "csv"})
        connect(export_menu_->addAction(ending == std::string_view("csv")   ? tr("Numbers as CSV…")
                                        : ending == std::string_view("svg") ? tr("Picture as SVG…")
                                                                            : tr("Picture as PNG…")),
                &QAction::triggered, this, [this, ending] { choose_export(ending); });

    auto* appearance_group = new QActionGroup(this);
    auto* appearance_menu = more_menu_->addMenu(tr("Appearance"));
    const std::pair<Appearance, QString> looks[] = {
        {Appearance::system, tr("System")}, {Appearance::light, tr("Light")}, {Appearance::dark, tr("Dark")}};
    for (const auto& [which, words] : looks) {
        QAction* a = appearance_menu->addAction(words);
        a->setCheckable(true);
        a->setChecked(appearance() == which);
        appearance_group->addAction(a);
        connect(a, &QAction::triggered, this, [this, wanted = which] {
            set_appearance(wanted);
            if (save_on_close_) save_settings();
        });
    }
    more_menu_->addAction(redo_);
    more_menu_->addAction(save_);
    more_menu_->addAction(copy_);
    more_menu_->addSeparator();
    more_menu_->addAction(help);
    connect(more_menu_->addAction(tr("&About")), &QAction::triggered, this, [this] { show_about(); });
    more_menu_->addAction(quit);
    auto* more = new QAction(tr("More"), this);

    header_->add_action(undo_, tr("Undo"));
    header_->add_action(open_, tr("Open"), open_menu_);
    header_->add_action(export_, tr("Export"), export_menu_);
    header_->add_action(find_action_, tr("Find"));
    header_->add_action(more, tr("More"), more_menu_);
}

void MainWindow::fill_open_menu() {
    open_menu_->clear();
    open_menu_->addAction(open_);
    open_menu_->addAction(save_);
    if (session_.recent_files().isEmpty()) return;
    open_menu_->addSeparator();
    for (const QString& file : session_.recent_files()) {
        QAction* a =
            open_menu_->addAction(fontMetrics().elidedText(QFileInfo(file).fileName(), Qt::ElideMiddle, 320));
        a->setToolTip(file);
        connect(a, &QAction::triggered, this, [this, file] { open_path(file); });
    }
}

Page* MainWindow::page(const QString& name) const {
    for (const auto& [known, page] : named_)
        if (known == name) return page;
    return nullptr;
}

QString MainWindow::current_page() const {
    for (const auto& [name, page] : named_)
        if (page == pages_->currentWidget()) return name;
    return {};
}

QStringList MainWindow::page_names() const {
    QStringList names;
    for (const auto& [name, page] : named_) names << name;
    return names;
}

void MainWindow::demonstrate() {
    static_cast<Page*>(pages_->currentWidget())->demonstrate();
}

bool MainWindow::ready() const {
    return !files_.busy() && controls_->settled() &&
           static_cast<const Page*>(pages_->currentWidget())->ready();
}

void MainWindow::show_page(const QString& name) {
    for (std::size_t i = 0; i < named_.size(); ++i) {
        if (named_[i].first != name) continue;
        Page* page = named_[i].second;
        if (session_.planned_once()) page->refresh();
        pages_->setCurrentWidget(page);
        QWidget* side = page->side_panel();
        left_->setCurrentWidget(side ? side : controls_);
        header_->set_page(static_cast<int>(i));
        refresh_frame();
        return;
    }
}

void MainWindow::refresh() {
    errors_->hide();
    controls_->refresh();
    if (auto* page = static_cast<Page*>(pages_->currentWidget())) page->refresh();
    refresh_frame();
}

void MainWindow::refresh_frame() {
    if (!session_.planned_once()) return;
    auto* page = static_cast<Page*>(pages_->currentWidget());
    const auto cells = page->results();
    results_->set_cells(cells.empty() ? plan_cells(session_) : cells);
    footer_->set_command(page->command());
    QStringList warnings;
    for (const plan::Warning& w : session_.planned().advice.warnings) warnings << text_of(w.text);
    footer_->set_warnings(warnings);
    footer_->set_milliseconds(session_.plan_milliseconds());
    undo_->setEnabled(session_.can_undo());
    redo_->setEnabled(session_.can_redo());
}

void MainWindow::restore() {
    const QSettings settings;
    if (settings.contains("geometry")) restoreGeometry(settings.value("geometry").toByteArray());
    session_.set_recent_files(settings.value("recent").toStringList());
    fill_open_menu();
    const QString last = settings.value("deployment").toString();
    if (!last.isEmpty()) {
        try {
            if (session_.apply(plan::read_deployment(last.toStdString(), "settings"))) return;
        } catch (const std::exception& e) {
            errors_->show_message(text_of(e.what()), false);
        }
    }
    start_afresh();
}

void MainWindow::start_afresh(const std::string& device) {
    const plan::Deployment first = start_at_once(device);
    if (!session_.start_with(first)) return;
    // The window is there at once; what was touched meanwhile stays.
    files_.submit([first](const JobControl&) { return best_start(first); },
                  [this, shown = session_.shared_plan()](const plan::Deployment& best) {
                      if (session_.shared_plan() == shown) session_.start_with(best);
                  });
}

void MainWindow::save_settings() const {
    QSettings settings;
    settings.setValue("geometry", saveGeometry());
    settings.setValue("recent", session_.recent_files());
    settings.setValue("appearance", static_cast<int>(appearance()));
    if (session_.planned_once())
        settings.setValue("deployment", text_of(plan::write_deployment(session_.deployment())));
}

void MainWindow::closeEvent(QCloseEvent* event) {
    if (save_on_close_) save_settings();
    event->accept();
}

void MainWindow::open_path(const QString& path) {
    // Read off the interface thread: a file may be large, or far away.
    files_.submit([path, now = session_.deployment()](const JobControl&) { return Session::read(path, now); },
                  [this](const Session::OpenedFile& file) { session_.show_file(file); });
}

void MainWindow::choose_file() {
    auto* dialog = new QFileDialog(this, tr("Open a model, a deployment or a device"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFile);
    dialog->setNameFilters({tr("Models, deployments and devices (*.gguf *.json *.safetensors *.yaml *.yml)"),
                            tr("All files (*)")});
    connect(dialog, &QFileDialog::fileSelected, this, &MainWindow::open_path);
    dialog->open();
}

void MainWindow::choose_save() {
    auto* dialog = new QFileDialog(this, tr("Save the deployment"), QStringLiteral("deployment.yaml"),
                                   tr("Deployments (*.yaml)"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix("yaml");
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& path) { session_.save(path); });
    dialog->open();
}

void MainWindow::choose_export(const QString& ending) {
    auto* dialog = new QFileDialog(this, tr("Export what is on screen"), current_page() + '.' + ending,
                                   ending.toUpper() + QStringLiteral(" (*.%1)").arg(ending));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(ending);
    connect(dialog, &QFileDialog::fileSelected, this, &MainWindow::export_to);
    dialog->open();
}

bool MainWindow::export_to(const QString& path) {
    QString why;
    if (static_cast<Page*>(pages_->currentWidget())->export_as(path, &why)) return true;
    errors_->show_message(why, false);
    return false;
}

std::vector<FindEntry> MainWindow::find_entries() {
    std::vector<FindEntry> entries;
    for (const auto& [name, page] : named_)
        entries.push_back({page->title(), tr("page"), [this, n = name] { show_page(n); }});
    for (QAction* a : actions())
        if (a->isEnabled() && !a->text().isEmpty())
            entries.push_back(
                {QString(a->text()).remove('&'),
                 tr("action") + QStringLiteral(" · ") + a->shortcut().toString(QKeySequence::NativeText),
                 [a] { a->trigger(); }});
    for (const std::string_view id : model::catalog_ids())
        entries.push_back(
            {text_of(id), tr("model"), [this, id] { session_.set_option("model", text_of(id)); }});
    for (const Choice& c : choices_of("device", session_.deployment(), session_.planned(), {}))
        entries.push_back({c.about.isEmpty() ? c.label : c.label + QStringLiteral("  ") + c.about,
                           tr("device"), [this, id = c.value] { session_.set_option("device", id); }});
    auto* now = static_cast<Page*>(pages_->currentWidget());
    for (const FindEntry& e : now->find_entries()) entries.push_back(e);
    if (now != page("explain"))
        for (const FindEntry& e : page("explain")->find_entries()) entries.push_back(e);
    return entries;
}

void MainWindow::open_find() {
    if (session_.planned_once()) find_->open(find_entries());
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
    if (event->mimeData()->hasUrls() && event->mimeData()->urls().front().isLocalFile())
        event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
    open_path(event->mimeData()->urls().front().toLocalFile());
    event->acceptProposedAction();
}

void MainWindow::resizeEvent(QResizeEvent* event) {
    QMainWindow::resizeEvent(event);
    find_->hide();
}

void MainWindow::show_help() {
    auto* dialog = new QDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(tr("Keys"));
    auto* column = new QVBoxLayout(dialog);
    auto* text = new QTextBrowser;
    const std::pair<QString, QString> keys[] = {
        {"Ctrl+1 … Ctrl+5", tr("pages")},
        {"Ctrl+K", tr("find models, devices, actions, ledger lines")},
        {"Ctrl+O, Ctrl+S, Ctrl+E", tr("open, save the deployment, export")},
        {"Ctrl+Z, Ctrl+Shift+Z", tr("undo, redo")},
        {"Ctrl+Shift+C", tr("copy the equivalent command")},
        {"Alt+…", tr("to the control with that letter underlined")},
        {"← →", tr("in a chart: the cursor by one stop; with Shift a fine step")},
        {"↑ ↓", tr("in a chart: the next series or candidate")},
        {"Enter, Space", tr("pin a candidate; open it in Explore")},
        {"W, C, Esc", tr("why not; constraints; leave")},
        {"+ − 0", tr("zoom, whole range")},
        {"Ctrl+T", tr("the chart as a table")}};
    QString html = QStringLiteral("<table cellspacing='6'>");
    for (const auto& [key, words] : keys)
        html += QStringLiteral("<tr><td><b>%1</b></td><td>%2</td></tr>")
                    .arg(key.toHtmlEscaped(), words.toHtmlEscaped());
    html += QStringLiteral("</table><p>") +
            tr("Hatched parts and bands are uncertain; what is solid is exact. Every number opens its line "
               "in the ledger: formula, inputs and sources.")
                .toHtmlEscaped() +
            QStringLiteral("</p>");
    text->setHtml(html);
    column->addWidget(text);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
    connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::reject);
    column->addWidget(buttons);
    dialog->resize(560, 440);
    dialog->open();
}

void MainWindow::show_about() {
    auto* box = new QMessageBox(QMessageBox::NoIcon, tr("About"),
                                QStringLiteral("memwall explorer %1").arg(QString::fromUtf8(kVersion)),
                                QMessageBox::Close, this);
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->setInformativeText(tr("Does this model fit this device, how fast will it be, and how good will it "
                               "stay?\n\nCatalogues of %1. With Qt %2.\n\n"
                               "This program is free software under the GNU General Public License, version "
                               "3, because Qt Charts is; "
                               "the memwall library and command are under Apache-2.0.")
                                .arg(QString::fromUtf8(kDataVersion), QString::fromLatin1(qVersion())));
    box->open();
}

}  // namespace memwall::gui
