#include "core/runtime/graph_language.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/runtime/graph_interpreter.h"
#include "core/runtime/graph_symbols.h"
#include "core/runtime/operator_tables.h"
#include "tests/catch.h"
#include "tests/runtime/shapes.h"

using namespace memwall;
using namespace memwall::runtime;

namespace {

const SymbolNames kNames{{"width", "flag"}, {"kind"}};
const LayerValues kLayers{{{0}, {1}}, {0, 0, 1, 0, 0, 0}};

/// Runs def "main" with width 8, flag 1 and six layers.
struct Run {
    explicit Run(const std::string& text) : program(parse_program(text, "t", 1, kNames)) {
        interpreter.build({program, program.find_def("main"), values, kLayers}, graph);
    }
    std::vector<std::int64_t> values{8, 1};
    Program program;
    Interpreter interpreter;
    Graph graph;
};

/// The first extent of the last node of "def main(): BODY; expand(cont(t))" with t an input of `extent`.
std::int64_t value(const std::string& expression) {
    const Run r("def main():\n  x = input(f32, 5, 6, 7)\n  n = " + expression +
                "\n  expand(cont(input(f32, n)))\n"
                "def twice(a, b = 3):\n  return a * 2 + b\n"
                "def pair(a):\n  return a, a + 1\n");
    return r.graph[r.graph.nodes().back()].extents[0];
}

std::string parse_error(const std::string& text) {
    try {
        parse_program(text, "t", 1, kNames);
    } catch (const Error& e) {
        return e.what();
    }
    return "none";
}

std::string run_error(const std::string& text) {
    try {
        Run{text};
    } catch (const Error& e) {
        return e.what();
    }
    return "none";
}

}  // namespace

TEST_CASE("expressions of the table language", "[replay]") {
    CHECK(value("2 + 3 * 4 - 1") == 13);
    CHECK(value("(2 + 3) * 4 % 6") == 2);
    CHECK(value("20 / 3 / 2") == 3);
    CHECK(value("width == 8 and not flag == 0 ? 1 : 2") == 1);
    CHECK(value("width < 8 or width >= 9 ? 1 : width != 8 ? 2 : 3") == 3);
    CHECK(value("x[0] * 100 + x[1] * 10 + x[2] + x[3]") == 568);
    CHECK(value("elements(x)") == 210);
    CHECK(value("max(3, min(9, 7))") == 7);
    CHECK(value("power_of_two(192)") == 64);
    CHECK(value("power_of_two(7)") == 1);
    CHECK(value("twice(5)") == 13);
    CHECK(value("twice(b = 1, a = 2)") == 5);
    CHECK(value("twice(\n      twice(1),   # a line goes on while a parenthesis is open\n      2)") == 12);
    CHECK(value("none == none ? 1 : 2") == 1);
    CHECK(value("x == none ? 1 : 2") == 2);
    CHECK(value("1\n  m, n = pair(4)\n  n = n * 10 + m") == 54);
    CHECK(value("1\n  n, m = 7, n\n  if m: n = n + m\n  else: n = 0") == 8);
    CHECK(value("0\n  for i in 1..5:\n    if i % 2:\n      n = n + i\n    else:\n      n = n + 100") == 204);
}

TEST_CASE("a def's part and a variable's name label its tensors", "[replay]") {
    const Run r(
        "shared mask\n"
        "def main():\n"
        "  mask = input(f16, width)\n"
        "  y = block(mask)\n"
        "  expand(y)\n"
        "def block(x) is experts:\n"
        "  up = cont(x)\n"
        "  return unary(up)\n");
    const auto name = [&](TensorId t) { return r.program.names[static_cast<std::size_t>(r.graph[t].name)]; };
    REQUIRE(r.graph.nodes().size() == 2);
    CHECK(name(r.graph.leafs()[0]) == "mask");
    CHECK(r.graph[r.graph.leafs()[0]].part == Part::inputs);
    CHECK(name(r.graph.nodes()[0]) == "up");
    CHECK(name(r.graph.nodes()[1]) == "y");
    CHECK(r.graph[r.graph.nodes()[1]].part == Part::experts);
}

TEST_CASE("operands are listed before what uses them, in their order", "[replay]") {
    const Run r(
        "def main():\n"
        "  a = input(f32, 1)\n"
        "  b = input(f32, 1)\n"
        "  x = unary(a)\n"
        "  y = unary(b)\n"
        "  expand(b)\n"
        "  expand(add(y, x))\n"
        "  expand(y)\n");
    CHECK(r.graph.leafs().size() == 2);
    CHECK(r.graph.leafs()[0] == 1);
    CHECK(std::vector<TensorId>(r.graph.nodes().begin(), r.graph.nodes().end()) ==
          std::vector<TensorId>{3, 2, 4});
}

