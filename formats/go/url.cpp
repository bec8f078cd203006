#include "formats/go/url.hpp"

#include "formats/go/address.hpp"
#include "formats/go/function_error.hpp"
#include "formats/plain/text.hpp"

#include <algorithm>
#include <cstdio>
#include <vector>

namespace formats {
namespace {

enum class url_part : std::uint8_t { path, path_segment, userinfo, host, zone, query, fragment };

bool unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.' || c == '~';
}

void put_escaped(std::string& out, char c) {
  char buffer[8];
  std::snprintf(buffer, sizeof buffer, "%%%02X", static_cast<unsigned char>(c));
  out += buffer;
}

bool needs_escape(char c, url_part part) {
  if (unreserved(c)) return false;
  if ((part == url_part::host || part == url_part::zone) &&
      std::string_view("!$&'()*+,;=:[]<>\"").find(c) != std::string_view::npos)
    return false;
  if (std::string_view("$&+,/:;=?@").find(c) != std::string_view::npos) {
    switch (part) {
      case url_part::path: return c == '?';
      case url_part::path_segment: return c == '/' || c == ';' || c == ',' || c == '?';
      case url_part::userinfo: return c == '@' || c == '/' || c == '?' || c == ':';
      case url_part::fragment: return false;
      case url_part::host:
      case url_part::zone:
      case url_part::query: return true;
    }
  }
  if (part == url_part::fragment && std::string_view("!()*").find(c) != std::string_view::npos)
    return false;
  return true;
}

std::string escape(std::string_view s, url_part part) {
  std::string out;
  for (char c : s)
    if (part == url_part::query && c == ' ')
      out += '+';
    else if (needs_escape(c, part))
      put_escaped(out, c);
    else
      out += c;
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
      if ((part == url_part::host || part == url_part::zone) &&
          static_cast<unsigned char>(s[i]) < 0x80 && needs_escape(s[i], part))
        throw function_error("invalid character " + quote(s.substr(i, 1)) + " in host name");
      out += s[i];
      continue;
    }
    if (i + 2 >= s.size() || hex_digit(s[i + 1]) < 0 || hex_digit(s[i + 2]) < 0)
      throw function_error("invalid URL escape " + quote(s.substr(i, 3)));
    int code = hex_digit(s[i + 1]) << 4 | hex_digit(s[i + 2]);
    if (part == url_part::host && code < 8 * 16 && s.substr(i, 3) != "%25")
      throw function_error("invalid URL escape " + quote(s.substr(i, 3)));
    // A zone may escape what could stand in it as it is, and a blank.
    if (part == url_part::zone && s.substr(i, 3) != "%25" && code != ' ' &&
        needs_escape(static_cast<char>(code), url_part::host))
      throw function_error("invalid URL escape " + quote(s.substr(i, 3)));
    out += static_cast<char>(code);
    i += 2;
  }
  return out;
}

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

/// `reference` below the folder of `base`, without dots: RFC 3986, 5.2.
std::string joined_path(const std::string& base, const std::string& reference) {
  const auto full = reference.empty()            ? base
                    : reference.starts_with('/') ? reference
                                                 : base.substr(0, base.rfind('/') + 1) + reference;
  if (full.empty()) return {};
  std::vector<std::string> kept;
  const auto steps = split(full, "/");
  for (const auto& step : steps) {
    if (step == "..") {
      if (!kept.empty()) kept.pop_back();
    } else if (step != ".") {
      kept.push_back(step);
    }
  }
  std::string out;
  for (const auto& step : kept) out += "/" + step;
  if (steps.back() == "." || steps.back() == "..") out += '/';
  if (out.starts_with("//")) out.erase(0, 1);  // the empty step before the first slash
  return out.empty() ? "/" : out;
}

bool valid_port(std::string_view s) {
  if (s.empty()) return true;
  if (s[0] != ':') return false;
  return s.substr(1).find_first_not_of("0123456789") == s.npos;
}

