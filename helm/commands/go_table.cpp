#include "helm/commands/go_table.hpp"

#include "helm/go.hpp"

#include <algorithm>

namespace helm {
namespace {

/// Columns of a terminal that a text takes, line breaks and tabs counted as nothing.
std::size_t columns(std::string_view s) {
  std::size_t n = 0;
  while (!s.empty()) {
    const auto d = decode_rune(s);
    n += d.rune >= 0x20 && d.rune != 0x7f;
    s.remove_prefix(static_cast<std::size_t>(d.size));
  }
  return n;
}

/// Pads or cuts to exactly `width` columns, as Helm's table does: three dots stand for what is
/// missing. A cell of several lines counts as their sum here, so that it is cut although each of
/// them fits.
std::string resized(const std::string& s, std::size_t width) {
  const std::size_t length = columns(s);
  if (length <= width) return s + std::string(width - length, ' ');
  std::string out;
  std::string_view rest = s;
  for (std::size_t taken = 0; !rest.empty();) {
    const auto d = decode_rune(rest);
    const std::size_t more = d.rune >= 0x20 && d.rune != 0x7f;
    append_rune(out, d.rune);
    rest.remove_prefix(static_cast<std::size_t>(d.size));
    if (taken + more + 3 >= width) break;
    taken += more;
  }
  return out + "...";
}

/// The widest line of a cell.
std::size_t widest_line(const std::string& s) {
  std::size_t most = 0;
  for (const auto& line : split(s, "\n")) most = std::max(most, columns(line));
  return most;
}

/// A row whose cells may have several lines; where one has none left, blanks.
std::string row_text(const std::vector<std::string>& cells,
                     const std::vector<std::size_t>& widths) {
  std::vector<std::vector<std::string>> lines;
  std::size_t height = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    lines.push_back(split(widths[i] > 0 ? resized(cells[i], widths[i]) : cells[i], "\n"));
    height = std::max(height, lines.back().size());
  }
  std::string out;
  for (std::size_t y = 0; y < height; ++y) {
    if (y > 0) out += '\n';
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) out += '\t';
      if (y >= lines[i].size())
        out += std::string(std::max<std::size_t>(widths[i], 1), ' ');
      else
        out += widths[i] > 0 ? resized(lines[i][y], widths[i]) : lines[i][y];
    }
  }
  return out;
}

}  // namespace

std::string go_table::text() const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_) {
    if (row.size() > widths.size()) widths.resize(row.size());
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::size_t wanted = widest_line(row[i]);
      widths[i] = std::max(widths[i], most_ == 0 ? wanted : std::min(most_, wanted));
    }
  }
  std::string out;
  for (std::size_t y = 0; y < rows_.size(); ++y)
    out += (y > 0 ? "\n" : "") + row_text(rows_[y], widths);
  return out;
}

}  // namespace helm
