// Runs a def of an operator table for one model and batch, and so builds the engine's graph.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/runtime/graph.h"
#include "core/runtime/graph_language.h"
#include "core/runtime/layer_repeat.h"

namespace memwall::runtime {

/// Values of the layer symbols, in the order of SymbolNames. Equal layers share a row.
struct LayerValues {
    std::vector<std::vector<std::int64_t>> rows;
    std::vector<std::int32_t> layers;  ///< row of each layer
};

/// What a table is run for.
struct GraphInput {
    const Program& program;
    int def;
    std::span<const std::int64_t> model;  ///< values of the model symbols
    const LayerValues& layers;
};

/// Reusable: one instance serves many graphs and keeps its memory. Not thread-safe.
class Interpreter {
  public:
    /// Fills `graph` (cleared first). Throws Error("place:line") on any fault of the table: unset variables,
    /// numbers in place of tensors, overflow, division by zero, more than a million steps, 32 nested calls.
    /// `repeat_layers`: append layers like earlier ones without interpreting them again; same graph, faster.
    void build(const GraphInput& input, Graph& graph, bool repeat_layers = true);

    /// Bytes of all arena tensors that build() would make, each rounded up to `alignment`: an upper bound of
    /// any replay's peak, cheaper than one because equal layers are only counted. Exact below 2^53; a double
    /// because hostile sizes add up to more than 2^63. `graph` is scratch.
    double total_bytes(const GraphInput& input, Graph& graph, std::int64_t alignment);

    /// The first "require" that did not hold, as the table words it; empty if all did.
    const std::string& unmet() const { return unmet_; }

  private:
    static constexpr std::size_t kMaxResults = 8;

    void start(const GraphInput& input, Graph& graph);
    [[noreturn]] void fail(std::int32_t line, const std::string& found, const std::string& expected) const;
    void step(std::int32_t line);
    Value call(lang::Index def, lang::List arguments, std::int32_t line);
    bool run(lang::List block);  ///< true once a "return" ran
    bool run(const lang::Stmt& stmt);
    void assign(const lang::Stmt& stmt);
    void store(const lang::Target& target, const Value& value);
    bool run_layers(const lang::Stmt& stmt);
    Value eval(lang::Index expr);
    Value eval_operator(const lang::Expr& e);
    Value eval_builtin(const lang::Expr& e);
    Value eval_binary(const lang::Expr& e);
    bool truth(lang::Index expr);
    std::int64_t number(lang::Index expr);
    TensorId tensor(lang::Index expr);
    const lang::Expr& expr(lang::Index i) const { return program_->exprs[static_cast<std::size_t>(i)]; }
    lang::Index item(lang::List l, lang::Index i) const {
        return program_->list[static_cast<std::size_t>(l.first + i)];
    }

    const Program* program_ = nullptr;
    std::span<const std::int64_t> model_;
    const LayerValues* layers_ = nullptr;
    Graph* graph_ = nullptr;
    bool repeat_layers_ = true;
    bool count_only_ = false;
    std::int64_t alignment_ = 32;
    std::vector<Value> stack_, shared_;
    std::size_t frame_ = 0;      ///< first local of the running def
    std::size_t frame_end_ = 0;  ///< first free slot
    int depth_ = 0;
    std::int64_t steps_ = 0;
    std::int32_t line_ = 0;                           ///< of the last call that changed the graph
    const std::vector<std::int64_t>* row_ = nullptr;  ///< symbols of the running layer
    std::array<Value, kMaxResults> results_;
    std::size_t result_count_ = 0;
    double skipped_bytes_ = 0;
    std::string unmet_;
};

}  // namespace memwall::runtime
