#include "helm/go_table.hpp"

#include "helm/go_text.hpp"

#include <algorithm>

namespace helm {
namespace {

/// Pads or cuts to exactly `width` runes, as Helm's table does: three dots stand for what is missing.
std::string resized(const std::string& s, std::size_t width) {
  const std::size_t length = rune_count(s);
  if (length <= width) return s + std::string(width - length, ' ');
  std::string out;
  std::string_view rest = s;
  for (std::size_t i = 0; i + 3 < width && !rest.empty(); ++i) {
    const auto d = decode_rune(rest);
    append_rune(out, d.rune);
    rest.remove_prefix(static_cast<std::size_t>(d.size));
  }
  return out + "...";
}

}  // namespace

std::string go_table::text() const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_) {
    if (row.size() > widths.size()) widths.resize(row.size());
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i],
                           most_ == 0 ? rune_count(row[i]) : std::min(most_, rune_count(row[i])));
  }
  std::string out;
  for (const auto& row : rows_) {
    if (!out.empty()) out += '\n';
    for (std::size_t i = 0; i < row.size(); ++i)
      out += (i > 0 ? "\t" : "") + resized(row[i], widths[i]);
  }
  return out;
}

}  // namespace helm
