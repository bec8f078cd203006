// Longer than most files: every verb of `windlass cluster` between the same two embedded API
// servers in virtual time.
#include "cli/apis.hpp"
#include "formats/yaml/yaml.hpp"
#include "helm/members/addition.hpp"
#include "helm/members/check.hpp"
#include "helm/members/list.hpp"
#include "helm/members/removal.hpp"
#include "k8s/sim/server.hpp"
#include "reactor/http/date.hpp"
#include "reactor/loop.hpp"
#include "reactor/system/files.hpp"
#include "tests/cli/schema.hpp"
#include "tests/reactor/run.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace cli {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;
using reactor::awaitable;
using kind_of = planned_change::kind_of;

/// Home and a cluster that is none of the fleet yet.
class Cluster : public testing::Test {
protected:
  struct world {
    explicit world(reactor::loop& l)
        : home(k8s::sim::options_on(l)),
          member(k8s::sim::options_on(l)),
          home_front(l, {.at = {"home", 6443}, .tls = nullptr}),
          member_front(l, {.at = {"member", 6443}, .tls = nullptr}) {
      home_front.add(home);
      member_front.add(member);
      EXPECT_TRUE(home_front.start());
      EXPECT_TRUE(member_front.start());
    }
    k8s::sim::api_server home, member;
    k8s::sim::server home_front, member_front;
  };
  static k8s::connection to(const k8s::sim::server& s) {
    k8s::connection c;
    c.server = s.url();
    return c;
  }
  addition_request wanted(world& w) {
    addition_request r;
    r.name = "prod";
    r.member = to(w.member_front);
    r.install.image = "registry.example.com/windlass:1";
    r.labels = {{"env", "prod"}};
    r.token_life = 100h;
    return r;
  }
  struct outcome {
    std::string error, text;
    std::vector<std::string> notes;
    std::map<std::string, std::string> words;  // "ClusterRole bootc-operator-daemon" → "create"
    json::object document;
    bool had_work = false;
    std::set<std::string> said() const {
      std::set<std::string> all;
      for (const auto& [what, word] : words) all.insert(word);
      return all;
    }
  };
  template <class Change>
  static void note(outcome& o, const Change& c, const reactor::result<void>& done) {
    if (!done) o.error = done.error().message();
    o.text = c.text(100).text();
    o.notes = c.notes();
    o.document = c.document();
    o.had_work = c.has_work();
    for (const planned_change& p : c.changes())
      o.words[p.kind + " " + p.key.text()] = std::string(words_for(p));
  }
  awaitable<outcome> add(world& w, addition_request r, bool write = true) {
    addition change(l, to(w.home_front), std::move(r));
    outcome o;
    auto done = co_await change.look();
    const bool had = change.has_work();
    if (done && write) done = co_await change.write();
    note(o, change, done);
    o.had_work = had;
    co_await change.stop();
    co_return o;
  }
  /// What the original bootc-operator's kustomization installs.
  static void install_original(k8s::sim::api_server& on) {
    const std::string path =
        std::string(WINDLASS_SOURCE_DIR) + "/tests/data/bootc-operator/install.yaml";
    const auto text = reactor::load_file(path, 1u << 20);
    ASSERT_TRUE(text);
    const auto documents = formats::parse_kubernetes_documents(*text, path);
    ASSERT_TRUE(documents);
    for (const json::value& d : *documents) on.put(d.as_object());
  }
  awaitable<outcome> add(world& w) {
    addition_request r = wanted(w);
    outcome o = co_await add(w, std::move(r));
    co_return o;
  }
  awaitable<outcome> look(world& w) {
    addition_request r = wanted(w);
    outcome o = co_await add(w, std::move(r), false);
    co_return o;
  }
  awaitable<outcome> remove(world& w, bool on_member, removal_request::kinds crds,
                            bool write = true) {
    removal_request r;
    r.name = "prod";
    if (on_member) r.member = to(w.member_front);
    r.crds = crds;
    removal change(l, to(w.home_front), std::move(r));
    outcome o;
    auto done = co_await change.look();
    const bool had = change.has_work();
    if (done && write) done = co_await change.write();
    note(o, change, done);
    o.had_work = had;
    co_await change.stop();
    co_return o;
  }
  static json::object secret_of(world& w) {
    return w.home.get("", "secrets", "default", "prod").value_or(json::object());
  }
  void run(std::function<awaitable<void>(world& w)> f) {
    reactor::run_task(l, [&]() -> awaitable<void> {
      world w(l);
      co_await f(w);
      co_await w.member_front.stop();
      co_await w.home_front.stop();
    });
  }
  reactor::loop l{reactor::loop::mode::simulated, 5};
};

