#include "k8s/client/tokens.hpp"

#include "k8s/client/client.hpp"

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <string>

namespace k8s {
namespace {

namespace json = boost::json;

const json::value* member(const json::object& o, const char* part, const char* name) {
  const json::value* inner = o.if_contains(part);
  return inner && inner->is_object() ? inner->get_object().if_contains(name) : nullptr;
}

}  // namespace

namespace resources {
const resource& service_accounts() {
  static const resource instance{"", "v1", "serviceaccounts", "ServiceAccount", true};
  return instance;
}
}  // namespace resources

awaitable<result<issued_token>> request_token(client& api, object_key account,
                                              std::chrono::seconds life,
                                              reactor::wall_time asked_at) {
  json::object spec{{"expirationSeconds", life.count()}};
  json::object body{{"apiVersion", "authentication.k8s.io/v1"}, {"kind", "TokenRequest"}};
  body["spec"] = std::move(spec);
  auto got = co_await api.create_subresource(resources::service_accounts(), std::move(account),
                                             "token", std::move(body));
  if (!got) co_return got.error();
  const json::value* text = member(*got, "status", "token");
  const json::value* until = member(*got, "status", "expirationTimestamp");
  const json::value* seconds = member(*got, "spec", "expirationSeconds");
  fault odd;
  odd.code = errc::malformed;
  odd.http_status = 201;
  odd.doing = "create serviceaccounts/token " + account.text();
  if (!text || !text->is_string() || text->get_string().empty()) {
    odd.detail = "the answer holds no token";
    co_return odd;
  }
  issued_token out;
  out.text = reactor::secret(std::string(text->get_string()));
  out.issued = asked_at;
  if (seconds && seconds->is_int64() && seconds->get_int64() > 0) {
    out.expires =
        asked_at + std::min<std::chrono::seconds>(std::chrono::seconds(seconds->get_int64()), life);
    co_return out;
  }
  const auto told = until && until->is_string()
                        ? reactor::parse_rfc3339(std::string_view(until->get_string()))
                        : reactor::result<reactor::wall_time>(asked_at);
  if (!told || *told <= asked_at) {
    odd.detail = "the answer does not say when the token ends";
    co_return odd;
  }
  out.expires = *told;
  co_return out;
}

}  // namespace k8s
