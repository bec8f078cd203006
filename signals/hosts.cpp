#include "signals/hosts.hpp"

#include "reactor/http/client.hpp"
#include "reactor/net/metadata_address.hpp"
#include "reactor/plain/printable.hpp"

#include <algorithm>

namespace signals {
namespace {

using reactor::errc;
using reactor::make_fault;

constexpr std::size_t most_shown = 120;

}  // namespace

reactor::result<std::string> read_allowed_host(std::string_view text) {
  const bool has_scheme = text.starts_with("https://") || text.starts_with("http://");
  const std::string url = has_scheme ? std::string(text) : "https://" + std::string(text);
  const std::size_t host = url.find("://") + 3;
  const bool plain = url.find_first_of("/?#@ \t", host) == url.npos && !url.substr(host).empty();
  auto origin = plain ? reactor::http::parse_origin(url)
                      : reactor::result<reactor::http::origin>(make_fault(errc::malformed, {}));
  if (!origin)
    return make_fault(
        errc::malformed, {},
        "\"" + reactor::printable(text, most_shown) + "\" is no [https://|http://]HOST[:PORT]");
  if (reactor::is_metadata_host(origin->host))
    return make_fault(errc::refused, {},
                      origin->host + " is an address where clouds keep credentials");
  return origin->text();
}

reactor::result<void> is_allowed(std::string_view url, const std::vector<std::string>& origins) {
  auto origin = reactor::http::parse_origin(url.substr(0, url.find('?')));
  if (!origin)
    return make_fault(errc::malformed, {},
                      "\"" + reactor::printable(url, most_shown) + "\" is no address");
  if (std::ranges::find(origins, origin->text()) != origins.end()) return {};
  return make_fault(
      errc::refused, {},
      "no --allow-signal-host names " + reactor::printable(origin->text(), most_shown));
}

}  // namespace signals
