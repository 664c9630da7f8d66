#include "core/runtime/graph_expressions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/error.h"

namespace memwall::runtime::lang {
namespace {

struct BuiltinInfo {
    std::string_view name;
    Builtin builtin;
    std::size_t min_arguments, max_arguments;
};
constexpr BuiltinInfo kBuiltins[] = {
    {"expand", Builtin::expand, 1, 1},
    {"output", Builtin::output, 1, 1},
    {"elements", Builtin::elements, 1, 1},
    {"max", Builtin::max, 2, 2},
    {"min", Builtin::min, 2, 2},
    {"power_of_two", Builtin::power_of_two, 1, 1},  // the largest that divides
    {"views", Builtin::views, 3, 6},                // tensor, count, extents: that many views, the first
    {"nth", Builtin::nth, 2, 2},                    // the i-th of them
};

struct Level {  ///< binary operators of equal precedence
    std::array<std::string_view, 6> signs;
    std::array<Binary, 6> codes;
};
constexpr Level kLevels[] = {
    {{"or"}, {Binary::logical_or}},
    {{"and"}, {Binary::logical_and}},
    {{"==", "!=", "<", "<=", ">", ">="},
     {Binary::eq, Binary::ne, Binary::lt, Binary::le, Binary::gt, Binary::ge}},
    {{"+", "-"}, {Binary::add, Binary::sub}},
    {{"*", "/", "%"}, {Binary::mul, Binary::div, Binary::mod}},
};

constexpr std::array<std::string_view, 4> kTypeNames{"f32", "f16", "i32", "i64"};

constexpr std::array<std::string_view, 15> kReserved{"def", "return",  "if",     "else", "for",
                                                     "in",  "each",    "is",     "or",   "and",
                                                     "not", "require", "shared", "none", "layer"};

template <class Table>
int position(const Table& table, std::string_view name) {
    const auto at = std::find(table.begin(), table.end(), name);
    return at == table.end() ? -1 : static_cast<int>(at - table.begin());
}

}  // namespace

ExpressionParser::ExpressionParser(std::string place, const SymbolNames& symbols) : symbols_(symbols) {
    program_.place = std::move(place);
    program_.names.emplace_back();
}

// ---------------------------------------------------------------- words
void ExpressionParser::fail(const std::string& found, const std::string& expected) const {
    throw Error(fmt::format("{}:{}", program_.place, line_), found, expected);
}

void ExpressionParser::open(const Line& line) {
    tokens_ = line.tokens.data();
    word_ = 0;
    line_ = line.number;
}

std::string ExpressionParser::word_text() const {
    return at_end() ? "end of line" : fmt::format("\"{}\"", peek().text);
}

bool ExpressionParser::accept(std::string_view text) {
    if (at_end() || peek().text != text) return false;
    ++word_;
    return true;
}

void ExpressionParser::want(std::string_view text) {
    if (!accept(text)) fail(word_text(), fmt::format("\"{}\"", text));
}

std::string_view ExpressionParser::want_name() {
    if (peek().kind != Token::Kind::name || position(kReserved, peek().text) >= 0)
        fail(word_text(), "a name");
    return tokens_[word_++].text;
}

void ExpressionParser::want_end() const {
    if (!at_end()) fail(word_text(), "end of line");
}

void ExpressionParser::check_depth(int depth) const {
    if (depth > kMaxNesting) fail("deep nesting", fmt::format("at most {} levels", kMaxNesting));
}

// ---------------------------------------------------------------- storage
Index ExpressionParser::store(const Expr& e) {
    program_.exprs.push_back(e);
    program_.exprs.back().line = line_;
    return static_cast<Index>(program_.exprs.size()) - 1;
}

List ExpressionParser::store(const std::vector<Index>& items) {
    const List l{static_cast<Index>(program_.list.size()), static_cast<Index>(items.size())};
    program_.list.insert(program_.list.end(), items.begin(), items.end());
    return l;
}

Index ExpressionParser::name_number(std::string_view name) {
    const auto [at, fresh] = name_numbers_.try_emplace(name, static_cast<Index>(program_.names.size()));
    if (fresh) program_.names.emplace_back(name);
    return at->second;
}

// ---------------------------------------------------------------- expressions
Index ExpressionParser::constant() {
    if (peek().kind == Token::Kind::number) return store(Expr{.number = tokens_[word_++].number});
    if (accept("none")) return store(Expr{.kind = ExprKind::none});
    const std::string_view name = want_name();
    if (!is_symbol(name)) fail(fmt::format("default {}", name), "a number, none or a symbol");
    return store(symbol(name));
}

std::vector<Index> ExpressionParser::expressions() {
    std::vector<Index> all;
    do all.push_back(expression(0));
    while (accept(","));
    return all;
}

Index ExpressionParser::expression(int depth) {
    check_depth(depth);
    const Index condition = binary(0, depth);
    if (!accept("?")) return condition;
    const Index yes = expression(depth + 1);
    want(":");
    const Index no = expression(depth + 1);
    return store(Expr{.kind = ExprKind::conditional, .a = condition, .b = yes, .c = no});
}

Index ExpressionParser::binary(std::size_t level, int depth) {
    if (level == std::size(kLevels)) return negation(depth);
    Index left = binary(level + 1, depth);
    while (!at_end()) {
        const int sign = position(kLevels[level].signs, peek().text);
        if (sign < 0) break;
        ++word_;
        const Binary code = kLevels[level].codes[static_cast<std::size_t>(sign)];
        const Index right = binary(level + 1, depth);
        left = store(
            Expr{.kind = ExprKind::binary, .code = static_cast<std::uint8_t>(code), .a = left, .b = right});
    }
    return left;
}

Index ExpressionParser::negation(int depth) {
    if (!accept("not")) return value(depth);
    check_depth(depth);
    const Index of = negation(depth + 1);
    return store(Expr{.kind = ExprKind::negation, .a = of});
}

Index ExpressionParser::value(int depth) {
    Index e = -1;
    if (accept("(")) {
        e = expression(depth + 1);
        want(")");
    } else if (peek().kind == Token::Kind::number) {
        e = store(Expr{.number = tokens_[word_++].number});
    } else if (accept("none")) {
        e = store(Expr{.kind = ExprKind::none});
    } else {
        const std::string_view name = want_name();
        e = accept("(") ? call(name, depth) : variable(name);
    }
    while (accept("[")) {
        if (peek().kind != Token::Kind::number || peek().number > 3) fail(word_text(), "an extent, 0 to 3");
        e = store(Expr{.kind = ExprKind::extent, .a = e, .number = tokens_[word_++].number});
        want("]");
    }
    return e;
}

Index ExpressionParser::variable(std::string_view name) {
    const auto local = locals_.find(name);
    if (local != locals_.end()) return store(Expr{.kind = ExprKind::local, .a = local->second});
    const auto shared = shared_.find(name);
    if (shared != shared_.end()) return store(Expr{.kind = ExprKind::shared, .a = shared->second});
    const int type = position(kTypeNames, name);
    if (type >= 0) return store(Expr{.number = type});
    const Expr e = symbol(name);
    if (e.kind == ExprKind::none) fail(fmt::format("unknown name {}", name), "a variable or a symbol");
    return store(e);
}

Expr ExpressionParser::symbol(std::string_view name) const {
    const int model = position(symbols_.model, name);
    if (model >= 0) return {.kind = ExprKind::model_symbol, .a = model};
    const int layer = position(symbols_.layer, name);
    if (layer >= 0) return {.kind = ExprKind::layer_symbol, .a = layer};
    return {.kind = ExprKind::none};
}

Index ExpressionParser::call(std::string_view name, int depth) {
    const auto def = defs_.find(name);
    const std::vector<Parameter>* parameters =
        def == defs_.end() ? nullptr : &parameters_[static_cast<std::size_t>(def->second)];
    std::vector<Index> arguments(parameters ? parameters->size() : 0, -1);
    std::size_t given = 0;
    bool by_name = false;
    while (!accept(")")) {
        if (given > 0) want(",");
        std::size_t slot = given;
        if (peek().kind == Token::Kind::name && tokens_[word_ + 1].text == "=") {
            by_name = true;
            slot = parameter(name, parameters, want_name());
            want("=");
        } else if (by_name) {
            fail(word_text(), "named arguments after the first named one");
        }
        if (slot >= arguments.size()) {
            if (parameters || slot >= kMaxCount)
                fail(fmt::format("too many arguments for {}", name), fmt::format("{}", arguments.size()));
            arguments.resize(slot + 1, -1);
        }
        if (arguments[slot] >= 0) fail("an argument given twice", "each once");
        arguments[slot] = expression(depth + 1);
        ++given;
    }
    return parameters ? call_def(name, def->second, std::move(arguments)) : call_builtin(name, arguments);
}

std::size_t ExpressionParser::parameter(std::string_view def, const std::vector<Parameter>* parameters,
                                        std::string_view name) const {
    if (parameters)
        for (std::size_t i = 0; i < parameters->size(); ++i)
            if ((*parameters)[i].name == name) return i;
    fail(fmt::format("argument {} of {}", name, def), "a parameter of that name");
}

Index ExpressionParser::call_def(std::string_view name, Index def, std::vector<Index> arguments) {
    const std::vector<Parameter>& parameters = parameters_[static_cast<std::size_t>(def)];
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (arguments[i] < 0) arguments[i] = parameters[i].fallback;
        if (arguments[i] < 0)
            fail(fmt::format("{} without {}", name, parameters[i].name), "all arguments without defaults");
    }
    return store_call(ExprKind::call_def, 0, def, arguments);
}

