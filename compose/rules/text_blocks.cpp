#include "compose/rules/text_blocks.hpp"

#include <algorithm>
#include <vector>

namespace policies::compose {
namespace {

/// Lines with their ends.
std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    out.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return out;
}

std::string_view bare(std::string_view line) {
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
  const std::size_t first = line.find_first_not_of(" \t");
  if (first == line.npos) return {};
  return line.substr(first, line.find_last_not_of(" \t") - first + 1);
}

/// "name" of "name = …", whatever stands before it.
bool sets(std::string_view line, const std::vector<std::string>& names) {
  line = bare(line);
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    if (name.empty() || !line.starts_with(name)) return false;
    const std::size_t next = line.find_first_not_of(" \t", name.size());
    return next != line.npos && line[next] == '=';
  });
}

}  // namespace

std::string with_block(std::string_view text, const text_block& block) {
  const std::string begin = block.comment + " begin " + block.name;
  const std::string end = block.comment + " end " + block.name;
  const std::string_view line_end = text.find("\r\n") != text.npos ? "\r\n" : "\n";
  std::string made;
  const auto put = [&](std::string_view line) {
    made += line;
    made += line_end;
  };
  put(begin);
  for (const std::string_view line : lines_of(block.text)) {
    std::string_view plain = line;
    while (!plain.empty() && (plain.back() == '\n' || plain.back() == '\r')) plain.remove_suffix(1);
    put(plain);
  }
  put(end);

  const auto lines = lines_of(text);
  const auto at = [&](const std::string& wanted, std::size_t from) {
    for (std::size_t i = from; i < lines.size(); ++i)
      if (bare(lines[i]) == wanted) return i;
    return lines.size();
  };
  // A mark without its other half is text like any other.
  std::size_t first = lines.size(), last = lines.size();
  for (std::size_t i = 0; i < lines.size() && last == lines.size(); ++i) {
    if (bare(lines[i]) == begin) first = i;
    if (bare(lines[i]) == end && first != lines.size()) last = i;
  }
  const bool there = last != lines.size();
  if (!there) {
    const std::size_t after = block.after.empty() ? lines.size() : at(block.after, 0);
    first = after == lines.size() ? after : after + 1;
  }
  std::string out;
  const auto copy = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) {
      if (sets(lines[i], block.without)) continue;
      out += lines[i];
    }
  };
  copy(0, first);
  if (!out.empty() && out.back() != '\n') out += line_end;
  out += made;
  copy(there ? last + 1 : first, lines.size());
  return out;
}

}  // namespace policies::compose
