#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/runtime/graph_expressions.h"

namespace memwall::runtime {
namespace lang {
namespace {

class Parser : ExpressionParser {
  public:
    Parser(std::string_view text, std::string place, int first_line, const SymbolNames& symbols)
        : ExpressionParser(place, symbols), lines_(tokenize(text, place, first_line)) {}

    Program parse() {
        declarations();
        for (at_ = 0; at_ < lines_.size();) {
            open(lines_[at_]);
            if (lines_[at_].indent > 0) fail("an indented line", "\"def\" or \"shared\" at the margin");
            if (accept("def"))
                definition();
            else
                ++at_;  // "shared": done with the declarations
        }
        return std::move(program_);
    }

  private:
    using ExpressionParser::store;
    Index store(const Stmt& s) {
        program_.stmts.push_back(s);
        return static_cast<Index>(program_.stmts.size()) - 1;
    }

    // ---------------------------------------------------------------- declarations
    /// Heads of all definitions and the shared variables, so that bodies may call what stands further down.
    void declarations() {
        for (at_ = 0; at_ < lines_.size(); ++at_) {
            if (lines_[at_].indent > 0) continue;
            open(lines_[at_]);
            if (accept("shared")) {
                do {
                    const std::string_view name = want_name();
                    if (is_symbol(name)) fail(fmt::format("symbol {}", name), "a new name");
                    shared_.try_emplace(name, program_.shared_slots++);
                } while (accept(","));
                want_end();
            } else if (accept("def")) {
                head();
            } else {
                fail(word_text(), "\"def\" or \"shared\"");
            }
        }
    }

    void head() {
        const std::string_view name = want_name();
        Def def;
        def.name = name;
        def.line = line_;
        std::vector<Parameter> parameters;
        want("(");
        while (!accept(")")) {
            if (!parameters.empty()) want(",");
            Parameter p{want_name(), -1};
            if (is_symbol(p.name)) fail(fmt::format("symbol {}", p.name), "another name for the parameter");
            if (accept("=")) p.fallback = constant();
            parameters.push_back(p);
            if (parameters.size() > kMaxCount) fail("too many parameters", "fewer");
        }
        def.parameters = static_cast<Index>(parameters.size());
        if (accept("is")) {
            def.has_part = true;
            def.part = part(want_name());
        }
        want(":");
        want_end();
        if (!defs_.try_emplace(name, static_cast<Index>(program_.defs.size())).second)
            fail(fmt::format("a second def {}", name), "one of each name");
        program_.defs.push_back(std::move(def));
        parameters_.push_back(std::move(parameters));
    }

    Part part(std::string_view name) const {
        for (int i = 0; i <= static_cast<int>(Part::logits); ++i)
            if (part_name(static_cast<Part>(i)) == name) return static_cast<Part>(i);
        fail(fmt::format("part {}", name), "inputs, attention, feed_forward ...");
    }

    // ---------------------------------------------------------------- statements
    void definition() {
        const Index number = defs_.at(want_name());
        locals_.clear();
        for (const Parameter& p : parameters_[static_cast<std::size_t>(number)])
            if (shared_.contains(p.name) ||
                !locals_.try_emplace(p.name, static_cast<Index>(locals_.size())).second)
                fail(fmt::format("parameter {}", p.name), "a name that is not in use");
        const int indent = lines_[at_].indent;
        ++at_;
        const List body = block(indent, 0);
        Def& def = program_.defs[static_cast<std::size_t>(number)];
        def.body = body;
        def.slots = static_cast<Index>(locals_.size());
    }

    /// The lines that are indented further than `outer`.
    List block(int outer, int depth) {
        check_depth(depth);
        if (at_ >= lines_.size() || lines_[at_].indent <= outer) fail("an empty block", "indented lines");
        const int indent = lines_[at_].indent;
        std::vector<Index> items;
        while (at_ < lines_.size() && lines_[at_].indent > outer) {
            open(lines_[at_]);
            if (lines_[at_].indent != indent) fail("an odd indentation", fmt::format("{} blanks", indent));
            items.push_back(statement(indent, depth));
        }
        return store(items);
    }

