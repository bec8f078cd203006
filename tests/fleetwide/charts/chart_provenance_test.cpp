// spec.chart.provenance: charts that must be signed, in a repository and in a registry.
#include "helm/sources/chart_registry.hpp"
#include "helm/sources/locate.hpp"
#include "tests/fleetwide/charts/fleet_charts_fixture.hpp"
#include "tests/helm/sources/test_signer.hpp"
#include "tests/reactor/http/test_certificates.hpp"
#include "tests/reactor/temporary_folder.hpp"
#include "tests/registry/fake_registry.hpp"

#include <gmock/gmock.h>

namespace fleetwide::testing {
namespace {

using helm::sources::test_signer;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class SignedFleetCharts : public FleetChartsOnClusters {
protected:
  static constexpr const char* everywhere = R"({"maxClusters":6})";
  static constexpr const char* all = "c0 c1 c2 c3 c4 c5";
  static constexpr const char* refusal =
      "False NotAvailable chart http://shelf.demo.local/app:1.0.0 is not signed by a key of "
      "ConfigMap trusted, key pubring.gpg: ";

  SignedFleetCharts() { sign(alice_, "1.0.0"); }

  void sign(const test_signer& by, const std::string& version) {
    chart_shelf().sign("app", version,
                       by.sign("app", version, chart_shelf().archive("app", version)));
  }
  simulation::chart_shelf& chart_shelf() { return world_->shelf(); }
  void put_keys(const std::string& bytes, const std::string& key = "pubring.gpg") {
    json::object data;
    data[key] = formats::encode_base64(bytes);
    home().put({{"apiVersion", "v1"},
                {"kind", "ConfigMap"},
                {"metadata", {{"name", "trusted"}, {"namespace", "default"}}},
                {"binaryData", std::move(data)}});
  }
  json::object signed_chart(const std::string& version,
                            const std::string& provenance = R"({"keysFrom":{"name":"trusted"}})") {
    json::object o = fleet_chart(version, everywhere);
    o["spec"].as_object()["chart"].as_object()["provenance"] = json::parse(provenance);
    return o;
  }
  std::string signed_by(std::size_t revision) {
    const json::value s = status();
    const json::object& r = s.at("history").at(revision).as_object();
    return r.contains("signedBy") ? std::string(r.at("signedBy").as_string()) : "";
  }

  test_signer alice_{"alice"}, mallory_{"mallory"};
};

TEST_F(SignedFleetCharts, AChartIsInstalledOnceOneOfTheKeysHasSignedIt) {
  put_keys(alice_.public_key());
  home().put(signed_chart("1.0.0"));
  run([&]() -> awaitable<void> {
    co_await serve(5min);
    EXPECT_EQ(who_has("1.0.0 info"), all);
    EXPECT_THAT(signed_by(0), StartsWith("alice <alice@example.com>, key "));
    const std::uint64_t before = writes_;
    co_await serve(20min);
    EXPECT_EQ(writes_, before) << "a restart confirms it without a write";
    chart_shelf().sign("app", "1.0.0", "");
    co_await serve(20min);
    EXPECT_EQ(said("Ready"), "True AllReady 6 of 6 clusters have revision 1")
        << "what was checked with the same keys stays checked";
  });
}

TEST_F(SignedFleetCharts, WhatIsNotSignedByOneOfTheKeysReachesNoCluster) {
  sign(mallory_, "1.0.0");
  put_keys(alice_.public_key());
  home().put(signed_chart("1.0.0"));
  home().put(fleet_chart("1.0.0", everywhere, "", "base"));
  run([&]() -> awaitable<void> {
    co_await serve(5min);
    EXPECT_EQ(said("Ready"), std::string(refusal) + "openpgp: signature made by unknown entity");
    EXPECT_EQ(who_has("1.0.0 info", "base"), all) << "the others go on";
    chart_shelf().sign("app", "1.0.0", "");
    co_await serve(5min);
    EXPECT_THAT(said("Ready"), StartsWith(std::string(refusal) + "its provenance cannot be had: "));
    chart_shelf().sign("app", "1.0.0", "1.0.0 is fine, says Alice\n");
    co_await serve(5min);
    EXPECT_EQ(said("Ready"),
              std::string(refusal) + "failed to decode signature: signature block not found");
    EXPECT_EQ(who_has("1.0.0 info"), "");
    for (const auto& c : world_->clusters()) EXPECT_FALSE(note_on(c->name())) << c->name();
    sign(alice_, "1.0.0");
    co_await serve(5min);
    EXPECT_EQ(who_has("1.0.0 info"), all);
  });
}

TEST_F(SignedFleetCharts, AnArchiveThatIsNotTheOneWhichWasSignedReachesNoCluster) {
  chart_shelf().put("app", "1.0.0", chart_kind::several);
  put_keys(alice_.public_key());
  home().put(signed_chart("1.0.0"));
  run([&]() -> awaitable<void> {
    co_await serve(5min);
    EXPECT_THAT(said("Ready"),
                StartsWith(std::string(refusal) + "sha256 sum does not match for app-1.0.0.tgz: "));
    EXPECT_EQ(who_has("1.0.0 info"), "");
    // A signature of another version is none of this one.
    chart_shelf().sign("app", "1.0.0",
                       alice_.sign("app", "1.1.0", chart_shelf().archive("app", "1.0.0")));
    co_await serve(5min);
    EXPECT_EQ(said("Ready"),
              std::string(refusal) +
                  "provenance does not contain a SHA for a file named \"app-1.0.0.tgz\"");
  });
}

TEST_F(SignedFleetCharts, OtherKeysAreAnotherRevisionWhichIsCheckedAgain) {
  put_keys(alice_.public_key());
  home().put(signed_chart("1.0.0"));
  run([&]() -> awaitable<void> {
    auto w = service(units::mode::act);
    co_await w->start();
    co_await loop_.sleep_for(5min);
    EXPECT_EQ(who_has("1.0.0 info"), all);
    moved();
    put_keys(mallory_.public_key());
    co_await loop_.sleep_for(1min);
    EXPECT_EQ(said("Ready"), std::string(refusal) + "openpgp: signature made by unknown entity");
    ask_for("1.1.0");
    co_await loop_.sleep_for(1min);
    EXPECT_EQ(moved(), "") << "who has one keeps it, and gets no other";
    ask_for("1.0.0");
    put_keys(mallory_.public_key() + alice_.public_key());
    co_await loop_.sleep_for(2min);
    EXPECT_EQ(said("Ready"), "True AllReady 6 of 6 clusters have revision 2");
    EXPECT_EQ(moved(), "") << "the same content is not written again";
    co_await w->stop();
  });
}

TEST_F(SignedFleetCharts, ANewerVersionOfARangeThatIsNotSignedIsNotTakenAndThatIsSaid) {
  put_keys(alice_.public_key());
  chart_shelf().take("app", "1.1.0");
  home().put(signed_chart(">= 1.0.0 < 2.0.0"));
  run([&]() -> awaitable<void> {
    co_await serve(5min);
    EXPECT_EQ(who_has("1.0.0 info"), all);
    chart_shelf().put("app", "1.1.0");
    co_await serve(20min);
    EXPECT_EQ(said("Ready"), "True AllReady 6 of 6 clusters have revision 1");
    const auto rows = co_await plan();
    EXPECT_THAT(rows.at(0).notes,
                ::testing::ElementsAre(HasSubstr("app:1.1.0 is not signed by a key of ConfigMap")));
    sign(alice_, "1.1.0");
    co_await serve(20min);
    EXPECT_EQ(who_has("1.1.0 info"), all);
    EXPECT_THAT(signed_by(1), StartsWith("alice <alice@example.com>, key "));
  });
}

TEST_F(SignedFleetCharts, KeysThatAreNoneAreTold) {
  home().put(signed_chart("1.0.0"));
  run([&]() -> awaitable<void> {
    auto w = service(units::mode::act);
    co_await w->start();
    const std::string begin = "False NotAvailable spec.chart.provenance: ConfigMap trusted";
    co_await loop_.sleep_for(1min);
    EXPECT_EQ(said("Ready"), begin + " is not there");
    put_keys(alice_.public_key(), "other.gpg");
    co_await loop_.sleep_for(1min);
    EXPECT_EQ(said("Ready"), begin + " has no key pubring.gpg");
    put_keys("");
    co_await loop_.sleep_for(1min);
    EXPECT_EQ(said("Ready"), begin + ", key pubring.gpg: it is empty");
    put_keys(std::string(1'048'577, 'x'));
    co_await loop_.sleep_for(1min);
    EXPECT_EQ(said("Ready"),
              begin + ", key pubring.gpg: it has 1048577 bytes, 1048576 are allowed");
    put_keys("no key at all");
    co_await loop_.sleep_for(1min);
    EXPECT_THAT(said("Ready"), StartsWith(std::string(refusal) + "openpgp: "));
    EXPECT_EQ(who_has("1.0.0 info"), "");
    put_config("trusted", "pubring.gpg", mallory_.armored_key() + alice_.armored_key());
    co_await loop_.sleep_for(2min);
    EXPECT_EQ(who_has("1.0.0 info"), all) << said("Ready");
    co_await w->stop();
  });
}

TEST_F(SignedFleetCharts, AChartThatNobodyChecksDoesNotServeWhoAsksForThat) {
  sign(mallory_, "1.0.0");
  put_keys(alice_.public_key());
  home().put(fleet_chart("1.0.0", everywhere));
  run([&]() -> awaitable<void> {
    auto w = service(units::mode::act);
    co_await w->start();
    co_await loop_.sleep_for(5min);
    EXPECT_EQ(who_has("1.0.0 info"), all);
    edit_spec([](json::object& spec) {
      spec["chart"].as_object()["provenance"] = json::parse(R"({"keysFrom":{"name":"trusted"}})");
      spec["values"] = json::object{{"level", "warn"}};
    });
    co_await loop_.sleep_for(5min);
    EXPECT_EQ(said("Ready"), std::string(refusal) + "openpgp: signature made by unknown entity");
    EXPECT_EQ(who_has("1.0.0 info"), all);
    sign(alice_, "1.0.0");
    co_await loop_.sleep_for(5min);
    EXPECT_EQ(who_has("1.0.0 warn"), all);
    co_await w->stop();
  });
}

TEST_F(SignedFleetCharts, APlanOfAFileSaysThatItIsNotSigned) {
  put_keys(mallory_.public_key());
  run([&]() -> awaitable<void> {
    std::vector<json::object> files{signed_chart("1.0.0")};
    const auto rows = co_await plan(files);
    EXPECT_EQ(rows.size(), 1u);
    EXPECT_THAT(rows.at(0).notes, ::testing::ElementsAre(HasSubstr("made by unknown entity")));
    EXPECT_TRUE(rows.at(0).actions.empty());
    put_keys(alice_.public_key());
    const auto then = co_await plan(files);
    EXPECT_EQ(then.at(0).actions.size(), 6u);
  });
}

TEST_F(SignedFleetCharts, InARegistryTheProvenanceIsALayerBesideTheChart) {
  reactor::test_authority ca(loop_);
  reactor::temporary_folder folder;
  folder.write("ca.pem", ca.pem());
  setenv("SSL_CERT_FILE", (std::string(folder.path()) + "/ca.pem").c_str(), 1);
  registry::fake_registry fake;
  put_keys(alice_.public_key());
  home().put(signed_chart("1.0.0"));
  edit_spec([](json::object& spec) { spec["chart"].as_object()["repository"] = "oci://reg/p"; });
  run([&]() -> awaitable<void> {
    registry::told_server server(
        loop_, "reg", 443, [&](const reactor::http::request& r) { return fake(r); },
        std::make_unique<reactor::tls_server_settings>(ca.server({"reg"})));
    registry::web web(loop_, [](std::string_view) { return std::string(); });
    const std::string archive = chart_shelf().archive("app", "1.0.0");
    helm::metadata m;
    m.api_version = "v2";
    m.name = "app";
    m.version = "1.0.0";
    const auto push = [&](std::string provenance) -> awaitable<void> {
      helm::sources::chart_origin how;
      helm::sources::settings where;
      helm::sources::chart_registry r(loop_, web,
                                      helm::sources::registry_options_of(where, how, "reg"));
      auto to = *registry::parse_oci_reference("reg/p/app:1.0.0");
      auto done = co_await r.push(to, m, archive, std::move(provenance), "2026-01-02T03:04:05Z");
      EXPECT_TRUE(done) << (done ? "" : done.error().text);
      fake.tags = {"1.0.0"};
    };
    auto w = service(units::mode::act);
    co_await w->start();
    const std::string begin =
        "False NotAvailable chart oci://reg/p/app:1.0.0 is not signed by a key of ConfigMap "
        "trusted, key pubring.gpg: ";
    co_await push("");
    co_await loop_.sleep_for(2min);
    EXPECT_THAT(said("Ready"), StartsWith(begin + "its provenance cannot be had: "));
    co_await push(mallory_.sign("app", "1.0.0", archive));
    co_await loop_.sleep_for(2min);
    EXPECT_EQ(said("Ready"), begin + "openpgp: signature made by unknown entity");
    EXPECT_EQ(who_has("1.0.0 info"), "");
    co_await push(alice_.sign("app", "1.0.0", archive));
    co_await loop_.sleep_for(5min);
    EXPECT_EQ(who_has("1.0.0 info"), all) << said("Ready");
    EXPECT_THAT(signed_by(0), StartsWith("alice <alice@example.com>, key "));
    co_await w->stop();
    co_await web.stop();
    co_await server.stop();
  });
  unsetenv("SSL_CERT_FILE");
}

}  // namespace
}  // namespace fleetwide::testing
