// memwall inspect: what a model file holds.
#include <iostream>
#include <memory>

#include "cli/command.h"
#include "core/base/error.h"
#include "core/model/gguf.h"
#include "core/model/open_model.h"
#include "core/model/safetensors_set.h"
#include "core/view/file_view.h"
#include "core/view/model_view.h"

namespace memwall::cli {
namespace {

struct Options {
    std::string file;
    bool json = false, tensors = false, metadata = false;
};

int run(const Options& o) {
    view::FileParts parts{o.tensors, o.metadata};
    std::string text;
    if (o.file.ends_with(".gguf"))
        text = view::gguf_view(model::open_gguf(o.file), parts, o.json, colour_output(), table_width());
    else if (o.file.ends_with(".safetensors") || o.file.ends_with(".safetensors.index.json"))
        text = view::safetensors_view(model::read_safetensors_set(o.file), parts, o.json, colour_output(),
                                      table_width());
    else {
        const model::Model m = model::open_model(o.file).model;
        text = o.json ? view::model_json(m) : view::model_text(m, colour_output(), table_width());
    }
    std::cout << text;
    return kDone;
}

}  // namespace

void add_inspect(Command command) {
    auto o = std::make_shared<Options>();
    CLI::App* app = command.app.add_subcommand(
        "inspect", "What a model file holds: metadata, tensors, formats, layer kinds");
    app->add_option("FILE", o->file,
                    ".gguf, .safetensors (or its index), config.json, folder, model YAML or catalogue id")
        ->required();
    app->add_flag("--tensors", o->tensors, "list every tensor")->group("Output");
    app->add_flag("--metadata", o->metadata, "list every metadata key")->group("Output");
    app->add_flag("--json", o->json, "print one JSON document, with everything")->group("Output");
    app->footer(
        "Examples:\n  memwall inspect model.gguf --tensors\n  memwall inspect ~/models/qwen3-8b/\n  memwall "
        "inspect gemma-3-4b");
    app->callback([o, &action = command.action] { action = [o] { return run(*o); }; });
}

}  // namespace memwall::cli
