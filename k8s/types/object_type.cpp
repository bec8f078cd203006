#include "k8s/types/object_type.hpp"

#include <algorithm>
#include <optional>

namespace k8s {
namespace {

using form = field_type::form;

std::optional<form> scalar_of(std::string_view word) {
  if (word.size() != 1) return std::nullopt;
  switch (word[0]) {
    case 's': return form::text;
    case 'i': return form::int32;
    case 'l': return form::int64;
    case 'f': return form::real;
    case 'b': return form::flag;
    case 'y': return form::bytes;
    case 't': return form::time;
    case 'u': return form::micro_time;
    case 'q': return form::quantity;
    case 'x': return form::int_or_text;
    case 'a': return form::anything;
    default: return std::nullopt;
  }
}

/// "a|b" in its parts.
std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(at), text.size());
    out.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

/// Takes the part between the last `open` and the end off `word`.
std::string_view take_tail(std::string_view& word, char open) {
  const std::size_t begin = word.find(open);
  if (begin == word.npos) return {};
  const std::string_view inside = word.substr(begin + 1, word.size() - begin - 2);
  word = word.substr(0, begin);
  return inside;
}

}  // namespace

struct type_table_reader {
  std::map<std::string, object_type, std::less<>> types;
  std::map<std::string, const object_type*, std::less<>> kinds;  // "apps/v1/Deployment"

  type_table_reader() {
    std::vector<std::vector<std::string>> lines = read_lines(type_tables::types);
    for (const auto& words : lines) types.emplace(words[0], object_type(words[0]));
    for (const auto& words : lines)
      for (std::size_t i = 1; i < words.size(); ++i) {
        const std::size_t colon = words[i].find(':');
        types.find(words[0])->second.fields_.emplace(
            words[i].substr(0, colon), read_field(std::string_view(words[i]).substr(colon + 1)));
      }
    for (const auto& words : read_lines(type_tables::kinds))
      for (std::size_t i = 1; i < words.size(); ++i) {
        const std::size_t equals = words[i].find('=');
        const std::string kind = words[i].substr(0, equals);
        const std::string type = equals == std::string::npos ? kind : words[i].substr(equals + 1);
        kinds.emplace(words[0] + "/" + kind, &types.find(type)->second);
      }
  }

  /// Lines that begin with a blank go on with the one before.
  static std::vector<std::vector<std::string>> read_lines(std::string_view table) {
    std::vector<std::vector<std::string>> lines;
    for (const std::string& line : split(table, '\n')) {
      if (line.empty()) continue;
      if (line[0] != ' ') lines.emplace_back();
      for (std::string& word : split(line, ' '))
        if (!word.empty()) lines.back().push_back(std::move(word));
    }
    return lines;
  }

  field_type read_field(std::string_view word) {
    field_type f;
    f.words = split(take_tail(word, '{'), '|');
    if (word[0] == '[') {
      f.is = form::list;
      f.keys = split(take_tail(word, '('), ',');
    } else if (word[0] == '%') {
      f.is = form::map;
    }
    if (f.is != form::anything) {
      auto element = std::make_shared<field_type>(read_field(word.substr(1)));
      element->words = f.words;  // said of the elements
      f.element = std::move(element);
    } else if (const auto scalar = scalar_of(word)) {
      f.is = *scalar;
    } else {
      f.is = form::object;
      f.type = &types.find(word)->second;
    }
    return f;
  }
};

/// Ticks and "@v2" tell types of one Go name apart.
object_type::object_type(std::string_view name) : name_(name.substr(0, name.find_first_of("@'"))) {
  const std::size_t at = name.find('@');
  const std::string_view package =
      at == name.npos ? "v1" : name.substr(at + 1, name.find('\'', at) - at - 1);
  go_name_ = std::string(package) + "." + name_;
}

const field_type* object_type::field(std::string_view name) const noexcept {
  const auto found = fields_.find(name);
  return found == fields_.end() ? nullptr : &found->second;
}

std::string field_type::go_name() const {
  switch (is) {
    case form::text: return "string";
    case form::int32: return "int32";
    case form::int64: return "int64";
    case form::real: return "float64";
    case form::flag: return "bool";
    case form::bytes: return "[]uint8";
    case form::time: return "v1.Time";
    case form::micro_time: return "v1.MicroTime";
    case form::quantity: return "resource.Quantity";
    case form::int_or_text: return "intstr.IntOrString";
    case form::anything: return "interface {}";
    case form::object: return type->go_name();
    case form::list: return "[]" + element->go_name();
    case form::map: return "map[string]" + element->go_name();
  }
  return {};
}

const object_type* object_type_of(std::string_view api_version, std::string_view kind) {
  static const type_table_reader table;
  const auto found = table.kinds.find(std::string(api_version) + "/" + std::string(kind));
  return found == table.kinds.end() ? nullptr : found->second;
}

}  // namespace k8s
