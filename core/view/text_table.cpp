#include "core/view/text_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace memwall::view {
namespace {

bool right(const std::string& header) {
    return !header.empty() && header.front() == '>';
}
std::string title(const std::string& header) {
    return right(header) ? header.substr(1) : header;
}

std::vector<std::size_t> widths(const TextTable& t) {
    std::vector<std::size_t> w;
    for (const std::string& h : t.header) w.push_back(columns(title(h)));
    for (const auto& row : t.rows)
        for (std::size_t i = 0; i < row.size() && i < w.size(); ++i) w[i] = std::max(w[i], columns(row[i]));
    return w;
}

std::size_t longest_word(std::string_view text) {
    std::size_t longest = 0;
    for (const std::string& line : wrapped(text, 1)) longest = std::max(longest, columns(line));
    return longest;
}

constexpr std::size_t kGap = 2;  // columns between columns

/// Takes from the widest columns what `width` asks for; false if words do not allow it. Numbers never break.
bool narrow(const TextTable& t, std::vector<std::size_t>& w, std::size_t width) {
    std::vector<std::size_t> least;
    for (const std::string& h : t.header) least.push_back(longest_word(title(h)));
    for (const auto& row : t.rows)
        for (std::size_t i = 0; i < row.size() && i < w.size(); ++i)
            least[i] = std::max(least[i], right(t.header[i]) ? columns(row[i]) : longest_word(row[i]));
    const auto total = [&] {
        return std::accumulate(w.begin(), w.end(), std::size_t{0}) + kGap * (w.size() - 1);
    };
    while (!w.empty() && total() > width) {
        std::size_t widest = 0;
        for (std::size_t i = 1; i < w.size(); ++i)
            if (w[i] - least[i] > w[widest] - least[widest]) widest = i;
        if (w[widest] == least[widest]) return false;
        --w[widest];
    }
    return true;
}

bool drop_column(TextTable& t, const std::string& name) {
    const auto at = std::find_if(t.header.begin(), t.header.end(),
                                 [&](const std::string& h) { return title(h) == name; }) -
                    t.header.begin();
    if (at == static_cast<std::ptrdiff_t>(t.header.size())) return false;
    t.header.erase(t.header.begin() + at);
    for (auto& row : t.rows)
        if (at < static_cast<std::ptrdiff_t>(row.size())) row.erase(row.begin() + at);
    return true;
}

/// One row, of as many lines as its tallest cell.
std::string table_row(const TextTable& t, const std::vector<std::string>& cells,
                      const std::vector<std::size_t>& w, bool head, bool colour) {
    std::vector<std::vector<std::string>> parts(w.size());
    std::size_t lines = 1;
    for (std::size_t i = 0; i < w.size() && i < cells.size(); ++i) {
        const std::string cell = head ? title(cells[i]) : cells[i];
        // Blanks that lead are part of a cell ("  memory" under "> quality"), so only what is too wide
        // breaks.
        parts[i] = columns(cell) <= w[i] ? std::vector{cell} : wrapped(cell, w[i]);
        lines = std::max(lines, parts[i].size());
    }
    std::string out;
    for (std::size_t n = 0; n < lines; ++n) {
        std::string line;
        for (std::size_t i = 0; i < w.size(); ++i) {
            const std::string cell = n < parts[i].size() ? parts[i][n] : "";
            const bool last = i + 1 == w.size();
            line += right(t.header[i]) ? pad_left(cell, w[i]) : last ? cell : pad_right(cell, w[i]);
            if (!last) line += std::string(kGap, ' ');
        }
        while (!line.empty() && line.back() == ' ') line.pop_back();
        out += (head ? styled(line, Style::bold, colour) : line) + "\n";
    }
    return out;
}

/// Each row as its first cell and, below it, a line for every other.
std::string blocks(const TextTable& t, bool colour, std::size_t width) {
    std::size_t label = 0;
    for (std::size_t i = 1; i < t.header.size(); ++i) label = std::max(label, columns(title(t.header[i])));
    std::string out;
    for (const auto& row : t.rows) {
        const bool named = !row.empty() && row[0].find_first_not_of(' ') != std::string::npos;
        out += styled(named ? row[0] : title(t.header[0]), Style::bold, colour) + "\n";
        for (std::size_t i = 1; i < row.size() && i < t.header.size(); ++i) {
            if (row[i].empty()) continue;
            const std::size_t indent = 2 + label + kGap;
            bool first = true;
            for (const std::string& line : wrapped(row[i], width > indent ? width - indent : 1)) {
                out += first ? "  " + pad_right(title(t.header[i]), label) : std::string(2 + label, ' ');
                out += std::string(kGap, ' ') + line + "\n";
                first = false;
            }
        }
    }
    return out;
}

}  // namespace

