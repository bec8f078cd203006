// `windlass check`: whether home can take Windlass, and whether it works there. Each thing is
// looked at though another one is missing.
#include "helm/members/home_check.hpp"

#include "formats/json/member.hpp"
#include "helm/members/member_objects.hpp"
#include "helm/members/predecessor.hpp"
#include "k8s/client/discovery.hpp"
#include "k8s/lease/lease.hpp"
#include "reactor/loop.hpp"
#include "service/policy_refusals.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <array>

namespace cli {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;
using formats::text_member;
using level = home_finding::level;
using reactor::awaitable;

struct home_look {
  reactor::loop& l;
  k8s::client& api;
  std::string ns;
  home_check out;
  void say(const char* name, level is, std::string says, std::string todo = {}) {
    out.findings.push_back({name, is, std::move(says), is == level::ok ? "" : std::move(todo)});
  }
};

/// What a person does about a check that `cluster check` makes as well.
std::string cure_of(std::string_view name, const std::string& ns) {
  if (name == "daemon")
    return "kubectl -n " + member_daemon(ns).ns +
           " describe daemonset says why its pods do not run";
  static constexpr std::array<std::pair<std::string_view, const char*>, 4> all = {{
      {"server", "name a reachable server of 1.30 or later with --kubeconfig and --context"},
      {"clock", "let both machines follow the same time server (NTP)"},
      {"kinds", "helm upgrade with the chart of this version, or apply its deploy/crds"},
      {"rights", "ask an administrator for the rights below, or use an account that has them"},
  }};
  for (const auto& [of, cure] : all)
    if (of == name) return cure;
  return {};
}

awaitable<void> look_at_cluster(home_look& c, check_as who) {  // borrowed
  k8s::object_key account = own_controller(c.ns);
  cluster_check seen = co_await check_by(c.l, c.api, who, std::move(account));
  c.out.server = seen.server;
  for (check_result& r : seen.results) {
    // Who may not ask for others' rights knows nothing of them.
    const bool unknown = r.name == "rights" && who == check_as::owner && seen.missing.empty();
    c.say(r.name.c_str(),
          r.passed  ? level::ok
          : unknown ? level::warning
                    : level::failure,
          std::move(r.says),
          unknown ? "ask for the right to create subjectaccessreviews" : cure_of(r.name, c.ns));
    if (who == check_as::owner && r.name == "rights" && r.passed)
      c.out.findings.back().says = "the service's account has all";
  }
  c.out.missing = std::move(seen.missing);
}

awaitable<void> look_at_namespace(home_look& c) {  // borrowed
  k8s::object_key key{"", c.ns};
  auto found = co_await find_object(c.api, k8s::resources::namespaces(), std::move(key));
  const std::string name = "\"" + c.ns + "\"";
  if (!found)
    c.say("namespace", level::failure, found.error().message(),
          "ask for the right to get namespaces");
  else if (!*found)
    c.say("namespace", level::ok, name + " is not there yet; helm --create-namespace makes it");
  else if (!text_member(**found, "metadata", "deletionTimestamp").empty())
    c.say("namespace", level::failure, name + " is being deleted",
          "wait until it is gone, or look at its finalizers");
  else
    c.say("namespace", level::ok, name + " is there");
}

awaitable<void> look_at_admission(home_look& c) {  // borrowed
  k8s::discovery served(c.api);
  auto known = co_await served.refresh();
  if (!known)
    c.say("admission", level::warning, known.error().message());
  else if (served.has_api_version("admissionregistration.k8s.io/v1"))
    c.say("admission", level::ok, "ValidatingAdmissionPolicy is served");
  else
    c.say("admission", level::failure, "admissionregistration.k8s.io/v1 is not served",
          "enable it: without its policies a node's daemon could change other nodes");
}

/// The original operator would move the same nodes.
awaitable<void> look_for_others(home_look& c) {  // borrowed
  const std::vector<predecessor_object> all = predecessor_objects(c.ns);
  for (const predecessor_object& o : all) {
    if (!o.acts) continue;
    k8s::resource what = o.what;
    k8s::object_key key = o.key;
    auto found = co_await find_object(c.api, std::move(what), std::move(key));
    if (!found || !*found || !is_predecessors(o.what, **found)) continue;
    c.say("other operators", level::failure,
          o.what.kind + " " + o.key.text() + " is the original bootc-operator's",
          "docs/migrating/bootc-operator.md says how to take its place");
    co_return;
  }
  c.say("other operators", level::ok, "the original bootc-operator is not there");
}

std::int64_t number_in(const json::value& v, const char* pointer) {
  boost::system::error_code none;
  const json::value* n = v.find_pointer(pointer, none);
  return n && n->is_int64() ? n->get_int64() : 0;
}

/// The arguments of the service's container.
std::vector<std::string> arguments_in(const json::value& deployment) {
  boost::system::error_code none;
  std::vector<std::string> out;
  const json::value* all = deployment.find_pointer("/spec/template/spec/containers/0/args", none);
  if (all && all->is_array())
    for (const json::value& one : all->get_array())
      if (one.is_string()) out.emplace_back(one.get_string());
  return out;
}
/// "--ui=:8090" and "--ui" ":8090".
std::vector<std::string> values_of_flag(const std::vector<std::string>& all,
                                        const std::string& flag) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].starts_with(flag + "=")) out.push_back(all[i].substr(flag.size() + 1));
    if (all[i] == flag && i + 1 < all.size()) out.push_back(all[i + 1]);
  }
  return out;
}

