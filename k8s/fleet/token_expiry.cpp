#include "k8s/fleet/token_expiry.hpp"

#include "formats/base64.hpp"

#include <boost/json/parse.hpp>

#include <algorithm>
#include <string>

namespace k8s {

std::optional<reactor::wall_time> token_expiry(std::string_view token) {
  const std::size_t first = token.find('.'), second = token.find('.', first + 1);
  if (first == token.npos || second == token.npos) return std::nullopt;
  std::string claims(token.substr(first + 1, second - first - 1));
  std::ranges::replace(claims, '-', '+');
  std::ranges::replace(claims, '_', '/');
  claims.append((4 - claims.size() % 4) % 4, '=');
  const auto text = formats::decode_base64(claims);
  if (!text) return std::nullopt;
  boost::system::error_code failed;
  const boost::json::value read = boost::json::parse(*text, failed);
  const boost::json::object* all = failed ? nullptr : read.if_object();
  const boost::json::value* exp = all ? all->if_contains("exp") : nullptr;
  constexpr std::int64_t latest = 9'000'000'000;  // 2255; nanoseconds hold no more
  if (!exp || !exp->is_int64() || exp->get_int64() <= 0 || exp->get_int64() > latest)
    return std::nullopt;
  return reactor::wall_time(std::chrono::duration_cast<reactor::wall_time::duration>(
      std::chrono::seconds(exp->get_int64())));
}

}  // namespace k8s