std::string styled(std::string_view text, Style style, bool on) {
    if (!on || style == Style::plain) return std::string(text);
    constexpr std::array<std::string_view, 6> codes{"0", "1", "2", "1;32", "1;31", "1;33"};
    return fmt::format("\033[{}m{}\033[0m", codes[static_cast<std::size_t>(style)], text);
}

std::size_t columns(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string pad_right(std::string_view text, std::size_t width) {
    const std::size_t have = columns(text);
    return std::string(text) + std::string(have < width ? width - have : 0, ' ');
}

std::string pad_left(std::string_view text, std::size_t width) {
    const std::size_t have = columns(text);
    return std::string(have < width ? width - have : 0, ' ') + std::string(text);
}

std::string bar(double share, std::size_t width) {
    constexpr std::array<std::string_view, 8> eighths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    const auto units =
        static_cast<std::size_t>(std::lround(std::clamp(share, 0.0, 1.0) * static_cast<double>(width) * 8));
    std::string out;
    for (std::size_t i = 0; i < units / 8; ++i) out += "█";
    return out + std::string(eighths[units % 8]);
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
    std::vector<std::string> lines;
    std::string line;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        const std::string_view word = text.substr(at, end - at);
        if (!line.empty() && columns(line) + 1 + columns(word) > width) {
            lines.push_back(std::move(line));
            line.clear();
        }
        if (!word.empty()) line += (line.empty() ? "" : " ") + std::string(word);
        at = end + 1;
    }
    if (!line.empty()) lines.push_back(std::move(line));
    return lines;
}

std::string hung(std::string_view lead, std::string_view text, std::size_t width, Style style, bool colour) {
    const std::size_t indent = columns(lead);
    constexpr std::size_t kLeast = 16;  // a narrower strip is worse than a line that the terminal breaks
    auto lines = width < indent + kLeast ? std::vector{std::string(text)} : wrapped(text, width - indent);
    if (lines.empty()) lines.emplace_back();
    std::string out;
    for (std::size_t i = 0; i < lines.size(); ++i)
        out +=
            (i == 0 ? std::string(lead) : std::string(indent, ' ')) + styled(lines[i], style, colour) + "\n";
    return out;
}

std::string plain_table(const TextTable& t, bool colour, std::size_t width) {
    TextTable shown = t;
    std::vector<std::size_t> w = widths(shown);
    std::string left_out;
    if (width > 0) {
        auto next = t.spare.begin();
        while (!narrow(shown, w, width)) {
            if (next == t.spare.end()) return blocks(t, colour, width);
            if (drop_column(shown, *next)) left_out += (left_out.empty() ? "" : ", ") + *next;
            ++next;
            w = widths(shown);
        }
    }
    std::string out = table_row(shown, shown.header, w, true, colour);
    for (const auto& row : shown.rows) out += table_row(shown, row, w, false, colour);
    if (!left_out.empty())
        out += hung("", "(" + left_out + ": on a wider screen)", width, Style::dim, colour);
    return out;
}

std::string markdown_table(const TextTable& t) {
    const auto escaped = [](std::string cell) {
        for (std::size_t i = 0; (i = cell.find('|', i)) != std::string::npos; i += 2) cell.insert(i, "\\");
        return cell;
    };
    std::string head = "|", rule = "|";
    for (const std::string& h : t.header) {
        head += " " + escaped(title(h)) + " |";
        rule += right(h) ? " ---: |" : " --- |";
    }
    std::string out = head + "\n" + rule + "\n";
    for (const auto& row : t.rows) {
        out += "|";
        for (const std::string& cell : row) out += " " + escaped(cell) + " |";
        out += "\n";
    }
    return out;
}

std::string csv_table(const TextTable& t) {
    const auto quoted = [](const std::string& cell) {
        if (cell.find_first_of(",\"\n") == std::string::npos) return cell;
        std::string out = "\"";
        for (char c : cell) out += c == '"' ? std::string("\"\"") : std::string(1, c);
        return out + "\"";
    };
    std::string out;
    for (std::size_t i = 0; i < t.header.size(); ++i) out += (i ? "," : "") + quoted(title(t.header[i]));
    out += "\n";
    for (const auto& row : t.rows) {
        for (std::size_t i = 0; i < row.size(); ++i) out += (i ? "," : "") + quoted(row[i]);
        out += "\n";
    }
    return out;
}

}  // namespace memwall::view
