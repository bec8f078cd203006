// The forms of -o that kubectl has beside json and yaml: each reads the document of a command.
#include "app/exit_code.hpp"
#include "app/output.hpp"
#include "formats/json/path.hpp"
#include "reactor/plain/printable.hpp"

#include <boost/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <utility>

namespace app {
namespace {

namespace json = boost::json;
using form = output_choice::form;
using text_result = reactor::result<std::string, std::string>;

struct spelled_form {
  std::string_view name;
  form as;
  bool from_file;
};
constexpr auto forms = std::to_array<spelled_form>({
    {"jsonpath", form::jsonpath, false},
    {"jsonpath-as-json", form::jsonpath_as_json, false},
    {"jsonpath-file", form::jsonpath, true},
    {"go-template", form::go_template, false},
    {"template", form::go_template, false},
    {"go-template-file", form::go_template, true},
    {"templatefile", form::go_template, true},
    {"custom-columns", form::custom_columns, false},
    {"custom-columns-file", form::custom_columns, true},
});

text_result made_text(std::string text) {
  return text_result(boost::system::in_place_value, std::move(text));
}

text_result form_failure(std::string why) {
  return text_result(boost::system::in_place_error, std::move(why));
}

struct custom_column {
  std::string head;
  formats::json_path path;
};

/// "NAME:.metadata.name,IMAGE:.spec.image", or of a file: heads in its first line, paths in its
/// second.
reactor::result<std::vector<custom_column>, std::string> custom_columns(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> pairs;
  const auto words_of = [](std::string_view line) {
    std::vector<std::string> out;
    while (!line.empty()) {
      const std::size_t begin = std::min(line.find_first_not_of(" \t\r"), line.size());
      const std::size_t end = std::min(line.find_first_of(" \t\r", begin), line.size());
      if (end > begin) out.emplace_back(line.substr(begin, end - begin));
      line.remove_prefix(end);
    }
    return out;
  };
  if (const std::size_t line = text.find('\n'); line != text.npos) {
    const auto heads = words_of(text.substr(0, line));
    const std::string_view rest = text.substr(line + 1);
    const auto paths = words_of(rest.substr(0, rest.find('\n')));
    if (heads.size() != paths.size())
      return "number of headers (" + std::to_string(heads.size()) + ") and field specifications (" +
             std::to_string(paths.size()) + ") don't match";
    for (std::size_t i = 0; i < heads.size(); ++i) pairs.emplace_back(heads[i], paths[i]);
  } else {
    for (std::string_view rest = text; !rest.empty();) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      const std::string_view one = rest.substr(0, comma);
      const std::size_t colon = one.find(':');
      if (colon == one.npos)
        return "unexpected custom-columns spec: " + std::string(one) +
               ", expected <header>:<json-path-expr>";
      pairs.emplace_back(one.substr(0, colon), one.substr(colon + 1));
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
  }
  if (pairs.empty()) return "custom-columns format specified but no custom columns given";
  std::vector<custom_column> out;
  for (auto& [head, path] : pairs) {
    auto read = formats::json_path::parse_relaxed(path);
    if (!read) return "custom column " + head + ": " + read.error();
    out.push_back({std::move(head), std::move(*read)});
  }
  return out;
}

const json::array* items_of(const json::object& document) {
  const json::value* items = document.if_contains("items");
  return items ? items->if_array() : nullptr;
}

std::string text_at(const json::object& o, std::string_view key) {
  const json::value* v = o.if_contains(key);
  const json::string* s = v ? v->if_string() : nullptr;
  return s ? std::string(*s) : std::string();
}

/// "pool/cluster-003/workers"; nothing for what has no name.
std::string name_of(const json::object& o) {
  const json::value* metadata = o.if_contains("metadata");
  if (!metadata || !metadata->is_object()) return {};
  std::string kind = text_at(o, "kind");
  for (char& c : kind)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  const std::string cluster = text_at(o, "cluster"),
                    ns = text_at(metadata->get_object(), "namespace"),
                    name = text_at(metadata->get_object(), "name");
  return kind + "/" + (cluster.empty() ? "" : cluster + "/") + (ns.empty() ? "" : ns + "/") + name;
}

/// Calls `each` with every object; returns what it returns first that is no success.
template <class Each>
std::string for_each_object(const json::object& document, Each each) {
  const json::array* items = items_of(document);
  if (!items) return each(document);
  for (const json::value& one : *items)
    if (std::string wrong = each(one.as_object()); !wrong.empty()) return wrong;
  return {};
}

text_result names_text(const json::object& document) {
  std::string out;
  std::string wrong = for_each_object(document, [&out](const json::object& o) -> std::string {
    const std::string name = name_of(o);
    if (name.empty()) return "-o name: this command shows no objects that have names";
    out += name + "\n";
    return {};
  });
  return wrong.empty() ? made_text(std::move(out)) : form_failure(std::move(wrong));
}

text_result columns_text(const json::object& document, const output_choice& choice) {
  auto columns = custom_columns(choice.expression);
  if (!columns) return form_failure(std::move(columns.error()));
  std::vector<page> heads;
  for (const custom_column& c : *columns) heads.emplace_back(c.head);
  table t(std::move(heads));
  std::string wrong = for_each_object(document, [&](const json::object& o) -> std::string {
    std::vector<page> cells;
    const json::value object = o;
    for (const custom_column& c : *columns) {
      const auto found = c.path.find(object);
      if (!found) return "custom column " + c.head + ": " + found.error();
      std::string cell;
      for (const json::value* v : *found)
        cell += (cell.empty() ? "" : ",") + formats::cell_text(*v);
      cells.emplace_back(found->empty() ? std::string("<none>") : cell);
    }
    t.row(std::move(cells));
    return {};
  });
  if (!wrong.empty()) return form_failure(std::move(wrong));
  return made_text((choice.no_headers ? t.without_head() : t.text()).text());
}

text_result path_text(const json::object& document, const output_choice& choice) {
  const auto path = formats::json_path::parse(choice.expression);
  if (!path)
    return form_failure("error parsing jsonpath " + choice.expression + ", " + path.error());
  const json::value root = document;
  const auto wrong = [&](const std::string& why) {
    return form_failure("error executing jsonpath \"" + choice.expression + "\": " + why);
  };
  if (choice.as == form::jsonpath) {
    auto text = path->text(root);
    if (!text) return wrong(text.error());
    return text;
  }
  const auto found = path->find(root);
  if (!found) return wrong(found.error());
  json::array all;
  for (const json::value* v : *found) all.push_back(*v);
  return made_text(pretty_json(all));
}

}  // namespace

std::string output_choice::read(const std::string& text) {
  const std::size_t equals = std::min(text.find('='), text.size());
  const std::string name = text.substr(0, equals);
  if (equals == text.size()) {
    if (name == "name") {
      as = form::name;
      format = output_format::json;
      return {};
    }
    const bool known = std::ranges::find(forms, name, &spelled_form::name) != forms.end();
    return known ? "\"" + name + "\" needs a template: -o " + name + "=TEMPLATE"
                 : "unable to match a printer suitable for the output format \"" + text + "\"";
  }
  const auto found = std::ranges::find(forms, name, &spelled_form::name);
  if (found == forms.end())
    return "unable to match a printer suitable for the output format \"" + name + "\"";
  as = found->as;
  format = output_format::json;
  expression = text.substr(equals + 1);
  if (found->from_file) {
    std::ifstream file(expression, std::ios::binary);
    if (!file) return "cannot read the file " + expression;
    std::string read((std::istreambuf_iterator<char>(file)), {});
    expression = std::move(read);
  }
  if (expression.empty()) return "template format specified but no template given";
  if (as == form::custom_columns) {
    const auto columns = custom_columns(expression);
    return columns ? std::string() : columns.error();
  }
  if (as == form::go_template && !engine) return "this program has no Go templates";
  if (as == form::go_template) return {};
  const auto path = formats::json_path::parse(expression);
  return path ? std::string() : "error parsing jsonpath " + expression + ", " + path.error();
}

text_result document_text(const json::object& document, const output_choice& choice) {
  switch (choice.as) {
    case form::usual: return made_text(machine_text(json::value(document), choice.format));
    case form::name: return names_text(document);
    case form::custom_columns: return columns_text(document, choice);
    case form::go_template: return choice.engine(choice.expression, document);
    default: return path_text(document, choice);
  }
}

int write_document(const json::object& document, const output_choice& choice) {
  const text_result text = document_text(document, choice);
  if (!text) return complain(text.error());
  return write_bytes(STDOUT_FILENO, *text) ? success : failure;
}

}  // namespace app
