#include "k8s/merge/merge_schema.hpp"

#include <vector>

namespace k8s {
namespace {

/// The table's lines, each in words; lines that begin with a blank go on with the one before.
std::vector<std::vector<std::string_view>> read_lines(std::string_view table) {
  std::vector<std::vector<std::string_view>> lines;
  while (!table.empty()) {
    const std::string_view line = table.substr(0, table.find('\n'));
    table.remove_prefix(std::min(table.size(), line.size() + 1));
    if (line.empty()) continue;
    if (line[0] != ' ') lines.emplace_back();
    for (std::size_t at = 0; at < line.size();) {
      const std::size_t begin = line.find_first_not_of(' ', at);
      if (begin == std::string_view::npos) break;
      at = std::min(line.find(' ', begin), line.size());
      lines.back().push_back(line.substr(begin, at - begin));
    }
  }
  return lines;
}

}  // namespace

struct merge_schema_reader {
  std::map<std::string, merge_type, std::less<>> types;
  std::map<std::string, const merge_type*, std::less<>> kinds;  // "apps/v1/Deployment"

  merge_schema_reader() {
    const auto lines = read_lines(merge_tables::types);
    for (const auto& words : lines) {
      // Ticks tell types of one Go name apart.
      const std::string_view shown = words[0].substr(0, words[0].find('\''));
      types.emplace(words[0], merge_type(std::string(shown)));
    }
    for (const auto& words : lines) {
      merge_type& t = types.find(words[0])->second;
      for (std::size_t i = 1; i < words.size(); ++i) read_field(t, words[i]);
    }
    for (const auto& words : read_lines(merge_tables::kinds)) {
      for (std::size_t i = 1; i < words.size(); ++i) {
        const std::size_t equals = words[i].find('=');
        const std::string_view kind = words[i].substr(0, equals);
        const std::string_view type =
            equals == std::string_view::npos ? kind : words[i].substr(equals + 1);
        kinds[std::string(words[0]) + "/" + std::string(kind)] = &types.find(type)->second;
      }
    }
  }

  void read_field(merge_type& into, std::string_view word) {
    merge_field f;
    if (const std::size_t equals = word.find('='); equals != std::string_view::npos) {
      f.type = &types.find(word.substr(equals + 1))->second;
      word = word.substr(0, equals);
    }
    const auto take = [&word](char mark) {
      if (!word.ends_with(mark)) return false;
      word.remove_suffix(1);
      return true;
    };
    f.retain_keys = take('^');
    f.replace = take('!');
    if (take('%')) f.is = merge_field::form::map;
    if (take(']')) {
      f.is = merge_field::form::list;
      const std::size_t open = word.find('[');
      const std::string_view inside = word.substr(open + 1);
      f.merge = !inside.empty();
      if (f.merge) f.key = inside.substr(1);
      word = word.substr(0, open);
    }
    into.fields_.emplace(word, std::move(f));
  }
};

const merge_field* merge_type::field(std::string_view name) const noexcept {
  const auto at = fields_.find(name);
  return at == fields_.end() ? nullptr : &at->second;
}

const merge_type* merge_type_of(std::string_view api_version, std::string_view kind) {
  static const merge_schema_reader all;
  const auto at = all.kinds.find(std::string(api_version) + "/" + std::string(kind));
  return at == all.kinds.end() ? nullptr : at->second;
}

}  // namespace k8s
