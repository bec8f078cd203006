#include "k8s/sim/fleet_server.hpp"

#include "k8s/client/kubeconfig.hpp"
#include "reactor/http/client.hpp"
#include "reactor/loop.hpp"
#include "reactor/task_group.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace k8s::sim {
namespace {

using reactor::awaitable;

void run(reactor::loop& l, fleet_server& fleet, std::function<awaitable<void>()> body) {
  reactor::task_group tasks(l);
  bool finished = false;
  auto all = [&]() -> awaitable<void> {
    co_await body();
    co_await fleet.stop();
    finished = true;
  };
  tasks.start("test", std::function<awaitable<void>()>(all));
  l.run();
  EXPECT_TRUE(finished);
}

TEST(FleetServer, WritesAKubeconfigThatLeadsToEachCluster) {
  reactor::loop l(reactor::loop::mode::simulated, 3);
  fleet_options o;
  o.clusters = 3;
  o.port = 7000;
  fleet_server fleet(l, std::move(o));
  ASSERT_TRUE(fleet.start());
  reactor::temporary_folder d;
  auto path = fleet.write(d.path() + "/deep/er");
  ASSERT_TRUE(path);
  for (std::size_t i = 0; i < 3; ++i) {
    auto to = load_kubeconfig_file(*path, fleet.name(i));
    ASSERT_TRUE(to) << to.error().message();
    EXPECT_EQ(to->server, fleet.url(i));
  }
  EXPECT_EQ(fleet.name(2), "cluster-003");
  EXPECT_EQ(std::filesystem::status(*path).permissions() & std::filesystem::perms::others_read,
            std::filesystem::perms::none);
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& f : std::filesystem::directory_iterator(d.path() + "/deep/er"))
    ++files;
  EXPECT_EQ(files, 1u) << "no draft stays behind";
  run(l, fleet, []() -> awaitable<void> { co_return; });
}

TEST(FleetServer, SaysWhichFileItCouldNotWrite) {
  reactor::loop l(reactor::loop::mode::simulated, 3);
  fleet_server fleet(l, {});
  ASSERT_TRUE(fleet.start());
  auto path = fleet.write("/proc/nowhere");
  ASSERT_FALSE(path);
  EXPECT_NE(path.error().message().find("/proc/nowhere"), std::string::npos);
  run(l, fleet, []() -> awaitable<void> { co_return; });
}

TEST(FleetServer, ServesTlsWithItsOwnAuthorityAndKnowsTheAdministrator) {
  reactor::loop l(reactor::loop::mode::simulated, 3);
  fleet_options o;
  o.clusters = 2;
  o.security = transport_security::tls;
  o.layout = fleet_layout::one_port;
  std::string seen;
  fleet_server fleet(l, std::move(o));
  fleet.api(1).access().anonymous = false;
  fleet.api(1).access().authorize = [&](const std::string& user, const request&) {
    seen = user;
    return true;
  };
  ASSERT_TRUE(fleet.start());
  auto to = load_kubeconfig(fleet.kubeconfig(1), {});
  ASSERT_TRUE(to) << to.error().message();
  EXPECT_NE(to->server.find("/clusters/cluster-002"), std::string::npos);
  run(l, fleet, [&]() -> awaitable<void> {
    reactor::http::client_options c;
    std::string prefix;
    auto origin = reactor::http::parse_origin(to->server, &prefix);
    EXPECT_TRUE(origin.has_value());
    if (!origin) co_return;
    c.origin = *origin;
    c.tls.ca_pem = std::string(to->ca.bytes.reveal());
    c.tls.certificate_pem = std::string(to->certificate.bytes.reveal());
    c.tls.key_pem = to->key.bytes;
    reactor::http::client client(l, std::move(c));
    reactor::http::request r;
    r.target = prefix + "/api/v1/namespaces";
    auto answered = co_await client.fetch(std::move(r));
    EXPECT_TRUE(answered && answered->status == 200);
    co_await client.stop();
  });
  EXPECT_EQ(seen, "admin");
}

TEST(FleetServer, ItsKubeconfigIsTheAdministratorsWhereRightsAreJudged) {
  for (const auto security : {transport_security::plain, transport_security::tls}) {
    reactor::loop l(reactor::loop::mode::simulated, 3);
    fleet_options o;
    o.security = security;
    o.judge = authorization::rbac;
    fleet_server fleet(l, std::move(o));
    ASSERT_TRUE(fleet.start());
    auto to = load_kubeconfig(fleet.kubeconfig(), {});
    ASSERT_TRUE(to) << to.error().message();
    run(l, fleet, [&]() -> awaitable<void> {
      reactor::http::client_options c;
      auto origin = reactor::http::parse_origin(to->server);
      EXPECT_TRUE(origin.has_value());
      if (!origin) co_return;
      c.origin = *origin;
      c.tls.ca_pem = std::string(to->ca.bytes.reveal());
      for (const bool administrator : {true, false}) {
        if (administrator) {
          c.tls.certificate_pem = std::string(to->certificate.bytes.reveal());
          c.tls.key_pem = to->key.bytes;
        } else {
          c.tls.certificate_pem.clear();
          c.tls.key_pem = reactor::secret();
        }
        reactor::http::client client(l, c);
        reactor::http::request r;
        r.target = "/api/v1/namespaces";
        if (administrator && !to->token.bytes.empty())
          r.authorization = reactor::secret("Bearer " + to->token.bytes.reveal());
        auto answered = co_await client.fetch(std::move(r));
        EXPECT_TRUE(answered && answered->status == (administrator ? 200 : 403))
            << (answered ? answered->body : answered.error().message());
        co_await client.stop();
      }
    });
  }
}

}  // namespace
}  // namespace k8s::sim
