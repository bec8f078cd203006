// A pack with a Lease of its own: of two processes one acts for it, and the other packs are
// nobody's concern.
#include "compose/tables.hpp"
#include "tests/compose/cluster_fixture.hpp"
#include "tests/reactor/temporary_folder.hpp"

namespace {

using namespace compose_test;

constexpr const char* the_lease = "shops.example.com";

class ComposeTurns : public compose_cluster {
protected:
  ComposeTurns() {
    json::object crd = manifest("docs/compose/crd.yaml");
    std::string text = json::serialize(crd);
    for (const auto& [from, to] : {std::pair<std::string, std::string>{"shops", "stalls"},
                                   {"\"shop\"", "\"stall\""},
                                   {"Shop", "Stall"}})
      for (std::size_t i = text.find(from); i != text.npos; i = text.find(from, i + to.size()))
        text.replace(i, from.size(), to);
    server().put(json::parse(text).as_object());
    json::object stall = manifest("docs/compose/shop.yaml");
    stall["kind"] = "Stall";
    stall["metadata"].as_object()["name"] = "red";
    server().put(std::move(stall));
    server().put({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "leases"}}}});
    // The service holds the Lease of its API beside those of packs.
    server().put({{"apiVersion", "coordination.k8s.io/v1"},
                  {"kind", "Lease"},
                  {"metadata", {{"name", "compose.windlass.dev"}, {"namespace", "leases"}}},
                  {"spec", {{"holderIdentity", "the service"}}}});
    write_pack("a-shops", "Shop", std::string("lease = '") + the_lease + "',");
    write_pack("b-stalls", "Stall", "");
    policies_ = folder_.path();
    server().before = [this](const k8s::sim::request& r) -> std::optional<k8s::sim::answer> {
      if (!leases_fail_ || r.path.find("/leases/") == std::string::npos) return std::nullopt;
      k8s::sim::answer a;
      a.status = 403;
      a.body = R"({"kind":"Status","status":"Failure","reason":"Forbidden","code":403})";
      return a;
    };
  }
  void write_pack(const std::string& name, const std::string& kind, const std::string& says) {
    folder_.write(name + "/policy.lua",
                  "return { name = '" + name + "', version = '1', composes = { " + says +
                      " parents = { { apiVersion = 'example.com/v1', kind = '" + kind +
                      "' } }, children = { { apiVersion = 'v1', kind = 'ConfigMap' } } },\n"
                      "  compose = { sync = function(p) return { children = { { object = { "
                      "apiVersion = 'v1', kind = 'ConfigMap', metadata = { name = p.name }, data = "
                      "{ n = tostring(p.spec.replicas) } } } } } end } }\n");
  }
  std::string holder() {
    const auto lease = server().get("coordination.k8s.io", "leases", "leases", the_lease);
    if (!lease) return "nobody";
    const json::value* who = lease->at("spec").as_object().if_contains("holderIdentity");
    return who && who->is_string() ? std::string(who->get_string()) : "";
  }
  void steal() {
    server().edit("coordination.k8s.io", "leases", "leases", the_lease, [](json::object& o) {
      o["spec"].as_object()["holderIdentity"] = "somebody else";
    });
  }
  void want(const char* plural, const char* name, int replicas) {
    server().edit("example.com", plural, "default", name,
                  [replicas](json::object& o) { o["spec"].as_object()["replicas"] = replicas; });
  }
  std::unique_ptr<windlass> taking_turns(const std::string& identity) {
    return a_windlass(units::mode::act, identity);
  }

  reactor::temporary_folder folder_;
  bool leases_fail_ = false;
};

TEST_F(ComposeTurns, OfTwoProcessesOneActsForThePackAndTheOtherSaysWhyItWaits) {
  go([this]() -> awaitable<void> {
    auto one = taking_turns("one"), two = taking_turns("two");
    co_await one->start(there());
    co_await loop_->sleep_for(20s);
    EXPECT_EQ(holder(), "one");
    EXPECT_EQ(at("configmaps", "blue", "/data/n"), "2");
    co_await two->start(there());
    co_await loop_->sleep_for(20s);
    const std::string busy = co_await one->said(), idle = co_await two->said();
    EXPECT_THAT(busy, Not(HasSubstr("standing-by")));
    EXPECT_THAT(idle, HasSubstr("default/blue [standing-by] this process does not hold the Lease "
                                "shops.example.com that its pack names"));
    EXPECT_THAT(idle, HasSubstr("b-stalls/Stall"));
    EXPECT_THAT(idle, Not(HasSubstr("red [standing-by]"))) << "its pack names no Lease";
    co_await one->stop();
    EXPECT_EQ(holder(), "") << "released at once";
    want("shops", "blue", 3);
    co_await loop_->sleep_for(20s);
    EXPECT_EQ(holder(), "two");
    EXPECT_EQ(at("configmaps", "blue", "/data/n"), "3");
    co_await two->stop();
  });
}

