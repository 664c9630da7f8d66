// memwall completion, memwall man: scripts and pages made from the command's own definitions.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>

#include "cli/command.h"
#include "cli/completion/command_tree.h"
#include "core/base/error.h"

namespace memwall::cli {
namespace {

struct Options {
    std::string shell, subcommand, folder;
};

int completion(const Options& o, const CLI::App& app) {
    static const std::map<std::string, std::string (*)(const CommandWords&)> shells{
        {"bash", bash_completion}, {"fish", fish_completion}, {"zsh", zsh_completion}};
    std::cout << shells.at(o.shell)(words_of(app));
    return kDone;
}

void write_page(const std::filesystem::path& file, const std::string& page) {
    std::ofstream out(file, std::ios::binary);
    out << page;
    out.close();
    if (!out) throw Error(file.string(), "cannot be written", "a folder that exists");
}

int man(const Options& o, const CLI::App& app) {
    const CommandWords root = words_of(app);
    if (!o.folder.empty()) {
        write_page(std::filesystem::path(o.folder) / "memwall.1", man_page(root, root));
        for (const CommandWords& c : root.subcommands)
            write_page(std::filesystem::path(o.folder) / fmt::format("memwall-{}.1", c.name),
                       man_page(root, c));
        return kDone;
    }
    if (o.subcommand.empty()) {
        std::cout << man_page(root, root);
        return kDone;
    }
    for (const CommandWords& c : root.subcommands)
        if (c.name == o.subcommand) {
            std::cout << man_page(root, c);
            return kDone;
        }
    throw Error("SUBCOMMAND", fmt::format("'{}'", o.subcommand), "one that 'memwall --help' lists");
}

}  // namespace

void add_completion(Command command) {
    auto o = std::make_shared<Options>();
    CLI::App* app = command.app.add_subcommand(
        "completion", "Completion of subcommands, options and their values for a shell");
    app->add_option("SHELL", o->shell, "bash, zsh or fish")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh", "fish"}));
    app->footer(
        "cmake --install puts the scripts where the shells look for them.\n"
        "Examples:\n"
        "  source <(memwall completion bash)\n"
        "  memwall completion zsh > \"${fpath[1]}/_memwall\"\n"
        "  memwall completion fish > ~/.config/fish/completions/memwall.fish");
    app->callback([o, &root = command.app, &action = command.action] {
        action = [o, &root] { return completion(*o, root); };
    });
}

void add_man(Command command) {
    auto o = std::make_shared<Options>();
    CLI::App* app = command.app.add_subcommand("man", "The manual page of memwall or of one subcommand");
    app->add_option("SUBCOMMAND", o->subcommand, "whose page (memwall's own)");
    app->add_option("--output", o->folder, "write all pages into FOLDER instead")->type_name("FOLDER");
    app->footer(
        "Examples:\n"
        "  memwall man plan | man -l -\n"
        "  memwall man --output /usr/local/share/man/man1");
    app->callback([o, &root = command.app, &action = command.action] {
        action = [o, &root] { return man(*o, root); };
    });
}

}  // namespace memwall::cli
