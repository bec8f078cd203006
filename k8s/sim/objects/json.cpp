#include "k8s/sim/objects/json.hpp"

#include "formats/json/exact.hpp"

#include <algorithm>
#include <array>

namespace k8s::sim {

const json::value* find(const json::object& o, path_view path) noexcept {
  const json::object* at = &o;
  const json::value* v = nullptr;
  for (auto step = path.begin(); step != path.end(); ++step) {
    if (step != path.begin()) {
      if (!v->is_object()) return nullptr;
      at = &v->get_object();
    }
    v = at->if_contains(*step);
    if (!v) return nullptr;
  }
  return v;
}

const json::value* find(const json::value& v, path_view path) noexcept {
  return v.is_object() ? find(v.get_object(), path) : nullptr;
}

json::value* find(json::object& o, path_view path) noexcept {
  return const_cast<json::value*>(find(static_cast<const json::object&>(o), path));
}

const json::object* find_object(const json::object& o, path_view path) noexcept {
  const json::value* v = find(o, path);
  return v ? v->if_object() : nullptr;
}

const json::array* find_array(const json::object& o, path_view path) noexcept {
  const json::value* v = find(o, path);
  return v ? v->if_array() : nullptr;
}

std::string_view text(const json::object& o, path_view path) noexcept {
  const json::value* v = find(o, path);
  if (!v || !v->is_string()) return {};
  const json::string& s = v->get_string();
  return {s.data(), s.size()};
}

std::int64_t number(const json::object& o, path_view path, std::int64_t otherwise) noexcept {
  const json::value* v = find(o, path);
  if (!v) return otherwise;
  if (v->is_int64()) return v->get_int64();
  if (v->is_uint64()) return static_cast<std::int64_t>(v->get_uint64());
  return otherwise;
}

bool flag(const json::object& o, path_view path) noexcept {
  const json::value* v = find(o, path);
  return v && v->is_bool() && v->get_bool();
}

bool same(const json::object& a, const json::object& b) noexcept {
  return a.size() == b.size() && std::ranges::all_of(a, [&](const json::key_value_pair& member) {
           const json::value* twin = b.if_contains(member.key());
           return twin && same(member.value(), *twin);
         });
}

bool same(const json::value& a, const json::value& b) noexcept {
  if (a.is_object() && b.is_object()) return same(a.get_object(), b.get_object());
  if (!a.is_array() || !b.is_array()) return a == b;
  return std::ranges::equal(a.get_array(), b.get_array(),
                            [](const json::value& x, const json::value& y) { return same(x, y); });
}

json::object& ensure_object(json::object& o, std::string_view name) {
  json::value& v = o[name];
  if (!v.is_object()) v = json::object();
  return v.get_object();
}

bool erase(json::object& o, std::string_view name) {
  auto at = o.find(name);
  if (at == o.end()) return false;
  o.stable_erase(at);
  return true;
}

void put_or_erase(json::object& o, std::string_view name, const json::value* v) {
  if (!v) return (void)erase(o, name);
  json::value& there = o[name];
  if (!same(there, *v)) there = *v;
}

bool set_default(json::object& o, std::string_view name, json::value v) {
  if (o.contains(name)) return false;
  o[name] = std::move(v);
  return true;
}

std::optional<json::value> parse(std::string_view bytes, std::string* why) {
  boost::system::error_code code;
  json::value v = formats::parse_json(bytes, code, 128);
  if (code) {
    if (why) *why = code.message();
    return std::nullopt;
  }
  return v;
}

std::string quoted(std::string_view s) {
  const auto is_plain = [](unsigned char c) {
    return c >= ' ' && c < 0x7f && c != '"' && c != '\\';
  };
  if (!std::ranges::all_of(s, is_plain)) return json::serialize(json::string(s));
  std::string out;
  out.reserve(s.size() + 2);
  out.append(1, '"').append(s).append(1, '"');
  return out;
}

void append_text(std::string& to, const json::value& v) {
  std::array<char, 4096> piece;
  json::serializer writer;
  writer.reset(&v);
  while (!writer.done()) to += std::string_view(writer.read(piece.data(), piece.size()));
}

}  // namespace k8s::sim