void look_at_page(home_look& c, const std::vector<std::string>& arguments) {
  const std::vector<std::string> at = values_of_flag(arguments, "--ui");
  if (at.empty() || at.back().empty() || at.back() == "0")
    c.say("page", level::ok, "it is off; --ui :8090 serves it");
  else if (at.back().starts_with(':') || at.back().starts_with("127."))
    c.say("page", level::ok,
          "on the loopback of the pod; kubectl port-forward deployment/" +
              own_controller(c.ns).name + " " + at.back().substr(at.back().rfind(':') + 1) +
              " reaches it");
  else
    c.say("page", level::ok, "at " + at.back() + " of the pod");
}

awaitable<void> look_at_policies(home_look& c, std::vector<std::string> arguments) {  // borrowed
  constexpr std::string_view prefix = "configmap:";
  for (const std::string& from : values_of_flag(arguments, "--policies")) {
    if (!from.starts_with(prefix)) continue;
    const std::string named = from.substr(prefix.size());
    const std::size_t slash = named.find('/');
    k8s::object_key key{slash == named.npos ? c.ns : named.substr(0, slash),
                        slash == named.npos ? named : named.substr(slash + 1)};
    const std::string name = "ConfigMap " + key.text();
    auto found = co_await find_object(c.api, k8s::resources::config_maps(), std::move(key));
    if (!found)
      c.say("policies", level::warning, found.error().message(),
            "ask for the right to get configmaps");
    else if (!*found)
      c.say("policies", level::failure, name + " is not there", "create it, or change --policies");
  }
  const std::size_t before = c.out.findings.size();
  std::string ns = c.ns;
  const std::vector<refused_policy> refused = co_await refused_policies(c.api, std::move(ns));
  for (const refused_policy& r : refused)
    c.say("policies", level::failure, r.ns + "/" + r.config_map + " is refused: " + r.why,
          "`windlass policy check` says the same of your files; the last good ones stay");
  if (c.out.findings.size() == before &&
      (c.out.findings.empty() || c.out.findings.back().name != "policies"))
    c.say("policies", level::ok, "none is refused");
}