    Index statement(int indent, int depth) {
        Stmt s;
        s.line = line_;
        if (accept("if")) return branch(s, indent, depth);
        if (accept("for")) return loop(s, indent, depth);
        if (accept("each")) {
            want("layer");
            want(":");
            want_end();
            ++at_;
            s.kind = StmtKind::each_layer;
            s.first_slot = static_cast<Index>(locals_.size());
            s.body = block(indent, depth + 1);
            s.end_slot = static_cast<Index>(locals_.size());
            return store(s);
        }
        const Index simple = simple_statement();
        ++at_;
        return simple;
    }

    Index branch(Stmt s, int indent, int depth) {
        s.kind = StmtKind::branch;
        s.values = store({expression()});
        s.body = arm(indent, depth);
        if (at_ < lines_.size() && lines_[at_].indent == indent &&
            lines_[at_].tokens.front().text == "else") {
            open(lines_[at_]);
            want("else");
            s.otherwise = arm(indent, depth);
        }
        return store(s);
    }

    /// ":" and a statement on the same line, or a block.
    List arm(int indent, int depth) {
        want(":");
        const bool in_line = !at_end();
        std::vector<Index> one;
        if (in_line) one.push_back(simple_statement());
        ++at_;
        return in_line ? store(one) : block(indent, depth + 1);
    }

    Index loop(Stmt s, int indent, int depth) {
        s.kind = StmtKind::loop;
        const std::string_view name = want_name();
        want("in");
        const Index low = expression();
        want("..");
        const Index high = expression();
        s.values = store({low, high});
        want(":");
        want_end();
        s.targets = {static_cast<Index>(program_.targets.size()), 1};
        program_.targets.push_back(target(name));
        ++at_;
        s.body = block(indent, depth + 1);
        return store(s);
    }

    Index simple_statement() {
        Stmt s;
        s.line = line_;
        if (accept("return")) {
            s.kind = StmtKind::leave;
            s.values = store(expressions());
        } else if (accept("require")) {
            s.kind = StmtKind::require;
            const std::string_view first = peek().text;
            s.values = store({expression()});
            const std::string_view last = tokens_[word_ - 1].text;
            s.words = name_number(
                {first.data(), static_cast<std::size_t>(last.data() + last.size() - first.data())});
        } else if (assigns()) {
            s.kind = StmtKind::assign;
            std::vector<std::string_view> names;
            do names.push_back(want_name());
            while (accept(","));
            want("=");
            s.values = store(expressions());
            if (names.size() > kMaxCount) fail("too many variables", "fewer");
            s.targets = {static_cast<Index>(program_.targets.size()), static_cast<Index>(names.size())};
            for (const std::string_view name : names) program_.targets.push_back(target(name));
            if (s.values.count != 1 && s.values.count != s.targets.count)
                fail(fmt::format("{} values", s.values.count), fmt::format("1 or {}", s.targets.count));
        } else {
            s.values = store({expression()});
        }
        want_end();
        return store(s);
    }

    /// Is this line "NAME {, NAME} = ..."?
    bool assigns() const {
        std::size_t i = word_;
        while (tokens_[i].kind == Token::Kind::name && tokens_[i + 1].text == ",") i += 2;
        return tokens_[i].kind == Token::Kind::name && tokens_[i + 1].text == "=";
    }

    Target target(std::string_view name) {
        const auto shared = shared_.find(name);
        if (shared != shared_.end()) return {shared->second, true, name_number(name)};
        if (is_symbol(name))
            fail(fmt::format("symbol {} on the left", name), "a variable; symbols cannot be changed");
        if (locals_.size() >= kMaxCount) fail("too many variables", "fewer");
        const Index slot = locals_.try_emplace(name, static_cast<Index>(locals_.size())).first->second;
        return {slot, false, name_number(name)};
    }

    std::vector<Line> lines_;
    std::size_t at_ = 0;  ///< the line being parsed
};

}  // namespace
}  // namespace lang

int Program::find_def(std::string_view name) const {
    const auto at =
        std::find_if(defs.begin(), defs.end(), [&](const lang::Def& d) { return d.name == name; });
    return at == defs.end() ? -1 : static_cast<int>(at - defs.begin());
}

Program parse_program(std::string_view text, std::string place, int first_line, const SymbolNames& symbols) {
    constexpr std::size_t kMaxText = std::size_t{1} << 20;
    if (text.size() > kMaxText)
        throw Error(std::move(place), fmt::format("{} bytes", text.size()),
                    fmt::format("at most {}", kMaxText));
    return lang::Parser(text, std::move(place), first_line, symbols).parse();
}

}  // namespace memwall::runtime