TEST_F(ComposeTurns, ALeaseOfAnotherOperatorInAnotherNamespaceHoldsItsPackAndNoOther) {
  const auto renew = [this] {
    server().put({{"apiVersion", "coordination.k8s.io/v1"},
                  {"kind", "Lease"},
                  {"metadata", {{"name", the_lease}, {"namespace", "default"}}},
                  {"spec",
                   {{"holderIdentity", "the-original"},
                    {"leaseDurationSeconds", 15},
                    {"renewTime", reactor::format_rfc3339_micro(loop_->wall())}}}});
  };
  go([this, renew]() -> awaitable<void> {
    renew();
    auto one = taking_turns("one");
    co_await one->start(there());
    for (int i = 0; i < 6; ++i) {
      co_await loop_->sleep_for(5s);
      renew();
    }
    EXPECT_EQ(at("configmaps", "blue", "/data/n"), "absent");
    EXPECT_EQ(at("configmaps", "red", "/data/n"), "2") << "its pack names no Lease";
    EXPECT_THAT(
        co_await one->said(),
        HasSubstr("default/blue [other-operator] another operator works on this cluster: it "
                  "keeps the Lease default/shops.example.com, held by the-original"));
    EXPECT_THAT(one->metrics.text(), HasSubstr("other-operator"));
    // It ends without a word.
    co_await loop_->sleep_for(40s);
    EXPECT_EQ(at("configmaps", "blue", "/data/n"), "2");
    co_await one->stop();
  });
}

TEST_F(ComposeTurns, ALeaseThatWasLeftBehindLongAgoHoldsNothing) {
  go([this]() -> awaitable<void> {
    server().put({{"apiVersion", "coordination.k8s.io/v1"},
                  {"kind", "Lease"},
                  {"metadata", {{"name", the_lease}, {"namespace", "default"}}},
                  {"spec",
                   {{"holderIdentity", "the-original"},
                    {"leaseDurationSeconds", 15},
                    {"renewTime", "2001-01-01T00:00:00.000000Z"}}}});
    auto one = taking_turns("one");
    co_await one->start(there());
    co_await loop_->sleep_for(8s);
    EXPECT_EQ(at("configmaps", "blue", "/data/n"), "2");
    co_await one->stop();
  });
}

TEST_F(ComposeTurns, ALostLeaseStopsItsPackAndNoOther) {
  go([this]() -> awaitable<void> {
    auto one = taking_turns("one");
    co_await one->start(there());
    co_await loop_->sleep_for(20s);
    steal();
    co_await loop_->sleep_for(5s);
    writes_ = 0;
    want("shops", "blue", 5);
    want("stalls", "red", 5);
    writes_ = 0;
    co_await loop_->sleep_for(5s);
    EXPECT_EQ(at("configmaps", "blue", "/data/n"), "2");
    EXPECT_EQ(at("configmaps", "red", "/data/n"), "5");
    EXPECT_EQ(writes_, 1u) << "not even the status of its parents";
    const std::string metrics = one->metrics.text();
    EXPECT_THAT(metrics, HasSubstr("standing-by"));
    // Who stole it never renews it.
    co_await loop_->sleep_for(60s);
    EXPECT_EQ(holder(), "one");
    EXPECT_EQ(at("configmaps", "blue", "/data/n"), "5");
    co_await one->stop();
  });
}

TEST_F(ComposeTurns, WithoutTheRightToALeaseItsPackWaits) {
  leases_fail_ = true;
  go([this]() -> awaitable<void> {
    auto one = taking_turns("one");
    co_await one->start(there());
    co_await loop_->sleep_for(30s);
    EXPECT_EQ(at("configmaps", "blue", "/data/n"), "absent");
    EXPECT_EQ(at("configmaps", "red", "/data/n"), "2");
    leases_fail_ = false;
    co_await loop_->sleep_for(30s);
    EXPECT_EQ(at("configmaps", "blue", "/data/n"), "2");
    co_await one->stop();
  });
}

TEST_F(ComposeTurns, ALeaseIsReleasedWhenItsPackNamesItNoLonger) {
  go([this]() -> awaitable<void> {
    auto one = taking_turns("one");
    co_await one->start(there());
    co_await loop_->sleep_for(20s);
    EXPECT_EQ(holder(), "one");
    write_pack("a-shops", "Shop", "");
    co_await one->packs.reload();
    co_await loop_->sleep_for(10s);
    EXPECT_EQ(holder(), "");
    want("shops", "blue", 7);
    co_await loop_->sleep_for(10s);
    EXPECT_EQ(at("configmaps", "blue", "/data/n"), "7");
    co_await one->stop();
  });
}

TEST_F(ComposeTurns, NoLeaseIsTriedForWhereNobodyServesTheKindsOfItsPack) {
  server().handle(k8s::sim::make_request(
      "DELETE", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/shops.example.com"));
  go([this]() -> awaitable<void> {
    auto one = taking_turns("one");
    co_await one->start(there());
    co_await loop_->sleep_for(20s);
    EXPECT_EQ(holder(), "nobody");
    EXPECT_EQ(at("configmaps", "red", "/data/n"), "2");
    co_await one->stop();
  });
}

}  // namespace