TEST_F(Cluster, IsFurnishedAndItsTokenPutIntoASecretAtHome) {
  run([&](world& w) -> awaitable<void> {
    const outcome o = co_await add(w);
    EXPECT_EQ(o.error, "");
    EXPECT_EQ(o.said(), std::set<std::string>{"created"}) << o.text;
    EXPECT_EQ(breaks_schema(o.document), "");
    EXPECT_TRUE(
        w.member.get("apps", "daemonsets", "bootc-operator-daemon", "bootc-operator-daemon"));
    EXPECT_TRUE(w.member.get("admissionregistration.k8s.io", "validatingadmissionpolicies", "",
                             "bootc-operator-daemon-own-node-only"));
    EXPECT_FALSE(
        w.member.get("apps", "deployments", "bootc-operator", "bootc-operator-controller-manager"))
        << "the service runs at home";
    const json::object secret = secret_of(w);
    const json::object& labels = secret.at("metadata").at("labels").as_object();
    EXPECT_EQ(labels.at("sigs.k8s.io/multicluster-runtime-kubeconfig"), "true");
    EXPECT_EQ(labels.at("env"), "prod");
    EXPECT_EQ(json::serialize(o.document).find("sim."), std::string::npos) << "a token is shown";
    EXPECT_EQ(o.text.find("sim."), std::string::npos) << "a token is shown";
  });
}

TEST_F(Cluster, IsOnlyLookedAtBeforeAnybodyAgrees) {
  run([&](world& w) -> awaitable<void> {
    std::size_t writes = 0;
    w.home.on_write = w.member.on_write = [&](const k8s::sim::written&) { ++writes; };
    const outcome o = co_await look(w);
    EXPECT_EQ(o.error, "");
    EXPECT_EQ(o.said(), std::set<std::string>{"create"}) << o.text;
    EXPECT_EQ(breaks_schema(o.document), "");
    EXPECT_EQ(writes, 0u);
  });
}

TEST_F(Cluster, ThatIsAddedAgainIsNotWritten) {
  run([&](world& w) -> awaitable<void> {
    (void)co_await add(w);
    std::string written;
    w.home.on_write = w.member.on_write = [&](const k8s::sim::written& x) {
      written += std::string(x.plural) + "/" + std::string(x.name) + " ";
    };
    const outcome o = co_await add(w);
    EXPECT_EQ(o.error, "");
    EXPECT_FALSE(o.had_work) << o.text;
    EXPECT_EQ(written, "");
  });
}

TEST_F(Cluster, GetsWhatItLacksAndNothingElse) {
  run([&](world& w) -> awaitable<void> {
    (void)co_await add(w);
    w.member.erase("rbac.authorization.k8s.io", "clusterroles", "", "bootc-operator-controller");
    addition_request r = wanted(w);
    r.labels = {{"env", "test"}};
    const outcome o = co_await add(w, std::move(r));
    EXPECT_EQ(o.error, "");
    EXPECT_EQ(o.words.at("ClusterRole bootc-operator-controller"), "created");
    EXPECT_EQ(o.words.at("Secret default/prod"), "changed");
    EXPECT_EQ(std::ranges::count_if(o.words, [](const auto& x) { return x.second == "same"; }),
              static_cast<std::ptrdiff_t>(o.words.size()) - 2)
        << o.text;
  });
}

TEST_F(Cluster, HasANewTokenOnceHalfOfItsLifeIsOver) {
  run([&](world& w) -> awaitable<void> {
    (void)co_await add(w);
    const json::object before = secret_of(w);
    co_await l.sleep_for(51h);
    const outcome o = co_await add(w);
    EXPECT_EQ(o.error, "");
    EXPECT_EQ(o.words.at("Secret default/prod"), "changed");
    EXPECT_NE(secret_of(w).at("data"), before.at("data"));
  });
}

TEST_F(Cluster, WhereTheOriginalWorksIsNotTouchedWithoutTakeOver) {
  run([&](world& w) -> awaitable<void> {
    install_original(w.member);
    std::size_t writes = 0;
    w.home.on_write = w.member.on_write = [&](const k8s::sim::written&) { ++writes; };
    const outcome o = co_await add(w);
    EXPECT_NE(o.error.find("on prod: the original bootc-operator is installed (Deployment "
                           "bootc-operator/bootc-operator-controller-manager); --take-over"),
              std::string::npos)
        << o.error;
    EXPECT_EQ(writes, 0u);
  });
}

