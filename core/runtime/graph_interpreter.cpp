#include "core/runtime/graph_interpreter.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"

namespace memwall::runtime {

using namespace lang;

namespace {

constexpr std::int64_t kMaxSteps = 5'000'000;
constexpr int kMaxCalls = 32;
constexpr std::size_t kStackSlots = 4096;

}  // namespace

void Interpreter::build(const GraphInput& input, Graph& graph, bool repeat_layers) {
    repeat_layers_ = repeat_layers;
    count_only_ = false;
    start(input, graph);
}

std::int64_t Interpreter::total_bytes(const GraphInput& input, Graph& graph, std::int64_t alignment) {
    repeat_layers_ = count_only_ = true;
    alignment_ = alignment;
    start(input, graph);
    std::int64_t sum = skipped_bytes_;
    for (TensorId t = 0; t < graph.size(); ++t)
        sum += (graph[t].bytes + alignment - 1) / alignment * alignment;
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
    call(input.def, {}, program_->defs[static_cast<std::size_t>(input.def)].line);
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
        const std::int32_t kind = layers_->layers[i];
        graph_->layer = static_cast<std::int16_t>(std::min<std::size_t>(i, INT16_MAX));
        if (repeat_layers_ && repeats.repeat(kind, locals, shared_)) continue;
        row_ = &layers_->rows[static_cast<std::size_t>(kind)];
        if (repeat_layers_) repeats.begin(locals, shared_);
        left = run(s.body);
        if (repeat_layers_) repeats.end(kind, locals, shared_);
    }
    row_ = nullptr;
    graph_->layer = -1;
    if (count_only_) skipped_bytes_ += repeats.skipped_bytes(alignment_);
    return left;
}

Value Interpreter::eval(Index index) {
    const Expr& e = expr(index);
    switch (e.kind) {
        case ExprKind::number:
            return Value::of(e.number);
        case ExprKind::none:
            return Value::nothing();
        case ExprKind::local:
        case ExprKind::shared: {
            const Value v = e.kind == ExprKind::local ? stack_[frame_ + static_cast<std::size_t>(e.a)]
                                                      : shared_[static_cast<std::size_t>(e.a)];
            if (v.kind == Value::Kind::unset)
                fail(e.line, "a variable without value", "an assignment before");
            return v;
        }
        case ExprKind::model_symbol:
            return Value::of(model_[static_cast<std::size_t>(e.a)]);
        case ExprKind::layer_symbol:
            if (!row_) fail(e.line, "a symbol of a layer", "its use inside \"each layer\"");
            return Value::of((*row_)[static_cast<std::size_t>(e.a)]);
        case ExprKind::extent:
            return Value::of((*graph_)[tensor(e.a)].extents[static_cast<std::size_t>(e.number)]);
        case ExprKind::negation:
            return Value::of(truth(e.a) ? 0 : 1);
        case ExprKind::binary:
            return eval_binary(e);
        case ExprKind::conditional:
            return eval(truth(e.a) ? e.b : e.c);
        case ExprKind::call_def:
            return call(e.a, {e.b, e.count}, e.line);
        case ExprKind::call_op:
            return eval_operator(e);
        case ExprKind::call_builtin:
            return eval_builtin(e);
    }
    return Value::nothing();
}

bool Interpreter::truth(Index e) {
    const Value v = eval(e);
    return v.is_tensor() || (v.kind == Value::Kind::number && v.number != 0);
}

std::int64_t Interpreter::number(Index e) {
    const Value v = eval(e);
    if (v.kind != Value::Kind::number) fail(expr(e).line, "a tensor or none", "a number");
    return v.number;
}

TensorId Interpreter::tensor(Index e) {
    const Value v = eval(e);
    if (!v.is_tensor()) fail(expr(e).line, "a number or none", "a tensor");
    return v.tensor();
}

Value Interpreter::eval_binary(const Expr& e) {
    const auto code = static_cast<Binary>(e.code);
    if (code == Binary::logical_or) return Value::of(truth(e.a) || truth(e.b) ? 1 : 0);
    if (code == Binary::logical_and) return Value::of(truth(e.a) && truth(e.b) ? 1 : 0);
    if (code == Binary::eq || code == Binary::ne) {
        const Value a = eval(e.a), b = eval(e.b);
        return Value::of((a == b) == (code == Binary::eq) ? 1 : 0);
    }
    const std::int64_t a = number(e.a), b = number(e.b);
    std::int64_t r = 0;
    bool overflow = false;
    switch (code) {
        case Binary::lt:
            return Value::of(a < b);
        case Binary::le:
            return Value::of(a <= b);
        case Binary::gt:
            return Value::of(a > b);
        case Binary::ge:
            return Value::of(a >= b);
        case Binary::add:
            overflow = __builtin_add_overflow(a, b, &r);
            break;
        case Binary::sub:
            overflow = __builtin_sub_overflow(a, b, &r);
            break;
        case Binary::mul:
            overflow = __builtin_mul_overflow(a, b, &r);
            break;
        default:
            // Extents are never negative; refusing negative operands keeps division free of surprises.
            if (b <= 0 || a < 0) fail(e.line, fmt::format("{} divided by {}", a, b), "a positive divisor");
            r = code == Binary::div ? a / b : a % b;
    }
    if (overflow) fail(e.line, "a number beyond 2^63", "smaller extents");
    return Value::of(r);
}

