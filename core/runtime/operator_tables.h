// The operator tables of one engine release: the program that lists its operators, and the facts that stand
// at the top of the same file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/runtime/engine_cells.h"
#include "core/runtime/graph_language.h"

namespace memwall::runtime {

class OperatorTables {
  public:
    /// Reads a table file; see core/runtime/profiles/llama.cpp-0.5.0.graphs.txt for its form. Throws Error
    /// with "place:line".
    static OperatorTables parse(std::string_view text, const std::string& place);

    /// A stand-in for architectures that have no table of their own.
    struct Family {
        std::string name;  ///< what its layers contain: "plain", "fused", "latent" ...
        int def = -1;
        double low = 1, high = 1;  ///< the engine's buffer as a multiple of the stand-in's
    };

    const std::string& release() const { return release_; }
    std::int64_t alignment() const { return alignment_; }
    const CellRules& cell_rules() const { return cell_rules_; }
    const Program& program() const { return program_; }
    int table_of(const std::string& architecture) const;  ///< the def that lists it; -1 if there is none
    const Family& family(std::string_view name) const;    ///< throws Error if the file names none
    const std::vector<int>& recurrent_tables() const { return recurrent_tables_; }

  private:
    struct Row {
        std::string architecture;
        int def;
    };
    std::string place_;
    std::string release_;
    std::int64_t alignment_ = 32;
    CellRules cell_rules_;
    std::vector<Row> rows_;
    std::vector<Family> families_;
    std::vector<int> recurrent_tables_;
    Program program_;
};

/// The built-in tables of a llama.cpp release ("0.5.0"), those of the newest release if there are none for
/// it. Parsed on first use; thread-safe.
const OperatorTables& operator_tables(std::string_view release = {});

}  // namespace memwall::runtime
