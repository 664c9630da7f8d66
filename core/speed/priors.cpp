#include "core/speed/priors.h"

#include <yaml-cpp/yaml.h>

#include <cmath>
#include <map>

#include "core/base/embedded.h"
#include "core/base/error.h"

namespace memwall::speed {
namespace {

constexpr std::string_view kFile = "speed/priors.yaml";

struct Book {
    Priors values;
    std::map<std::string, ClassPrior, std::less<>> classes;
    ClassPrior unknown;
};

double square(double x) {
    return x * x;
}

LogNormal<Machine::parameters> decode_prior(const YAML::Node& node, double judged_spread) {
    LogNormal<Machine::parameters> p;
    p.mean = {std::log(node["weights"].as<double>()), std::log(node["kv"].as<double>()),
              std::log(node["overhead"].as<double>())};
    for (std::size_t i = 0; i < p.mean.size(); ++i)
        p.covariance[i][i] = square(node["spread"][i].as<double>()) + (i == 0 ? square(judged_spread) : 0);
    return p;
}

LogNormal<Machine::prefill_parameters> prefill_prior(double utilisation, double spread,
                                                     const YAML::Node& attention) {
    LogNormal<Machine::prefill_parameters> p;
    p.mean = {std::log(utilisation), std::log(utilisation * attention["utilisation"].as<double>())};
    p.covariance[0] = {square(spread), square(spread)};
    p.covariance[1] = {square(spread), square(spread) + square(attention["spread"].as<double>())};
    return p;
}

Book read_book() {
    const EmbeddedFile* file = embedded_speed().find(kFile);
    if (!file) throw Error(std::string(kFile), "not embedded");
    const YAML::Node root = YAML::Load(std::string(file->text()));
    Book book;
    book.values = {root["level"].as<double>(), root["quantile"].as<double>(), root["noise"].as<double>(),
                   root["prefill_noise"].as<double>()};
    const auto judged_spread = root["judged_spread"].as<double>();
    for (const auto& entry : root["classes"]) {
        const YAML::Node& row = entry.second;
        ClassPrior prior;
        prior.judged = row["judged"] && row["judged"].as<bool>();
        prior.decode =
            decode_prior(root["decode"][row["decode"].as<std::string>()], prior.judged ? judged_spread : 0);
        prior.prefill =
            prefill_prior(row["prefill"].as<double>(), row["prefill_spread"].as<double>(), root["attention"]);
        book.classes.emplace(entry.first.as<std::string>(), prior);
    }
    book.unknown.judged = true;
    book.unknown.decode = decode_prior(root["decode"]["pooled"], judged_spread);
    book.unknown.prefill = prefill_prior(0.2, 0.7, root["attention"]);
    return book;
}

const Book& book() {
    static const Book b = read_book();
    return b;
}

}  // namespace

const Priors& priors() {
    return book().values;
}

const ClassPrior& class_prior(std::string_view efficiency_class) {
    const auto it = book().classes.find(efficiency_class);
    return it == book().classes.end() ? book().unknown : it->second;
}

}  // namespace memwall::speed
