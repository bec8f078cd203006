#include "formats/semver.hpp"

#include "formats/go/literal.hpp"
#include "formats/plain/text.hpp"
#include "formats/version_range.hpp"

#include <re2/re2.h>

namespace formats {
namespace {

constexpr std::size_t version_length_limit = 256;
constexpr std::size_t constraint_length_limit = 512;
constexpr std::size_t group_limit = 32;

/// The grammar in RE2's words. A wildcard part is x, X or *; the reference also lets `|` slip into
/// its class.
const std::string part = R"([0-9|x|X|\*]+)";
const std::string label = R"([0-9A-Za-z\-]+(?:\.[0-9A-Za-z\-]+)*)";
const std::string partial = "v?" + part + R"((?:\.)" + part + R"()?(?:\.)" + part + ")?(?:-" +
                            label + R"()?(?:\+)" + label + ")?";
const std::string partial_groups = "v?(" + part + R"()(\.)" + part + R"()?(\.)" + part + ")?(-" +
                                   label + R"()?(?:\+)" + label + ")?";
const std::string operations = R"(=||!=|>|<|>=|=>|<=|=<|~|~>|\^)";

struct patterns {
  RE2 loose{"^v?([0-9]+)(?:\\.([0-9]+))?(?:\\.([0-9]+))?(?:-(" + label + "))?(?:\\+(" + label +
            "))?$"};
  RE2 range{"\\s*(" + partial + ")\\s+-\\s+(" + partial + ")\\s*"};
  RE2 valid{"^(?:\\s*(?:" + operations + ")\\s*(?:" + partial +
            ")\\s*)(?:(?:\\s+|,\\s*)(?:" + operations + ")\\s*(?:" + partial + ")\\s*)*$"};
  RE2 find{"((?:" + operations + ")\\s*(?:" + partial + "))"};
  RE2 one{"^\\s*(" + operations + ")\\s*" + partial_groups + "\\s*$"};
};

const patterns& regexes() {
  static const patterns p;
  return p;
}

re2::StringPiece piece(std::string_view s) {
  return {s.data(), s.size()};
}

bool all_digits(std::string_view s) {
  return !s.empty() && s.find_first_not_of("0123456789") == s.npos;
}

problem check_prerelease(std::string_view s) {
  for (const auto& p : split(s, ".")) {
    if (p.empty()) return {"invalid prerelease string"};
    if (all_digits(p) && p.size() > 1 && p[0] == '0') return {"version segment starts with 0"};
  }
  return {};
}

/// ParseUint's complaint about a number beyond 64 bits.
outcome<std::uint64_t> segment(const std::string& s) {
  auto n = parse_uint(s, 10);
  if (n.error == int_error::none) return n.number;
  return problem{"error parsing version segment: strconv.ParseUint: parsing " + quote(s) + ": " +
                 (n.error == int_error::range ? "value out of range" : "invalid syntax")};
}

int compare_part(const std::string& a, const std::string& b) {
  if (a == b) return 0;
  if (a.empty()) return -1;
  if (b.empty()) return 1;
  auto x = parse_uint(a, 10);
  auto y = parse_uint(b, 10);
  bool xn = x.error == int_error::none, yn = y.error == int_error::none;
  if (!xn && !yn) return a > b ? 1 : -1;
  if (!yn) return -1;
  if (!xn) return 1;
  return x.number > y.number ? 1 : -1;
}

int compare_prerelease(const std::string& a, const std::string& b) {
  auto x = split(a, ".");
  auto y = split(b, ".");
  for (std::size_t i = 0; i < std::max(x.size(), y.size()); ++i)
    if (int d = compare_part(i < x.size() ? x[i] : "", i < y.size() ? y[i] : ""); d != 0) return d;
  return 0;
}

bool wildcard(std::string_view s) {
  return s == "x" || s == "X" || s == "*";
}

}  // namespace

std::string version::text() const {
  auto out = std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
  if (!prerelease.empty()) out += "-" + prerelease;
  if (!metadata.empty()) out += "+" + metadata;
  return out;
}

int version::compare(const version& other) const {
  if (major != other.major) return major < other.major ? -1 : 1;
  if (minor != other.minor) return minor < other.minor ? -1 : 1;
  if (patch != other.patch) return patch < other.patch ? -1 : 1;
  if (prerelease.empty() && other.prerelease.empty()) return 0;
  if (prerelease.empty()) return 1;
  if (other.prerelease.empty()) return -1;
  return compare_prerelease(prerelease, other.prerelease);
}

outcome<version> parse_lenient_version(std::string_view text) {
  if (text.size() > version_length_limit)
    return problem{"version string is too long (max 256 bytes)"};
  std::string major, minor, patch;
  version v;
  if (!RE2::FullMatch(piece(text), regexes().loose, &major, &minor, &patch, &v.prerelease,
                      &v.metadata))
    return problem{"invalid semantic version"};
  v.original = text;
  auto a = segment(major);
  if (!a) return a.error();
  v.major = *a;
  if (!minor.empty()) {
    auto b = segment(minor);
    if (!b) return b.error();
    v.minor = *b;
  }
  if (!patch.empty()) {
    auto c = segment(patch);
    if (!c) return c.error();
    v.patch = *c;
  }
  if (!v.prerelease.empty())
    if (auto p = check_prerelease(v.prerelease); !p.text.empty()) return p;
  return v;
}

std::optional<version> parse_strict_version(std::string_view text) {
  const auto read = text.starts_with('v') ? std::nullopt : view_strict_version(text);
  if (!read) return std::nullopt;
  version v;
  v.major = read->major;
  v.minor = read->minor;
  v.patch = read->patch;
  v.prerelease = read->prerelease;
  v.metadata = read->build;
  v.original = text;
  return v;
}

bool version_constraint::parse_one(std::string_view text, comparator& out) {
  std::string major, minor, patch, pre;
  if (!RE2::FullMatch(piece(text), regexes().one, &out.operation, &major, &minor, &patch, &pre))
    return false;
  std::string whole;
  // The operator is not part of the version; what was written after it is.
  auto body = trim_space(text);
  body.remove_prefix(out.operation.size());
  whole = trim_space(body);
  auto bare_minor = minor.empty() ? "" : minor.substr(1);
  auto bare_patch = patch.empty() ? "" : patch.substr(1);
  if (wildcard(major) || major.empty()) {
    whole = "0.0.0" + pre;
    out.dirty = true;
  } else if (wildcard(bare_minor) || minor.empty()) {
    whole = major + ".0.0" + pre;
    out.dirty = out.minor_dirty = true;
  } else if (wildcard(bare_patch) || patch.empty()) {
    whole = major + minor + ".0" + pre;
    out.dirty = out.patch_dirty = true;
  }
  auto v = parse_lenient_version(whole);
  if (!v) return false;
  out.bound = *v;
  return true;
}

outcome<version_constraint> version_constraint::parse(std::string_view given) {
  if (given.size() > constraint_length_limit)
    return problem{"constraint string is too long (max 512 bytes)"};
  std::string text(given);
  const auto& r = regexes();
  // "a - b" is ">=a <=b".
  std::string from, to;
  re2::StringPiece rest = piece(given);
  re2::StringPiece all[3];
  while (r.range.Match(rest, 0, rest.size(), RE2::UNANCHORED, all, 3)) {
    auto found = std::string(all[0]);
    auto at = text.find(found);
    if (at != text.npos)
      text.replace(at, found.size(),
                   ">= " + std::string(all[1]) + ", <= " + std::string(all[2]) + " ");
    rest.remove_prefix(static_cast<std::size_t>(all[0].data() + all[0].size() - rest.data()));
  }
  version_constraint out;
  auto ors = split(text, "||");
  if (ors.size() > group_limit) return problem{"too many constraint groups (max 32)"};
  for (const auto& one : ors) {
    if (!RE2::FullMatch(one, r.valid)) return problem{"improper constraint: " + quote(one)};
    group g;
    re2::StringPiece input = piece(one);
    std::string found;
    bool some = false;
    while (RE2::FindAndConsume(&input, r.find, &found)) {
      some = true;
      comparator c;
      if (!parse_one(found, c)) {
        if (RE2::FullMatch(found, r.one)) return problem{"constraint parser error"};
        return problem{"improper constraint: " + quote(found)};
      }
      g.prereleases = g.prereleases || !c.bound.prerelease.empty();
      g.comparators.push_back(std::move(c));
    }
    if (!some) return problem{"improper constraint: " + quote(one)};
    out.groups_.push_back(std::move(g));
  }
  return out;
}

bool version_constraint::check(const version& v) const {
  for (const auto& g : groups_) {
    bool all = v.prerelease.empty() || g.prereleases;
    for (const auto& c : g.comparators) all = all && c.holds(v);
    if (all) return true;
  }
  return false;
}

bool version_constraint::comparator::holds(const version& v) const {
  if (operation.empty() || operation == "=") return dirty ? tilde(v) : v.compare(bound) == 0;
  if (operation == "~" || operation == "~>") return tilde(v);
  if (operation == "^") return caret(v);
  if (operation == "<") return v.compare(bound) < 0;
  if (operation == ">=" || operation == "=>") return v.compare(bound) >= 0;
  if (operation == "!=") {
    if (dirty) {
      if (bound.major != v.major) return true;
      if (bound.minor != v.minor && !minor_dirty) return true;
      if (minor_dirty) return false;
      if (bound.patch != v.patch && !patch_dirty) return true;
      if (patch_dirty)
        return (!v.prerelease.empty() || !bound.prerelease.empty()) &&
               compare_prerelease(v.prerelease, bound.prerelease) != 0;
    }
    return v.compare(bound) != 0;
  }
  if (operation == ">") {
    if (!dirty) return v.compare(bound) > 0;
    if (v.major != bound.major) return v.major > bound.major;
    if (minor_dirty) return false;
    if (patch_dirty) return v.minor > bound.minor;
    return v.compare(bound) > 0;
  }
  // <= and =<
  if (!dirty) return v.compare(bound) <= 0;
  if (v.major > bound.major) return false;
  return !(v.major == bound.major && v.minor > bound.minor && !minor_dirty);
}

bool version_constraint::comparator::tilde(const version& v) const {
  if (v.compare(bound) < 0) return false;
  if (bound.major == 0 && bound.minor == 0 && bound.patch == 0 && !minor_dirty && !patch_dirty)
    return true;
  return v.major == bound.major && (v.minor == bound.minor || minor_dirty);
}

bool version_constraint::comparator::caret(const version& v) const {
  if (v.compare(bound) < 0) return false;
  if (bound.major > 0 || minor_dirty) return v.major == bound.major;
  if (v.major > 0) return false;
  if (bound.minor > 0 || patch_dirty) return v.minor == bound.minor;
  if (v.minor > 0) return false;
  return v.patch == bound.patch;
}

}  // namespace formats
