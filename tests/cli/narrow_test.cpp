// What people read on a narrow screen, and what programs read from a pipe.
#include <sstream>

#include "tests/catch.h"
#include "tests/cli/command.h"

using namespace memwall;
using test::run_memwall;

namespace {

/// Lines wider than `width`; commands are for copying, so they stay whole.
std::string too_wide(const std::string& text, std::size_t width) {
    std::istringstream in(text);
    std::string wide;
    for (std::string line; std::getline(in, line);) {
        std::size_t columns = 0;
        for (const char c : line) columns += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
        if (columns > width && line.find("memwall ") == std::string::npos) wide += line + "\n";
    }
    return wide;
}

}  // namespace

TEST_CASE("$COLUMNS narrows text, tables and help", "[cli][narrow]") {
    for (const char* arguments :
         {"plan qwen2.5-7b --quant Q4_K_M --device raspberry-pi-5:8GiB --kv q8_0",
          "plan qwen3-14b --quant Q8_0 --device rtx-3060-12gb", "models qwen", "models show qwen3-8b",
          "devices", "runtimes", "runtimes llama.cpp",
          "compare qwen3-8b llama-3.1-8b --device apple-m4:16GiB",
          "fit qwen3 --device raspberry-pi-5:8GiB --all",
          "recommend qwen3-4b --device raspberry-pi-5:8GiB --context 4096 --min-decode 3",
          "sweep qwen3-4b --device apple-m4:16GiB --axis runtime=llama.cpp,vllm",
          "require qwen2.5-7b --quant Q4_K_M --min-decode 10 --device raspberry-pi-5:8GiB",
          "explain qwen2.5-7b kv_cache --device raspberry-pi-5:8GiB", "--help", "plan --help", "sweep --help",
          "simulate --help", "verify --help"})
        for (const int width : {64, 80}) {
            INFO(arguments << " in " << width);
            CHECK(too_wide(run_memwall(arguments, "/nonexistent", width).out, width) == "");
        }
}

TEST_CASE("a pipe gets whole rows", "[cli][narrow]") {
    const std::string table = run_memwall("models llama-3.1-8b").out;
    CHECK(std::count(table.begin(), table.end(), '\n') == 2);
}

TEST_CASE("CSV holds plain numbers with units in the header", "[cli][csv]") {
    for (const char* arguments :
         {"compare qwen3-8b llama-3.1-8b --device apple-m4:16GiB --csv",
          "compare qwen3-8b llama-3.2-1b --device apple-m4:16GiB --co-resident --csv", "models qwen3 --csv",
          "devices pixel --csv", "fit qwen3 --device apple-m4:16GiB --csv",
          "sweep qwen3-4b --device apple-m4:16GiB --axis runtime=llama.cpp,vllm --csv"}) {
        const std::string csv = run_memwall(arguments).out;
        INFO(arguments << "\n" << csv);
        std::istringstream in(csv);
        std::string header, line;
        REQUIRE(std::getline(in, header));
        CHECK(header.find_first_of(" \"") == std::string::npos);
        const auto cells = std::count(header.begin(), header.end(), ',');
        int rows = 0;
        for (; std::getline(in, line); ++rows) {
            for (const char* formatted : {" GiB", " MiB", " GB/s", " s,", " B,", " tokens"})
                CHECK(line.find(formatted) == std::string::npos);
            if (line.find('"') == std::string::npos)
                CHECK(std::count(line.begin(), line.end(), ',') == cells);
        }
        CHECK(rows > 1);
    }
}

TEST_CASE("compare shows every part of its totals", "[cli]") {
    const test::Output o = run_memwall("compare qwen3-8b llama-3.1-8b --device raspberry-pi-5:8GiB --csv");
    std::istringstream in(o.out);
    std::string header, line;
    std::getline(in, header);
    const auto split = [](const std::string& text) {
        std::vector<std::string> cells;
        std::istringstream row(text);
        for (std::string cell; std::getline(row, cell, ',');) cells.push_back(cell);
        return cells;
    };
    const std::vector<std::string> names = split(header);
    while (std::getline(in, line)) {
        const std::vector<std::string> cells = split(line);
        std::int64_t parts = 0, total = 0;
        for (std::size_t i = 0; i < names.size(); ++i) {
            if (names[i] == "total_bytes") {
                total = std::stoll(cells[i]);
                break;
            }
            if (names[i].ends_with("_bytes")) parts += std::stoll(cells[i]);
        }
        CHECK(total > 0);
        CHECK(parts == total);
    }
}

TEST_CASE("unsupported says why, in text, CSV, JSON and reports", "[cli]") {
    const std::string why = "the runtime does not run on this processor";
    const std::string sweep = "sweep qwen3-4b --device apple-m4:16GiB --axis runtime=llama.cpp,vllm";
    for (const std::string& arguments :
         {sweep, sweep + " --csv", sweep + " --json",
          std::string("report qwen3-4b --device apple-m4:16GiB --axis runtime=llama.cpp,vllm --markdown")})
        CHECK_THAT(run_memwall(arguments).out, Catch::Contains(why));
}
