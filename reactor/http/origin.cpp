#include "reactor/http/authorization.hpp"
#include "reactor/http/client.hpp"
#include "reactor/http/proxy.hpp"

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/network_v4.hpp>
#include <boost/asio/ip/network_v6.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>

#include <algorithm>
#include <array>
#include <charconv>

namespace reactor::http {
namespace {

namespace urls = boost::urls;
namespace ip = asio::ip;

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return out;
}

struct parsed_url {
  origin to;
  std::string path;
  bool socks = false;
  bool has_credentials = false;
  std::string user;
  secret password;
};

/// Messages do not repeat the text: it may hold a password.
enum class schemes : std::uint8_t { of_servers, of_proxies };
result<parsed_url> parse(std::string_view text, std::string_view doing,
                         schemes allowed = schemes::of_servers) {
  const auto refuse = [&](std::string_view why) { return make_fault(errc::malformed, doing, why); };
  constexpr std::size_t longest = 8192;
  if (text.size() > longest) return refuse("the URL is too long");
  const auto parsed = urls::parse_uri({text.data(), text.size()});
  if (!parsed) return refuse("this is not a URL such as https://host:port");
  const urls::url_view& u = *parsed;
  parsed_url out;
  if (u.scheme_id() == urls::scheme::https) {
    out.to.tls = true;
  } else if (u.scheme_id() != urls::scheme::http) {
    const std::string scheme = lower(std::string(u.scheme()));
    out.socks = allowed == schemes::of_proxies && (scheme == "socks5" || scheme == "socks5h");
    if (!out.socks)
      return refuse(allowed == schemes::of_proxies
                        ? "the URL's scheme is none of http, https and socks5"
                        : "the URL's scheme is neither http nor https");
  }
  out.to.host = lower(std::string(u.host_address()));
  if (!u.has_authority() || out.to.host.empty()) return refuse("the URL has no host");
  const auto odd = [](char c) { return c <= ' ' || c == 0x7f || c == '/' || c == '@'; };
  if (std::any_of(out.to.host.begin(), out.to.host.end(), odd))
    return refuse("the URL's host is not a name or an address");
  out.to.port = out.socks ? 1080 : out.to.tls ? 443 : 80;
  if (u.has_port() && !u.port().empty()) {
    // Not port_number(): Boost 1.81 takes 99999 modulo 65536.
    const std::string_view port(u.port());
    const auto [end, bad] = std::from_chars(port.data(), port.data() + port.size(), out.to.port);
    if (bad != std::errc() || end != port.data() + port.size() || out.to.port == 0)
      return refuse("the URL's port is not between 1 and 65535");
  }
  out.has_credentials = u.has_userinfo();
  out.user = std::string(u.user());
  out.password = secret(u.password());
  if (u.has_query() || u.has_fragment()) return refuse("the URL has a query or a fragment");
  out.path = std::string(u.encoded_path());
  // Boost 1.81 takes "https://api:x" for the path "x" behind an empty port.
  if (!out.path.empty() && out.path.front() != '/')
    return refuse("the URL's port is not between 1 and 65535");
  while (out.path.ends_with('/')) out.path.pop_back();
  return out;
}

/// One entry of NO_PROXY: "*", a name, ".suffix", "*.suffix", an address, a network, each but the
/// last perhaps with a port.
bool exempts(std::string_view entry, const origin& to) {
  if (entry == "*") return true;
  error_code no_address;
  const ip::address host = ip::make_address(to.host, no_address);
  if (entry.find('/') != std::string_view::npos) {
    if (no_address) return false;
    error_code bad;
    const std::string text(entry);
    if (host.is_v4()) {
      const auto net = ip::make_network_v4(text, bad);
      return !bad &&
             net.canonical() == ip::network_v4(host.to_v4(), net.prefix_length()).canonical();
    }
    const auto net = ip::make_network_v6(text, bad);
    return !bad && net.canonical() == ip::network_v6(host.to_v6(), net.prefix_length()).canonical();
  }
  std::string name = lower(entry);
  const auto as_address = [](std::string text, error_code& bad) {
    if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
    return ip::make_address(text, bad);
  };
  error_code not_an_address;
  ip::address wanted = as_address(name, not_an_address);
  if (not_an_address) {
    if (const std::size_t colon = name.rfind(':'); colon != std::string::npos) {
      std::uint16_t port = 0;
      const char* const end = name.data() + name.size();
      const auto [stop, bad] = std::from_chars(name.data() + colon + 1, end, port);
      if (bad != std::errc() || stop != end || port != to.port) return false;
      name.resize(colon);
      wanted = as_address(name, not_an_address);
    }
  }
  if (!not_an_address) return !no_address && wanted == host;
  if (name.starts_with("*.")) name.erase(0, 1);
  if (name.starts_with('.')) return to.host.size() > name.size() && to.host.ends_with(name);
  return to.host == name || to.host.ends_with("." + name);
}

bool is_loopback(const std::string& host) {
  if (host == "localhost") return true;
  error_code bad;
  const ip::address a = ip::make_address(host, bad);
  return !bad && a.is_loopback();
}

}  // namespace