/// The Deployment, what it serves, and the policies that it was given.
awaitable<void> look_at_service(home_look& c) {  // borrowed
  k8s::object_key key = own_controller(c.ns);
  const std::string name = "Deployment " + key.text();
  k8s::resource deployments{"apps", "v1", "deployments", "Deployment", true};
  auto found = co_await find_object(c.api, std::move(deployments), std::move(key));
  if (!found || !*found) {
    c.say("service", level::failure, found ? name + " is not there" : found.error().message(),
          "install the chart (docs/quickstart.md), or name its namespace with -n");
    co_return;
  }
  const json::value v(std::move(**found));
  const std::int64_t wanted = number_in(v, "/spec/replicas"),
                     ready = number_in(v, "/status/readyReplicas"),
                     fresh = number_in(v, "/status/updatedReplicas");
  const bool seen =
      number_in(v, "/status/observedGeneration") >= number_in(v, "/metadata/generation");
  const std::string counted = std::to_string(ready) + " of " + std::to_string(wanted) + " ready";
  // A pod is ready when /readyz of the service answers.
  if (!seen || fresh < wanted || ready < wanted)
    c.say("service", ready > 0 ? level::warning : level::failure,
          name + ", " + counted + ", " + std::to_string(fresh) + " of its newest form",
          "kubectl -n " + c.ns + " describe pods -l app.kubernetes.io/component=controller");
  else
    c.say("service", level::ok, name + ", " + counted);
  std::vector<std::string> arguments = arguments_in(v);
  look_at_page(c, arguments);
  co_await look_at_policies(c, std::move(arguments));
}

awaitable<void> look_at_metrics(home_look& c) {  // borrowed
  k8s::list_options o;
  o.ns = c.ns;
  o.label_selector = "kubernetes.io/service-name=bootc-operator-metrics";
  k8s::resource slices{"discovery.k8s.io", "v1", "endpointslices", "EndpointSlice", true};
  auto list = co_await c.api.list(std::move(slices), std::move(o));
  if (!list) {
    c.say("metrics", level::warning, list.error().message(),
          list.error().code == k8s::errc::forbidden ? "ask for the right to list endpointslices"
                                                    : "");
    co_return;
  }
  std::size_t ready = 0;
  if (const json::value* items = list->if_contains("items"); items && items->is_array())
    for (const json::value& slice : items->get_array()) {
      boost::system::error_code none;
      const json::value* all = slice.find_pointer("/endpoints", none);
      if (!all || !all->is_array()) continue;
      for (const json::value& one : all->get_array()) {
        const json::value* is = one.find_pointer("/conditions/ready", none);
        ready += is && is->is_bool() && is->get_bool() ? 1 : 0;
      }
    }
  c.say("metrics", ready > 0 ? level::ok : level::warning,
        ready > 0 ? std::to_string(ready) + " ready behind Service bootc-operator-metrics"
                  : "nothing ready is behind Service bootc-operator-metrics",
        "the service's pods have to be ready; see the line \"service\"");
}

/// Each API that has a Lease is moved by the process that renews it.
awaitable<void> look_at_leases(home_look& c, std::vector<units::api> apis) {  // borrowed
  std::vector<std::string> held;
  bool failed = false;
  for (const units::api& a : apis) {
    if (a.lease.empty()) continue;
    k8s::object_key key{c.ns, a.lease};
    auto found = co_await find_object(c.api, k8s::resources::leases(), std::move(key));
    if (!found) {
      c.say("lease", level::warning, found.error().message(), "ask for the right to get leases");
      co_return;
    }
    if (!*found) continue;
    const k8s::lease_record is = k8s::lease_record_of(**found);
    const auto renewed = reactor::parse_rfc3339(is.renewed);
    const reactor::nanoseconds ahead = c.api.clock_ahead().value_or(reactor::nanoseconds{});
    const reactor::nanoseconds silent =
        renewed ? c.l.wall() + ahead - *renewed : reactor::nanoseconds::max();
    if (!is.holder.empty() && silent <= std::chrono::seconds(is.duration_seconds) + 5s) {
      held.push_back(a.name + " by " + is.holder);
      continue;
    }
    failed = true;
    c.say("lease", level::failure,
          a.lease + (is.holder.empty() ? " has no holder"
                                       : " was last renewed by " + is.holder + " at " + is.renewed),
          "nothing moves " + a.name + ": look at the line \"service\" and at the service's log");
  }
  if (failed) co_return;
  std::string all;
  for (const std::string& one : held) all += (all.empty() ? "" : ", ") + one;
  if (held.empty())
    c.say("lease", level::failure, "no process has taken a Lease in " + c.ns,
          "look at the line \"service\" and at the service's log");
  else
    c.say("lease", level::ok, all);
}

}  // namespace