Value Interpreter::eval_operator(const Expr& e) {
    const OpInfo& op = info(static_cast<Op>(e.code));
    std::array<TensorId, 12> operands{};
    std::size_t operand_count = 0, number_count = 0;
    std::array<std::int64_t, 5> numbers{};  // the type of an input, extents
    for (Index i = 0; i < e.count; ++i) {
        const Value v = eval(item({e.b, e.count}, i));
        if (v.is_tensor() && number_count == 0 && operand_count < op.max_operands) {
            operands[operand_count++] = v.tensor();
        } else if (v.kind == Value::Kind::number && number_count < numbers.size() &&
                   (op.shaped != Shaped::no || number_count > 0)) {
            numbers[number_count++] = v.number;
        } else if (v.kind != Value::Kind::none) {  // none: an operand that this model does not have
            fail(e.line, fmt::format("argument {} of {}", i + 1, op.name),
                 v.is_tensor() ? "a number" : "a tensor");
        }
    }
    const std::size_t type = op.op == Op::input ? 1 : 0;
    if (operand_count < op.min_operands || number_count < type + (op.shaped == Shaped::yes ? 1 : 0))
        fail(e.line, fmt::format("{} of {} operands", operand_count, op.name),
             fmt::format("at least {}", op.min_operands));
    Extents extents{1, 1, 1, 1};
    for (std::size_t i = type; i < number_count && i < type + 4; ++i) extents[i - type] = numbers[i];
    try {
        if (op.op <= Op::input) {
            if (type && (numbers[0] < 0 || numbers[0] > static_cast<std::int64_t>(Type::i64)))
                fail(e.line, fmt::format("type {}", numbers[0]), "f32, f16, i32 or i64");
            const Type t = type ? static_cast<Type>(numbers[0]) : op.op == Op::cache ? Type::f16 : Type::f32;
            return Value::of_tensor(graph_->leaf(op.op, t, extents));
        }
        return Value::of_tensor(
            graph_->apply(op.op, {operands.data(), operand_count}, number_count > 0 ? &extents : nullptr));
    } catch (const Error& error) {
        if (!error.place().empty()) throw;
        fail(e.line, error.found(), error.expected());
    }
}

Value Interpreter::eval_builtin(const Expr& e) {
    const auto argument = [&](Index i) { return item({e.b, e.count}, i); };
    switch (static_cast<Builtin>(e.code)) {
        case Builtin::expand: {
            const TensorId t = tensor(argument(0));
            if (!count_only_) graph_->expand(t);
            return Value::nothing();
        }
        case Builtin::output:
            if (row_) fail(e.line, "output within a layer", "its use after the layers");
            graph_->mark_output(tensor(argument(0)));
            return Value::nothing();
        case Builtin::elements:
            return Value::of(graph_->elements(tensor(argument(0))));
        case Builtin::max:
            return Value::of(std::max(number(argument(0)), number(argument(1))));
        case Builtin::min:
            return Value::of(std::min(number(argument(0)), number(argument(1))));
        case Builtin::power_of_two: {
            const std::int64_t n = number(argument(0));
            return Value::of(n > 0 ? n & -n : 0);
        }
        case Builtin::views: {
            const TensorId of = tensor(argument(0));
            const std::int64_t count = number(argument(1));
            Extents extents{1, 1, 1, 1};
            for (Index i = 2; i < e.count; ++i)
                extents[static_cast<std::size_t>(i - 2)] = number(argument(i));
            const TensorId first = graph_->size();
            for (std::int64_t i = 0; i < count; ++i) {
                step(e.line);
                graph_->apply(Op::view, {&of, 1}, &extents);
            }
            if (count <= 0) fail(e.line, fmt::format("{} views", count), "at least one");
            return Value::of_tensor(first);
        }
        case Builtin::nth: {
            const TensorId first = tensor(argument(0));
            const std::int64_t i = number(argument(1));
            if (i < 0 || i >= graph_->size() - first)
                fail(e.line, fmt::format("view {}", i), "one of the views");
            return Value::of_tensor(first + static_cast<TensorId>(i));
        }
    }
    return Value::nothing();
}

}  // namespace memwall::runtime
