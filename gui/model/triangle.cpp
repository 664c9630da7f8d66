#include "gui/model/triangle.h"

#include <QElapsedTimer>
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "core/base/error.h"
#include "core/base/size_text.h"
#include "core/plan/decision_options.h"
#include "core/plan/options.h"
#include "core/quality/words.h"
#include "core/view/quantity_text.h"
#include "gui/model/session.h"

namespace memwall::gui {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// What the catalogue is searched for: powers of two, as recommend takes them.
constexpr std::int64_t kLeastContext = 1024, kMostContext = 131072;

std::vector<std::int64_t> context_stops(std::int64_t own) {
    std::set<std::int64_t> stops;
    for (std::int64_t c = kLeastContext; c <= kMostContext; c *= 2) stops.insert(c);
    if (own > 0) stops.insert(own);
    return {stops.begin(), stops.end()};
}

QString decimal(double value, int digits) {
    return QString::number(value, 'f', digits);
}

QString significant(double value) {
    const QString text = QString::fromStdString(view::number_text(value));
    return QString(text).remove(u',');
}

}  // namespace

Triangle::Triangle(QObject* parent) : QObject(parent) {
    connect(&worker_, &Worker::failed, this, [this] { searched_key_.clear(); });
}

// ---------------------------------------------------------------- search

void Triangle::search(const plan::Deployment& deployment) {
    open_ = devices::opened_axes(deployment);
    const std::int64_t context = deployment.context > 0 ? deployment.context : 4096;
    if (context != own_context_ && !context_chosen_)
        set_limit(QStringLiteral("min-context"), QString::number(context));
    own_context_ = context;
    context_chosen_ = false;
    start();
}

void Triangle::set_scope(Scope scope) {
    if (scope_ == scope) return;
    scope_ = scope;
    if (!open_.model.empty()) start();
}

void Triangle::set_lane(quality::Lane lane) {
    if (lane_ == lane) return;
    lane_ = lane;
    set_limit(QStringLiteral("min-score"), {});
    if (field_ && scope_ == Scope::catalogue) show_field();
}

void Triangle::start() {
    plan::Deployment d = open_;
    if (scope_ == Scope::catalogue) d.model.clear();
    const QString key = text_of(plan::write_deployment(d)) +
                        (scope_ == Scope::catalogue ? QString::number(own_context_) : QStringLiteral("one"));
    if (key == searched_key_) return;
    searched_key_ = key;
    const Scope scope = scope_;
    const std::vector<std::int64_t> stops = context_stops(own_context_);
    struct Answer {
        std::shared_ptr<const devices::Field> field;
        double milliseconds = 0;
    };
    worker_.submit(
        [d, scope, stops](const JobControl& control) {
            QElapsedTimer clock;
            clock.start();
            Answer a;
            if (scope == Scope::one_model) {
                a.field = std::make_shared<const devices::Field>(devices::search_model(d, 0));
            } else {
                a.field = std::make_shared<const devices::Field>(devices::search_catalogue(
                    d, stops,
                    [&](double share, const std::string& model) { control.progress(share, text_of(model)); },
                    control.stop_flag()));
            }
            a.milliseconds = static_cast<double>(clock.nsecsElapsed()) / 1e6;
            return a;
        },
        [this](Answer a) {
            field_ = a.field;
            milliseconds_ = a.milliseconds;
            show_field();
        });
}

void Triangle::show_field() {
    published_.clear();
    for (const devices::FieldModel& m : field_->models)
        published_.push_back(scope_ == Scope::catalogue ? quality::score(m.id, lane_) : std::nullopt);
    shown_.clear();
    model_of_.clear();
    scores_.clear();
    left_out_ = 0;
    // Of the catalogue one context: the smallest that was searched and is enough. More would only be
    // dominated.
    const std::vector<std::int64_t> stops = context_stops(own_context_);
    const auto enough = std::lower_bound(stops.begin(), stops.end(), limits_.min_context);
    const std::int64_t context = enough == stops.end() ? stops.back() : *enough;
    for (std::size_t i = 0; i < field_->candidates.size(); ++i) {
        const plan::Candidate& c = field_->candidates[i];
        if (scope_ == Scope::catalogue && c.context != context) {
            ++left_out_;
            continue;
        }
        shown_.push_back(c);
        model_of_.push_back(field_->model_of[i]);
        const auto& score = published_[field_->model_of[i]];
        scores_.push_back(score && !score->at_chance && !score->unranked ? score->value : plan::kNoScore);
    }
    decide();
    Q_EMIT searched();
}

// ---------------------------------------------------------------- candidates

