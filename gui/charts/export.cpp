// SPDX-License-Identifier: GPL-3.0-only
#include "gui/charts/export.h"

#include <QAbstractItemModel>
#include <QCoreApplication>
#include <QFile>
#include <QPainter>
#include <QPixmap>
#include <QSaveFile>
#include <QSvgGenerator>
#include <QWidget>

namespace memwall::gui {
namespace {

bool failed(const QString& path, const QString& why, QString* error) {
    if (error != nullptr)
        *error =
            QCoreApplication::translate("memwall::gui::Plot", "%1: cannot be written: %2").arg(path, why);
    return false;
}

QString quoted(QString cell) {
    if (!cell.contains(u',') && !cell.contains(u'"') && !cell.contains(u'\n')) return cell;
    return u'"' + cell.replace(u'"', QStringLiteral("\"\"")) + u'"';
}

}  // namespace

bool export_picture(QWidget& widget, const QString& path, QString* error) {
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly)) return failed(path, file.errorString(), error);
    if (path.endsWith(QStringLiteral(".svg"), Qt::CaseInsensitive)) {
        QSvgGenerator svg;
        svg.setOutputDevice(&file);
        svg.setSize(widget.size());
        svg.setViewBox(widget.rect());
        svg.setResolution(96);  // else text set in points shrinks
        svg.setTitle(widget.accessibleName().isEmpty() ? widget.windowTitle() : widget.accessibleName());
        svg.setDescription(widget.accessibleDescription());
        QPainter painter(&svg);
        widget.render(&painter, {}, {}, QWidget::DrawWindowBackground | QWidget::DrawChildren);
    } else {
        const qreal ratio = 2;
        QPixmap picture((QSizeF(widget.size()) * ratio).toSize());
        picture.setDevicePixelRatio(ratio);
        picture.fill(widget.palette().color(QPalette::Window));
        widget.render(&picture);
        if (!picture.save(&file, "PNG")) return failed(path, file.errorString(), error);
    }
    return file.commit() || failed(path, file.errorString(), error);
}

QString table_as_csv(const QAbstractItemModel& model) {
    QString out;
    const auto line = [&](auto cell) {
        QStringList cells;
        for (int c = 0; c < model.columnCount(); ++c) cells.append(quoted(cell(c)));
        out += cells.join(u',') + u'\n';
    };
    line([&](int c) { return model.headerData(c, Qt::Horizontal).toString(); });
    for (int r = 0; r < model.rowCount(); ++r)
        line([&](int c) {
            const QModelIndex i = model.index(r, c);
            // The raw number where there is one: texts are rounded.
            const QVariant raw = model.data(i, Qt::UserRole);
            if (raw.typeId() == QMetaType::Double) return QString::number(raw.toDouble(), 'g', 12);
            return model.data(i).toString();
        });
    return out;
}

bool export_table(const QAbstractItemModel& model, const QString& path, QString* error) {
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly)) return failed(path, file.errorString(), error);
    file.write(table_as_csv(model).toUtf8());
    return file.commit() || failed(path, file.errorString(), error);
}

}  // namespace memwall::gui
