#include "core/view/text_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

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

std::string plain_table(const TextTable& t, bool colour) {
    const auto w = widths(t);
    const auto line = [&](const std::vector<std::string>& cells, bool head) {
        std::string out;
        for (std::size_t i = 0; i < w.size(); ++i) {
            const std::string cell = i < cells.size() ? (head ? title(cells[i]) : cells[i]) : "";
            const bool last = i + 1 == w.size();
            out += right(t.header[i]) ? pad_left(cell, w[i]) : last ? cell : pad_right(cell, w[i]);
            if (!last) out += "  ";
        }
        while (!out.empty() && out.back() == ' ') out.pop_back();
        return (head ? styled(out, Style::bold, colour) : out) + "\n";
    };
    std::string out = line(t.header, true);
    for (const auto& row : t.rows) out += line(row, false);
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