TEST_F(Cluster, IsTakenOverFromTheOriginalWithItsPools) {
  run([&](world& w) -> awaitable<void> {
    install_original(w.member);
    w.member.put(json::parse(R"({"apiVersion":"node.bootc.dev/v1alpha1","kind":"BootcNodePool",
        "metadata":{"name":"workers"},"spec":{"nodeSelector":{"matchLabels":{"a":"b"}},
        "image":{"ref":"r.example.com/os@sha256:1111111111111111111111111111111111111111111111111111111111111111"}}})")
                     .as_object());
    std::string written;
    w.member.on_write = [&](const k8s::sim::written& x) {
      if (x.type == k8s::sim::write_type::deleted) written += std::string(x.name) + " ";
    };
    addition_request r = wanted(w);
    r.original = addition_request::predecessor::take_over;
    const outcome looked = co_await add(w, r, false);
    EXPECT_EQ(looked.error, "");
    EXPECT_EQ(written, "") << "--dry-run";
    EXPECT_EQ(looked.words.at("ClusterRole bootc-operator-manager-role"), "remove");
    const outcome o = co_await add(w, r);
    EXPECT_EQ(o.error, "");
    EXPECT_EQ(written,
              "bootc-operator-controller-manager bootc-operator-daemon "
              "bootc-operator-manager-rolebinding bootc-operator-daemon-rolebinding "
              "bootc-operator-manager-role bootc-operator-daemon-role "
              "bootc-operator-leader-election-rolebinding bootc-operator-leader-election-role ")
        << "the controller goes first, and neither kinds nor pools do";
    EXPECT_EQ(breaks_schema(o.document), "");
    EXPECT_TRUE(w.member.get("node.bootc.dev", "bootcnodepools", "", "workers"));
    const auto daemons =
        w.member.get("apps", "daemonsets", "bootc-operator-daemon", "bootc-operator-daemon");
    EXPECT_TRUE(daemons && json::serialize(*daemons).find("jlebon") == std::string::npos)
        << "nothing of the original's is left in it";
    const outcome again = co_await add(w, r);
    EXPECT_FALSE(again.had_work) << again.text;
    const outcome plain = co_await add(w);
    EXPECT_FALSE(plain.had_work) << plain.text;
  });
}

TEST_F(Cluster, WhatIsLeftBehindOfTheOriginalIsNamed) {
  run([&](world& w) -> awaitable<void> {
    install_original(w.member);
    for (const auto& [plural, name] :
         {std::pair{"deployments", "controller-manager"}, std::pair{"daemonsets", "daemon"}})
      w.member.erase("apps", plural, "bootc-operator", "bootc-operator-" + std::string(name));
    const outcome o = co_await look(w);
    EXPECT_EQ(o.error, "");
    EXPECT_TRUE(std::ranges::any_of(o.notes, [](const std::string& n) {
      return n.find("left behind: ClusterRoleBinding bootc-operator-manager-rolebinding, ") !=
                 std::string::npos &&
             n.find("Role bootc-operator/bootc-operator-leader-election-role; --take-over") !=
                 std::string::npos;
    })) << o.text;
  });
}

TEST_F(Cluster, EndsHalfWayAndTheNextRunGoesOn) {
  run([&](world& w) -> awaitable<void> {
    w.member.access().authorize = [](const std::string&, const k8s::sim::request& r) {
      return r.method != "PATCH" || r.path.find("/daemonsets/") == std::string::npos;
    };
    const outcome first = co_await add(w);
    EXPECT_NE(first.error.find("The right to create and patch daemonsets.apps is missing"),
              std::string::npos)
        << first.error;
    EXPECT_TRUE(secret_of(w).empty());
    EXPECT_EQ(first.words.at("DaemonSet bootc-operator-daemon/bootc-operator-daemon"), "failed");
    w.member.access().authorize = {};
    const outcome second = co_await add(w);
    EXPECT_EQ(second.error, "");
    EXPECT_EQ(second.words.at("Namespace bootc-operator"), "same");
    EXPECT_EQ(second.words.at("Secret default/prod"), "created");
  });
}

TEST_F(Cluster, NamesTheRightThatIsMissingAtEveryStep) {
  const std::map<std::string, std::string> parts = {
      {"/customresourcedefinitions/", "customresourcedefinitions.apiextensions.k8s.io"},
      {"/clusterroles/", "clusterroles.rbac.authorization.k8s.io"},
      {"/validatingadmissionpolicies/", "validatingadmissionpolicies.admissionregistration.k8s.io"},
      {"/token", "serviceaccounts"}};
  for (const auto& [path, right] : parts) {
    run([&](world& w) -> awaitable<void> {
      w.member.access().authorize = [&](const std::string&, const k8s::sim::request& r) {
        return r.path.find(path) == std::string::npos;
      };
      const outcome o = co_await add(w);
      EXPECT_NE(o.error.find(right), std::string::npos) << path << ": " << o.error;
      EXPECT_NE(o.error.find("The right to"), std::string::npos) << path << ": " << o.error;
    });
  }
  run([&](world& w) -> awaitable<void> {
    w.home.access().authorize = [](const std::string&, const k8s::sim::request& r) {
      return r.path.find("/secrets") == std::string::npos;
    };
    const outcome o = co_await add(w);
    EXPECT_TRUE(o.error.starts_with("at home: ")) << o.error;
    EXPECT_NE(o.error.find("The right to list secrets is missing"), std::string::npos) << o.error;
  });
}

