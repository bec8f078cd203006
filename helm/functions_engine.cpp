// The functions of the engine itself: includes, failures, versions, paths and URLs, one table.
#include "helm/executor.hpp"
#include "helm/functions.hpp"
#include "helm/go_format.hpp"
#include "helm/go_text.hpp"
#include "helm/semver.hpp"

#include <algorithm>
#include <cstdio>

namespace helm {
namespace {

using args = std::span<value>;

value f_include(executor& e, args a) {
  return e.include(a[0].text(), a[1]);
}
value f_tpl(executor& e, args a) {
  return e.tpl(a[0].text(), a[1]);
}

[[noreturn]] void warn(const std::string& message) {
  throw function_error(std::string(warning_start) + message + std::string(warning_end));
}
value f_required(executor& e, args a) {
  if (!a[1].is_nil() && !(a[1].is_string() && a[1].text().empty())) return a[1];
  if (!e.lint()) warn(a[0].text());
  if (e.around().log) e.around().log("[INFO] Missing required value: " + a[0].text());
  return "";
}
value f_fail(executor& e, args a) {
  if (!e.lint()) warn(a[0].text());
  if (e.around().log) e.around().log("[INFO] Fail: " + a[0].text());
  return "";
}
value f_lookup(executor& e, args a) {
  if (e.lint() || !e.around().lookup) return value::map_type{};
  auto v = e.around().lookup(a[0].text(), a[1].text(), a[2].text(), a[3].text());
  return v.is_nil() ? value(value::map_type{}) : v;
}
value f_get_host_by_name(executor&, args) {
  return "";
}

// Versions.

class version_object final : public object {
public:
  explicit version_object(version v) : content(std::move(v)) {}
  std::string type_name() const override { return "*semver.Version"; }
  std::string kind_name() const override { return "ptr"; }
  std::optional<std::string> text() const override { return content.text(); }
  std::vector<std::pair<std::string, value>> fields() const override {
    auto number = [](std::uint64_t n) {
      return value::integer(static_cast<std::int64_t>(n), type::uint64);
    };
    return {{"major", number(content.major)}, {"minor", number(content.minor)},
            {"patch", number(content.patch)}, {"pre", content.prerelease},
            {"metadata", content.metadata},   {"original", content.original}};
  }
  // They are private: templates do not see them, only %t and the like do.
  std::optional<value> field(std::string_view) const override { return std::nullopt; }
  value json() const override { return content.text(); }
  bool equals(const object& other) const override {
    const auto& o = static_cast<const version_object&>(other).content;
    return content.text() == o.text() && content.original == o.original;
  }
  std::optional<value> reflected_copy() const override {
    return value::object(new version_object({}));
  }
  const method_table* methods() const override;
  version content;
};

value version_value(version v) {
  return value::object(new version_object(std::move(v)));
}
const version& version_in(const value& v) {
  return static_cast<const version_object*>(v.object())->content;
}
const version& self(args a) {
  return version_in(a[0]);
}
value natural(std::uint64_t n) {
  return value::integer(static_cast<std::int64_t>(n), type::uint64);
}

value m_major(executor&, args a) {
  return natural(self(a).major);
}
value m_minor(executor&, args a) {
  return natural(self(a).minor);
}
value m_patch(executor&, args a) {
  return natural(self(a).patch);
}
value m_prerelease(executor&, args a) {
  return self(a).prerelease;
}
value m_metadata(executor&, args a) {
  return self(a).metadata;
}
value m_original(executor&, args a) {
  return self(a).original;
}
value m_string(executor&, args a) {
  return self(a).text();
}
value m_compare(executor&, args a) {
  if (a[1].is_nil()) nil_dereference();
  return self(a).compare(version_in(a[1]));
}
value m_less(executor& e, args a) {
  return m_compare(e, a).integer() < 0;
}
value m_less_equal(executor& e, args a) {
  return m_compare(e, a).integer() <= 0;
}
value m_greater(executor& e, args a) {
  return m_compare(e, a).integer() > 0;
}
value m_greater_equal(executor& e, args a) {
  return m_compare(e, a).integer() >= 0;
}
value m_equal(executor& e, args a) {
  return m_compare(e, a).integer() == 0;
}
/// The increments keep the leading v of the original.
value bumped(const version& from, std::uint64_t major, std::uint64_t minor, std::uint64_t patch) {
  version v{major, minor, patch, "", "", ""};
  v.original = (from.original.starts_with('v') ? "v" : "") + v.text();
  return version_value(v);
}
value m_inc_major(executor&, args a) {
  return bumped(self(a), self(a).major + 1, 0, 0);
}
value m_inc_minor(executor&, args a) {
  return bumped(self(a), self(a).major, self(a).minor + 1, 0);
}
value m_inc_patch(executor&, args a) {
  const auto& v = self(a);
  return bumped(v, v.major, v.minor, v.prerelease.empty() ? v.patch + 1 : v.patch);
}

constexpr function version_methods[] = {
    make_function("Major", {}, m_major),
    make_function("Minor", {}, m_minor),
    make_function("Patch", {}, m_patch),
    make_function("Prerelease", {}, m_prerelease),
    make_function("Metadata", {}, m_metadata),
    make_function("Original", {}, m_original),
    make_function("String", {}, m_string),
    make_function("Compare", {param::version}, m_compare),
    make_function("LessThan", {param::version}, m_less),
    make_function("LessThanEqual", {param::version}, m_less_equal),
    make_function("GreaterThan", {param::version}, m_greater),
    make_function("GreaterThanEqual", {param::version}, m_greater_equal),
    make_function("Equal", {param::version}, m_equal),
    make_function("IncMajor", {}, m_inc_major),
    make_function("IncMinor", {}, m_inc_minor),
    make_function("IncPatch", {}, m_inc_patch),
};
const method_table version_table{version_methods};
const method_table* version_object::methods() const {
  return &version_table;
}

value f_semver(executor&, args a) {
  auto v = parse_version(a[0].text());
  if (!v) throw function_error(v.error().text);
  return version_value(std::move(*v));
}
value f_semver_compare(executor&, args a) {
  auto c = version_constraint::parse(a[0].text());
  if (!c) throw function_error(c.error().text);
  auto v = parse_version(a[1].text());
  if (!v) throw function_error(v.error().text);
  return c->check(*v);
}

// Paths, with / everywhere.

std::string clean(std::string_view path) {
  if (path.empty()) return ".";
  bool rooted = path[0] == '/';
  std::vector<std::string> parts;
  for (auto& p : split(path, "/")) {
    if (p.empty() || p == ".") continue;
    if (p == "..") {
      if (!parts.empty() && parts.back() != "..")
        parts.pop_back();
      else if (!rooted)
        parts.push_back(p);
      continue;
    }
    parts.push_back(p);
  }
  std::string out = rooted ? "/" : "";
  for (std::size_t i = 0; i < parts.size(); ++i) out += (i > 0 ? "/" : "") + parts[i];
  return out.empty() ? "." : out;
}
value f_base(executor&, args a) {
  std::string_view p = a[0].text();
  if (p.empty()) return ".";
  while (!p.empty() && p.back() == '/') p.remove_suffix(1);
  if (auto slash = p.rfind('/'); slash != p.npos) p.remove_prefix(slash + 1);
  return p.empty() ? value("/") : value(p);
}
value f_dir(executor&, args a) {
  const auto& p = a[0].text();
  auto slash = p.rfind('/');
  return clean(std::string_view(p).substr(0, slash == p.npos ? 0 : slash + 1));
}
value f_clean(executor&, args a) {
  return clean(a[0].text());
}
value f_ext(executor&, args a) {
  const auto& p = a[0].text();
  auto at = p.find_last_of("./");
  return at != p.npos && p[at] == '.' ? value(p.substr(at)) : value("");
}
value f_is_abs(executor&, args a) {
  return a[0].text().starts_with('/');
}

// URLs, after net/url.

enum class url_part : std::uint8_t { path, userinfo, host, fragment };

bool unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.' || c == '~';
}

bool needs_escape(char c, url_part part) {
  if (unreserved(c)) return false;
  if (part == url_part::host &&
      std::string_view("!$&'()*+,;=:[]<>\"").find(c) != std::string_view::npos)
    return false;
  if (std::string_view("$&+,/:;=?@").find(c) != std::string_view::npos) {
    switch (part) {
      case url_part::path: return c == '?' || c == ':' ? c == '?' : false;
      case url_part::userinfo: return c == '@' || c == '/' || c == '?' || c == ':';
      case url_part::fragment: return false;
      case url_part::host: return true;
    }
  }
  if (part == url_part::fragment && std::string_view("!()*").find(c) != std::string_view::npos)
    return false;
  return true;
}

std::string escape(std::string_view s, url_part part) {
  std::string out;
  for (char c : s) {
    if (!needs_escape(c, part)) {
      out += c;
      continue;
    }
    char buffer[8];
    std::snprintf(buffer, sizeof buffer, "%%%02X", static_cast<unsigned char>(c));
    out += buffer;
  }
  return out;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c = static_cast<char>(c | 0x20);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

std::string unescape(std::string_view s, url_part part) {
  std::string out;
  for (std::size_t i = 0; i < s.size(); ++i) {
    if (s[i] != '%') {
      if (part == url_part::host && static_cast<unsigned char>(s[i]) < 0x80 &&
          needs_escape(s[i], part))
        throw function_error("invalid character " + quote(s.substr(i, 1)) + " in host name");
      out += s[i];
      continue;
    }
    if (i + 2 >= s.size() || hex_digit(s[i + 1]) < 0 || hex_digit(s[i + 2]) < 0)
      throw function_error("invalid URL escape " + quote(s.substr(i, 3)));
    int code = hex_digit(s[i + 1]) << 4 | hex_digit(s[i + 2]);
    if (part == url_part::host && code < 8 * 16 && s.substr(i, 3) != "%25")
      throw function_error("invalid URL escape " + quote(s.substr(i, 3)));
    out += static_cast<char>(code);
    i += 2;
  }
  return out;
}

struct url {
  std::string scheme, opaque, userinfo, host, path, raw_path, query, fragment;
  bool has_user = false, force_query = false;
};

std::string encoded_path(const url& u) {
  if (!u.raw_path.empty()) {
    bool same = false;
    try {
      same = unescape(u.raw_path, url_part::path) == u.path;
    } catch (const function_error&) {
    }
    if (same) return u.raw_path;
  }
  if (u.path == "*") return "*";
  return escape(u.path, url_part::path);
}

bool valid_port(std::string_view s) {
  if (s.empty()) return true;
  if (s[0] != ':') return false;
  return s.substr(1).find_first_not_of("0123456789") == s.npos;
}

void parse_authority(url& u, std::string_view s) {
  if (auto at = s.rfind('@'); at != s.npos) {
    auto user = s.substr(0, at);
    for (char c : user)
      if (!unreserved(c) &&
          std::string_view("-._:~!$&'()*+,;=%@").find(c) == std::string_view::npos)
        throw function_error("net/url: invalid userinfo");
    auto colon = user.find(':');
    u.has_user = true;
    u.userinfo = escape(unescape(user.substr(0, colon), url_part::userinfo), url_part::userinfo);
    if (colon != user.npos)
      u.userinfo +=
          ":" + escape(unescape(user.substr(colon + 1), url_part::userinfo), url_part::userinfo);
    s.remove_prefix(at + 1);
  }
  if (s.starts_with('[')) {
    auto close = s.rfind(']');
    if (close == s.npos) throw function_error("missing ']' in host");
    if (!valid_port(s.substr(close + 1)))
      throw function_error("invalid port " + quote(s.substr(close + 1)) + " after host");
  } else if (auto colon = s.rfind(':'); colon != s.npos) {
    if (!valid_port(s.substr(colon)))
      throw function_error("invalid port " + quote(s.substr(colon)) + " after host");
  }
  u.host = unescape(s, url_part::host);
}

url parse_reference(std::string_view s) {
  url u;
  for (char c : s)
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f)
      throw function_error("net/url: invalid control character in URL");
  if (s == "*") {
    u.path = "*";
    return u;
  }
  // The scheme ends at the first colon, if only its characters come before.
  for (std::size_t i = 0; i < s.size(); ++i) {
    char c = s[i];
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (letter) continue;
    bool other = (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
    if (other) {
      if (i == 0) break;
      continue;
    }
    if (c == ':') {
      if (i == 0) throw function_error("missing protocol scheme");
      u.scheme = lower(s.substr(0, i));
      s.remove_prefix(i + 1);
    }
    break;
  }
  if (s.ends_with('?') && std::count(s.begin(), s.end(), '?') == 1) {
    u.force_query = true;
    s.remove_suffix(1);
  } else if (auto mark = s.find('?'); mark != s.npos) {
    u.query = s.substr(mark + 1);
    s = s.substr(0, mark);
  }
  if (!s.starts_with('/')) {
    if (!u.scheme.empty()) {
      u.opaque = s;
      return u;
    }
    auto segment = s.substr(0, s.find('/'));
    if (segment.find(':') != segment.npos)
      throw function_error("first path segment in URL cannot contain colon");
  }
  if ((!u.scheme.empty() || !s.starts_with("///")) && s.starts_with("//")) {
    s.remove_prefix(2);
    auto slash = s.find('/');
    parse_authority(u, s.substr(0, slash));
    s = slash == s.npos ? std::string_view() : s.substr(slash);
  }
  u.path = unescape(s, url_part::path);
  if (escape(u.path, url_part::path) != s) u.raw_path = s;
  return u;
}

url parse_url(const std::string& given) {
  std::string_view s = given;
  std::string fragment;
  if (auto hash = s.find('#'); hash != s.npos) {
    fragment = s.substr(hash + 1);
    s = s.substr(0, hash);
  }
  try {
    auto u = parse_reference(s);
    u.fragment = unescape(fragment, url_part::fragment);
    return u;
  } catch (const function_error& e) {
    throw function_error("parse " + quote(given) + ": " + e.what());
  }
}

std::string host_name(const std::string& host) {
  auto colon = host.rfind(':');
  std::string_view s = host;
  if (s.starts_with('[')) {
    auto close = s.find(']');
    if (close != s.npos) return std::string(s.substr(1, close - 1));
  }
  return std::string(colon == host.npos ? s : s.substr(0, colon));
}

value f_url_parse(executor&, args a) {
  url u;
  try {
    u = parse_url(a[0].text());
  } catch (const function_error& e) {
    throw function_error(std::string("unable to parse url: ") + e.what());
  }
  return value::map_type{
      {"scheme", u.scheme},     {"host", u.host},        {"hostname", host_name(u.host)},
      {"path", u.path},         {"query", u.query},      {"opaque", u.opaque},
      {"fragment", u.fragment}, {"userinfo", u.userinfo}};
}

value f_url_join(executor&, args a) {
  auto get = [&](const char* key) -> std::string {
    const auto* v = a[0].find(key);
    if (!v) return "";
    if (v->is_nil()) nil_dereference();
    if (!v->is_string())
      throw function_error(std::string("unable to parse ") + key +
                           " key, must be of type string, but " + v->kind_name() + " found");
    return v->text();
  };
  url u;
  u.scheme = get("scheme");
  u.host = get("host");
  u.path = get("path");
  u.query = get("query");
  u.opaque = get("opaque");
  u.fragment = get("fragment");
  auto user = get("userinfo");
  if (!user.empty()) {
    try {
      auto parsed = parse_url("proto://" + user + "@host");
      u.userinfo = parsed.userinfo;
      u.has_user = parsed.has_user;
    } catch (const function_error& e) {
      throw function_error(std::string("unable to parse userinfo in dict: ") + e.what());
    }
  }
  std::string out;
  if (!u.scheme.empty()) out += u.scheme + ":";
  if (!u.opaque.empty()) {
    out += u.opaque;
  } else {
    if (!u.scheme.empty() || !u.host.empty() || u.has_user) {
      if (!u.host.empty() || !u.path.empty() || u.has_user) out += "//";
      if (u.has_user) out += u.userinfo + "@";
      out += escape(u.host, url_part::host);
    }
    auto path = encoded_path(u);
    if (!path.empty() && path[0] != '/' && !u.host.empty()) out += '/';
    if (out.empty()) {
      auto segment = path.substr(0, path.find('/'));
      if (segment.find(':') != segment.npos) out += "./";
    }
    out += path;
  }
  if (!u.query.empty()) out += "?" + u.query;
  if (!u.fragment.empty()) out += "#" + escape(u.fragment, url_part::fragment);
  return out;
}

constexpr auto s = param::string;
constexpr auto any = param::any;
constexpr function table[] = {
    make_function("include", {s, any}, f_include),
    make_function("tpl", {s, any}, f_tpl),
    make_function("required", {s, any}, f_required, false, true),
    make_function("fail", {s}, f_fail),
    make_function("lookup", {s, s, s, s}, f_lookup),
    make_function("getHostByName", {s}, f_get_host_by_name),
    make_function("semver", {s}, f_semver),
    make_function("semverCompare", {s, s}, f_semver_compare),
    make_function("base", {s}, f_base),
    make_function("dir", {s}, f_dir),
    make_function("clean", {s}, f_clean),
    make_function("ext", {s}, f_ext),
    make_function("isAbs", {s}, f_is_abs),
    make_function("osBase", {s}, f_base),
    make_function("osDir", {s}, f_dir),
    make_function("osClean", {s}, f_clean),
    make_function("osExt", {s}, f_ext),
    make_function("osIsAbs", {s}, f_is_abs),
    make_function("urlParse", {s}, f_url_parse),
    make_function("urlJoin", {param::map}, f_url_join),
};

}  // namespace

std::span<const function> engine_functions() {
  return table;
}

}  // namespace helm