std::string_view text(home_finding::level l) noexcept {
  switch (l) {
    case level::ok: return "ok";
    case level::warning: return "warning";
    case level::failure: break;
  }
  return "failure";
}

bool home_check::failed() const noexcept {
  return std::ranges::any_of(
      findings, [](const home_finding& f) { return f.is == home_finding::level::failure; });
}

awaitable<home_check> check_before(reactor::loop& l, k8s::client& api, std::string ns) {
  home_look c{l, api, std::move(ns), {}};
  c.out.at = home_check::stage::before_install;
  co_await look_at_cluster(c, check_as::installer);
  co_await look_at_namespace(c);
  co_await look_at_admission(c);
  co_await look_for_others(c);
  co_return std::move(c.out);
}

awaitable<home_check> check_after(reactor::loop& l, k8s::client& api, std::string ns,
                                  std::vector<units::api> apis) {
  home_look c{l, api, std::move(ns), {}};
  co_await look_at_cluster(c, check_as::owner);
  co_await look_at_service(c);
  co_await look_at_metrics(c);
  co_await look_at_leases(c, std::move(apis));
  co_return std::move(c.out);
}

void add_members(home_check& to, const std::vector<listed_cluster>& all) {
  std::size_t well = 0;
  for (const listed_cluster& c : all) {
    const bool live = c.seen.state == "Live" || has_nothing(c.seen.state);
    if (live && c.token_problem.empty()) {
      ++well;
      continue;
    }
    to.findings.push_back({"members", live ? level::warning : level::failure,
                           c.seen.name + " is " + c.seen.state +
                               (live || c.seen.last_error.empty() ? "" : ": " + c.seen.last_error) +
                               (c.token_problem.empty() ? "" : "; " + c.token_problem),
                           "`windlass cluster check " + c.seen.name + "` says what it lacks"});
  }
  if (well == all.size())
    to.findings.push_back(
        {"members", all.empty() ? level::warning : level::ok,
         all.empty() ? "the fleet has none"
                     : std::to_string(well) + " of " + std::to_string(all.size()) + " reachable",
         all.empty() ? "`windlass cluster add CONTEXT` takes one in" : ""});
}

page check_text(const home_check& c, colours tint, std::size_t columns) {
  page out = page("home at ") + c.server + "\n";
  table t({"CHECK", "RESULT", "WHAT WAS SEEN", "WHAT TO DO"});
  for (const home_finding& f : c.findings)
    t.row({f.name,
           toned(std::string(text(f.is)),
                 f.is == level::ok        ? tone::good
                 : f.is == level::warning ? tone::busy
                                          : tone::bad,
                 tint),
           f.says, f.todo.empty() ? page("-") : page(f.todo)});
  out += t.text({}, columns) + rights_text(c.missing, columns);
  const auto counted = [&](level of, const char* what) {
    const auto n = std::ranges::count(c.findings, of, &home_finding::is);
    return std::to_string(n) + what + (n == 1 ? "" : "s");
  };
  return out + "\n" + std::to_string(std::ranges::count(c.findings, level::ok, &home_finding::is)) +
         " ok, " + counted(level::warning, " warning") + ", " +
         counted(level::failure, " failure") + "\n";
}

json::object check_document(const home_check& c) {
  json::object o{
      {"server", c.server},
      {"stage", c.at == home_check::stage::before_install ? "BeforeInstall" : "AfterInstall"},
      {"passed", !c.failed()}};
  json::array checks;
  for (const home_finding& f : c.findings) {
    json::object one{{"name", f.name}, {"result", text(f.is)}, {"message", f.says}};
    if (!f.todo.empty()) one["todo"] = f.todo;
    checks.push_back(std::move(one));
  }
  o["checks"] = std::move(checks);
  o["missingRights"] = rights_json(c.missing);
  return document("HomeCheck", std::move(o));
}

}  // namespace cli
