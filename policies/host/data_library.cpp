// TOML, base64, digests and times; the rules of text_library.cpp hold here too. What is read on the
// way is kept in the sandbox's state while it is pushed, so that nothing is lost when that raises.

#include "formats/base64.hpp"
#include "formats/digest.hpp"
#include "formats/go/time.hpp"
#include "formats/json/json.hpp"
#include "formats/toml/toml.hpp"
#include "formats/yaml/reader.hpp"
#include "formats/yaml/writer.hpp"
#include "policies/host/arguments.hpp"
#include "policies/host/plain.hpp"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace policies {
namespace {

/// Reading one takes 0.1 ms for every 4 KiB.
constexpr std::size_t most_toml_bytes = 64 * 1024;
constexpr std::size_t steps_a_byte = 4;
/// Seconds of the years 1 to 9999.
constexpr double first_second = -62'135'596'800.0, last_second = 253'402'300'799.0;
/// Where a zone is looked up for the first time, a file is read.
constexpr std::int64_t zone_steps = 2'000;

/// Gives Lua what `read` puts where it is told, or raises what it complains of. No object may live
/// here when that happens: a Lua error passes without destructors.
template <class F>
int give(lua_State* L, const char* function, F read) {
  sandbox_state& state = sandbox_state::of(L);
  char why[300] = "";
  try {
    const std::string complaint = read(state.held);
    std::snprintf(why, sizeof why, "%s", complaint.c_str());
  } catch (...) {
    std::snprintf(why, sizeof why, "not enough memory");
  }
  if (why[0] != '\0') raise(L, "%s: %s", function, why);
  push_value(L, state.held);
  state.held = value();
  return 1;
}

/// toml.decode(text)
int decode_toml(lua_State* L) {
  const std::string_view text = text_at(L, 1, "toml.decode");
  if (text.size() > most_toml_bytes) raise(L, "toml.decode: more than %zu bytes", most_toml_bytes);
  charge_bytes(L, 16 * steps_a_byte * text.size());
  return give(L, "toml.decode", [&](value& held) {
    auto read = formats::read_toml(text);
    if (!read) return read.error().text;
    held = plain(*read);
    return std::string();
  });
}

/// json.decode(text), yaml.decode(text): no null. A list stays one, also an empty one.
template <class Read>
int decode(lua_State* L, const char* function, Read read) {
  const std::string_view text = text_at(L, 1, function);
  if (text.size() > most_toml_bytes) raise(L, "%s: more than %zu bytes", function, most_toml_bytes);
  charge_bytes(L, 16 * steps_a_byte * text.size());
  return give(L, function, [&](value& held) {
    auto found = read(text);
    if (!found) return found.error().text;
    held = plain(*found);
    return std::string();
  });
}
int decode_json(lua_State* L) {
  return decode(L, "json.decode", [](std::string_view text) { return formats::read_json(text); });
}
int decode_yaml(lua_State* L) {
  return decode(L, "yaml.decode",
                [](std::string_view text) { return formats::read_go_yaml(text); });
}

/// json.encode(value), yaml.encode(value), toml.encode(value): names in order, so that equal values
/// give equal texts.
template <class Write>
int encode(lua_State* L, const char* function, Write write) {
  constexpr value_limits limits{.depth = 16, .nodes = 5'000, .text_bytes = most_toml_bytes};
  if (lua_checkstack(L, 4 * static_cast<int>(limits.depth)) == 0)
    raise(L, "%s: too deep", function);
  luaL_checkany(L, 1);
  give(L, function, [&](value& held) {
    auto made = copy_out(L, 1, limits);
    if (!made) return made.error().detail;
    formats::outcome<std::string> text = write(made->what);
    if (!text) return text.error().text;
    held = std::move(*text);
    return std::string();
  });
  charge_bytes(L, 16 * steps_a_byte * lua_objlen(L, -1));
  return 1;
}
int encode_json(lua_State* L) {
  return encode(L, "json.encode",
                [](const value& v) { return formats::outcome<std::string>(to_json_text(v)); });
}
int encode_yaml(lua_State* L) {
  return encode(L, "yaml.encode", [](const value& v) { return formats::write_go_yaml(typed(v)); });
}
/// A table with names; a list of tables is [[name]].
int encode_toml(lua_State* L) {
  return encode(L, "toml.encode", [](const value& v) {
    return v.if_object() ? formats::write_toml(typed(*v.if_object()))
                         : formats::problem{"expected a table with names"};
  });
}

/// base64.encode(text)
int to_base64(lua_State* L) {
  const std::string_view bytes = text_at(L, 1, "base64.encode");
  check_room(L, bytes.size() / 3 * 4 + 4, "base64.encode");
  return give(L, "base64.encode", [&](value& held) {
    held = formats::encode_base64(bytes);
    return std::string();
  });
}

/// base64.decode(text): the bytes, or nil when it is none.
int from_base64(lua_State* L) {
  const std::string_view text = text_at(L, 1, "base64.decode");
  check_room(L, text.size(), "base64.decode");
  return give(L, "base64.decode", [&](value& held) {
    auto bytes = formats::read_base64(text, formats::base64_gaps::blanks);
    held = bytes ? value(std::move(*bytes)) : value();
    return std::string();
  });
}

/// digest.of(text): "sha256:" and 64 digits.
int digest_of_text(lua_State* L) {
  const std::string_view text = text_at(L, 1, "digest.of");
  check_room(L, text.size(), "digest.of");
  return give(L, "digest.of", [&](value& held) {
    held = formats::digest_of(text);
    return std::string();
  });
}

/// digest.valid(text)
int digest_valid(lua_State* L) {
  const std::string_view text = text_at(L, 1, "digest.valid");
  lua_pushboolean(L, formats::is_digest(text) ? 1 : 0);
  return 1;
}

bool plain_zone(std::string_view name) {
  if (name.empty() || name.size() > 40 || name.front() == '/') return false;
  for (const char c : name) {
    const bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '_' || c == '-' || c == '+' || c == '/';
    if (!fine) return false;
  }
  return true;
}

/// What `show` makes of the time that is argument 1, unix seconds, in the zone that is argument 2,
/// UTC without one.
template <class F>
int time_in_zone(lua_State* L, const char* function, F show) {
  const double seconds = number_at(L, 1, function);
  const std::string_view zone = lua_isnoneornil(L, 2) ? "UTC" : text_at(L, 2, function);
  if (!(seconds >= first_second && seconds <= last_second))
    raise(L, "%s: argument 1 is no time between the years 1 and 9999", function);
  sandbox_state::of(L).charge(zone == "UTC" ? 64 : zone_steps);
  return give(L, function, [&](value& held) -> std::string {
    const formats::go_time t = formats::in_zone(
        formats::time_at(static_cast<std::int64_t>(seconds)), plain_zone(zone) ? zone : "UTC");
    if (t.zone != zone) return "no zone '" + std::string(zone.substr(0, 40)) + "'";
    held = show(t);
    return {};
  });
}

/// time.at(unix, zone): {year, month, day, hour, minute, second, weekday, year_day, offset, zone}
int time_at_zone(lua_State* L) {
  return time_in_zone(L, "time.at", [](const formats::go_time& t) {
    const formats::civil_time c = formats::civil(t);
    return value(value::object{{"year", static_cast<double>(c.year)},
                               {"month", c.month},
                               {"day", c.day},
                               {"hour", c.hour},
                               {"minute", c.minute},
                               {"second", c.second},
                               {"weekday", formats::weekday_name(c.weekday)},
                               {"year_day", c.year_day},
                               {"offset", static_cast<double>(c.offset)},
                               {"zone", c.abbreviation}});
  });
}

/// time.text(unix, zone): RFC 3339.
int time_as_text(lua_State* L) {
  return time_in_zone(L, "time.text", [](const formats::go_time& t) {
    return value(formats::format_time(t, "2006-01-02T15:04:05Z07:00"));
  });
}

/// time.parse(text): unix seconds of RFC 3339, or nil.
int time_from_text(lua_State* L) {
  const std::string_view text = text_at(L, 1, "time.parse");
  sandbox_state::of(L).charge(128);
  double seconds = 0;
  bool read = false;
  if (text.size() <= 40) {
    try {
      if (const auto t = formats::parse_time("2006-01-02T15:04:05Z07:00", text)) {
        seconds = static_cast<double>(t->seconds);
        read = true;
      }
    } catch (...) {  // no memory
    }
  }
  if (read)
    lua_pushnumber(L, seconds);
  else
    lua_pushnil(L);
  return 1;
}

constexpr luaL_Reg functions[] = {
    {"decode_json", decode_json},   {"encode_json", encode_json}, {"decode_yaml", decode_yaml},
    {"encode_yaml", encode_yaml},   {"decode_toml", decode_toml}, {"encode_toml", encode_toml},
    {"to_base64", to_base64},       {"from_base64", from_base64}, {"digest_of", digest_of_text},
    {"digest_valid", digest_valid}, {"time_at", time_at_zone},    {"time_text", time_as_text},
    {"time_parse", time_from_text}, {nullptr, nullptr},
};

}  // namespace

void add_data_functions(lua_State* L) {
  luaL_register(L, nullptr, functions);
}

value plain(const formats::value& v) {
  if (v.is_nil()) return {};
  if (v.kind() == formats::type::boolean) return v.boolean();
  if (v.is_integer()) return static_cast<double>(v.integer());
  if (v.kind() == formats::type::float64) return v.real();
  if (v.is_string()) return v.text();
  if (v.is_map()) {
    value::object out;
    for (const auto& [key, member] : v.entries()) out.emplace(key, plain(member));
    return out;
  }
  if (v.is_list()) {
    value::array out;
    for (std::size_t i = 0; i < v.size(); ++i) out.push_back(plain(v.at(i)));
    return out;
  }
  if (const auto t = formats::time_in(v)) {
    const char* layout = t->fixed_name == formats::toml_local_date   ? "2006-01-02"
                         : t->fixed_name == formats::toml_local_time ? "15:04:05"
                         : t->fixed_name == formats::toml_local_date_time
                             ? "2006-01-02T15:04:05"
                             : "2006-01-02T15:04:05Z07:00";
    return formats::format_time(*t, layout);
  }
  return {};
}

formats::value typed(const value& v) {
  if (const bool* b = v.if_bool()) return *b;
  if (const double* n = v.if_number()) {
    constexpr double most_whole = 9'007'199'254'740'992.0;
    if (std::floor(*n) == *n && std::fabs(*n) <= most_whole)
      return formats::value::integer(static_cast<std::int64_t>(*n), formats::type::int64);
    return *n;
  }
  if (const std::string* s = v.if_string()) return *s;
  if (const auto* o = std::get_if<value::object>(&v.data); o != nullptr) {
    formats::value::map_type out;
    for (const auto& [key, member] : *o) out.emplace(key, typed(member));
    return formats::value(std::move(out));
  }
  if (const value::array* a = v.if_array()) {
    formats::value::list_type out;
    for (const value& one : *a) out.push_back(typed(one));
    return formats::value(std::move(out));
  }
  return {};
}

}  // namespace policies