TEST_F(Cluster, ThatDoesNotAnswerIsNamedWithItsAddress) {
  run([&](world& w) -> awaitable<void> {
    addition_request r = wanted(w);
    r.member.server = "http://nowhere:6443";
    const outcome o = co_await add(w, std::move(r));
    EXPECT_NE(o.error.find("cannot use prod at http://nowhere:6443"), std::string::npos) << o.error;
  });
}

TEST_F(Cluster, WhoseSecretAPersonWroteIsNotTouched) {
  run([&](world& w) -> awaitable<void> {
    (void)co_await add(w);
    w.home.edit("", "secrets", "default", "prod",
                [](json::object& s) { s["data"].as_object()["kubeconfig"] = "e30="; });
    const outcome o = co_await add(w);
    EXPECT_NE(o.error.find("was not written by `windlass cluster add`"), std::string::npos)
        << o.error;
    const outcome gone = co_await remove(w, false, removal_request::kinds::keep);
    EXPECT_NE(gone.error.find("was not written by `windlass cluster add`"), std::string::npos)
        << gone.error;
    EXPECT_EQ(secret_of(w).at("data").at("kubeconfig"), "e30=");
  });
}

TEST_F(Cluster, IsNotTwiceInTheFleet) {
  run([&](world& w) -> awaitable<void> {
    (void)co_await add(w);
    addition_request r = wanted(w);
    r.name = "again";
    const outcome o = co_await add(w, std::move(r));
    EXPECT_NE(o.error.find("in the fleet already, as \"prod\""), std::string::npos) << o.error;
  });
}

/// Two homes, or two namespaces of one, know nothing of each other: the member does.
TEST_F(Cluster, IsInTheFleetOfOneHomeUnlessTakenOver) {
  for (const char* member_ns : {"bootc-operator", "elsewhere"})
    run([&](world& w) -> awaitable<void> {
      (void)co_await add(w);
      w.home.put(
          json::parse(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"theirs"}})")
              .as_object());
      std::size_t writes = 0;
      w.home.on_write = w.member.on_write = [&](const k8s::sim::written&) { ++writes; };
      addition_request r = wanted(w);
      r.at.ns = "theirs";
      r.install.ns = member_ns;
      addition_request over = r;
      const outcome refused = co_await add(w, std::move(r));
      EXPECT_NE(refused.error.find("it is in the fleet of another home"), std::string::npos)
          << refused.error;
      EXPECT_NE(refused.error.find("/default; two services"), std::string::npos) << refused.error;
      EXPECT_EQ(writes, 0u);
      over.original = addition_request::predecessor::take_over;
      const outcome taken = co_await add(w, std::move(over));
      EXPECT_EQ(taken.error, "");
      const outcome first = co_await add(w);
      EXPECT_NE(first.error.find("/theirs; two services"), std::string::npos) << first.error;
    });
}

std::string daemon_image(k8s::sim::api_server& member) {
  const auto all = member.list("apps", "daemonsets");
  return all.empty() ? std::string() : container_images(all.front()).begin()->second;
}

TEST_F(Cluster, KeepsTheImageThatItsDaemonsHaveUnlessToldOfAnother) {
  run([&](world& w) -> awaitable<void> {
    (void)co_await add(w);
    EXPECT_EQ(daemon_image(w.member), "registry.example.com/windlass:1");
    addition_request same = wanted(w);
    same.install.image.clear();
    const outcome kept = co_await add(w, std::move(same));
    EXPECT_EQ(kept.error, "");
    EXPECT_EQ(kept.said(), std::set<std::string>{"same"}) << kept.text;
    EXPECT_EQ(daemon_image(w.member), "registry.example.com/windlass:1");
    addition_request other = wanted(w);
    other.install.image = "registry.example.com/windlass:2";
    const outcome moved = co_await add(w, std::move(other));
    EXPECT_EQ(moved.error, "");
    EXPECT_EQ(moved.notes, std::vector<std::string>{"the daemons' image changes from "
                                                    "registry.example.com/windlass:1 to "
                                                    "registry.example.com/windlass:2"});
    EXPECT_EQ(daemon_image(w.member), "registry.example.com/windlass:2");
  });
}

