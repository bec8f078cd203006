#include "registry/url.hpp"

#include "formats/plain/path.hpp"
#include "formats/plain/text.hpp"

#include <algorithm>
#include <vector>

// A second reader of URLs beside formats/go/url, which is Go's net/url to the letter and writes
// again what it has decoded: here every part stays as it was written, since signed queries and what
// repositories compare depend on it.
namespace registry {

using formats::clean_path;
using formats::lower;
using formats::problem;
using formats::quote;
using formats::split;

namespace {

bool is_scheme(std::string_view s) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  if (s.empty() || !letter(s.front())) return false;
  return std::all_of(s.begin(), s.end(), [&](char c) {
    return letter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
  });
}

bool is_port(std::string_view s) {
  return std::all_of(s.begin(), s.end(), [](char c) { return c >= '0' && c <= '9'; });
}

problem unusable(std::string_view text, const std::string& why) {
  return {"parse " + quote(without_user(text)) + ": " + why};
}

/// RFC 3986, 5.2.4, on whole segments.
std::string without_dots(std::string_view path) {
  std::vector<std::string> out;
  const auto parts = split(path, "/");
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool last = i + 1 == parts.size();
    if (parts[i] == "." || parts[i] == "..") {
      if (parts[i] == ".." && out.size() > 1) out.pop_back();
      if (last) out.emplace_back();
    } else {
      out.push_back(parts[i]);
    }
  }
  std::string text;
  for (std::size_t i = 0; i < out.size(); ++i) text += (i > 0 ? "/" : "") + out[i];
  return text.starts_with('/') ? text : "/" + text;
}

std::string_view default_port(std::string_view scheme) {
  return scheme == "https" ? ":443" : scheme == "http" ? ":80" : "";
}

std::string origin_of(const url& u) {
  std::string host = lower(u.host);
  const auto port = default_port(u.scheme);
  if (!port.empty() && host.ends_with(port)) host.resize(host.size() - port.size());
  return u.scheme + "://" + host;
}

}  // namespace

std::string url::text() const {
  std::string out;
  if (!scheme.empty()) out += scheme + ":";
  if (!host.empty() || !scheme.empty()) out += "//";
  if (!user.empty()) out += user + "@";
  out += host + path;
  if (has_query) out += "?" + query;
  if (!fragment.empty()) out += "#" + fragment;
  return out;
}

outcome<url> parse_url(std::string_view text) {
  for (const char c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      return unusable(text, "net/url: invalid control character in URL");
  url out;
  std::string_view rest = text;
  if (const auto at = rest.find('#'); at != rest.npos) {
    out.fragment = rest.substr(at + 1);
    rest = rest.substr(0, at);
  }
  if (const auto at = rest.find('?'); at != rest.npos) {
    out.query = rest.substr(at + 1);
    out.has_query = true;
    rest = rest.substr(0, at);
  }
  const auto colon = rest.find(':');
  if (colon == 0) return unusable(text, "missing protocol scheme");
  if (colon != rest.npos && rest.substr(0, colon).find('/') == rest.npos) {
    if (!is_scheme(rest.substr(0, colon)))
      return unusable(text, "first path segment in URL cannot contain colon");
    out.scheme = lower(rest.substr(0, colon));
    rest.remove_prefix(colon + 1);
  }
  if (rest.starts_with("//")) {
    rest.remove_prefix(2);
    const auto slash = rest.find('/');
    std::string_view authority = rest.substr(0, slash);
    rest = slash == rest.npos ? std::string_view() : rest.substr(slash);
    if (const auto at = authority.rfind('@'); at != authority.npos) {
      out.user = authority.substr(0, at);
      authority.remove_prefix(at + 1);
    }
    if (authority.find(' ') != authority.npos)
      return unusable(text, "invalid character \" \" in host name");
    const auto bracket = authority.rfind(']');
    const auto port = authority.find(':', bracket == authority.npos ? 0 : bracket);
    if (port != authority.npos && !is_port(authority.substr(port + 1)))
      return unusable(text, "invalid port " + quote(authority.substr(port)) + " after host");
    out.host = authority;
  }
  out.path = rest;
  return out;
}

outcome<std::string> resolve_reference(std::string_view base, std::string_view reference) {
  const auto target = parse_url(reference);
  if (!target)
    return problem{"failed to parse " + without_user(reference) +
                   " as URL: " + target.error().text};
  if (target->is_absolute()) return std::string(reference);
  const auto from = parse_url(base);
  if (!from)
    return problem{"failed to parse " + without_user(base) + " as URL: " + from.error().text};
  url out = *from;
  out.fragment = target->fragment;
  if (!target->host.empty()) {
    out.user = target->user;
    out.host = target->host;
    out.path = target->path;
    return out.text();
  }
  std::string folder = from->path;
  if (folder.ends_with('/')) folder.pop_back();
  folder += '/';
  out.path = target->path.starts_with('/') ? without_dots(target->path)
                                           : without_dots(folder + target->path);
  return out.text();
}

outcome<std::string> follow_location(std::string_view page, std::string_view location) {
  auto to = parse_url(location);
  if (!to) return to.error();
  const auto from = parse_url(page);
  if (!from) return from.error();
  if (to->is_absolute()) return to->text();
  to->scheme = from->scheme;
  if (!to->host.empty()) return to->text();
  to->host = from->host;
  if (to->path.empty()) {
    to->path = from->path;
    if (!to->has_query) {
      to->query = from->query;
      to->has_query = from->has_query;
    }
  } else if (!to->path.starts_with('/')) {
    to->path = from->path.substr(0, from->path.rfind('/') + 1) + to->path;
  }
  to->path = without_dots(to->path);
  return to->text();
}

std::string join_url(std::string_view base, std::string_view name) {
  auto u = parse_url(base);
  const auto join = [&](std::string_view path) {
    return path.empty() && name.empty()
               ? std::string()
               : clean_path(path.empty()   ? std::string(name)
                            : name.empty() ? std::string(path)
                                           : std::string(path) + "/" + std::string(name));
  };
  if (!u) return join(base);
  u->path = join(u->path);
  if (!u->host.empty() && !u->path.empty() && !u->path.starts_with('/')) u->path = "/" + u->path;
  return u->text();
}

bool same_url(std::string_view a, std::string_view b) {
  auto left = parse_url(a), right = parse_url(b);
  if (!left) return clean_path(a) == clean_path(b);
  if (!right) return false;
  for (auto* u : {&*left, &*right}) u->path = clean_path(u->path.empty() ? "/" : u->path);
  return left->text() == right->text();
}

bool same_origin(std::string_view a, std::string_view b) {
  const auto left = parse_url(a), right = parse_url(b);
  return left && right && left->is_absolute() && origin_of(*left) == origin_of(*right);
}

std::string without_user(std::string_view text) {
  const auto start = text.find("://");
  if (start == text.npos) return std::string(text);
  const auto authority = text.substr(start + 3, text.find_first_of("/?#", start + 3) - start - 3);
  const auto at = authority.rfind('@');
  if (at == authority.npos) return std::string(text);
  return std::string(text.substr(0, start + 3)) + std::string(text.substr(start + 3 + at + 1));
}

}  // namespace registry
