// SPDX-License-Identifier: GPL-3.0-only
#include "gui/tests/shown_window.h"

#include <QApplication>
#include <QFont>

#include "gui/app/application.h"
#include "gui/theme/theme.h"

namespace memwall::gui::tests {

void leave_the_desktop(const QString& folder) {
    if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
    qputenv("XDG_CONFIG_HOME", folder.toUtf8());
    qputenv("XDG_RUNTIME_DIR", folder.toUtf8());
    qputenv("LC_ALL", "C.UTF-8");
}

void use_plain_looks() {
    QFont font(QStringLiteral("Open Sans"));
    font.setPointSizeF(10);
    QApplication::setFont(font);
    set_up_application();
    set_language("en_US");
    set_appearance(Appearance::light);
}

plan::Deployment usual_deployment() {
    plan::Deployment d;
    d.model = "llama-3.1-8b";
    d.device = "raspberry-pi-5:8GiB";
    d.quant = "Q4_K_M";
    d.context = 8192;
    return d;
}

ShownWindow::ShownWindow() : window(session) {
    window.set_save_on_close(false);
    if (!session.apply(usual_deployment())) qFatal("the usual deployment has no plan");
    window.show();
}

}  // namespace memwall::gui::tests