/// What versions before the daemons' own namespace left: daemons beside the service's account, and
/// Roles on all Secrets there.
void install_earlier(k8s::sim::api_server& member) {
  member.put(
      {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "bootc-operator"}}}});
  const json::object meta{{"name", "bootc-operator-daemon"}, {"namespace", "bootc-operator"}};
  member.put({{"apiVersion", "v1"}, {"kind", "ServiceAccount"}, {"metadata", meta}});
  const json::object rule{
      {"apiGroups", {""}}, {"resources", {"secrets"}}, {"verbs", {"get", "list", "watch"}}};
  for (const char* name : {"bootc-operator-daemon", "bootc-operator-pull-secrets"})
    member.put({{"apiVersion", "rbac.authorization.k8s.io/v1"},
                {"kind", "Role"},
                {"metadata", {{"name", name}, {"namespace", "bootc-operator"}}},
                {"rules", json::array{rule}}});
  const json::object container{{"name", "daemon"}, {"image", "registry.example.com/windlass:0"}};
  json::object labels{{"a", "b"}}, pod;
  pod["metadata"] = json::object{{"labels", labels}};
  pod["spec"] = json::object{{"containers", json::array{container}}};
  json::object spec;
  spec["selector"] = json::object{{"matchLabels", labels}};
  spec["template"] = pod;
  member.put(
      {{"apiVersion", "apps/v1"}, {"kind", "DaemonSet"}, {"metadata", meta}, {"spec", spec}});
}

TEST_F(Cluster, DaemonsOfAnEarlierVersionMoveToTheirOwnNamespaceWithTheirImage) {
  run([&](world& w) -> awaitable<void> {
    install_earlier(w.member);
    addition_request r = wanted(w);
    r.install.image.clear();
    const outcome looked = co_await add(w, r, false);
    EXPECT_EQ(looked.words.at("DaemonSet bootc-operator/bootc-operator-daemon"), "remove");
    const outcome o = co_await add(w, std::move(r));
    EXPECT_EQ(o.error, "");
    const auto all = w.member.list("apps", "daemonsets");
    EXPECT_EQ(all.size(), 1u);
    EXPECT_EQ(all.front().at("metadata").at("namespace").as_string(), "bootc-operator-daemon");
    EXPECT_EQ(daemon_image(w.member), "registry.example.com/windlass:0");
    EXPECT_FALSE(w.member.get("", "serviceaccounts", "bootc-operator", "bootc-operator-daemon"));
    for (const json::object& role : w.member.list("rbac.authorization.k8s.io", "roles"))
      EXPECT_EQ(json::serialize(role).find("\"secrets\""), std::string::npos)
          << "a right to all Secrets stays: " << role;
  });
}

TEST_F(Cluster, KeepsThePullSecretsThatWereNamedUnlessToldOfOthers) {
  const auto named = [](world& w) {
    const auto role = w.member.get("rbac.authorization.k8s.io", "roles", "bootc-operator",
                                   "bootc-operator-daemon");
    return role ? json::serialize(role->at("rules")) : std::string();
  };
  run([&](world& w) -> awaitable<void> {
    addition_request r = wanted(w);
    r.install.pull_secrets = {"registry-login"};
    (void)co_await add(w, std::move(r));
    EXPECT_NE(named(w).find(R"("resourceNames":["registry-login"])"), std::string::npos)
        << named(w);
    const outcome kept = co_await add(w);
    EXPECT_EQ(kept.said(), std::set<std::string>{"same"}) << kept.text;
    addition_request other = wanted(w);
    other.install.pull_secrets = {"other"};
    (void)co_await add(w, std::move(other));
    EXPECT_NE(named(w).find(R"("resourceNames":["other"])"), std::string::npos) << named(w);
  });
}

TEST_F(Cluster, AnImageWithoutARegistryIsRefusedBeforeAnythingIsWritten) {
  run([&](world& w) -> awaitable<void> {
    const std::uint64_t member = w.member.revision(), home = w.home.revision();
    for (const std::string& image :
         {std::string("windlass"), std::string("windlass:0.1.0"),
          std::string("team/windlass:0.1.0"), "windlass@sha256:" + std::string(64, 'a')}) {
      addition_request r = wanted(w);
      r.install.image = image;
      const outcome o = co_await add(w, std::move(r));
      EXPECT_NE(o.error.find("--image " + image + ": it names no registry"), std::string::npos)
          << o.error;
      EXPECT_NE(o.error.find("REGISTRY/" + image), std::string::npos) << o.error;
    }
    EXPECT_EQ(w.member.revision(), member);
    EXPECT_EQ(w.home.revision(), home);
  });
}

TEST_F(Cluster, WithoutAnImageThatNodesCanPullNothingIsWritten) {
  run([&](world& w) -> awaitable<void> {
    addition_request r = wanted(w);
    r.install.image.clear();
    const std::uint64_t member = w.member.revision(), home = w.home.revision();
    const outcome o = co_await add(w, std::move(r));
    EXPECT_NE(o.error.find("--image REGISTRY/windlass:"), std::string::npos) << o.error;
    EXPECT_NE(o.error.find("--no-daemon"), std::string::npos) << o.error;
    EXPECT_EQ(w.member.revision(), member);
    EXPECT_EQ(w.home.revision(), home);
    addition_request without = wanted(w);
    without.install.image.clear();
    without.install.with = member_settings::daemons::no;
    const outcome fine = co_await add(w, std::move(without));
    EXPECT_EQ(fine.error, "") << "no daemon, no image";
  });
}

