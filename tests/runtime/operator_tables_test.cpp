#include "core/runtime/operator_tables.h"

#include "core/base/error.h"
#include "tests/catch.h"

using namespace memwall;
using namespace memwall::runtime;

namespace {

std::string error_of(const std::string& text) {
    try {
        OperatorTables::parse(text, "mine.txt");
    } catch (const Error& e) {
        return e.what();
    }
    return "none";
}

}  // namespace

TEST_CASE("the built-in tables", "[replay]") {
    const OperatorTables& t = operator_tables();
    CHECK(t.release() == "0.5.0");
    CHECK(&operator_tables("0.5.0") == &t);
    CHECK(&operator_tables("99.1") == &t);  // the newest stands in
    CHECK(t.alignment() == 32);
    CHECK(t.cell_rules().padding == 256);
    CHECK(t.cell_rules().honours_windows("gemma3"));
    CHECK_FALSE(t.cell_rules().honours_windows("phi3"));
    CHECK(t.table_of("llama") == t.table_of("granitehybrid"));
    CHECK(t.table_of("llama") != t.table_of("gemma"));
    CHECK(t.table_of("unheard-of") == -1);
    CHECK(t.family("plain").def == t.table_of("llama"));
}

TEST_CASE("a user's table file", "[replay]") {
    const OperatorTables t = OperatorTables::parse(
        "release 0.6.1   # comment\n"
        "alignment 64\n"
        "table tiny  mine other\n"
        "family plain tiny 0.9 1.5\n"
        "\n"
        "def tiny():\n"
        "  expand(unary(input(f32, hidden, tokens)))\n",
        "mine.txt");
    CHECK(t.release() == "0.6.1");
    CHECK(t.alignment() == 64);
    CHECK(t.table_of("other") == 0);
    CHECK(t.family("plain").high == 1.5);
    CHECK_THROWS_WITH(t.family("latent"), Catch::Contains("mine.txt: no family latent"));
}

TEST_CASE("faults in the head of a table file name their line", "[replay]") {
    const std::string body = "\ndef f():\n  expand(input(f32, 1))\ndef g(a):\n  return a\n";
    CHECK(error_of("relase 1" + body).find("mine.txt:1: \"relase\"") == 0);
    CHECK(error_of("release" + body).find("mine.txt:1: 1 words") == 0);
    CHECK(error_of("alignment 0" + body).find("mine.txt:1: 0; expected a number") == 0);
    CHECK(error_of("alignment 32x" + body).find("mine.txt:1: 32x") == 0);
    CHECK(error_of("table h llama" + body).find("mine.txt:1: table h") == 0);
    CHECK(error_of("table g llama" + body).find("mine.txt:1: table g with required arguments") == 0);
    CHECK(error_of("table f" + body).find("mine.txt:1: a table without architectures") == 0);
    CHECK(error_of("\nfamily plain f 2 3" + body).find("mine.txt:2: 2; expected") == 0);
    CHECK(error_of("family plain f nan 3" + body).find("mine.txt:1: nan") == 0);
    CHECK(error_of("release 1\ndef f(:\n").find("mine.txt:2:") == 0);
}