std::string origin::text() const {
  const bool v6 = host.find(':') != std::string::npos;
  return (tls ? "https://" : "http://") + (v6 ? "[" + host + "]" : host) + ":" +
         std::to_string(port);
}

result<origin> parse_origin(std::string_view url, std::string* path) {
  auto parsed = parse(url, "parse URL");
  if (!parsed) return parsed.error();
  if (parsed->has_credentials)
    return make_fault(errc::malformed, "parse URL", "the URL has a user name or a password in it");
  if (path) *path = std::move(parsed->path);
  return std::move(parsed->to);
}

std::string proxy::text() const {
  const std::string at = to.text();
  return language == speaks::socks ? "socks5" + at.substr(at.find("://")) : at;
}

result<proxy> parse_proxy(const proxy_settings& settings) {
  if (settings.url.empty()) return proxy{};
  const std::string& said = settings.url.reveal();
  const bool bare = said.find("://") == std::string::npos;  // as curl and Go allow
  wiped_string url(bare ? "http://" : "");
  url.reserve(url.size() + said.size());
  url += said;
  auto parsed = parse(url, "parse the proxy's URL", schemes::of_proxies);
  if (!parsed) return parsed.error();
  proxy out;
  out.to = std::move(parsed->to);
  if (parsed->socks) {
    constexpr std::size_t longest_text = 255;  // RFC 1929
    if (parsed->user.size() > longest_text || parsed->password.reveal().size() > longest_text)
      return make_fault(errc::malformed, "parse the proxy's URL",
                        "the user name or the password is longer than 255 bytes");
    out.language = proxy::speaks::socks;
    out.user = std::move(parsed->user);
    out.password = std::move(parsed->password);
  } else if (parsed->has_credentials)
    out.authorization = basic_authorization(parsed->user, parsed->password.reveal());
  return out;
}

proxy_settings proxy_from_environment(const origin& to,
                                      const std::function<std::string(std::string_view)>& env) {
  const auto look_up = [&](std::string_view upper_name) {
    std::string value = env(upper_name);
    return value.empty() ? env(lower(upper_name)) : value;
  };
  secret url(look_up(to.tls ? "HTTPS_PROXY" : "HTTP_PROXY"));
  if (url.empty() || is_loopback(to.host)) return {};
  const std::string exempt = look_up("NO_PROXY");
  std::string_view rest = exempt;
  while (!rest.empty()) {
    const std::size_t end = rest.find_first_of(", \t");
    const std::string_view entry = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    if (!entry.empty() && exempts(entry, to)) return {};
  }
  return {std::move(url)};
}

}  // namespace reactor::http
