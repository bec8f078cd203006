#include "helm/commands/release/server_table.hpp"

#include "formats/json/json.hpp"
#include "helm/go.hpp"
#include "helm/objects/manifest_reader.hpp"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>

namespace helm::release {
namespace {

namespace json = boost::json;

// kubectl's tabwriter.
constexpr std::size_t narrowest = 6, padding = 3;

using row = std::vector<std::string>;

std::size_t letters(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string padded(const std::vector<row>& rows) {
  std::vector<std::size_t> widths;
  for (const row& r : rows)
    for (std::size_t i = 0; i + 1 < r.size(); ++i) {
      widths.resize(std::max(widths.size(), i + 1), narrowest);
      widths[i] = std::max(widths[i], letters(r[i]) + padding);
    }
  std::string out;
  for (const row& r : rows) {
    for (std::size_t i = 0; i < r.size(); ++i) {
      out += r[i];
      if (i + 1 < r.size()) out.append(widths[i] - letters(r[i]), ' ');
    }
    out += '\n';
  }
  return out;
}

std::string cell_text(const json::value& v) {
  if (v.is_null()) return {};
  if (!v.is_string()) return json::serialize(v);
  std::string text(v.get_string());
  const auto end = text.find_first_of("\f\n\r");
  if (end != text.npos) text = text.substr(0, end) + "...";
  return replace_all(text, "\x1b", "^[");
}

const json::array* array_at(const json::object& o, std::string_view field) {
  const json::value* v = o.if_contains(field);
  return v ? v->if_array() : nullptr;
}

/// Prints tables one after another and remembers the headings.
class printer {
public:
  std::string print(const json::object& o) {
    const json::array* columns = array_at(o, "columnDefinitions");
    const json::array* lines = array_at(o, "rows");
    if (!columns || !lines) return objects::metadata_text(o, "name") + "\n";
    std::vector<bool> shown;
    row headings;
    for (const json::value& c : *columns) {
      const json::object* column = c.if_object();
      const json::value* priority = column ? column->if_contains("priority") : nullptr;
      const bool always = !priority || !priority->is_int64() || priority->get_int64() == 0;
      shown.push_back(always);
      if (column && always) headings.push_back(upper(objects::text_member(*column, "name")));
    }
    std::vector<row> rows;
    if (!lines->empty() && *columns != last_) rows.push_back(headings);
    if (!lines->empty()) last_ = *columns;
    for (const json::value& line : *lines) {
      const json::array* cells = line.is_object() ? array_at(line.get_object(), "cells") : nullptr;
      row r;
      for (std::size_t i = 0; cells && i < cells->size() && i < shown.size(); ++i)
        if (shown[i]) r.push_back(cell_text((*cells)[i]));
      rows.push_back(std::move(r));
    }
    return padded(rows);
  }

private:
  json::array last_;
};

}  // namespace

std::string tables_text(const objects::shown_objects& tables) {
  if (tables.empty()) return {};
  printer p;
  std::string out = "RESOURCES:\n";
  for (const auto& [kind, all] : tables) {
    out += "==> " + kind + "\n";
    for (const json::object& one : all) out += p.print(one);
    out += '\n';
  }
  return out + "\n";
}

std::string objects_json(const objects::shown_objects& all) {
  value::map_type kinds;
  for (const auto& [kind, some] : all) {
    value::list_type list;
    for (const json::object& o : some) {
      auto v = read_json(json::serialize(o));
      if (v) list.push_back(*v);
    }
    kinds[kind] = value(std::move(list));
  }
  if (kinds.empty()) return {};
  auto text = write_json(value(std::move(kinds)));
  return text ? *text : std::string();
}

}  // namespace helm::release
