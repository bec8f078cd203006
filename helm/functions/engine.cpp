// The functions of the engine itself: includes, failures, versions, paths and URLs, one table.
#include "formats/go/format.hpp"
#include "formats/go/url.hpp"
#include "formats/semver.hpp"
#include "helm/functions/functions.hpp"
#include "helm/go.hpp"
#include "helm/template/executor.hpp"

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
// In lint mode Helm logs the message and goes on; the line of its source is part of what it prints.
value f_required(executor& e, args a) {
  if (!a[1].is_nil() && !(a[1].is_string() && a[1].text().empty())) return a[1];
  if (!e.lint()) warn(a[0].text());
  const char* line = a[1].is_nil() ? "206" : "214";
  if (e.runtime().log)
    e.runtime().log(std::string("engine.go:") + line +
                    ": [INFO] Missing required value: " + a[0].text());
  return "";
}
value f_fail(executor& e, args a) {
  if (!e.lint()) warn(a[0].text());
  if (e.runtime().log) e.runtime().log("engine.go:227: [INFO] Fail: " + a[0].text());
  return "";
}
value f_lookup(executor& e, args a) {
  if (e.lint() || !e.runtime().lookup) return value::map_type{};
  e.note_impure();
  auto v = e.runtime().lookup(a[0].text(), a[1].text(), a[2].text(), a[3].text());
  return v.is_nil() ? value(value::map_type{}) : v;
}
value f_get_host_by_name(executor& e, args) {
  e.note_impure();
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
  auto v = parse_lenient_version(a[0].text());
  if (!v) throw function_error(v.error().text);
  return version_value(std::move(*v));
}
value f_semver_compare(executor&, args a) {
  auto c = version_constraint::parse(a[0].text());
  if (!c) throw function_error(c.error().text);
  auto v = parse_lenient_version(a[1].text());
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

// URLs.

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
  return url_text(u);
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
