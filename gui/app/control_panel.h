// SPDX-License-Identifier: GPL-3.0-only
// The controls at the left: every option of a deployment, each with the fact it stands for and what changing
// it does.
#pragma once

#include <QScrollArea>
#include <map>

#include "gui/model/session.h"
#include "gui/model/worker.h"

class QBoxLayout;
class QLabel;
class QLineEdit;
class QToolButton;
class QVBoxLayout;

namespace memwall::gui {

class ChoiceBox;
class ContextSlider;
class ElidedLabel;
class Suggestions;

class ControlPanel : public QScrollArea {
    Q_OBJECT
  public:
    ControlPanel(Session& session, QWidget* parent = nullptr);
    ~ControlPanel() override;
    /// Shows the session's plan.
    void refresh();
    ChoiceBox* choice(const QString& option) const;
    QLineEdit* edit(const QString& option) const;
    ContextSlider* context_slider() const { return slider_; }
    /// Consequence lines are in place for the plan shown.
    bool settled() const { return !consequences_.busy(); }
    void show_more(bool on);

  Q_SIGNALS:
    void sent_to_ledger(const QString& item);

  protected:
    void resizeEvent(QResizeEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    /// A name, a fact at the right, a field, a grey line, and an error below when the text was refused.
    struct Control {
        QWidget* box = nullptr;
        QLabel* name = nullptr;
        ElidedLabel* fact = nullptr;
        QLabel* note = nullptr;
        QLabel* error = nullptr;
        std::map<QString, QWidget*> fields;
    };
    Control& add_control(const QString& key, const QString& name);
    ChoiceBox* add_choice(Control& control, const QString& option, QBoxLayout* row);
    QLineEdit* add_edit(Control& control, const QString& option, QBoxLayout* row);
    void build();
    void build_more(QVBoxLayout* column);
    void fill_choices(ChoiceBox* box);
    void set_note(const QString& key, const QString& text, bool helps = false);
    void show_error(const QString& option, const QString& message);
    void set(const QString& option, const QString& text, bool continues = false);
    void place_suggestions();
    void refresh_facts();
    void ask_consequences();

    Session& session_;
    std::map<QString, Control> controls_;    // by key
    std::map<QString, QString> control_of_;  // option -> key
    ContextSlider* slider_ = nullptr;
    Suggestions* suggestions_ = nullptr;  // below what scrolls: always in sight
    QWidget* more_ = nullptr;
    QToolButton* more_button_ = nullptr;
    Worker consequences_, lists_;
    std::shared_ptr<devices::Replanner> for_consequences_,
        for_lists_;  // each used by one worker's thread only
    bool refreshing_ = false;
};

}  // namespace memwall::gui