TEST_CASE("layers read their own symbols and forget their variables", "[replay]") {
    const Run r(
        "def main():\n"
        "  x = input(f32, width)\n"
        "  each layer:\n"
        "    y = unary(x)\n"
        "    if kind: y = unary(y)\n"
        "    x = y\n"
        "  expand(x)\n");
    CHECK(r.graph.nodes().size() == 7);  // six layers, one of the other kind
    CHECK(r.graph[r.graph.nodes()[2]].layer == 2);
    CHECK(r.graph[r.graph.nodes()[3]].layer == 2);
    CHECK(r.graph[r.graph.nodes()[6]].layer == 5);
    CHECK(run_error("def main():\n  each layer:\n    if kind: a = 1\n    n = a\n") ==
          "t:4: a variable without value; expected an assignment before");
}

TEST_CASE("a requirement that does not hold is remembered, not fatal", "[replay]") {
    const Run r("def main():\n  require width == 8\n  require width > 9 and flag   # why\n  require 0\n");
    CHECK(r.interpreter.unmet() == "width > 9 and flag");
}

TEST_CASE("faults of a table name their line", "[replay]") {
    CHECK(parse_error("x = 1\n") == "t:1: \"x\"; expected \"def\" or \"shared\"");
    CHECK(parse_error("def f():\n  x = y\n") == "t:2: unknown name y; expected a variable or a symbol");
    CHECK(parse_error("def f():\n  g(1)\n").find("t:2: unknown operator g") == 0);
    CHECK(parse_error("def f(a):\n  f(1, 2)\n").find("t:2: too many arguments for f") == 0);
    CHECK(parse_error("def f(a):\n  f()\n").find("t:2: f without a") == 0);
    CHECK(parse_error("def f(a):\n  f(b = 1)\n").find("t:2: argument b of f") == 0);
    CHECK(parse_error("def f(a):\n  f(1, a = 2)\n").find("t:2: an argument given twice") == 0);
    CHECK(parse_error("def f():\n  width = 1\n").find("t:2: symbol width on the left") == 0);
    CHECK(parse_error("def f(kind):\n  return 1\n").find("t:1: symbol kind") == 0);
    CHECK(parse_error("def f():\n  return 1\ndef f():\n  return 2\n").find("t:3: a second def f") == 0);
    CHECK(parse_error("def f() is nonsense:\n  return 1\n").find("t:1: part nonsense") == 0);
    CHECK(parse_error("def f():\n").find("t:1: an empty block") == 0);
    CHECK(parse_error("shared a\n def f():\n  return 1\n").find("t:2: an indented line") == 0);
    CHECK(parse_error("def f():\n  return 1\n    return 2\n").find("t:3: an odd indentation") == 0);
    CHECK(parse_error("def f():\n  a, b = 1, 2, 3\n").find("t:2: 3 values") == 0);
    CHECK(parse_error("def f():\n  x = 1 +\n").find("t:2: end of line") == 0);
    CHECK(parse_error("def f():\n  x = $\n").find("t:2: character '$'") == 0);
    CHECK(parse_error("def f():\n\tx = 1\n").find("t:2: character '?'") == 0);
    CHECK(parse_error("def f():\n  x = 99999999999999999999\n").find("t:2: number") == 0);
    CHECK(parse_error("def f():\n  x = rope(1)\n").find("t:2: 1 arguments for rope") == 0);
    CHECK(parse_error("def f():\n  x = (1\n  y = 2\n").find("t:3") == std::string::npos);
    CHECK(parse_error("def f():\n  x = " + std::string(400, '(') + "\n").find("t:2: ") == 0);
    CHECK(parse_error("def f():\n  x = " + std::string(60, '(') + "1\n").find("t:2: deep nesting") == 0);
    CHECK(parse_error(std::string(std::size_t{2} << 20, ' ')).find("t: 2097152 bytes") == 0);
    std::string ladder = "def f():\n";
    for (int i = 1; i < 60; ++i) ladder += std::string(static_cast<std::size_t>(i), ' ') + "if 1:\n";
    CHECK(parse_error(ladder).find("deep nesting") != std::string::npos);
}