TEST_F(Cluster, SaysWhenHomeLeavesTheFleetByIt) {
  run([&](world& w) -> awaitable<void> {
    const outcome first = co_await add(w);
    const auto tells = [](const outcome& o) {
      return std::ranges::any_of(o.notes, [](const std::string& n) {
        return n.find("home itself was the fleet") != std::string::npos;
      });
    };
    EXPECT_TRUE(tells(first));
    const outcome second = co_await add(w);
    EXPECT_FALSE(tells(second));
  });
}

TEST_F(Cluster, IsLetGoAndKeepsItsKinds) {
  run([&](world& w) -> awaitable<void> {
    (void)co_await add(w);
    const outcome looked = co_await remove(w, true, removal_request::kinds::keep, false);
    EXPECT_EQ(looked.said(), std::set<std::string>{"remove"}) << looked.text;
    EXPECT_FALSE(secret_of(w).empty());
    const outcome o = co_await remove(w, true, removal_request::kinds::keep);
    EXPECT_EQ(o.error, "");
    EXPECT_EQ(o.said(), std::set<std::string>{"removed"}) << o.text;
    EXPECT_EQ(breaks_schema(o.document), "");
    EXPECT_TRUE(secret_of(w).empty());
    EXPECT_TRUE(w.member.list("rbac.authorization.k8s.io", "clusterroles").empty());
    EXPECT_TRUE(w.member.list("apps", "daemonsets").empty());
    EXPECT_EQ(w.member.list("apiextensions.k8s.io", "customresourcedefinitions").size(), 3u);
    EXPECT_TRUE(w.member.get("", "namespaces", "", "bootc-operator"));
    const outcome again = co_await remove(w, true, removal_request::kinds::remove);
    EXPECT_EQ(again.error, "") << "the Secret is gone, and the next run goes on";
    EXPECT_TRUE(w.member.list("apiextensions.k8s.io", "customresourcedefinitions").empty());
  });
}

TEST_F(Cluster, KeepsItsKindsWhileThereIsAPool) {
  run([&](world& w) -> awaitable<void> {
    (void)co_await add(w);
    w.member.put(json::parse(R"({"apiVersion":"node.bootc.dev/v1alpha1","kind":"BootcNodePool",
        "metadata":{"name":"workers"},"spec":{"nodeSelector":{"matchLabels":{"a":"b"}},
        "image":{"ref":"r.example.com/os@sha256:1111111111111111111111111111111111111111111111111111111111111111"}}})")
                     .as_object());
    const outcome o = co_await remove(w, true, removal_request::kinds::remove);
    EXPECT_NE(o.error.find("prod has 1 pool: delete them first"), std::string::npos) << o.error;
    EXPECT_FALSE(secret_of(w).empty()) << "nothing was touched";
    const outcome kept = co_await remove(w, true, removal_request::kinds::keep);
    EXPECT_EQ(kept.error, "");
    EXPECT_NE(kept.notes.front().find("1 pool stays"), std::string::npos);
  });
}

TEST_F(Cluster, KeepsItsKindsWhereItsPoolsCannotBeListed) {
  run([&](world& w) -> awaitable<void> {
    (void)co_await add(w);
    w.member.before = [](const k8s::sim::request& r) {
      std::optional<k8s::sim::answer> out;
      if (r.method == "GET" && r.path.ends_with("/bootcnodepools")) {
        out.emplace().status = 403;
        out->body = R"({"kind":"Status","status":"Failure","reason":"Forbidden","code":403})";
      }
      return out;
    };
    const outcome o = co_await remove(w, true, removal_request::kinds::remove);
    EXPECT_NE(o.error.find("The right to list bootcnodepools.node.bootc.dev is missing"),
              std::string::npos)
        << o.error;
    EXPECT_FALSE(secret_of(w).empty()) << "nothing was touched";
    EXPECT_EQ(w.member.list("apiextensions.k8s.io", "customresourcedefinitions").size(), 3u);
    w.member.before = nullptr;
  });
}

TEST_F(Cluster, IsNotRemovedThroughAnothersContext) {
  run([&](world& w) -> awaitable<void> {
    (void)co_await add(w);
    removal_request r;
    r.name = "prod";
    r.member = to(w.home_front);
    removal change(l, to(w.home_front), std::move(r));
    auto done = co_await change.look();
    EXPECT_FALSE(done);
    const std::string why = done ? "" : done.error().message();
    EXPECT_NE(why.find("leads to another cluster"), std::string::npos) << why;
    co_await change.stop();
  });
}

const check_result* result_of(const cluster_check& c, const std::string& name) {
  const auto found = std::ranges::find(c.results, name, &check_result::name);
  return found == c.results.end() ? nullptr : &*found;
}

