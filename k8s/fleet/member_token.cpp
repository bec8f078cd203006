#include "k8s/fleet/member_token.hpp"

#include "formats/base64.hpp"
#include "k8s/client/wiping_json.hpp"
#include "k8s/informer/meta.hpp"

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include <charconv>

namespace k8s {
namespace {

namespace json = boost::json;

constexpr std::string_view account_key = "windlass.dev/token-account",
                           uid_key = "windlass.dev/cluster-uid",
                           life_key = "windlass.dev/token-seconds",
                           issued_key = "windlass.dev/token-issued",
                           expires_key = "windlass.dev/token-expires",
                           hash_key = "windlass.dev/kubeconfig-sha256";

}  // namespace

std::optional<member_token> read_member_token(const string_map& annotations) {
  member_token m;
  const std::string_view account = annotations.get(account_key);
  const std::size_t slash = account.find('/');
  if (slash == account.npos) return std::nullopt;
  m.account = {std::string(account.substr(0, slash)), std::string(account.substr(slash + 1))};
  if (!problem_of_name(m.account.ns).empty() || !problem_of_name(m.account.name).empty())
    return std::nullopt;
  const std::string_view life = annotations.get(life_key);
  std::int64_t seconds = 0;
  const auto [end, code] = std::from_chars(life.data(), life.data() + life.size(), seconds);
  if (code != std::errc{} || end != life.data() + life.size()) return std::nullopt;
  m.life = std::chrono::seconds(seconds);
  if (m.life < shortest_token_life || m.life > longest_token_life) return std::nullopt;
  const auto issued = reactor::parse_rfc3339(annotations.get(issued_key));
  const auto expires = reactor::parse_rfc3339(annotations.get(expires_key));
  if (!issued || !expires || *expires <= *issued || *expires - *issued > longest_token_life)
    return std::nullopt;
  m.issued = *issued;
  m.expires = *expires;
  m.cluster_uid = annotations.get(uid_key);
  m.kubeconfig_hash = annotations.get(hash_key);
  if (m.kubeconfig_hash.empty()) return std::nullopt;
  return m;
}

json::object annotations_of(const member_token& m) {
  json::object o;
  o[account_key] = m.account.text();
  o[uid_key] = m.cluster_uid;
  o[life_key] = std::to_string(m.life.count());
  o[issued_key] = reactor::format_rfc3339(m.issued);
  o[expires_key] = reactor::format_rfc3339(m.expires);
  o[hash_key] = m.kubeconfig_hash;
  return o;
}

reactor::wall_time renewal_due(const member_token& m, std::string_view name) {
  std::uint32_t h = 2166136261u;  // FNV-1a: the same name, the same moment, in every process
  for (const char c : name) h = (h ^ static_cast<unsigned char>(c)) * 16777619u;
  const reactor::nanoseconds life = m.expires - m.issued;
  // In thousandths, so that a year of nanoseconds does not overflow.
  return m.issued + life / 1000 * (600 + static_cast<std::int64_t>(h % 200));
}

bool is_overdue(const member_token& m, reactor::wall_time now) noexcept {
  return now > m.issued + (m.expires - m.issued) / 100 * 85;
}

reactor::secret member_kubeconfig(const connection& to, std::string_view name,
                                  const reactor::secret& token) {
  const json::storage_ptr wiped = wiping_storage();
  json::object cluster(wiped), user(wiped), context(wiped);
  cluster["server"] = to.server;
  if (!to.tls_server_name.empty()) cluster["tls-server-name"] = to.tls_server_name;
  if (to.insecure) cluster["insecure-skip-tls-verify"] = true;
  if (!to.ca.bytes.empty())
    cluster["certificate-authority-data"] = formats::encode_base64(to.ca.bytes.reveal());
  if (!to.proxy_url.empty()) cluster["proxy-url"] = to.proxy_url.reveal();
  user["token"] = token.reveal();
  context["cluster"] = name;
  context["user"] = "windlass";
  const auto listed = [&](std::string_view of, const char* part, json::object inner) {
    json::object one(wiped);
    one["name"] = of;
    one[part] = std::move(inner);
    json::array all(wiped);
    all.push_back(std::move(one));
    return all;
  };
  json::object o(wiped);
  o["apiVersion"] = "v1";
  o["kind"] = "Config";
  o["clusters"] = listed(name, "cluster", std::move(cluster));
  o["users"] = listed("windlass", "user", std::move(user));
  o["contexts"] = listed(name, "context", std::move(context));
  o["current-context"] = name;
  return reactor::secret(text_of_secret(json::value(std::move(o), wiped)));
}

std::optional<reactor::secret> with_token(const reactor::secret& kubeconfig,
                                          const reactor::secret& token) {
  boost::system::error_code wrong;
  json::value all = json::parse(kubeconfig.reveal(), wrong, wiping_storage());
  if (wrong) return std::nullopt;
  json::value* user = all.find_pointer("/users/0/user", wrong);
  if (wrong || !user || !user->is_object()) return std::nullopt;
  json::value* old = user->get_object().if_contains("token");
  if (!old || !old->is_string()) return std::nullopt;
  *old = json::string(token.reveal(), all.storage());
  return reactor::secret(text_of_secret(all));
}

}  // namespace k8s
