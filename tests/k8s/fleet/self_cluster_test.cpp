// How home becomes a cluster of its own fleet.
#include "k8s/fleet/self_cluster.hpp"

#include "formats/base64.hpp"
#include "k8s/client/client.hpp"
#include "k8s/fleet/fleet.hpp"
#include "k8s/sim/server.hpp"
#include "tests/reactor/run.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace k8s {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;
using reactor::awaitable;

const char* const label = "sigs.k8s.io/multicluster-runtime-kubeconfig";

class SelfCluster : public testing::Test {
protected:
  struct world {
    explicit world(SelfCluster& t)
        : api(sim::options_on(t.l)),
          server(t.l, {.at = {"home", 6443}, .tls = nullptr}),
          running(started(server, api)),
          home(t.l, running) {}
    static connection started(sim::server& s, sim::api_server& api) {
      s.add(api);
      EXPECT_TRUE(s.start());
      connection c;
      c.server = s.url();
      c.token.bytes = reactor::secret("t-1");
      return c;
    }
    awaitable<void> stop() {
      co_await home.stop();
      co_await server.stop();
    }
    json::object secret() const {
      auto o = api.get("", "secrets", "default", "self-cluster");
      return o ? *o : json::object();
    }
    std::string stored() const {
      const json::object o = secret();
      if (!o.contains("data")) return {};
      const auto bytes =
          formats::decode_base64(json::value_to<std::string>(o.at("data").at("kubeconfig")));
      return bytes ? *bytes : std::string();
    }
    void put(const std::string& kubeconfig, bool labelled) {
      json::object meta{{"name", "self-cluster"}, {"namespace", "default"}};
      if (labelled) meta["labels"] = json::object{{label, "true"}};
      api.put(
          json::object{{"apiVersion", "v1"},
                       {"kind", "Secret"},
                       {"type", "Opaque"},
                       {"metadata", std::move(meta)},
                       {"data", json::object{{"kubeconfig", formats::encode_base64(kubeconfig)}}}});
    }
    sim::api_server api;
    sim::server server;
    connection running;
    client home;
  };
  void TearDown() override { EXPECT_EQ(l.live(), reactor::nothing_live); }
  void play(std::function<awaitable<void>(world&)> body) {
    reactor::run_task(l, [&]() -> awaitable<void> {
      world w(*this);
      co_await body(w);
      co_await w.stop();
    });
  }
  awaitable<result<void>> ensure(world& w, std::vector<std::string> files = {},  // borrowed
                                 std::string context = {}) {
    self_cluster_options o;
    o.files = std::move(files);
    o.context = std::move(context);
    self_cluster self(l, w.home, w.running, std::move(o), {});
    auto kept = co_await self.ensure();
    co_return kept;
  }
  /// Three contexts, the second of which leads to this home; its token stands in a file.
  std::string person(const std::string& server, const std::string& current = "b") {
    dir.write("keys/token", "t-1\n");
    return dir.write("config", "apiVersion: v1\nkind: Config\ncurrent-context: " + current +
                                   "\nclusters:\n- name: here\n  cluster: {server: '" + server +
                                   "'}\n- name: far\n  cluster: {server: 'https://far', "
                                   "certificate-authority: gone.pem}\nusers:\n- name: me\n  user: "
                                   "{tokenFile: keys/token}\n- name: you\n  user: {token: y}\n"
                                   "contexts:\n- name: c\n  context: {cluster: far, user: you}\n- "
                                   "name: b\n  context: {cluster: here, user: me, namespace: space}\n"
                                   "- name: a\n  context: {cluster: far, user: you}\n");
  }
  reactor::loop l{reactor::loop::mode::simulated, 1};
  reactor::temporary_folder dir;
};