Index ExpressionParser::call_builtin(std::string_view name, const std::vector<Index>& arguments) {
    const auto check = [&](std::size_t least, std::size_t most) {
        if (arguments.size() < least || arguments.size() > most)
            fail(fmt::format("{} arguments for {}", arguments.size(), name),
                 least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most));
    };
    for (const BuiltinInfo& b : kBuiltins) {
        if (b.name != name) continue;
        check(b.min_arguments, b.max_arguments);
        return store_call(ExprKind::call_builtin, static_cast<std::uint8_t>(b.builtin), -1, arguments);
    }
    for (const OpInfo& op : operators()) {
        if (op.name != name) continue;
        const std::size_t type = op.op == Op::input ? 1 : 0;  // the one operator that names its type
        check(type + op.min_operands + (op.shaped == Shaped::yes ? 1 : 0),
              type + op.max_operands + (op.shaped == Shaped::no ? 0 : 4));
        return store_call(ExprKind::call_op, static_cast<std::uint8_t>(op.op), -1, arguments);
    }
    fail(fmt::format("unknown operator {}", name), "a def of this file or a built-in operator");
}

Index ExpressionParser::store_call(ExprKind kind, std::uint8_t code, Index def,
                                   const std::vector<Index>& arguments) {
    const List l = store(arguments);
    return store(Expr{
        .kind = kind, .code = code, .count = static_cast<std::uint16_t>(l.count), .a = def, .b = l.first});
}

}  // namespace memwall::runtime::lang