TEST_CASE("faults of a run name their line and end it", "[replay]") {
    const auto body = [](const std::string& text) { return run_error("def main():\n" + text); };
    CHECK(body("  x = 1 / (width - 8)\n").find("t:2: 1 divided by 0") == 0);
    CHECK(body("  x = 1\n  x = x[0]\n").find("t:3: a number or none") == 0);
    CHECK(body("  x = input(f32, 1)\n  x = x + 1\n").find("t:3: a tensor or none") == 0);
    CHECK(body("  x = kind\n").find("t:2: a symbol of a layer") == 0);
    CHECK(body("  x = input(f32, 4611686018427387904)\n").find("t:2: an extent of") == 0);
    CHECK(body("  x = input(f32, 0 - 1)\n").find("t:2: an extent of -1") == 0);
    CHECK(body("  n = 1000000000\n  x = input(f32, n, n, n)\n").find("t:3: a tensor of") == 0);
    CHECK(body("  n = 4611686018427387904\n  n = n * 4\n").find("t:3: a number beyond") == 0);
    CHECK(body("  n = 9223372036854775807 + 1\n").find("t:2: a number beyond") == 0);
    CHECK(body("  x = input(9, 1)\n").find("t:2: type 9") == 0);
    CHECK(body("  x = add(input(f32, 1), none)\n").find("t:2: 1 of add operands") == 0);
    CHECK(body("  x = add(1, 2)\n").find("t:2: argument 1 of add") == 0);
    CHECK(body("  x = nth(input(f32, 1), 4)\n").find("t:2: view 4") == 0);
    CHECK(body("  main()\n").find("t:2: 33 nested calls") == 0);
    CHECK(body("  for i in 0..1000000000000:\n    x = 1\n").find("an endless computation") !=
          std::string::npos);
    CHECK(body("  for i in 0..200000:\n    x = input(f32, 1)\n").find("t:3: more than 100000 tensors") == 0);
    CHECK(body("  x = views(input(f32, 1), 200000, 1)\n").find("t:2: more than 100000 tensors") == 0);
    CHECK(body("  each layer:\n    each layer:\n      x = 1\n").find("t:3: layers within a layer") == 0);
    CHECK(body("  x = input(f32, 1)\n  each layer:\n    output(x)\n").find("t:4: output within a layer") ==
          0);
    CHECK(body("  a, b = one()\ndef one():\n  return 1\n").find("t:2: 1 values") == 0);
    // The deepest that the parser lets through, called as deeply as the interpreter lets it.
    std::string sum = "1";
    for (int i = 0; i < 70; ++i) sum += " + 1";
    CHECK(body("  x = " + sum + " + deep()\ndef deep():\n  return " + std::string(15, '(') + sum +
               " + deep()" + std::string(15, ')') + "\n")
              .find("33 nested calls") != std::string::npos);
}

TEST_CASE("repeated layers give the graph that interpreting each of them gives", "[replay]") {
    const OperatorTables& tables = operator_tables();
    const test::EngineRows rows("compute_buffers_random.json");
    Interpreter interpreter;
    Graph fast, slow;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const model::Model m = rows.model(i);
        const bool windows = tables.cell_rules().honours_windows(m.architecture);
        const EngineCells cells = resolve_cells(m, rows.settings(i), tables.cell_rules());
        std::vector<std::int64_t> values = model_values(m, windows);
        const LayerValues layers = layer_values(m, windows);
        for (const BatchValues& batch :
             {prompt_batch(cells, rows.settings(i)), token_batch(cells, rows.settings(i))}) {
            std::copy(batch.begin(), batch.end(), values.begin());
            const GraphInput input{tables.program(), tables.table_of(m.architecture), values, layers};
            INFO("row " << i << ", " << m.architecture);
            const std::int64_t bound = interpreter.total_bytes(input, fast, 32);
            interpreter.build(input, fast);
            interpreter.build(input, slow, false);
            REQUIRE(fast.size() == slow.size());
            REQUIRE(std::equal(fast.nodes().begin(), fast.nodes().end(), slow.nodes().begin(),
                               slow.nodes().end()));
            REQUIRE(std::equal(fast.leafs().begin(), fast.leafs().end(), slow.leafs().begin(),
                               slow.leafs().end()));
            std::int64_t sum = 0;
            bool same = true;
            for (TensorId t = 0; t < slow.size(); ++t) {
                const Tensor &a = fast[t], &b = slow[t];
                const auto x = fast.operands(a), y = slow.operands(b);
                same = same && a.op == b.op && a.type == b.type && a.extents == b.extents &&
                       a.root == b.root && a.layer == b.layer && a.part == b.part && a.name == b.name &&
                       a.output == b.output && std::equal(x.begin(), x.end(), y.begin(), y.end());
                sum += (b.bytes + 31) / 32 * 32;
            }
            REQUIRE(same);
            REQUIRE(bound == sum);
        }
    }
}