TEST_F(Cluster, ChecksWhatItLacksAndSaysWhy) {
  run([&](world& w) -> awaitable<void> {
    k8s::object_key account{"bootc-operator", "bootc-operator-controller-manager"};
    k8s::connection as = to(w.member_front);
    cluster_check before = co_await check_cluster(l, "prod", std::move(as), check_as::member_admin,
                                                  account, std::nullopt);
    EXPECT_TRUE(before.passed()) << check_text(before, 100).text();
    (void)co_await add(w);
    w.member.access().authorize = [](const std::string&, const k8s::sim::request& r) {
      return r.path.find("/eviction") == std::string::npos;
    };
    as = to(w.member_front);
    cluster_check c =
        co_await check_cluster(l, "prod", std::move(as), check_as::service, account, std::nullopt);
    EXPECT_FALSE(c.passed());
    EXPECT_EQ(c.missing.size(), 1u);
    if (!c.missing.empty()) {
      EXPECT_EQ(c.missing.front().text(), "create pods/eviction");
    }
    const std::string text = check_text(c, 100).text();
    EXPECT_NE(text.find("to drain a node within its disruption budgets"), std::string::npos)
        << text;
    EXPECT_EQ(breaks_schema(check_document(c)), "");
    const check_result* clock = result_of(c, "clock");
    EXPECT_TRUE(clock && clock->passed) << text;
  });
}

TEST_F(Cluster, IsReadFromItsSecretAsTheServiceReadsIt) {
  const std::pair<const char*, const char*> rows[] = {
      {R"({"ca":"e30=","value":"e30="})", "the Secret has no such key; it has ca, value"},
      {R"({"kubeconfig":""})", "the key is empty"},
      {R"({})", "the Secret holds no keys"},
      {R"({"kubeconfig":"anVuaw=="})", "is not a kubeconfig: the document is not a mapping"},
  };
  run([&](world& w) -> awaitable<void> {
    (void)co_await add(w);
    k8s::client home(l, to(w.home_front));
    for (const auto& [data, why] : rows) {
      w.home.edit("", "secrets", "default", "prod",
                  [&](json::object& s) { s["data"] = json::parse(data); });
      secret_place at;
      auto found = co_await find_member(home, at, "prod");
      const bool is_there = found && *found;
      EXPECT_TRUE(is_there) << data;
      if (!is_there) continue;
      const auto read = connection_of(**found, at, {});
      EXPECT_EQ(read ? read->server : read.error().message(),
                std::string("Secret default/prod, key kubeconfig: ") + why);
    }
    co_await home.stop();
  });
}

TEST_F(Cluster, WhoseClockIsWrongFailsTheCheck) {
  run([&](world& w) -> awaitable<void> {
    k8s::object_key account{"bootc-operator", "bootc-operator-controller-manager"};
    w.member.after = [this](const k8s::sim::request&, k8s::sim::answer& a) {
      // Its own word stands before ours.
      a.fields.emplace_back("Date", reactor::http::format_date(l.wall() + 5min));
    };
    k8s::connection as = to(w.member_front);
    const cluster_check c = co_await check_cluster(l, "prod", std::move(as), check_as::member_admin,
                                                   account, std::nullopt);
    const check_result* clock = result_of(c, "clock");
    EXPECT_TRUE(clock && !clock->passed);
    if (clock) {
      EXPECT_EQ(clock->says, "300 s ahead of ours");
    }
  });
}

TEST_F(Cluster, ThatIsAwayFailsTheCheckAtOnce) {
  run([&](world&) -> awaitable<void> {
    k8s::object_key account{"bootc-operator", "bootc-operator-controller-manager"};
    k8s::connection as;
    as.server = "http://nowhere:6443";
    const cluster_check c =
        co_await check_cluster(l, "prod", std::move(as), check_as::service, account, std::nullopt);
    EXPECT_EQ(c.results.size(), 1u);
    EXPECT_FALSE(c.passed());
  });
}

TEST_F(Cluster, IsListedWithWhatIsKnownOfIt) {
  run([&](world& w) -> awaitable<void> {
    (void)co_await add(w);
    service_options o = with_all_apis();
    o.home = to(w.home_front);
    o.does = units::mode::look;
    service s(l, std::move(o), reactor::logger());
    auto started = co_await s.start();
    EXPECT_TRUE(started);
    const auto all =
        co_await list_clusters(s, l, "sigs.k8s.io/multicluster-runtime-kubeconfig", l.now() + 15s);
    co_await s.stop();
    EXPECT_EQ(all.size(), 1u);
    if (all.size() != 1) co_return;
    EXPECT_EQ(all[0].seen.name, "prod");
    EXPECT_EQ(all[0].seen.state, "Live");
    EXPECT_EQ(all[0].version, "v1.36.0");
    EXPECT_EQ(all[0].labels, (std::map<std::string, std::string>{{"env", "prod"}}));
    EXPECT_TRUE(all[0].token_expires);
    EXPECT_EQ(breaks_schema(list_document(all)), "");
    const std::string text = list_text(all, 120).text();
    EXPECT_NE(text.find("env=prod"), std::string::npos) << text;
  });
}

