#include "bootc/pool/guard/guarded.hpp"

#include "k8s/client/client.hpp"
#include "reactor/plain/printable.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <array>

namespace bootc {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;
using reactor::errc;
using reactor::make_fault;

constexpr std::size_t most_objects = 8, most_shown = 120;
/// A rollout waits for the answer; the next question comes soon.
constexpr reactor::nanoseconds answer_within = 5s;

std::vector<std::string> parts_of(std::string_view text, char at) {
  std::vector<std::string> out;
  for (;;) {
    const std::size_t end = std::min(text.find(at), text.size());
    std::string_view one = text.substr(0, end);
    while (!one.empty() && one.front() == ' ') one.remove_prefix(1);
    while (!one.empty() && one.back() == ' ') one.remove_suffix(1);
    out.emplace_back(one);
    if (end == text.size()) return out;
    text.remove_prefix(end + 1);
  }
}

/// "v1", "v1beta2"; a group has a dot or begins otherwise, as "apps" does.
bool is_version(std::string_view text) {
  return text.size() > 1 && text[0] == 'v' && text[1] >= '1' && text[1] <= '9' &&
         text.find('.') == std::string_view::npos;
}

/// Kinds that a pool's author may have looked at with our rights. These include kinds that we read
/// for ourselves (Secrets, Pods, Namespaces, Leases, roles), and the answer tells the author which
/// objects of them exist, so of Kubernetes' own kinds only workloads and ConfigMaps are allowed.
/// For other groups an administrator grants us the right, which is for guards.
bool may_guard(const k8s::resource& kind) {
  constexpr std::array<std::string_view, 4> workloads{"deployments", "statefulsets", "daemonsets",
                                                      "replicasets"};
  if (kind.group == "apps") return std::ranges::find(workloads, kind.plural) != workloads.end();
  if (kind.group == "batch") return kind.plural == "jobs" || kind.plural == "cronjobs";
  if (kind.group.empty()) return kind.plural == "configmaps";
  return kind.group.find('.') != std::string::npos && !kind.group.ends_with(".k8s.io");
}

std::uint64_t number_at(const json::object& o, std::string_view part, std::string_view field,
                        std::uint64_t otherwise) {
  const json::value* of = o.if_contains(part);
  const json::object* in = of ? of->if_object() : nullptr;
  const json::value* v = in ? in->if_contains(field) : nullptr;
  if (v && v->is_int64() && v->get_int64() >= 0) return static_cast<std::uint64_t>(v->get_int64());
  return v && v->is_uint64() ? v->get_uint64() : otherwise;
}

}  // namespace

reactor::result<std::vector<guarded>> guarded_in(std::string_view text) {
  std::vector<guarded> out;
  for (std::string& entry : parts_of(text, ',')) {
    if (entry.empty()) continue;
    std::vector<std::string> p = parts_of(entry, '/');
    guarded one;
    one.path = std::move(entry);
    if (!is_version(p.front())) {
      one.kind.group = std::move(p.front());
      p.erase(p.begin());
    }
    const bool whole = (p.size() == 3 || p.size() == 4) && is_version(p.front()) &&
                       std::ranges::all_of(p, [](const std::string& part) {
                         return k8s::problem_of_name(part).empty();
                       });
    if (!whole)
      return make_fault(errc::malformed, {},
                        "'" + reactor::printable(one.path, most_shown) +
                            "' is no [GROUP/]VERSION/PLURAL/[NAMESPACE/]NAME");
    one.kind.version = p[0];
    one.kind.plural = p[1];
    if (!may_guard(one.kind))
      return make_fault(errc::malformed, {},
                        "'" + reactor::printable(one.path, most_shown) +
                            "' is of a kind that is not looked at: workloads of apps and batch, "
                            "ConfigMaps and custom resources are");
    if (out.size() == most_objects)
      return make_fault(errc::malformed, {},
                        "more than " + std::to_string(most_objects) + " objects");
    one.kind.kind = p[1];
    one.kind.namespaced = p.size() == 4;
    one.key = p.size() == 4 ? k8s::object_key{p[2], p[3]} : k8s::object_key{{}, p[2]};
    out.push_back(std::move(one));
  }
  return out;
}

policies::guarded_object facts_of(std::string path, const json::object& object) {
  policies::guarded_object out;
  out.path = std::move(path);
  out.exists = true;
  const json::value* kind = object.if_contains("kind");
  std::string_view is;
  if (kind && kind->is_string()) is = kind->get_string();
  if (is == "DaemonSet") {
    out.counts = true;
    out.wanted = number_at(object, "status", "desiredNumberScheduled", 0);
    out.available = number_at(object, "status", "numberAvailable", 0);
  } else if (is == "Deployment" || is == "StatefulSet" || is == "ReplicaSet") {
    out.counts = true;
    out.wanted = number_at(object, "spec", "replicas", 1);
    out.available = number_at(object, "status", "availableReplicas", 0);
  }
  return out;
}

reactor::awaitable<std::vector<policies::guarded_object>> look_at_guarded(k8s::client& api,
                                                                          std::string text) {
  std::vector<policies::guarded_object> out;
  auto all = guarded_in(text);
  if (!all) {
    policies::guarded_object wrong;
    wrong.path = "windlass.dev/guard-objects";
    wrong.problem = all.error().detail;
    out.push_back(std::move(wrong));
    co_return out;
  }
  for (guarded& one : *all) {
    auto object = co_await api.get(one.kind, one.key, k8s::request_options().within(answer_within));
    if (object) {
      out.push_back(facts_of(std::move(one.path), *object));
      continue;
    }
    policies::guarded_object absent;
    absent.path = std::move(one.path);
    if (object.error().code != k8s::errc::not_found)
      absent.problem = reactor::printable(object.error().message(), 2 * most_shown);
    out.push_back(std::move(absent));
  }
  co_return out;
}

}  // namespace bootc
