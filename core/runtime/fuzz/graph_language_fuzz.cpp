// A user's operator table: parsed, and every def that needs no arguments run and replayed for a small model
// that has a bit of everything.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/error.h"
#include "core/runtime/allocator.h"
#include "core/runtime/graph_symbols.h"
#include "core/runtime/operator_tables.h"

using namespace memwall;
using namespace memwall::runtime;

namespace {

model::Model small_model() {
    model::Model m;
    m.architecture = "gemma3";
    m.hidden = 64;
    m.vocabulary = 100;
    for (int i = 0; i < 5; ++i) {
        model::Layer l;
        l.attention = model::Attention{.heads = 4, .kv_heads = 2, .key_dim = 64, .value_dim = 64};
        l.attention->window = i % 2 ? 0 : 32;
        l.recurrent = model::Recurrent{.inner = 128, .state = 16, .conv_kernel = 4, .heads = 4};
        l.feed_forward = model::FeedForward{.width = 96};
        if (i > 2) l.experts = model::Experts{.count = 4, .used = 2, .width = 32, .shared_width = 32};
        m.layers.push_back(l);
    }
    return m;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const model::Model model = small_model();
    static Interpreter interpreter;
    static Graph graph;
    static Replay replay;
    try {
        const OperatorTables tables =
            OperatorTables::parse({reinterpret_cast<const char*>(data), size}, "fuzz");
        const EngineSettings settings;
        const EngineCells cells = resolve_cells(model, settings, tables.cell_rules());
        std::vector<std::int64_t> values = model_values(model, true);
        const LayerValues layers = layer_values(model, true);
        const BatchValues batch = prompt_batch(cells, settings);
        std::copy(batch.begin(), batch.end(), values.begin());
        for (std::size_t def = 0; def < tables.program().defs.size(); ++def) {
            if (tables.program().defs[def].parameters > 0) continue;
            const GraphInput input{tables.program(), static_cast<int>(def), values, layers};
            try {
                interpreter.build(input, graph);
                replay.run(graph, tables.alignment());
                interpreter.total_bytes(input, graph, tables.alignment());
            } catch (const Error&) {
            }
        }
    } catch (const Error&) {
    }
    return 0;
}
