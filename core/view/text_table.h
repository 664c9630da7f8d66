// Columns of text that line up, with colour only where the caller says the output is a terminal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace memwall::view {

enum class Style { plain, bold, dim, good, bad, warn };

/// ANSI colours when `on`, else the text alone.
std::string styled(std::string_view text, Style style, bool on);

/// Columns a terminal shows: UTF-8 code points (all our symbols are one column wide).
std::size_t columns(std::string_view text);
std::string pad_right(std::string_view text, std::size_t width);
std::string pad_left(std::string_view text, std::size_t width);
/// A bar of eighth blocks, `share` of `width` columns.
std::string bar(double share, std::size_t width);
/// `text` broken at blanks into lines of at most `width` columns.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

/// Columns of running text where `width` is unknown (0).
constexpr std::size_t text_columns(std::size_t width) {
    return width > 0 ? width : 100;
}

/// `text` after `lead`, in lines of at most `width` columns (0 = one line) that start below the text's start.
std::string hung(std::string_view lead, std::string_view text, std::size_t width, Style style = Style::plain,
                 bool colour = false);

/// A table: header and rows; columns are right-aligned when their header starts with '>'.
struct TextTable {
    std::vector<std::string> header;
    std::vector<std::vector<std::string>> rows;
    std::vector<std::string>
        spare{};  ///< titles of columns that narrow screens do without, first to go first
};
/// In lines of at most `width` columns, 0 = as wide as it needs. Cells of words break at blanks; where that
/// is not enough, spare columns go (a last line names them), and then each row becomes a block of lines.
std::string plain_table(const TextTable& table, bool colour, std::size_t width = 0);
std::string markdown_table(const TextTable& table);
std::string csv_table(const TextTable& table);

}  // namespace memwall::view
