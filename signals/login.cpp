#include "signals/login.hpp"

#include "formats/base64.hpp"
#include "reactor/http/authorization.hpp"
#include "signals/hosts.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <optional>

namespace signals {
namespace {

using reactor::errc;
using reactor::make_fault;

constexpr std::size_t most_bytes = 16 * 1024;

/// None where the key is missing; empty where it is no base64.
std::optional<reactor::secret> bytes_of(const boost::json::object& data, std::string_view key) {
  const boost::json::value* v = data.if_contains(key);
  if (!v) return std::nullopt;
  auto bytes = v->is_string() ? formats::decode_base64(v->get_string()) : std::nullopt;
  if (!bytes) return reactor::secret();
  std::string_view text = *bytes;
  while (text.ends_with('\n')) text.remove_suffix(1);
  return reactor::secret(std::string(text));
}

/// What fits into one field of a request.
bool is_fit(const reactor::secret& s) {
  const std::string_view text = s.reveal();
  return !text.empty() && text.size() <= most_bytes && std::ranges::all_of(text, [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f;
  });
}

}  // namespace

reactor::result<login> read_login(const boost::json::object& secret) {
  const boost::json::value* data = secret.if_contains("data");
  static const boost::json::object none;
  const boost::json::object& has = data && data->is_object() ? data->get_object() : none;
  const auto wrong = [](std::string_view why) { return make_fault(errc::malformed, {}, why); };
  const auto origin = bytes_of(has, "origin");
  if (!origin || origin->empty())
    return wrong("it has no key origin, which names the server that the login is for");
  login out;
  auto read = read_allowed_host(origin->reveal());
  if (!read) return wrong("its key origin is no [https://|http://]HOST[:PORT]");
  out.origin = std::move(*read);
  if (const auto token = bytes_of(has, "token")) {
    if (!is_fit(*token)) return wrong("its key token is no token");
    out.authorization = reactor::http::bearer_authorization(token->reveal());
    return out;
  }
  const auto user = bytes_of(has, "username"), password = bytes_of(has, "password");
  if (!user || !password || !is_fit(*user) || !is_fit(*password))
    return wrong("it has neither a key token nor the keys username and password");
  out.authorization = reactor::http::basic_authorization(user->reveal(), password->reveal());
  return out;
}

}  // namespace signals