TEST_F(SelfCluster, S1_OneContextIsStoredWithWhatItsFilesHold) {
  play([&](world& w) -> awaitable<void> {
    std::vector<std::string> files{dir / "not-there", person(w.running.server)};
    auto kept = co_await ensure(w, std::move(files));
    EXPECT_TRUE(kept) << (kept ? "" : kept.error().message());
    const json::object made = json::parse(w.stored()).as_object();
    EXPECT_EQ(made.at("contexts").as_array().size(), 1u);
    EXPECT_EQ(made.at("clusters").as_array().size(), 1u);
    EXPECT_EQ(made.at("users").at(0).at("user").at("token"), "t-1");
    EXPECT_FALSE(made.at("users").at(0).at("user").as_object().contains("tokenFile"));
    EXPECT_EQ(made.at("current-context"), "b");
    EXPECT_EQ(w.secret().at("metadata").at("labels").at(label), "true");
    const auto read = load_kubeconfig(w.stored(), {});
    EXPECT_TRUE(read) << "as discovery reads it: " << (read ? "" : read.error().message());
    if (read) {
      EXPECT_EQ(read->server, w.running.server);
    }
  });
}

TEST_F(SelfCluster, S2_WhatLeadsNowhereIsStoredWhole) {
  play([&](world& w) -> awaitable<void> {
    std::vector<std::string> files{person(w.running.server, "c")};
    auto kept = co_await ensure(w, std::move(files));
    EXPECT_TRUE(kept) << (kept ? "" : kept.error().message());
    const json::object made = json::parse(w.stored()).as_object();
    EXPECT_EQ(made.at("contexts").as_array().size(), 3u);
    EXPECT_EQ(made.at("users").at(0).at("user").at("token"), "t-1") << "inlined all the same";
    EXPECT_EQ(made.at("clusters").at(1).at("cluster").at("certificate-authority"), "gone.pem")
        << "a file that is not there stays a path";
  });
}

TEST_F(SelfCluster, AContextThatIsNamedCountsAndWithoutAnyTheFirst) {
  play([&](world& w) -> awaitable<void> {
    std::vector<std::string> files{person(w.running.server, "c")};
    std::vector<std::string> same = files;
    auto kept = co_await ensure(w, std::move(files), "b");
    EXPECT_TRUE(kept) << (kept ? "" : kept.error().message());
    EXPECT_EQ(json::parse(w.stored()).at("current-context"), "b");
  });
  const auto none = [](const std::string&) { return std::optional<reactor::secret>(); };
  const auto made = make_portable(
      "clusters: []\ncontexts: [{name: z, context: {}}, {name: a, context: {}}]\n", "/", {}, none);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->reduced.at("current-context"), "a");
  EXPECT_FALSE(make_portable("[]", "/", {}, none));
  EXPECT_FALSE(make_portable("a: 1", "/", {}, none));
}

TEST_F(SelfCluster, S3_WithoutAFileTheConnectionItselfIsStored) {
  play([&](world& w) -> awaitable<void> {
    auto kept = co_await ensure(w);
    EXPECT_TRUE(kept) << (kept ? "" : kept.error().message());
    const auto read = load_kubeconfig(w.stored(), {});
    EXPECT_TRUE(read);
    if (!read) co_return;
    EXPECT_EQ(read->context, "self");
    EXPECT_EQ(read->server, w.running.server);
    EXPECT_EQ(read->token.bytes.reveal(), "t-1");
  });
}

TEST_F(SelfCluster, S4_AValidOneStaysAndALostLabelComesBack) {
  play([&](world& w) -> awaitable<void> {
    const std::string theirs =
        "clusters: [{name: c, cluster: {server: 'https://theirs'}}]\ncontexts: [{name: x, context: "
        "{cluster: c}}]\n";
    w.put(theirs, true);
    const json::value before = w.secret().at("metadata").at("resourceVersion");
    auto kept = co_await ensure(w);
    EXPECT_TRUE(kept) << (kept ? "" : kept.error().message());
    EXPECT_EQ(w.secret().at("metadata").at("resourceVersion"), before) << "nothing was written";
    w.put(theirs, false);
    kept = co_await ensure(w);
    EXPECT_TRUE(kept) << (kept ? "" : kept.error().message());
    EXPECT_EQ(w.stored(), theirs);
    EXPECT_EQ(w.secret().at("metadata").at("labels").at(label), "true");
    w.put("junk", true);
    kept = co_await ensure(w);
    EXPECT_TRUE(kept) << (kept ? "" : kept.error().message());
    EXPECT_TRUE(load_kubeconfig(w.stored(), {})) << "what nobody can read is made anew";
  });
}

