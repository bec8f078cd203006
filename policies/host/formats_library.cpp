// The functions on versions and digests; the rules of text_library.cpp hold here too. What is read
// is never copied, so that nothing has to be given back when one of them raises.

#include "formats/digest.hpp"
#include "formats/dns_name.hpp"
#include "formats/version_range.hpp"
#include "policies/host/arguments.hpp"

#include <algorithm>
#include <cstring>

namespace policies {
namespace {

constexpr std::size_t longest_text = 512;

/// A text of which a function may take 0.1 ms at most.
std::string_view short_text_at(lua_State* L, int index, const char* function) {
  const std::string_view text = text_at(L, index, function);
  charge_bytes(L, 16 * std::min(text.size(), longest_text) + 64);
  return text;
}

/// For messages: cut, as it may be anything.
const char* start_of(std::string_view text, char (&out)[64]) {
  const std::size_t size = std::min(text.size(), sizeof out - 1);
  std::memcpy(out, text.data(), size);
  out[size] = '\0';
  return out;
}

formats::version_view version_at(lua_State* L, int index, const char* function) {
  const std::string_view text = short_text_at(L, index, function);
  if (const auto v = formats::view_strict_version(text)) return *v;
  char shown[64];
  raise(L, "%s: argument %d: '%s' is no version of three numbers", function, index,
        start_of(text, shown));
}

void push_text(lua_State* L, std::string_view text) {
  lua_pushlstring(L, text.data(), text.size());
}

/// semver.parse(text): {major, minor, patch, prerelease, build}, or nil.
int parse_version(lua_State* L) {
  const auto v = formats::view_strict_version(short_text_at(L, 1, "semver.parse"));
  if (!v) {
    lua_pushnil(L);
    return 1;
  }
  lua_createtable(L, 0, 5);
  for (const auto& [name, number] :
       {std::pair{"major", v->major}, std::pair{"minor", v->minor}, std::pair{"patch", v->patch}}) {
    lua_pushnumber(L, static_cast<double>(number));
    lua_setfield(L, -2, name);
  }
  push_text(L, v->prerelease);
  lua_setfield(L, -2, "prerelease");
  push_text(L, v->build);
  lua_setfield(L, -2, "build");
  return 1;
}

/// semver.valid(text): whether it is a version; cheaper than its parts.
int valid_version(lua_State* L) {
  const auto v = formats::view_strict_version(short_text_at(L, 1, "semver.valid"));
  lua_pushboolean(L, v.has_value() ? 1 : 0);
  return 1;
}

/// semver.compare(a, b): -1, 0 or 1.
int compare(lua_State* L) {
  const formats::version_view a = version_at(L, 1, "semver.compare"),
                              b = version_at(L, 2, "semver.compare");
  lua_pushinteger(L, formats::compare_versions(a, b));
  return 1;
}

/// semver.satisfies(version, range)
int satisfies(lua_State* L) {
  const formats::version_view v = version_at(L, 1, "semver.satisfies");
  const std::string_view range = short_text_at(L, 2, "semver.satisfies");
  const formats::range_answer answer = formats::range_holds(range, v);
  char shown[64];
  if (answer.wrong != nullptr)
    raise(L, "semver.satisfies: '%s': character %zu: %s", start_of(range, shown),
          answer.position + 1, answer.wrong);
  lua_pushboolean(L, answer.holds ? 1 : 0);
  return 1;
}

/// semver.problem(range): nil, or why it is no range and at which character, from 1.
int range_problem(lua_State* L) {
  const formats::range_answer answer = formats::read_range(short_text_at(L, 1, "semver.problem"));
  if (answer.wrong == nullptr) {
    lua_pushnil(L);
    return 1;
  }
  lua_pushstring(L, answer.wrong);
  lua_pushinteger(L, static_cast<lua_Integer>(answer.position + 1));
  return 2;
}

/// semver.overlap(range, range): whether some version is in both.
int overlap(lua_State* L) {
  const std::string_view a = short_text_at(L, 1, "semver.overlap"),
                         b = short_text_at(L, 2, "semver.overlap");
  // Every border of either is tried in both.
  charge_bytes(L, (std::min(a.size(), longest_text) + std::min(b.size(), longest_text)) *
                      std::min(a.size() + b.size(), longest_text));
  lua_pushboolean(L, formats::ranges_overlap(a, b) ? 1 : 0);
  return 1;
}

/// sha256(text): 64 lower-case hexadecimal digits.
int sha256(lua_State* L) {
  const std::string_view text = text_at(L, 1, "sha256");
  check_room(L, text.size(), "sha256");
  char digits[64];
  bool done = false;
  try {
    const std::string made = formats::sha256_hex(text);
    done = made.copy(digits, sizeof digits) == sizeof digits;
  } catch (...) {  // no memory
  }
  if (!done) raise(L, "not enough memory");
  lua_pushlstring(L, digits, sizeof digits);
  return 1;
}

/// k8s.name_problem(text): why no object can have this name; nil: one can.
int name_problem(lua_State* L) {
  constexpr std::size_t shown_bytes = 80;
  const std::string_view text = text_at(L, 1, "k8s.name_problem");
  charge_bytes(L, text.size());
  if (formats::is_dns_subdomain(text)) {
    lua_pushnil(L);
  } else {
    char shown[shown_bytes + 1] = "";
    std::size_t end = std::min(text.size(), shown_bytes);
    // Not within a character of UTF-8.
    while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80)
      --end;
    text.copy(shown, end);
    lua_pushfstring(L,
                    "'%s' is no name of an object: it has lower-case letters, digits, '-' and '.', "
                    "and begins and ends with a letter or digit (253 at most)",
                    shown);
  }
  return 1;
}

constexpr luaL_Reg functions[] = {
    {"name_problem", name_problem},
    {"parse_version", parse_version},
    {"valid_version", valid_version},
    {"compare", compare},
    {"satisfies", satisfies},
    {"range_problem", range_problem},
    {"overlap", overlap},
    {"sha256", sha256},
    {nullptr, nullptr},
};

}  // namespace

void add_format_functions(lua_State* L) {
  luaL_register(L, nullptr, functions);
}

}  // namespace policies
