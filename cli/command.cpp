#include "cli/command.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

#include "core/base/byte_source.h"
#include "core/base/error.h"
#include "core/plan/options.h"
#include "core/view/text_table.h"

namespace memwall::cli {
namespace {

bool is_deployment_file(const std::string& argument) {
    if (!argument.ends_with(".yaml") && !argument.ends_with(".yml")) return false;
    if (::access(argument.c_str(), R_OK) != 0) return false;
    return read_text_file(argument, 1 << 20).find("memwall/deployment/") != std::string::npos;
}

}  // namespace

void DeploymentOptions::add_to(CLI::App& app, bool model_required) {
    constexpr const char* kHelp =
        "catalogue id, .gguf, .safetensors, Hugging Face folder, model or deployment YAML";
    auto* model = many_ ? app.add_option("MODEL", models_, kHelp) : app.add_option("MODEL", model_, kHelp);
    if (model_required) model->required();
    add_options_to(app);
}

void DeploymentOptions::add_options_to(CLI::App& app) {
    const auto table = plan::options();
    values_.resize(table.size());
    for (std::size_t i = 0; i < table.size(); ++i) {
        const plan::Option& o = table[i];
        auto* option = app.add_option("--" + std::string(o.name), values_[i], std::string(o.help));
        option->type_name(std::string(o.value))->group(std::string(o.group))->expected(1);
        option->multi_option_policy(o.repeatable ? CLI::MultiOptionPolicy::TakeAll
                                                 : CLI::MultiOptionPolicy::TakeLast);
        option->allow_extra_args(false);
    }
}

plan::Deployment DeploymentOptions::deployment() const {
    return deployment(model_);
}

plan::Deployment DeploymentOptions::deployment(const std::string& model) const {
    plan::Deployment d;
    if (is_deployment_file(model))
        d = plan::read_deployment(read_text_file(model), model);
    else
        d.model = model;
    const auto table = plan::options();
    for (std::size_t i = 0; i < table.size(); ++i)
        for (const std::string& value : values_[i]) table[i].set(d, value, "--" + std::string(table[i].name));
    return d;
}

bool colour_output() {
    const char* no = std::getenv("NO_COLOR");
    const char* term = std::getenv("TERM");
    return ::isatty(STDOUT_FILENO) && !(no && *no) && !(term && std::string(term) == "dumb");
}

std::size_t table_width() {
    constexpr int kNarrowest = 20;  // less is a broken setting
    if (const char* told = std::getenv("COLUMNS"))
        if (const int columns = std::atoi(told); columns > kNarrowest)
            return static_cast<std::size_t>(columns);
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > kNarrowest) return size.ws_col;
    return 0;
}

int terminal_width() {
    return static_cast<int>(view::text_columns(table_width()));
}

}  // namespace memwall::cli