TEST_F(SelfCluster, S5_WhoMayNotWriteItIsTold) {
  play([&](world& w) -> awaitable<void> {
    w.api.before = [](const sim::request& r) -> std::optional<sim::answer> {
      if (r.method != "POST") return std::nullopt;
      sim::answer no;
      no.status = 403;
      no.body =
          R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","message":"not allowed","code":403})";
      return no;
    };
    auto kept = co_await ensure(w);
    EXPECT_FALSE(kept);
    if (!kept) {
      EXPECT_EQ(kept.error().code, errc::forbidden);
    }
  });
}

TEST_F(SelfCluster, S6_ATokenThatIsInAFileIsInNoSecretAndOpensHomeAllTheSame) {
  play([&](world& w) -> awaitable<void> {
    w.api.access().tokens = {{"t-1", "the service"}, {"t-2", "the service"}};
    w.api.access().anonymous = false;
    w.running.token.file = dir.write("token", "t-1\n");
    // An earlier version left the token there; a person's kubeconfig is in a file as well.
    w.put("apiVersion: v1\nkind: Config\ncurrent-context: self\nclusters: [{name: self, cluster: "
          "{server: '" +
              w.running.server +
              "'}}]\nusers: [{name: self, user: {token: t-1}}]\ncontexts: [{name: self, context: "
              "{cluster: self, user: self}}]\n",
          true);
    std::vector<std::string> files{person(w.running.server)};
    for (int start = 0; start < 2; ++start) {
      auto kept = co_await ensure(w, files);
      EXPECT_TRUE(kept) << (kept ? "" : kept.error().message());
      EXPECT_EQ(w.stored().find("t-1"), std::string::npos) << w.stored();
      EXPECT_EQ(load_kubeconfig(w.stored(), {})->server, w.running.server);
    }
    fleet_options o;
    o.home = w.running;
    fleet all(l, std::move(o));
    all.discover(w.home, nullptr);
    (void)co_await all.discovered();
    co_await l.sleep_for(5s);
    const cluster* before = all.find("self-cluster");
    EXPECT_TRUE(before && before->is_connected());
    dir.write("token", "t-2\n");
    w.api.access().tokens.erase("t-1");
    co_await l.sleep_for(2min);
    EXPECT_EQ(all.find("self-cluster"), before) << "the same connection";
    EXPECT_TRUE(before && before->is_connected()) << "with the new token";
    co_await all.stop();
  });
}

TEST_F(SelfCluster, WhatTheSecretSaysSendsNoCredentialElsewhere) {
  play([&](world& w) -> awaitable<void> {
    w.running.token.file = dir.write("token", "t-1\n");
    sim::api_server stranger(sim::options_on(l));
    bool asked = false;
    stranger.before = [&](const sim::request&) -> std::optional<sim::answer> {
      asked = true;
      return std::nullopt;
    };
    sim::server far(l, {.at = {"stranger", 6443}, .tls = nullptr});
    far.add(stranger);
    EXPECT_TRUE(far.start());
    w.put("apiVersion: v1\nkind: Config\ncurrent-context: self\nclusters: [{name: self, cluster: "
          "{server: '" +
              far.url() +
              "'}}]\nusers: [{name: self, user: {}}]\ncontexts: [{name: self, context: "
              "{cluster: self, user: self}}]\n",
          true);
    fleet_options o;
    o.home = w.running;
    fleet all(l, std::move(o));
    all.discover(w.home, nullptr);
    (void)co_await all.discovered();
    co_await l.sleep_for(5s);
    EXPECT_TRUE(all.find("self-cluster") && all.find("self-cluster")->is_connected());
    EXPECT_FALSE(asked);
    co_await all.stop();
    co_await far.stop();
  });
}

}  // namespace
}  // namespace k8s
