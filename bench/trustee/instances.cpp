#include "bench/trustee/instances.hpp"

#include "formats/base64.hpp"
#include "formats/yaml/yaml.hpp"
#include "k8s/sim/workloads.hpp"
#include "reactor/loop.hpp"
#include "simulation/manifests.hpp"
#include "simulation/mounted_catalogue.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <stdexcept>

namespace bench {
namespace {

using namespace std::chrono_literals;
namespace json = boost::json;

constexpr const char *group = "confidentialcontainers.org", *ns = "default", *source = "tls";
constexpr const char* versions[] = {"v0.18.0", "v0.20.0", "v0.21.0"};
constexpr std::size_t unnamed_secrets = 10;
constexpr reactor::nanoseconds between_changes = 10ms;

json::object secret(const std::string& name, const char* type, json::object data) {
  return {{"apiVersion", "v1"},
          {"kind", "Secret"},
          {"type", type},
          {"metadata", {{"name", name}, {"namespace", ns}}},
          {"data", std::move(data)}};
}

std::string unnamed(std::size_t i) {
  return "unnamed-" + std::to_string(i);
}

json::object instance(std::size_t i) {
  const std::string name = "i-" + std::to_string(i);
  json::object spec{{"instanceName", name}, {"version", versions[i % std::size(versions)]}};
  if (i % 3 == 0) {
    spec["profileType"] = "Restricted";
    for (const char* key : {"httpsSpec", "attestationTokenVerificationSpec"})
      spec[key] = json::object{{"tlsSecretName", source}};
  }
  return {{"apiVersion", std::string(group) + "/v1alpha1"},
          {"kind", "TrusteeConfig"},
          {"metadata", {{"name", name}, {"namespace", ns}}},
          {"spec", std::move(spec)}};
}

}  // namespace

void instances::furnish(reactor::loop& l, k8s::sim::api_server& api, std::size_t each) {
  for (const char* name : {ns, "kube-system"})
    api.put({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name}}}});
  for (const std::string& text : simulation::trustee_manifests()) {
    auto read = formats::parse_kubernetes_yaml(text, "crd");
    if (!read) throw std::runtime_error(read.error().message());
    api.put(read->as_object());
  }
  api.put(secret(source, "kubernetes.io/tls",
                 {{"tls.crt", formats::encode_base64(std::string(1200, 'c'))},
                  {"tls.key", formats::encode_base64(std::string(1700, 'k'))}}));
  for (std::size_t i = 0; i < unnamed_secrets; ++i) api.put(secret(unnamed(i), "Opaque", {}));
  for (std::size_t i = 0; i < each; ++i) api.put(instance(i));
  const std::size_t at = clusters_.size();
  clusters_.push_back(&api);
  api.before = [this, &l](const k8s::sim::request& r) -> std::optional<k8s::sim::answer> {
    if (r.path != "/counts" && r.path != "/disturb" && r.path != "/calm") return std::nullopt;
    return answer(l, r.path);
  };
  api.on_write = [this, &l, at](const k8s::sim::written& w) { saw(l, at, w); };
}

k8s::sim::answer instances::answer(reactor::loop& l, const std::string& path) {
  if (path == "/disturb" && !disturbing_) {
    disturbing_ = true;
    disturb(l);
  }
  if (path == "/calm") disturbing_ = false;
  const auto count = [&](auto&& which) {
    return std::ranges::count_if(states_, [&](const auto& one) { return which(one.second); });
  };
  k8s::sim::answer out;
  out.body = json::serialize(
      json::object{{"writes", writes_},
                   {"events", events_},
                   {"changed", changed_},
                   {"ready", count([](const state& s) { return s.ready; })},
                   {"other", count([](const state& s) { return s.ready && s.other; })}});
  return out;
}

void instances::saw(reactor::loop& l, std::size_t at, const k8s::sim::written& w) {
  const bool told = w.plural == "events";
  events_ += told;
  writes_ += !ours_ && !told && w.plural != "leases";
  if (!w.after || w.type == k8s::sim::write_type::deleted) return;
  boost::system::error_code none;
  const json::value now(*w.after);
  if (w.plural == "trusteeconfigs") {
    const json::value* ready = now.find_pointer("/status/isReady", none);
    states_[{at, std::string(w.name)}].ready = ready && ready->is_bool() && ready->get_bool();
  }
  if (w.plural != "deployments" || ours_) return;
  const std::string name(w.name);
  const json::value* image = now.find_pointer("/spec/template/spec/containers/0/image", none);
  states_[{at, name.substr(std::string_view("trustee-deployment-").size())}].other =
      image && image->is_string() &&
      image->get_string().starts_with(simulation::mounted_catalogue::other_registry);
  l.timers().arm(l.now(), [this, at, name] {
    ours_ = true;
    clusters_[at]->edit("apps", "deployments", ns, name, k8s::sim::make_ready);
    ours_ = false;
  });
}

void instances::disturb(reactor::loop& l) {
  l.timers().arm(l.now() + between_changes, [this, &l] {
    if (!disturbing_) return;
    k8s::sim::api_server& api = *clusters_[changed_ % clusters_.size()];
    ours_ = true;
    api.edit("", "secrets", ns, unnamed(changed_ / clusters_.size() % unnamed_secrets),
             [this](json::object& s) {
               s["data"] =
                   json::object{{"count", formats::encode_base64(std::to_string(changed_))}};
             });
    ours_ = false;
    ++changed_;
    disturb(l);
  });
}

}  // namespace bench
