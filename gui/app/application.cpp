// SPDX-License-Identifier: GPL-3.0-only
#include "gui/app/application.h"

#include <QApplication>
#include <QIcon>
#include <QLibraryInfo>
#include <QLocale>
#include <QSettings>
#include <QTranslator>

#include "core/base/version.h"
#include "gui/theme/theme.h"

static void init_resources() {
    Q_INIT_RESOURCE(explorer);
    Q_INIT_RESOURCE(translations);
}

namespace memwall::gui {

void set_up_application() {
    init_resources();
    QApplication::setOrganizationName(QStringLiteral("memwall"));
    QApplication::setApplicationName(QStringLiteral("memwall-explorer"));
    QApplication::setApplicationVersion(QString::fromUtf8(kVersion));
    QApplication::setDesktopFileName(QStringLiteral("memwall-explorer"));
    QApplication::setWindowIcon(QIcon(QStringLiteral(":/icons/memwall-explorer.svg")));
    QApplication::setStyle(QStringLiteral("fusion"));
    const int look = QSettings().value("appearance", 0).toInt();
    set_appearance(look == 1 ? Appearance::light : look == 2 ? Appearance::dark : Appearance::system);
}

void set_language(const QString& name) {
    static QTranslator own, qt;
    QCoreApplication::removeTranslator(&own);
    QCoreApplication::removeTranslator(&qt);
    QLocale locale = name.isEmpty() ? QLocale::system() : QLocale(name);
    if (locale.language() == QLocale::C) locale = QLocale(QLocale::English);
    QLocale::setDefault(locale);
    if (own.load(locale, QStringLiteral("memwall"), QStringLiteral("_"), QStringLiteral(":/i18n")))
        QCoreApplication::installTranslator(&own);
    if (qt.load(locale, QStringLiteral("qtbase"), QStringLiteral("_"),
                QLibraryInfo::path(QLibraryInfo::TranslationsPath)))
        QCoreApplication::installTranslator(&qt);
}

}  // namespace memwall::gui
