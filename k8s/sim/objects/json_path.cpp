#include "k8s/sim/objects/json_path.hpp"

#include <charconv>

namespace k8s::sim {

namespace {

using nodes = std::vector<const json::value*>;

nodes member(const nodes& from, std::string_view name) {
  nodes out;
  for (const json::value* v : from) {
    if (!v->is_object()) continue;
    if (const json::value* m = v->get_object().if_contains(name)) out.push_back(m);
  }
  return out;
}

nodes children(const nodes& from) {
  nodes out;
  for (const json::value* v : from) {
    if (v->is_array()) {
      for (const json::value& e : v->get_array()) out.push_back(&e);
    } else if (v->is_object()) {
      for (const auto& m : v->get_object()) out.push_back(&m.value());
    }
  }
  return out;
}

std::string_view unquote(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  if (s.size() >= 2 && (s.front() == '\'' || s.front() == '"') && s.back() == s.front())
    return s.substr(1, s.size() - 2);
  return s;
}

std::string printed(const json::value& v) {
  return v.is_string() ? std::string(v.get_string()) : json::serialize(v);
}

/// "?(@.type=="Ready")" and "?(@.name)"
nodes filtered(const nodes& from, std::string_view condition) {
  nodes out;
  if (!condition.starts_with("?(@.") || condition.back() != ')') return out;
  condition = condition.substr(4, condition.size() - 5);
  std::size_t op = condition.find("==");
  const bool equal = op != std::string_view::npos;
  if (!equal) op = condition.find("!=");
  std::string_view name = condition.substr(0, op);
  while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
  const std::string_view wanted =
      op == std::string_view::npos ? std::string_view() : unquote(condition.substr(op + 2));
  for (const json::value* v : children(from)) {
    nodes at{v};
    std::string_view rest = name;
    while (!rest.empty()) {
      const std::size_t dot = rest.find('.');
      at = member(at, rest.substr(0, dot));
      if (dot == std::string_view::npos) break;
      rest.remove_prefix(dot + 1);
    }
    const bool has = !at.empty();
    if (op == std::string_view::npos ? has : has && (printed(*at.front()) == wanted) == equal)
      out.push_back(v);
  }
  return out;
}

}  // namespace

std::vector<json::value> read_json_path(const json::object& o, std::string_view path) {
  const json::value root(o);
  nodes at{&root};
  if (path.starts_with("{") && path.ends_with("}")) path = path.substr(1, path.size() - 2);
  if (path.starts_with("$")) path.remove_prefix(1);
  while (!path.empty() && !at.empty()) {
    if (path.front() == '.') {
      path.remove_prefix(1);
      std::string name;
      while (!path.empty() && path.front() != '.' && path.front() != '[') {
        if (path.front() == '\\' && path.size() > 1) path.remove_prefix(1);
        name += path.front();
        path.remove_prefix(1);
      }
      if (name == "*")
        at = children(at);
      else if (!name.empty())
        at = member(at, name);
      continue;
    }
    if (path.front() != '[') return {};
    int depth = 0;
    std::size_t close = 0;
    for (; close < path.size(); ++close) {
      if (path[close] == '[') ++depth;
      if (path[close] == ']' && --depth == 0) break;
    }
    if (close >= path.size()) return {};
    const std::string_view inner = path.substr(1, close - 1);
    path.remove_prefix(close + 1);
    if (inner == "*") {
      at = children(at);
    } else if (inner.starts_with("?")) {
      at = filtered(at, inner);
    } else if (inner.starts_with("'") || inner.starts_with("\"")) {
      at = member(at, unquote(inner));
    } else {
      long long index = 0;
      auto [end, code] = std::from_chars(inner.data(), inner.data() + inner.size(), index);
      if (code != std::errc() || end != inner.data() + inner.size()) return {};
      nodes out;
      for (const json::value* v : at) {
        if (!v->is_array()) continue;
        const auto size = static_cast<long long>(v->get_array().size());
        const long long i = index < 0 ? size + index : index;
        if (i >= 0 && i < size) out.push_back(&v->get_array()[static_cast<std::size_t>(i)]);
      }
      at = std::move(out);
    }
  }
  std::vector<json::value> found;
  for (const json::value* v : at) found.push_back(*v);
  return found;
}

}  // namespace k8s::sim