const quality::Score* Triangle::published(std::size_t i) const {
    const auto& s = published_[model_of_[i]];
    return s ? &*s : nullptr;
}

quality::ScoreBand Triangle::band(std::size_t i) const {
    quality::ScoreBand band;
    band.open = true;
    try {
        devices::Opened opened = devices::open_deployment(deployment(i));
        const plan::Prepared p =
            plan::prepare(std::move(opened.model), opened.deployment, devices::open_named_model);
        const plan::Target target = plan::aim(p, std::move(opened.device));
        band = quality::quantized_band(lane_, p.quality, plan::kv_choice(p, plan::resolve_knobs(p, target)));
    } catch (const Error&) {
        // a model file that is gone since the search
    }
    return band;
}

QString Triangle::model(std::size_t i) const {
    return text_of(field_->models[model_of_[i]].id);
}

QString Triangle::recipe(std::size_t i) const {
    const plan::Grid& g = field_->models[model_of_[i]].grid;
    const std::string& name = g.recipes[shown_[i].recipe].recipe;
    return name.empty() ? tr("as stored") : text_of(name);
}

QString Triangle::kv(std::size_t i) const {
    const auto& [key, value] = field_->models[model_of_[i]].grid.kv[shown_[i].kv];
    return text_of(key == value ? key : key + "/" + value);
}

QString Triangle::label(std::size_t i) const {
    const plan::Grid& g = field_->models[model_of_[i]].grid;
    QString text =
        scope_ == Scope::catalogue ? model(i) + u' ' + recipe(i) : recipe(i) + QStringLiteral(" KV ") + kv(i);
    if (!g.drafts[shown_[i].draft].empty()) text += tr(" +draft");
    return text;
}

plan::Deployment Triangle::deployment(std::size_t i) const {
    const devices::FieldModel& m = field_->models[model_of_[i]];
    return plan::deployment_of(m.grid, shown_[i], m.deployment);
}

double Triangle::gibibytes(std::size_t i) const {
    return gib(shown_[i].footprint.central);
}

double Triangle::job_seconds(std::size_t i) const {
    return shown_[i].timed ? shown_[i].job.central.value : kUnknown;
}

double Triangle::quality_percent(std::size_t i) const {
    if (scope_ == Scope::catalogue) return scores_[i] < 0 ? kUnknown : scores_[i];
    return shown_[i].loss.known() ? 100 * (1 - shown_[i].loss.top1_disagreement.central) : kUnknown;
}

std::size_t Triangle::models() const {
    return field_ ? field_->models.size() : 0;
}

bool Triangle::drawable(std::size_t i) const {
    return shown_[i].verdict != plan::Verdict::unsupported && shown_[i].footprint.central.value > 0;
}

// ---------------------------------------------------------------- limits and decision

QString Triangle::limit_text(const QString& option, double value) {
    if (option == "max-memory") return decimal(value, 2) + QStringLiteral("GiB");
    if (option == "max-job" || option == "max-ttft" || option == "max-load") return significant(value) + u's';
    if (option == "min-quality") return decimal(value, value < 99 ? 1 : 2) + u'%';
    if (option == "min-score") return decimal(value, 1);
    if (option == "min-context") return QString::number(std::llround(value));
    return significant(value);
}

bool Triangle::set_limit(const QString& option, const QString& text) {
    QMap<QString, QString> texts = texts_;
    if (text.isEmpty())
        texts.remove(option);
    else
        texts[option] = text;
    if (texts == texts_) return true;
    plan::Demands demands;
    double score = 0;
    try {
        for (auto it = texts.cbegin(); it != texts.cend(); ++it) {
            if (it.key() == "min-score")
                score = it.value().toDouble();
            else if (const auto* o = plan::find_decision_option(it.key().toStdString()))
                o->set(demands, it.value().toStdString(), "--" + it.key().toStdString());
        }
    } catch (const Error&) {
        return false;
    }
    const bool other_context = demands.limits.min_context != limits_.min_context;
    texts_ = texts;
    limits_ = demands.limits;
    min_score_ = score;
    if (option == "min-context") context_chosen_ = true;
    if (!field_) return true;
    if (other_context && scope_ == Scope::catalogue) {
        show_field();
    } else {
        decide();
        Q_EMIT decided();
    }
    return true;
}

void Triangle::clear_limits() {
    for (const QString& option : texts_.keys())
        if (option != "min-context") set_limit(option, {});
}

std::vector<std::int64_t> Triangle::contexts() const {
    return context_stops(own_context_);
}

