// The expression half of the operator-table parser: words, names in scope, expressions. graph_parser.cpp
// builds declarations and statements on it.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/runtime/graph_language.h"
#include "core/runtime/graph_tokens.h"

namespace memwall::runtime::lang {

inline constexpr int kMaxNesting = 50;
inline constexpr std::size_t kMaxCount = 1000;  ///< of variables in a def, and of arguments of a call

class ExpressionParser {
  protected:
    ExpressionParser(std::string place, const SymbolNames& symbols);

    struct Parameter {
        std::string_view name;
        Index fallback = -1;  ///< expression; -1 = the argument is required
    };

    // ---- words of the open line
    [[noreturn]] void fail(const std::string& found, const std::string& expected) const;
    void open(const Line& line);
    const Token& peek() const { return tokens_[word_]; }
    std::string word_text() const;
    bool accept(std::string_view text);
    void want(std::string_view text);
    std::string_view want_name();
    bool at_end() const { return peek().kind == Token::Kind::end; }
    void want_end() const;
    void check_depth(int depth) const;

    // ---- expressions; they return the number of the expression made
    Index expression(int depth = 0);
    std::vector<Index> expressions();
    /// A number, none or a symbol: what a parameter may default to.
    Index constant();

    // ---- storage and scope
    Index store(const Expr& e);
    List store(const std::vector<Index>& items);
    Index name_number(std::string_view name);
    bool is_symbol(std::string_view name) const { return symbol(name).kind != ExprKind::none; }

    Program program_;
    const Token* tokens_ = nullptr;
    std::size_t word_ = 0;
    int line_ = 0;
    std::vector<std::vector<Parameter>> parameters_;  ///< by def
    std::unordered_map<std::string_view, Index> defs_, shared_, locals_;

  private:
    Index binary(std::size_t level, int depth);
    Index negation(int depth);
    Index value(int depth);
    Index variable(std::string_view name);
    Expr symbol(std::string_view name) const;  ///< kind none if there is no such symbol
    Index call(std::string_view name, int depth);
    std::size_t parameter(std::string_view def, const std::vector<Parameter>* parameters,
                          std::string_view name) const;
    Index call_def(std::string_view name, Index def, std::vector<Index> arguments);
    Index call_builtin(std::string_view name, const std::vector<Index>& arguments);
    Index store_call(ExprKind kind, std::uint8_t code, Index def, const std::vector<Index>& arguments);

    const SymbolNames& symbols_;
    std::unordered_map<std::string_view, Index> name_numbers_;
};

}  // namespace memwall::runtime::lang
