#include "helm/members/check.hpp"

#include "formats/plain/listed.hpp"
#include "helm/members/member_objects.hpp"
#include "k8s/client/discovery.hpp"
#include "reactor/loop.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <set>

namespace cli {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

// Leases of 15 s and tokens stand a minute of difference; holds and times in messages become
// riddles beyond.
constexpr reactor::nanoseconds tolerated_skew = 60s;
constexpr std::string_view group_version = "node.bootc.dev/v1alpha1";

/// "spec.rollout.paused": every property of a schema, by its path.
void paths_of(const json::object& schema, const std::string& at, std::set<std::string>& into) {
  const auto below = [&](const json::object& s, const std::string& path) {
    paths_of(s, path, into);
  };
  if (const json::value* items = schema.if_contains("items"); items && items->is_object())
    below(items->get_object(), at);
  const json::value* all = schema.if_contains("properties");
  if (!all || !all->is_object()) return;
  for (const auto& [name, inner] : all->get_object()) {
    const std::string path = at.empty() ? std::string(name) : at + "." + std::string(name);
    // Where the server puts its own.
    if (path == "metadata" || path == "apiVersion" || path == "kind") continue;
    into.insert(path);
    if (inner.is_object()) below(inner.get_object(), path);
  }
}

/// Kind → the paths of its properties, of the kinds that this program brings.
std::vector<std::pair<std::string, std::set<std::string>>> our_kinds() {
  std::vector<std::pair<std::string, std::set<std::string>>> all;
  const auto objects = member_objects({});
  if (!objects) return all;
  for (const member_object& o : *objects) {
    if (o.what.kind != "CustomResourceDefinition") continue;
    boost::system::error_code none;
    const json::value v(o.body);
    const json::value* kind = v.find_pointer("/spec/names/kind", none);
    const json::value* schema = v.find_pointer("/spec/versions/0/schema/openAPIV3Schema", none);
    if (!kind || !kind->is_string() || !schema || !schema->is_object()) continue;
    std::set<std::string> paths;
    paths_of(schema->get_object(), "", paths);
    all.emplace_back(std::string(kind->get_string()), std::move(paths));
  }
  return all;
}

/// The schema of a kind in what /openapi/v3 says of its group.
const json::object* published(const json::value& document, const std::string& kind) {
  boost::system::error_code none;
  const json::value* schemas = document.find_pointer("/components/schemas", none);
  if (!schemas || !schemas->is_object()) return nullptr;
  for (const auto& [name, schema] : schemas->get_object()) {
    const std::string_view key = name;
    if (key.size() > kind.size() && key.ends_with(kind) && key[key.size() - kind.size() - 1] == '.')
      return schema.if_object();
  }
  return nullptr;
}

struct checking {
  reactor::loop& l;
  k8s::client& api;
  k8s::discovery discovery;
  cluster_check out;
  checking(reactor::loop& loop, k8s::client& on) : l(loop), api(on), discovery(api) {}
  void say(const char* name, bool passed, std::string text) {
    out.results.push_back({name, passed, std::move(text)});
  }
};

reactor::awaitable<bool> check_server(checking& c) {  // borrowed
  auto version = co_await c.discovery.read_version(10s);
  if (!version) {
    c.say("server", false, version.error().message());
    co_return false;
  }
  c.say("server", version->at_least(1, 30),
        version->git_version + (version->at_least(1, 30)
                                    ? ""
                                    : ": before 1.30 one node's daemon could not be told from "
                                      "another's"));
  const auto ahead = c.api.clock_ahead();
  if (ahead) {
    const auto off =
        std::chrono::duration_cast<std::chrono::seconds>(*ahead < 0s ? -*ahead : *ahead);
    c.say("clock", off <= tolerated_skew,
          off <= 2s ? "as ours"
                    : std::to_string(off.count()) + " s " + (*ahead < 0s ? "behind" : "ahead of") +
                          " ours");
  }
  co_return true;
}

/// Nothing is there yet, which is as it should be.
bool comes_before(check_as who) {
  return who == check_as::member_admin || who == check_as::installer;
}
/// What brings the kinds and the daemons.
std::string bringer(check_as who) {
  return who == check_as::installer || who == check_as::owner ? "the chart"
                                                              : "`windlass cluster add`";
}

reactor::awaitable<void> check_kinds(checking& c, check_as who) {  // borrowed
  auto known = co_await c.discovery.refresh();
  if (!known) {
    c.say("kinds", false, known.error().message());
    co_return;
  }
  const bool served = c.discovery.has_api_version(group_version);
  if (!served) {
    c.say("kinds", comes_before(who),
          comes_before(who)
              ? "not there yet; " + bringer(who) + " brings them"
              : std::string(group_version) + " is not served; " + bringer(who) + " brings it");
    co_return;
  }
  std::string path = "/openapi/v3/apis/" + std::string(group_version);
  auto said = co_await c.api.get_path(std::move(path));
  std::vector<std::string> missing, unseen;
  for (const auto& [kind, ours] : our_kinds()) {
    const json::object* schema = said ? published(*said, kind) : nullptr;
    if (!schema || !schema->contains("properties")) {
      unseen.push_back(kind);
      continue;
    }
    std::set<std::string> theirs;
    paths_of(*schema, "", theirs);
    for (const std::string& path_of : ours)
      if (!theirs.contains(path_of)) missing.push_back(kind + "." + path_of);
  }
  if (!missing.empty()) {
    c.say("kinds", false,
          "older than this program: without " + formats::listed(missing, 3) + "; " + bringer(who) +
              " of this version brings them up to date");
    co_return;
  }
  c.say("kinds", true,
        unseen.empty() ? "BootcNodePool and BootcNode as this program has them"
                       : "served; their fields cannot be seen");
}

reactor::awaitable<void> check_daemon(checking& c, check_as who, std::string ns) {  // borrowed
  k8s::object_key key = member_daemon(ns);
  const std::string name = "DaemonSet " + key.text();
  auto found = co_await find_object(c.api, k8s::resources::daemon_sets(), std::move(key));
  if (!found) {
    c.say("daemon", false, found.error().message());
  } else if (!*found) {
    c.say("daemon", comes_before(who),
          name + (comes_before(who) ? " is not there yet; " + bringer(who) + " brings it"
                                    : " is not there: nodes need it, or windlass-daemon.service"));
  } else {
    const json::value v(std::move(**found));
    boost::system::error_code none;
    const auto number = [&](const char* pointer) {
      const json::value* n = v.find_pointer(pointer, none);
      return n && n->is_int64() ? n->get_int64() : std::int64_t{0};
    };
    const std::int64_t wanted = number("/status/desiredNumberScheduled"),
                       ready = number("/status/numberReady");
    c.say("daemon", ready >= wanted,
          wanted == 0
              ? name + ", on no node yet: none is a member of a pool"
              : name + ", " + std::to_string(ready) + " of " + std::to_string(wanted) + " ready");
  }
}

reactor::awaitable<void> check_rights(checking& c, check_as who,
                                      k8s::object_key account) {  // borrowed
  std::vector<right> wanted = rights_of_service(account);
  if (comes_before(who)) {
    // Who grants a right must have it.
    std::vector<right> more =
        who == check_as::installer ? rights_of_installer(account) : rights_of_member_admin(account);
    wanted.insert(wanted.end(), more.begin(), more.end());
  }
  const std::size_t asked = wanted.size();
  std::string user;
  if (who == check_as::owner) user = "system:serviceaccount:" + account.ns + ":" + account.name;
  auto missing = co_await missing_rights(c.api, std::move(wanted), std::move(user));
  if (!missing) {
    c.say("rights", false, "cannot be asked for: " + missing.error().message());
    co_return;
  }
  c.out.missing = std::move(*missing);
  const std::size_t n = c.out.missing.size();
  c.say("rights", n == 0,
        n == 0 ? std::to_string(asked) + " of " + std::to_string(asked)
               : std::to_string(n) + " of " + std::to_string(asked) + " missing");
}

}  // namespace

