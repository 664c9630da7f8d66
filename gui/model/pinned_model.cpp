#include "gui/model/pinned_model.h"

#include <cmath>

#include "core/base/size_text.h"
#include "core/view/quantity_text.h"
#include "gui/model/session.h"

namespace memwall::gui {
namespace {

/// A column of numbers: how they are read, written and judged.
struct Number {
    PinnedModel::Column column;
    bool smaller_is_better;
    const char* quantity;
    double (*value)(const Pin&);
    QString (*text)(const Pin&);
    QString (*difference)(double);
};

QString sign(double d, const QString& size) {
    return (d < 0 ? QStringLiteral("−") : QStringLiteral("+")) + size;
}
QString three_digits(double d) {
    return sign(d, text_of(view::number_text(std::abs(d))));
}
QString bytes_difference(double d) {
    return sign(d, text_of(bytes_text(Bytes(std::llround(std::abs(d))))));
}
QString seconds_difference(double d) {
    return sign(d, text_of(seconds_text(Seconds(std::abs(d)))));
}
double kept(const Pin& p) {
    return p.candidate.loss.known() ? 100 * (1 - p.candidate.loss.top1_disagreement.central) : std::nan("");
}
double timed(const Pin& p, double value) {
    return p.candidate.timed ? value : std::nan("");
}

const Number kNumbers[] = {
    {PinnedModel::memory, true, "memory.total_bytes.central",
     [](const Pin& p) { return p.candidate.footprint.central.as_double(); },
     [](const Pin& p) { return text_of(view::text(p.candidate.footprint)); }, bytes_difference},
    {PinnedModel::decode, false, "speed.decode_tokens_per_second.central",
     [](const Pin& p) { return timed(p, p.candidate.decode.central.value); },
     [](const Pin& p) { return text_of(view::text(p.candidate.decode)) + QStringLiteral(" tok/s"); },
     three_digits},
    {PinnedModel::first_token, true, "speed.time_to_first_token_seconds.central",
     [](const Pin& p) { return timed(p, p.candidate.first_token.central.value); },
     [](const Pin& p) { return text_of(view::text(p.candidate.first_token)); }, seconds_difference},
    {PinnedModel::job, true, "speed.job_seconds.central",
     [](const Pin& p) { return timed(p, p.candidate.job.central.value); },
     [](const Pin& p) { return text_of(view::text(p.candidate.job)); }, seconds_difference},
    {PinnedModel::quality, false, "quality", [](const Pin& p) { return p.score >= 0 ? p.score : kept(p); },
     [](const Pin& p) {
         return p.score >= 0 ? QString::number(p.score, 'f', 1)
                             : QString::number(kept(p), 'f', 1) + QStringLiteral(" %");
     },
     [](double d) { return sign(d, QString::number(std::abs(d), 'f', 1)); }},
};

const Number* number_of(int column) {
    for (const Number& n : kNumbers)
        if (n.column == column) return &n;
    return nullptr;
}

}  // namespace

PinnedModel::PinnedModel(Triangle& triangle, QObject* parent)
    : QAbstractTableModel(parent), triangle_(triangle) {
    connect(&triangle, &Triangle::pins_changed, this, &PinnedModel::reset);
    reset();
}

void PinnedModel::reset() {
    beginResetModel();
    pins_ = triangle_.pins();
    endResetModel();
}

int PinnedModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(pins_.size());
}

int PinnedModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : columns;
}

QVariant PinnedModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) return {};
    const Pin& pin = pins_[static_cast<std::size_t>(index.row())];
    const Pin& first = pins_.front();
    const Number* number = number_of(index.column());
    if (number != nullptr) {
        const double value = number->value(pin), reference = number->value(first);
        const bool known = std::isfinite(value);
        const double d = value - reference;
        switch (role) {
            case Qt::DisplayRole:
                return known ? number->text(pin) : tr("unknown");
            case raw_role:
                return known ? QVariant(value) : QVariant();
            case quantity_role:
                return QLatin1String(number->quantity);
            case difference_role:
                return known && index.row() > 0 && std::isfinite(d) &&
                               std::abs(d) > 1e-12 * std::abs(reference)
                           ? number->difference(d)
                           : QString();
            case tone_role:
                if (!known || index.row() == 0 || !(std::abs(d) > 1e-12 * std::abs(reference)))
                    return QString();
                return (d < 0) == number->smaller_is_better ? QStringLiteral("good") : QStringLiteral("bad");
            case best_role: {
                if (!known || pins_.size() < 2) return false;
                for (const Pin& other : pins_) {
                    const double v = number->value(other);
                    if (std::isfinite(v) && (number->smaller_is_better ? v < value : v > value)) return false;
                }
                return true;
            }
            default:
                return {};
        }
    }
    const auto text = [&](const Pin& p) -> QString {
        switch (index.column()) {
            case letter:
                return QString(QChar(u'A' + index.row()));
            case model:
                return p.deployment.draft.empty() ? p.model : p.model + tr(" +draft");
            case recipe:
                return p.recipe;
            case kv:
                return p.kv;
            case context:
                return text_of(count_text(p.candidate.context));
            default:
                return {};
        }
    };
    if (role == Qt::DisplayRole) return text(pin);
    if (role == raw_role && index.column() == context) return static_cast<double>(pin.candidate.context);
    // Words that differ from the first row's are marked, neither good nor bad.
    if (role == tone_role && index.column() != letter && text(pin) != text(first))
        return QStringLiteral("accent");
    return {};
}

QVariant PinnedModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (role != Qt::DisplayRole || orientation != Qt::Horizontal) return {};
    switch (section) {
        case letter:
            return QString();
        case model:
            return tr("Model");
        case recipe:
            return tr("Recipe");
        case kv:
            return QStringLiteral("KV");
        case context:
            return tr("Context");
        case memory:
            return tr("Memory");
        case decode:
            return tr("Decode");
        case first_token:
            return tr("First token");
        case job:
            return tr("Job");
        case quality:
            return tr("Quality");
        default:
            return {};
    }
}

}  // namespace memwall::gui