void check_port(std::string_view s) {
  if (!valid_port(s)) throw function_error("invalid port " + quote(s) + " after host");
}

/// Only an IPv6 address may stand in brackets; a zone of it begins at %25 (RFC 6874).
std::string bracketed_host(std::string_view s) {
  const auto close = s.rfind(']');
  if (close == s.npos) throw function_error("missing ']' in host");
  const auto port = s.substr(close + 1), inside = s.substr(1, close - 1);
  check_port(port);
  const auto zone = std::min(inside.find("%25"), inside.size());
  const auto host = unescape(inside.substr(0, zone), url_part::host) +
                    unescape(inside.substr(zone), url_part::zone);
  const ip_address address = parse_address(host);
  if (!address.problem.empty()) throw function_error("invalid host: " + address.problem);
  if (address.is_4) throw function_error("invalid IP-literal");
  return "[" + host + "]" + std::string(port);
}

std::string parse_host(const std::string& scheme, std::string_view s) {
  const auto open = s.rfind('[');
  if (open != s.npos && open > 0) throw function_error("invalid IP-literal");
  if (open == 0) return bracketed_host(s);
  // Databases name several hosts, each with its port, where the web names one.
  const bool one_host = scheme == "http" || scheme == "https";
  if (const auto colon = one_host ? s.find(':') : s.rfind(':'); colon != s.npos)
    check_port(s.substr(colon));
  return unescape(s, url_part::host);
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
  u.host = parse_host(u.scheme, s);
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

}  // namespace

url parse_url(const std::string& given) {
  const std::string before = given.substr(0, given.find('#'));
  // What is wrong before the fragment is told without it.
  const auto naming = [](const std::string& what, const auto& parse) {
    try {
      return parse();
    } catch (const function_error& e) {
      throw function_error("parse " + quote(what) + ": " + e.what());
    }
  };
  url u = naming(before, [&] { return parse_reference(before); });
  if (before.size() < given.size())
    u.fragment = naming(given, [&] {
      return unescape(std::string_view(given).substr(before.size() + 1), url_part::fragment);
    });
  return u;
}

std::string url_text(const url& u) {
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

std::string unescape_path(const std::string& text) {
  return unescape(text, url_part::path_segment);
}

std::string escape_path_segment(const std::string& text) {
  return escape(text, url_part::path_segment);
}

std::string escape_query(std::string_view text) {
  return escape(text, url_part::query);
}

url resolve_url(const url& base, url reference) {
  const auto settle = [&reference](const std::string& path) {
    const auto joined = joined_path(path, encoded_path(reference));
    reference.raw_path.clear();
    reference.path = unescape(joined, url_part::path);
    if (escape(reference.path, url_part::path) != joined) reference.raw_path = joined;
  };
  const bool relative = reference.scheme.empty();
  if (relative) reference.scheme = base.scheme;
  if (!relative || !reference.host.empty() || reference.has_user) {
    settle("");
    return reference;
  }
  if (!reference.opaque.empty()) return reference;
  if (reference.path.empty() && !reference.force_query && reference.query.empty()) {
    reference.query = base.query;
    if (reference.fragment.empty()) reference.fragment = base.fragment;
  }
  reference.opaque = base.opaque;
  if (reference.path.empty() && !base.opaque.empty()) return reference;
  reference.host = base.host;
  reference.userinfo = base.userinfo;
  reference.has_user = base.has_user;
  settle(encoded_path(base));
  return reference;
}

std::string host_name(const std::string& host) {
  std::string_view s = host;
  if (const auto colon = s.rfind(':'); colon != s.npos && valid_port(s.substr(colon)))
    s = s.substr(0, colon);
  if (s.size() > 1 && s.starts_with('[') && s.ends_with(']')) s = s.substr(1, s.size() - 2);
  return std::string(s);
}

}  // namespace formats
