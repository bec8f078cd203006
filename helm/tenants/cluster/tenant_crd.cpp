#include "helm/tenants/cluster/tenant_crd.hpp"

#include "formats/yaml/yaml.hpp"
#include "helm/placed/object_writes.hpp"
#include "helm/placed/plan/retries.hpp"
#include "helm/tenants/kinds/log_lines.hpp"
#include "helm/tenants/kinds/names.hpp"
#include "helm/tenants/plan/crd_care.hpp"
#include "k8s/client/client.hpp"
#include "k8s/client/discovery.hpp"
#include "k8s/fleet/cluster.hpp"
#include "reactor/loop.hpp"

#include <boost/json.hpp>

#include <optional>
#include <utility>

namespace helm::tenants {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;
using reactor::awaitable;

constexpr reactor::nanoseconds establish_patience = 10s, establish_poll = 250ms, look_at_brake = 1s;

std::string crd_of(const k8s::resource& kind) {
  return kind.plural + "." + kind.group;
}

k8s::object_key key_of(const std::string& crd_name) {
  return {std::string(), crd_name};
}

json::object manifest(const std::string& crd_name) {
  for (const std::string& text : crd_manifests()) {
    auto read = formats::parse_kubernetes_yaml(text, "deploy/crds/tenants");
    if (!read || !read->is_object()) continue;
    json::object o = std::move(read->as_object());
    if (o.at("metadata").at("name").as_string() == crd_name) return o;
  }
  return {};
}

const json::object* object_at(const json::object& o, std::string_view name) {
  const json::value* v = o.if_contains(name);
  return v ? v->if_object() : nullptr;
}

bool is_established(const json::object& crd) {
  const json::object* status = object_at(crd, "status");
  const json::value* all = status ? status->if_contains("conditions") : nullptr;
  if (!all || !all->is_array()) return false;
  for (const json::value& c : all->get_array()) {
    const json::object* o = c.if_object();
    const json::value* type = o ? o->if_contains("type") : nullptr;
    const json::value* is = o ? o->if_contains("status") : nullptr;
    if (type && is && *type == "Established" && *is == "True") return true;
  }
  return false;
}

std::string revision_of(const json::object& crd) {
  const json::object* meta = object_at(crd, "metadata");
  const json::object* annotations = meta ? object_at(*meta, "annotations") : nullptr;
  const json::value* is = annotations ? annotations->if_contains(names::crd_revision) : nullptr;
  return is && is->is_string() ? std::string(is->as_string()) : std::string();
}

/// None: it is not there.
awaitable<k8s::result<std::optional<json::object>>> read_crd(k8s::engagement& on,  // borrowed
                                                             std::string name) {
  for (int attempts = 1;; ++attempts) {
    auto got = co_await on.api().get(k8s::resources::crds(), key_of(name));
    std::optional<json::object> out;
    if (!got && got.error().code == k8s::errc::not_found) co_return out;
    if (got) {
      out = std::move(*got);
      co_return out;
    }
    const auto pause = crd_pause(crd_request::read, placed::answer_of(got.error()), attempts);
    if (!pause) co_return got.error();
    co_await on.loop().sleep_for(*pause);
  }
}

awaitable<k8s::result<void>> create_crd(k8s::engagement& on,  // borrowed
                                        std::string name) {
  for (int attempts = 1;; ++attempts) {
    json::object body = manifest(name);
    auto made = co_await on.api().create(k8s::resources::crds(), std::string(), std::move(body));
    if (made || made.error().code == k8s::errc::exists) co_return k8s::result<void>();
    const auto pause = crd_pause(crd_request::create, placed::answer_of(made.error()), attempts);
    if (!pause) co_return made.error();
    co_await on.loop().sleep_for(*pause);
  }
}

k8s::fault failed(k8s::engagement& on, k8s::fault why, crd_request what) {
  if (why.code == k8s::errc::forbidden) why.detail += ": " + crd_remedy(what);
  on.log().warning(log_line::crd_failed, {{"why", why.message()}});
  return why;
}

/// Why the kind, which would be written, is not now; none: it is there.
using why_not_now = std::optional<units::stop>;

/// One that is there stays as it is unless it is an older one of ours. Who may not look at kinds
/// and finds it served has nothing to do.
awaitable<k8s::result<why_not_now>> ensure_crd(k8s::engagement& on,  // borrowed
                                               k8s::resource kind, units::brake_question brake) {
  const std::string name = crd_of(kind);
  auto is = co_await read_crd(on, name);
  if (!is && is.error().code == k8s::errc::forbidden) {
    k8s::resource wanted = kind;
    auto served = co_await on.discovery().serves(std::move(wanted));
    if (served && *served) co_return why_not_now();
  }
  if (!is) co_return failed(on, is.error(), crd_request::read);
  std::optional<std::string> revision;
  if (*is) revision = revision_of(**is);
  const crd_step next =
      care_for(revision ? std::optional<std::string_view>(*revision) : std::nullopt);
  if (next == crd_step::none && is_established(**is)) co_return why_not_now();
  why_not_now held = next == crd_step::none ? std::nullopt : units::begin(brake, name);
  if (held) co_return held;
  if (next == crd_step::create) {
    auto made = co_await create_crd(on, name);
    if (!made) co_return failed(on, made.error(), crd_request::create);
    on.log().info("the kind was made", {{"kind", kind.kind}});
  } else if (next == crd_step::replace) {
    json::object body = manifest(name);
    auto put =
        co_await on.api().apply(k8s::resources::crds(), key_of(name), std::move(body),
                                k8s::request_options().by(std::string(names::field_manager)));
    if (!put) co_return failed(on, put.error(), crd_request::create);
  }
  const reactor::steady_time until = on.loop().now() + establish_patience;
  for (;;) {
    auto now = co_await read_crd(on, name);
    if (!now) co_return failed(on, now.error(), crd_request::read);
    if (*now && is_established(**now)) break;
    if (on.loop().now() >= until) {
      k8s::fault f;
      f.code = k8s::errc::unavailable;
      f.doing = "wait for " + name;
      f.detail = "it is not established within 10 s";
      co_return failed(on, f, crd_request::read);
    }
    co_await on.loop().sleep_for(establish_poll);
  }
  on.discovery().forget();
  co_return why_not_now();
}

}  // namespace

awaitable<kind_absence> look_for_kind(k8s::engagement& on,  // borrowed
                                      k8s::resource kind) {
  kind_absence out;
  const std::string name = kind.kind;
  auto served = co_await on.discovery().serves(std::move(kind));
  if (served && !*served)
    out.problem = "the kind " + name + " is not served; `windlass run` brings it";
  co_return out;
}

awaitable<void> until_kind_is_there(k8s::engagement& on, k8s::resource kind,  // borrowed
                                    kind_absence& why, units::brake_question brake,
                                    std::function<void(std::string)> tell_failure) {
  for (;;) {
    auto care = co_await ensure_crd(on, kind, brake);
    why = {};
    if (care && !*care) break;
    if (care) {
      const units::stop& held = **care;
      why.problem = "write " + crd_of(kind) + ": " + held.sentence;
      co_await on.loop().sleep_for(held.again_in.value_or(look_at_brake));
      continue;
    }
    why.problem = care.error().message();
    if (care.error().code == k8s::errc::forbidden) why.refused = care.error();
    if (tell_failure) tell_failure(why.problem);
    co_await on.loop().sleep_for(pause_after(retry_cause::crd, 1));
  }
}

}  // namespace helm::tenants