void Triangle::decide() {
    QElapsedTimer clock;
    clock.start();
    std::vector<std::array<double, plan::kGoals>> goals(shown_.size());
    if (scope_ == Scope::one_model) {
        plan::Decision d = plan::decide(shown_, limits_);
        broken_ = std::move(d.broken);
        admitted_ = std::move(d.admitted);
        front_ = std::move(d.front);
        below_score_.assign(shown_.size(), false);
        for (std::size_t i = 0; i < shown_.size(); ++i) goals[i] = plan::goals(shown_[i]);
    } else {
        plan::AcrossDecision d = plan::decide_across(shown_, scores_, limits_, min_score_);
        broken_ = std::move(d.broken);
        admitted_ = std::move(d.admitted);
        front_ = std::move(d.front);
        below_score_ = std::move(d.below_score);
        for (std::size_t i = 0; i < shown_.size(); ++i) goals[i] = plan::goals_across(shown_[i], scores_[i]);
    }
    on_front_.assign(shown_.size(), false);
    for (const std::uint32_t i : front_) on_front_[i] = true;
    const plan::MeritScale scale = plan::merit_scale(goals, admitted_);
    merits_.clear();
    for (const auto& g : goals) merits_.push_back(plan::merits_on(scale, g));
    find_nearest();
    decide_milliseconds_ = static_cast<double>(clock.nsecsElapsed()) / 1e6;
}

void Triangle::find_nearest() {
    const std::int64_t k = plan::nearest_balance(merits_, front_, wanted_);
    nearest_ = k < 0 ? std::nullopt : std::optional<std::size_t>(front_[static_cast<std::size_t>(k)]);
}

void Triangle::set_wanted(const std::array<double, plan::kGoals>& balance) {
    wanted_ = balance;
    if (field_) find_nearest();
    Q_EMIT decided();
}

QString Triangle::agreeing() const {
    using plan::Goal;
    constexpr double kSame = 0.98;
    const std::pair<std::pair<Goal, Goal>, QString> pairs[] = {
        {{Goal::latency, Goal::memory}, tr("latency and memory agree here")},
        {{Goal::latency, Goal::quality}, tr("latency and quality agree here")},
        {{Goal::memory, Goal::quality}, tr("memory and quality agree here")}};
    for (const auto& [goals, words] : pairs)
        if (plan::agreement(merits_, admitted_, goals.first, goals.second) > kSame) return words;
    return {};
}

// ---------------------------------------------------------------- pins

std::optional<std::size_t> Triangle::shown_as(const Pin& pin) const {
    for (std::size_t i = 0; i < shown_.size(); ++i)
        if (shown_[i].footprint.central == pin.candidate.footprint.central && model(i) == pin.model &&
            recipe(i) == pin.recipe && kv(i) == pin.kv && deployment(i).context == pin.deployment.context &&
            deployment(i).draft == pin.deployment.draft && deployment(i).offload == pin.deployment.offload)
            return i;
    return std::nullopt;
}

bool Triangle::toggle_pin(std::size_t i) {
    for (std::size_t k = 0; k < pins_.size(); ++k)
        if (shown_as(pins_[k]) == i) {
            unpin(k);
            return true;
        }
    if (pins_.size() == kMostPins) return false;
    pins_.push_back({shown_[i], model(i), recipe(i), kv(i), scores_[i], deployment(i)});
    Q_EMIT pins_changed();
    return true;
}

void Triangle::unpin(std::size_t pin) {
    pins_.erase(pins_.begin() + static_cast<std::ptrdiff_t>(pin));
    Q_EMIT pins_changed();
}

void Triangle::clear_pins() {
    pins_.clear();
    Q_EMIT pins_changed();
}

QString Triangle::command() const {
    plan::Deployment d = open_;
    const bool fit = scope_ == Scope::catalogue;
    if (fit) {
        d.model.clear();
        // One context a model, as fit takes it.
        if (!shown_.empty()) d.context = shown_.front().context;
    }
    QString line = text_of(plan::command_line(d));
    const QString plan = QStringLiteral("memwall plan");
    QString rest = line.mid(plan.size());
    if (fit) rest = rest.trimmed().startsWith("''") ? rest.trimmed().mid(2) : rest;
    QString out =
        (fit ? QStringLiteral("memwall fit ") : QStringLiteral("memwall recommend ")) + rest.trimmed();
    for (auto it = texts_.cbegin(); it != texts_.cend(); ++it) {
        if (fit ? it.key() == "min-context" : it.key() == "min-score") continue;
        out += QStringLiteral(" --%1 %2").arg(it.key(), it.value());
    }
    if (fit) out += QStringLiteral(" --score ") + text_of(quality::lane_name(lane_));
    return out;
}

}  // namespace memwall::gui
