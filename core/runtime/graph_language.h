// The language of operator tables (core/runtime/profiles/*.graphs.txt): programs that list the operators of a
// model's graph in the engine's order.
//
// Blocks go by indentation, "#" starts a comment, a line goes on while a parenthesis is open. A value is an
// integer (64 bits, faults on overflow), a tensor or none; none and 0 are false. Names are resolved while
// parsing: parameters and locals, shared variables, then the symbols that the caller provides. Tensors take
// the name of the first variable they are assigned to, and the part of the innermost def that names one.
//
// clang-format off
//   file       def ... | shared NAME, NAME ...                variables that all defs see
//   def        def NAME(a, b = 1) [is PART]: block            defaults: a number, none or a symbol
//   statement  a = expr   a, b = expr, expr   a, b = call(..) a call may return several values
//              return expr, expr
//              if expr: statement   else: statement           or blocks
//              for i in expr..expr: block                     the end is not included
//              each layer: block                              layer symbols are those of the running layer;
//                                                             variables new in the block last for one layer
//              require expr                                   the table is exact only where this holds
//              call(...)
//   expr       c ? x : y   or   and   not   == != < <= > >=   + -   * / %   ( )
//   value      12   none   name   tensor[0]                   [i] = extent i
//   call       NAME(x, name = y)                              a def, an operator or a built-in function
// clang-format on
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/runtime/graph.h"

namespace memwall::runtime {

/// Names of the numbers that a program may read.
struct SymbolNames {
    std::vector<std::string_view> model;  ///< the same everywhere
    std::vector<std::string_view> layer;  ///< of the running layer; only inside "each layer"
};

namespace lang {

enum class ExprKind : std::uint8_t {
    number,
    none,
    local,         ///< a = slot
    shared,        ///< a = slot
    model_symbol,  ///< a = index
    layer_symbol,
    extent,       ///< a = tensor expression, number = index
    negation,     ///< a
    binary,       ///< a, b; code = Binary
    conditional,  ///< a ? b : c
    call_def,     ///< a = def; arguments = list[b .. b + count)
    call_op,      ///< code = Op
    call_builtin  ///< code = Builtin
};
enum class Binary : std::uint8_t { logical_or, logical_and, eq, ne, lt, le, gt, ge, add, sub, mul, div, mod };
enum class Builtin : std::uint8_t { expand, output, elements, max, min, power_of_two, views, nth };

using Index = std::int32_t;

struct Expr {
    ExprKind kind = ExprKind::number;
    std::uint8_t code = 0;
    std::uint16_t count = 0;
    Index a = -1, b = -1, c = -1;
    std::int32_t line = 0;
    std::int64_t number = 0;
};

struct List {  ///< a range of Program::list
    Index first = 0;
    Index count = 0;
};

enum class StmtKind : std::uint8_t { assign, leave, branch, loop, each_layer, require, evaluate };

struct Target {
    Index slot = 0;
    bool shared = false;
    Index name = 0;
};

struct Stmt {
    StmtKind kind = StmtKind::evaluate;
    std::int32_t line = 0;
    List targets{};  ///< assign: of Program::targets; loop: the variable
    List values{};   ///< assign, leave, require, evaluate: expressions; branch: condition; loop: bounds
    List body{}, otherwise{};            ///< statements
    Index first_slot = 0, end_slot = 0;  ///< each_layer: locals of the block, unset when a layer begins
    Index words = 0;                     ///< require: the condition as written, among Program::names
};

struct Def {
    std::string name;
    Index parameters = 0;
    Index slots = 0;
    List body;
    bool has_part = false;
    Part part = Part::other;
    std::int32_t line = 0;
};

}  // namespace lang

/// A parsed program: flat arrays that refer to each other by index.
struct Program {
    std::string place;  ///< file name for messages
    std::vector<lang::Expr> exprs;
    std::vector<lang::Stmt> stmts;
    std::vector<lang::Index> list;  ///< arguments of calls and statements of blocks
    std::vector<lang::Target> targets;
    std::vector<lang::Def> defs;
    std::vector<std::string> names;  ///< of variables, for labelling tensors; names[0] is empty
    std::int32_t shared_slots = 0;

    int find_def(std::string_view name) const;  ///< -1 if there is none
};

/// Parses everything from line `first_line` on. Throws Error with "place:line" for anything it does not
/// understand, including unknown names, wrong numbers of arguments and nesting beyond 50 levels.
Program parse_program(std::string_view text, std::string place, int first_line, const SymbolNames& symbols);

}  // namespace memwall::runtime