bool cluster_check::passed() const noexcept {
  return std::ranges::all_of(results, [](const check_result& r) { return r.passed; });
}

reactor::awaitable<cluster_check> check_by(reactor::loop& l, k8s::client& api, check_as who,
                                           k8s::object_key account) {
  checking c(l, api);
  c.out.server = api.server();
  const bool answers = co_await check_server(c);
  if (answers) {
    co_await check_kinds(c, who);
    std::string ns = account.ns;
    co_await check_daemon(c, who, std::move(ns));
    co_await check_rights(c, who, std::move(account));
  }
  co_return std::move(c.out);
}

reactor::awaitable<cluster_check> check_cluster(reactor::loop& l, std::string name,
                                                k8s::connection to, check_as who,
                                                k8s::object_key account,
                                                std::optional<k8s::member_token> token) {
  k8s::client api(l, std::move(to));
  cluster_check out = co_await check_by(l, api, who, std::move(account));
  co_await api.stop();
  out.cluster = std::move(name);
  if (token) {
    const bool ended = token->expires <= l.wall();
    out.results.insert(
        out.results.begin(),
        {"token", !ended && !k8s::is_overdue(*token, l.wall()),
         (ended ? "ended at " : "ends at ") + reactor::format_rfc3339(token->expires) +
             (ended                               ? "; `windlass cluster add` makes a new one"
              : k8s::is_overdue(*token, l.wall()) ? ", and the service should have renewed it"
                                                  : "")});
  }
  co_return out;
}

page check_text(const cluster_check& c, std::size_t columns) {
  page out = page(c.cluster) + " at " + c.server + "\n";
  table t({"CHECK", "RESULT", "WHAT WAS SEEN"});
  for (const check_result& r : c.results) t.row({r.name, r.passed ? "ok" : "FAILED", r.says});
  out += t.text({}, columns);
  return out + rights_text(c.missing, columns);
}

page rights_text(const std::vector<right>& missing, std::size_t columns) {
  if (missing.empty()) return {};
  table rights({"MISSING RIGHT", "NEEDED"});
  for (const right& r : missing) rights.row({r.text(), r.why});
  return page("\n") + rights.text({}, columns);
}

json::array rights_json(const std::vector<right>& missing) {
  json::array out;
  for (const right& r : missing) {
    json::object one{{"verb", r.verb}};
    if (r.path.empty()) {
      one["group"] = r.group;
      one["resource"] = r.resource;
    } else {
      one["path"] = r.path;
    }
    if (!r.subresource.empty()) one["subresource"] = r.subresource;
    if (!r.ns.empty()) one["namespace"] = r.ns;
    if (!r.name.empty()) one["name"] = r.name;
    one["why"] = r.why;
    out.push_back(std::move(one));
  }
  return out;
}

json::object check_document(const cluster_check& c) {
  json::object o{{"cluster", c.cluster}, {"server", c.server}, {"passed", c.passed()}};
  json::array checks;
  for (const check_result& r : c.results)
    checks.push_back(json::object{{"name", r.name}, {"passed", r.passed}, {"message", r.says}});
  o["checks"] = std::move(checks);
  o["missingRights"] = rights_json(c.missing);
  return document("ClusterCheck", std::move(o));
}

}  // namespace cli
