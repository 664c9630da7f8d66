#include "core/runtime/graph_interpreter.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"

namespace memwall::runtime {

using namespace lang;

namespace {

constexpr std::int64_t kMaxSteps = 1'000'000;
constexpr int kMaxCalls = 32;
constexpr std::size_t kStackSlots = 4096;

}  // namespace

void Interpreter::build(const GraphInput& input, Graph& graph, bool repeat_layers) {
    repeat_layers_ = repeat_layers;
    count_only_ = false;
    start(input, graph);
}

double Interpreter::total_bytes(const GraphInput& input, Graph& graph, std::int64_t alignment) {
    repeat_layers_ = count_only_ = true;
    alignment_ = alignment;
    start(input, graph);
    double sum = skipped_bytes_;
    for (TensorId t = 0; t < graph.size(); ++t)
        sum += static_cast<double>(rounded_up(graph[t].bytes, alignment));
    return sum;
}

void Interpreter::start(const GraphInput& input, Graph& graph) {
    program_ = &input.program;
    model_ = input.model;
    layers_ = &input.layers;
    graph_ = &graph;
    graph.clear();
    stack_.resize(kStackSlots);
    shared_.assign(static_cast<std::size_t>(program_->shared_slots), Value{});
    frame_ = frame_end_ = 0;
    depth_ = 0;
    steps_ = 0;
    row_ = nullptr;
    skipped_bytes_ = 0;
    unmet_.clear();
    try {
        call(input.def, {}, program_->defs[static_cast<std::size_t>(input.def)].line);
    } catch (const Error& error) {
        if (!error.place().empty()) throw;
        fail(line_, error.found(), error.expected());  // the graph refused what a line asked for
    }
}

void Interpreter::fail(std::int32_t line, const std::string& found, const std::string& expected) const {
    throw Error(fmt::format("{}:{}", program_->place, line), found, expected);
}

void Interpreter::step(std::int32_t line) {
    if (++steps_ > kMaxSteps)
        fail(line, "an endless computation", fmt::format("at most {} steps", kMaxSteps));
}

Value Interpreter::call(Index def, List arguments, std::int32_t line) {
    step(line);
    const Def& d = program_->defs[static_cast<std::size_t>(def)];
    if (arguments.count != d.parameters)
        fail(line, fmt::format("{} called with {} values", d.name, arguments.count),
             fmt::format("{}", d.parameters));
    const std::size_t frame = frame_end_;
    const std::size_t end = frame + static_cast<std::size_t>(d.slots);
    if (depth_ >= kMaxCalls || end > stack_.size())
        fail(line, fmt::format("{} nested calls", depth_ + 1), fmt::format("at most {}", kMaxCalls));

    // Arguments are evaluated in the caller's frame; calls among them may use the slots above meanwhile.
    for (Index i = 0; i < arguments.count; ++i) {
        const Value v = eval(item(arguments, i));
        stack_[frame + static_cast<std::size_t>(i)] = v;
        frame_end_ = frame + static_cast<std::size_t>(i) + 1;
    }
    for (std::size_t i = frame + static_cast<std::size_t>(arguments.count); i < end; ++i) stack_[i] = {};

    const std::size_t outer_frame = frame_;
    const Part outer_part = graph_->part;
    frame_ = frame;
    frame_end_ = end;
    ++depth_;
    if (d.has_part) graph_->part = d.part;
    result_count_ = 0;
    if (!run(d.body)) result_count_ = 0;
    graph_->part = outer_part;
    --depth_;
    frame_end_ = frame;
    frame_ = outer_frame;
    return result_count_ > 0 ? results_[0] : Value::nothing();
}

bool Interpreter::run(List block) {
    for (Index i = 0; i < block.count; ++i)
        if (run(program_->stmts[static_cast<std::size_t>(item(block, i))])) return true;
    return false;
}

bool Interpreter::run(const Stmt& s) {
    step(s.line);
    switch (s.kind) {
        case StmtKind::assign:
            assign(s);
            return false;
        case StmtKind::leave: {
            std::array<Value, kMaxResults> values;
            if (s.values.count > static_cast<Index>(kMaxResults))
                fail(s.line, fmt::format("{} results", s.values.count),
                     fmt::format("at most {}", kMaxResults));
            for (Index i = 0; i < s.values.count; ++i)
                values[static_cast<std::size_t>(i)] = eval(item(s.values, i));
            results_ = values;
            result_count_ = static_cast<std::size_t>(s.values.count);
            return true;
        }
        case StmtKind::branch:
            return run(truth(item(s.values, 0)) ? s.body : s.otherwise);
        case StmtKind::loop: {
            const std::int64_t low = number(item(s.values, 0));
            const std::int64_t high = number(item(s.values, 1));
            for (std::int64_t i = low; i < high; ++i) {
                step(s.line);
                store(program_->targets[static_cast<std::size_t>(s.targets.first)], Value::of(i));
                if (run(s.body)) return true;
            }
            return false;
        }
        case StmtKind::each_layer:
            return run_layers(s);
        case StmtKind::require:
            if (unmet_.empty() && !truth(item(s.values, 0)))
                unmet_ = program_->names[static_cast<std::size_t>(s.words)];
            return false;
        case StmtKind::evaluate:
            eval(item(s.values, 0));
            return false;
    }
    return false;
}

void Interpreter::assign(const Stmt& s) {
    const Target* targets = &program_->targets[static_cast<std::size_t>(s.targets.first)];
    const auto count = static_cast<std::size_t>(s.targets.count);
    if (count == 1) {
        const Value v = eval(item(s.values, 0));
        return store(targets[0], v);
    }
    if (count > kMaxResults)
        fail(s.line, fmt::format("{} variables", count), fmt::format("at most {}", kMaxResults));
    std::array<Value, kMaxResults> values;
    if (s.values.count == 1) {
        result_count_ = 0;
        eval(item(s.values, 0));
        if (expr(item(s.values, 0)).kind != ExprKind::call_def || result_count_ != count)
            fail(s.line, fmt::format("{} values", result_count_), fmt::format("{}", count));
        values = results_;
    } else {
        for (std::size_t i = 0; i < count; ++i) values[i] = eval(item(s.values, static_cast<Index>(i)));
    }
    for (std::size_t i = 0; i < count; ++i) store(targets[i], values[i]);
}

void Interpreter::store(const Target& target, const Value& value) {
    (target.shared ? shared_[static_cast<std::size_t>(target.slot)]
                   : stack_[frame_ + static_cast<std::size_t>(target.slot)]) = value;
    if (value.is_tensor()) {
        Tensor& t = (*graph_)[value.tensor()];
        if (t.name == 0) t.name = target.name;
    }
}

bool Interpreter::run_layers(const Stmt& s) {
    if (row_) fail(s.line, "layers within a layer", "one \"each layer\" at a time");
    LayerRepeat repeats(*graph_, count_only_);
    const std::size_t locals_count = frame_end_ - frame_;
    const std::span<Value> locals(stack_.data() + frame_, locals_count);
    bool left = false;
    for (std::size_t i = 0; i < layers_->layers.size() && !left; ++i) {
        step(s.line);
        line_ = s.line;
        const std::int32_t kind = layers_->layers[i];
        graph_->layer = static_cast<std::int16_t>(std::min<std::size_t>(i, INT16_MAX));
        std::fill(locals.begin() + s.first_slot, locals.begin() + s.end_slot, Value{});
        if (repeat_layers_ && repeats.repeat(kind, locals, shared_)) continue;
        row_ = &layers_->rows[static_cast<std::size_t>(kind)];
        if (repeat_layers_) repeats.begin(locals, shared_);
        left = run(s.body);
        if (repeat_layers_) repeats.end(kind, locals, shared_);
    }
    std::fill(locals.begin() + s.first_slot, locals.begin() + s.end_slot, Value{});
    row_ = nullptr;
    graph_->layer = -1;
    if (count_only_) skipped_bytes_ += repeats.skipped_bytes(alignment_);
    return left;
}

}  // namespace memwall::runtime
