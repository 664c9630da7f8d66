// --help in lines that the terminal does not break.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace memwall::cli {

/// Names at the left and words at the right, or below the names on narrow terminals; running text wrapped,
/// examples broken between options as a shell reads them.
class HelpText : public CLI::Formatter {
  public:
    explicit HelpText(std::size_t width);

    std::string make_description(const CLI::App* app) const override;
    std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
    std::string make_option(const CLI::Option* option, bool is_positional) const override;
    std::string make_subcommand(const CLI::App* sub) const override;
    std::string make_footer(const CLI::App* app) const override;

  private:
    std::string entry(const std::string& name, const std::string& words) const;

    std::size_t width_;
};

}  // namespace memwall::cli
