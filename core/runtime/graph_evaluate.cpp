// The interpreter's expressions: numbers, operators that make tensors, built-in functions.
#include <fmt/format.h>

#include <algorithm>

#include "core/runtime/graph_interpreter.h"

namespace memwall::runtime {

using namespace lang;

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
    line_ = e.line;
    Extents extents{1, 1, 1, 1};
    for (std::size_t i = type; i < number_count && i < type + 4; ++i) extents[i - type] = numbers[i];
    if (op.op > Op::input)
        return Value::of_tensor(
            graph_->apply(op.op, {operands.data(), operand_count}, number_count > 0 ? &extents : nullptr));
    if (type && (numbers[0] < 0 || numbers[0] > static_cast<std::int64_t>(Type::i64)))
        fail(e.line, fmt::format("type {}", numbers[0]), "f32, f16, i32 or i64");
    const Type t = type ? static_cast<Type>(numbers[0]) : op.op == Op::cache ? Type::f16 : Type::f32;
    return Value::of_tensor(graph_->leaf(op.op, t, extents));
}

Value Interpreter::eval_builtin(const Expr& e) {
    const auto argument = [&](Index i) { return item({e.b, e.count}, i); };
    line_ = e.line;
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
