#include "service/page/access.hpp"

#include "formats/digest.hpp"
#include "reactor/http/message.hpp"
#include "reactor/plain/entropy.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace web {
namespace {

constexpr std::string_view cookie_name = "windlass-ui";
constexpr std::size_t shortest_token = 16;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/// "name:8090" and "[::1]:8090" without the port.
std::string_view without_port(std::string_view host) {
  if (host.starts_with('[')) return host.substr(0, host.find(']') + 1);
  return host.substr(0, host.find(':'));
}

/// The cookie of ours among them, or empty.
std::string_view our_cookie(std::string_view cookies) {
  while (!cookies.empty()) {
    const std::size_t end = std::min(cookies.find(';'), cookies.size());
    std::string_view one = cookies.substr(0, end);
    cookies.remove_prefix(std::min(end + 1, cookies.size()));
    while (one.starts_with(' ')) one.remove_prefix(1);
    if (one.starts_with(cookie_name) && one.substr(cookie_name.size()).starts_with('='))
      return one.substr(cookie_name.size() + 1);
  }
  return {};
}

/// The token of a field with a bearer, or empty.
reactor::secret bearer_of(std::string_view authorization) {
  constexpr std::string_view scheme = "bearer ";
  if (authorization.size() <= scheme.size() ||
      !reactor::http::same_name(authorization.substr(0, scheme.size()), scheme))
    return {};
  return reactor::secret(std::string(authorization.substr(scheme.size())));
}

}  // namespace

bool is_our_host(std::string_view host, const std::vector<std::string>& names) {
  const std::string_view name = without_port(host);
  if (name.empty()) return false;
  if (name.front() == '[')
    return name.size() > 3 && name.back() == ']' &&
           std::ranges::all_of(name.substr(1, name.size() - 2),
                               [](char c) { return is_hex(c) || c == ':' || c == '.'; });
  if (std::ranges::all_of(name, [](char c) { return is_digit(c) || c == '.'; })) return true;
  if (reactor::http::same_name(name, "localhost")) return true;
  return std::ranges::any_of(
      names, [&](const std::string& one) { return reactor::http::same_name(name, one); });
}

bool is_inner_host(std::string_view host, const std::vector<std::string>& names) {
  if (is_our_host(host, names)) return true;
  const std::string_view name = without_port(host);
  if (name.empty() || name.front() == '[') return false;
  const auto ends_in = [&](std::string_view domain) {
    return name.size() > domain.size() &&
           reactor::http::same_name(name.substr(name.size() - domain.size()), domain);
  };
  return name.find('.') == name.npos || ends_in(".svc") || ends_in(".local") ||
         ends_in(".internal");
}

bool is_our_origin(std::string_view origin, std::string_view host) {
  if (origin.empty()) return true;
  for (const std::string_view scheme : {"http://", "https://"})
    if (origin.starts_with(scheme))
      return reactor::http::same_name(origin.substr(scheme.size()), host);
  return false;
}

reactor::result<reactor::secret> read_token(const reactor::secret& file) {
  std::string_view text = file.reveal();
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  if (text.size() < shortest_token)
    return reactor::make_fault(reactor::errc::malformed, "read the token",
                               "it has fewer than 16 characters");
  if (!std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~'; }))
    return reactor::make_fault(reactor::errc::malformed, "read the token",
                               "it has characters other than those of ASCII without blanks");
  return reactor::secret(std::string(text));
}

doorkeeper::doorkeeper(reactor::entropy& rng, std::optional<reactor::secret> token)
    : chance_(rng), token_(std::move(token)) {}

void doorkeeper::change_token(reactor::secret token) {
  if (token_ && *token_ == token) return;
  token_ = std::move(token);
  ++token_number_;
  sessions_.clear();
}

std::vector<doorkeeper::session>::const_iterator doorkeeper::find(const reactor::secret& id) const {
  // All are compared, so that the time says nothing.
  auto found = sessions_.end();
  for (auto at = sessions_.begin(); at != sessions_.end(); ++at)
    if (at->id == id) found = at;
  return found;
}

std::optional<admission> doorkeeper::lets_in(std::string_view authorization,
                                             std::string_view cookies, reactor::steady_time now) {
  admission out;
  if (!token_) return out;
  const reactor::secret shown = bearer_of(authorization);
  if (!shown.empty() && shown == *token_) {
    out.by = admission::ground::token;
    out.token = token_number_;
    return out;
  }
  std::erase_if(sessions_, [&](const session& s) { return s.until <= now; });
  out.session = reactor::secret(std::string(our_cookie(cookies)));
  const auto found = find(out.session);
  if (found == sessions_.end()) return std::nullopt;
  out.by = admission::ground::session;
  out.until = found->until;
  return out;
}

bool doorkeeper::holds(const admission& a, reactor::steady_time now) const {
  switch (a.by) {
    case admission::ground::open: return !token_;
    case admission::ground::token: return token_ && a.token == token_number_;
    case admission::ground::session: return now < a.until && find(a.session) != sessions_.end();
  }
  return false;
}

bool doorkeeper::is_wrong_token(std::string_view authorization) const {
  const reactor::secret shown = bearer_of(authorization);
  return token_ && !shown.empty() && !(shown == *token_);
}

std::optional<std::string> doorkeeper::log_in(const reactor::secret& shown, transport by,
                                              reactor::steady_time now) {
  if (!token_ || !(shown == *token_)) return std::nullopt;
  std::array<unsigned char, 32> bytes{};
  chance_.fill(bytes);
  std::string id = formats::hex_of({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  std::string cookie = std::string(cookie_name) + "=" + id +
                       "; Path=/; HttpOnly; SameSite=Strict; Max-Age=" +
                       std::to_string(session_lasts / std::chrono::seconds(1));
  if (by == transport::tls) cookie += "; Secure";
  if (sessions_.size() >= most_sessions) sessions_.erase(sessions_.begin());
  sessions_.push_back({reactor::secret(std::move(id)), now + session_lasts});
  return cookie;
}

std::string doorkeeper::log_out(std::string_view cookies) {
  const reactor::secret id{std::string(our_cookie(cookies))};
  if (const auto at = find(id); at != sessions_.end()) sessions_.erase(at);
  return std::string(cookie_name) + "=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0";
}

}  // namespace web