/// What a rule names by `key`; of one for paths the resources are none.
std::vector<std::string> listed(const json::value& rule, const char* key) {
  std::vector<std::string> out;
  if (const json::value* all = rule.as_object().if_contains(key))
    for (const json::value& one : all->as_array()) out.emplace_back(one.as_string());
  return out;
}

/// Every (group, resource, verb, name) and (path, verb) of the rules of a kind.
void rules_of(const std::vector<member_object>& objects, const std::string& kind,
              const std::string& name, std::set<std::string>& into) {
  for (const member_object& o : objects) {
    if (o.what.kind != kind || o.key.name != name) continue;
    for (const json::value& rule : o.body.at("rules").as_array())
      for (const std::string& verb : listed(rule, "verbs")) {
        const std::vector<std::string> names = listed(rule, "resourceNames");
        for (const std::string& path : listed(rule, "nonResourceURLs"))
          into.insert(verb + " " + path);
        for (const std::string& group : listed(rule, "apiGroups"))
          for (const std::string& resource : listed(rule, "resources"))
            into.insert(verb + " " + group + " " + resource + " " +
                        (names.empty() ? "" : names.front()));
      }
  }
}

TEST(Rights, OfTheServiceAreThoseThatTheChartGrants) {
  const auto objects = member_objects({});
  ASSERT_TRUE(objects) << objects.error().message();
  std::set<std::string> granted, needed;
  rules_of(*objects, "ClusterRole", "bootc-operator-controller", granted);
  rules_of(*objects, "Role", "bootc-operator-own-token", granted);
  rules_of(*objects, "Role", "bootc-operator-pull-secrets", granted);
  for (const right& r : rights_of_service(member_account({}))) {
    EXPECT_NE(r.why, "") << r.text();
    needed.insert(!r.path.empty()
                      ? r.text()
                      : r.verb + " " + r.group + " " + r.resource +
                            (r.subresource.empty() ? "" : "/" + r.subresource) + " " + r.name);
  }
  EXPECT_EQ(granted, needed);
}

TEST(MemberObjects, AreTheChartsWithoutItsService) {
  member_settings s;
  s.ns = "os";
  s.image = "registry.example.com:5000/windlass:edge@sha256:" + std::string(64, 'a');
  const auto objects = member_objects(s);
  ASSERT_TRUE(objects) << objects.error().message();
  std::set<std::string> kinds;
  for (const member_object& o : *objects) kinds.insert(o.what.kind);
  EXPECT_EQ(kinds, (std::set<std::string>{
                       "ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition", "DaemonSet",
                       "Namespace", "NetworkPolicy", "Role", "RoleBinding", "ServiceAccount",
                       "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"}));
  for (const member_object& o : *objects)
    if (o.what.kind == "DaemonSet") {
      EXPECT_EQ(o.body.at("spec")
                    .at("template")
                    .at("spec")
                    .at("containers")
                    .at(0)
                    .at("image")
                    .as_string(),
                "registry.example.com:5000/windlass@sha256:" + std::string(64, 'a'));
    }
  s.with = member_settings::daemons::no;
  const auto without = member_objects(s);
  ASSERT_TRUE(without);
  for (const member_object& o : *without) EXPECT_NE(o.what.kind, "DaemonSet");
}

TEST(MemberObjects, HaveTheRightsOfTenantsAndFleetChartsWhereTheyAreAskedFor) {
  const auto has = [](const member_settings& s, const std::string& role) {
    const auto objects = member_objects(s);
    EXPECT_TRUE(objects);
    return objects && std::ranges::any_of(*objects, [&](const member_object& o) {
             return o.what.kind == "ClusterRole" && o.key.name == role;
           });
  };
  member_settings s;
  EXPECT_FALSE(has(s, "bootc-operator-tenants"));
  EXPECT_FALSE(has(s, "bootc-operator-fleetcharts"));
  s.of_tenants = member_settings::tenants::yes;
  EXPECT_TRUE(has(s, "bootc-operator-tenants"));
  EXPECT_FALSE(has(s, "bootc-operator-fleetcharts"));
  s.of_fleet_charts = member_settings::fleet_charts::yes;
  EXPECT_TRUE(has(s, "bootc-operator-fleetcharts"));
  EXPECT_FALSE(has(s, "bootc-operator-fleetcharts-home")) << "that is home's";
}

TEST(MemberObjects, RefuseWhatMeansNothing) {
  member_settings s;
  for (const char* image : {"windlass@sha256:abc", "registry.example.com/windlass@sha256:abc"}) {
    s.image = image;
    EXPECT_FALSE(member_objects(s)) << image;
  }
  s.image.clear();
  s.ns = "Not_A_Namespace";
  EXPECT_FALSE(member_objects(s));
}

}  // namespace
}  // namespace cli
