#include "helm/members/ends.hpp"

#include "app/output.hpp"
#include "formats/base64.hpp"
#include "formats/digest.hpp"
#include "k8s/client/kubeconfig.hpp"
#include "k8s/fleet/kubeconfig_secret.hpp"
#include "k8s/informer/meta.hpp"

#include <boost/json.hpp>
#include <unistd.h>

#include <iostream>

namespace cli {

using namespace app;

namespace {

namespace json = boost::json;

const json::object* part(const json::object& o, std::string_view name) {
  const json::value* v = o.if_contains(name);
  return v ? v->if_object() : nullptr;
}

std::vector<std::pair<std::string, std::string>> texts(const json::object* o) {
  std::vector<std::pair<std::string, std::string>> all;
  if (!o) return all;
  for (const auto& [name, v] : *o)
    if (v.is_string()) all.emplace_back(name, std::string(v.get_string()));
  return all;
}

noted_member read_member(const json::object& secret, const secret_place& at) {
  noted_member m;
  if (const json::object* metadata = part(secret, "metadata")) {
    if (const json::value* name = metadata->if_contains("name"); name && name->is_string())
      m.name = name->get_string();
    for (auto& label : texts(part(*metadata, "labels"))) {
      if (label.first == at.label)
        m.in_fleet = label.second == "true";
      else
        m.labels.push_back(std::move(label));
    }
    std::vector<k8s::string_map::member> noted;
    for (const auto& [key, text] : texts(part(*metadata, "annotations")))
      noted.emplace_back(k8s::interned(key), k8s::interned(text));
    m.member = k8s::read_member_token(k8s::string_map(std::move(noted)));
  }
  if (const json::object* data = part(secret, "data")) {
    for (const auto& [key, bytes] : *data) m.keys.emplace_back(key);
    const json::value* coded = data->if_contains(at.key);
    if (coded && coded->is_string())
      if (auto bytes = formats::decode_base64(coded->get_string()))
        m.kubeconfig = reactor::secret(*std::move(bytes));
  }
  if (m.member && m.member->kubeconfig_hash != formats::sha256_hex(m.kubeconfig.reveal()))
    m.member.reset();
  return m;
}

}  // namespace

reactor::fault sentence(std::string text) {
  return reactor::make_fault(reactor::errc::refused, "", text);
}

reactor::result<k8s::connection> connection_of(const noted_member& m, const secret_place& at,
                                               const std::vector<k8s::allowed_program>& programs) {
  k8s::kubeconfig_options reading;
  reading.source = k8s::kubeconfig_source(at.ns, m.name, at.key);
  reading.programs = programs;
  if (m.kubeconfig.empty()) return k8s::no_kubeconfig(reading.source, at.key, m.keys);
  return k8s::load_kubeconfig(m.kubeconfig.reveal(), reading);
}

reactor::awaitable<k8s::result<std::optional<json::object>>> find_object(k8s::client& api,
                                                                         k8s::resource what,
                                                                         k8s::object_key key) {
  auto got = co_await api.get(std::move(what), std::move(key));
  if (!got && got.error().code == k8s::errc::not_found) co_return std::optional<json::object>();
  if (!got) co_return got.error();
  co_return std::optional<json::object>(std::move(*got));
}

reactor::awaitable<k8s::result<std::optional<noted_member>>> find_member(k8s::client& home,
                                                                         secret_place at,
                                                                         std::string name) {
  k8s::object_key key{at.ns, name};
  auto found = co_await find_object(home, k8s::resources::secrets(), std::move(key));
  if (!found) co_return found.error();
  if (!*found) co_return std::optional<noted_member>();
  co_return std::optional<noted_member>(read_member(**found, at));
}

reactor::awaitable<k8s::result<std::vector<noted_member>>> all_members(k8s::client& home,
                                                                       secret_place at) {
  std::vector<noted_member> all;
  k8s::list_options o;
  o.ns = at.ns;
  o.label_selector = at.label + "=true";
  for (;;) {
    k8s::list_options asked = o;
    auto page = co_await home.list(k8s::resources::secrets(), std::move(asked));
    if (!page) co_return page.error();
    if (const json::value* items = page->if_contains("items"); items && items->is_array())
      for (const json::value& one : items->get_array())
        if (one.is_object()) all.push_back(read_member(one.get_object(), at));
    const json::object* metadata = part(*page, "metadata");
    const json::value* more = metadata ? metadata->if_contains("continue") : nullptr;
    if (!more || !more->is_string() || more->get_string().empty()) co_return all;
    o.continue_token = more->get_string();
  }
}

reactor::awaitable<k8s::result<std::string>> uid_of(k8s::client& api) {
  k8s::object_key key{"", "kube-system"};
  auto got = co_await api.get(k8s::resources::namespaces(), std::move(key));
  if (!got) co_return got.error();
  const json::object* metadata = part(*got, "metadata");
  const json::value* uid = metadata ? metadata->if_contains("uid") : nullptr;
  co_return uid && uid->is_string() ? std::string(uid->get_string()) : std::string();
}

bool same_content(json::object a, json::object b) {
  for (json::object* o : {&a, &b}) {
    o->erase("status");
    json::value* metadata = o->if_contains("metadata");
    if (!metadata || !metadata->is_object()) continue;
    for (const char* field :
         {"managedFields", "resourceVersion", "generation", "uid", "creationTimestamp", "selfLink"})
      metadata->get_object().erase(field);
  }
  return a == b;
}

bool can_ask() {
  return isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
}

bool is_confirmed(std::string_view question) {
  if (!can_ask()) return false;
  write_out(STDOUT_FILENO, page(question) + " [y/N] ");
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

}  // namespace cli
