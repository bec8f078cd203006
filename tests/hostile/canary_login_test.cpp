#include "formats/base64.hpp"
#include "helm/commands/source_commands.hpp"
#include "tests/hostile/canary.hpp"
#include "tests/reactor/temporary_folder.hpp"

namespace canary_run {
namespace {

using words = std::vector<std::string>;

TEST_F(Canary, NoChartCommandRepeatsALogin) {
  findings found;
  const auto run = [&](const reactor::temporary_folder& home, k8s::scripted_server& server,
                       const words& arguments) -> awaitable<void> {
    const auto env = [&home](std::string_view name) {
      return name == "HOME" ? home.path() : std::string();
    };
    helm::sources::command_context c{l,
                                     helm::sources::settings_from(env),
                                     env,
                                     [] { return bait + "\n"; },
                                     [](const std::string&) { return std::string("joe"); },
                                     [](const std::string&) { return reactor::secret(bait); },
                                     {}};
    const std::size_t before = server.requests().size();
    auto said = co_await helm::sources::run_source_command(std::move(c), arguments);
    bool was_sent = false;
    for (std::size_t i = before; i < server.requests().size(); ++i)
      was_sent = was_sent || !sent(server.requests()[i]).empty();
    EXPECT_TRUE(was_sent) << arguments.front() << ": the login was not sent: " << said.err;
    found.paths += said.exit_code != 0;
    found.outputs[arguments.front()] += said.out + said.err;
  };
  const std::vector<words> commands = {
      {"registry", "login", "reg:80", "--plain-http", "-u", "joe", "--password-stdin"},
      {"pull", "oci://reg:80/p/app", "--version", "1.0.0", "--plain-http"},
      {"repo", "add", "x", "http://reg/charts", "--username", "joe", "--password", bait},
      {"pull", "app", "--repo", "http://joe:" + bait + "@reg/charts"}};
  const std::string logins =
      R"({"auths":{"reg:80":{"auth":")" + formats::encode_base64("joe:" + bait) + "\"}}}";
  const std::vector<std::string> challenges = {"Basic realm=\"x\"",
                                               "Bearer realm=\"http://reg/token\",service=\"s\""};
  reactor::run_task(l, [&]() -> awaitable<void> {
    k8s::scripted_server server(l, {"reg", 80}), elsewhere(l, {"elsewhere", 6443});
    elsewhere.otherwise([](const received&) { return answer::failure(404, "NotFound", "no"); });
    for (const std::string& challenge : challenges) {
      for (const echo& e : echoes()) {
        server.otherwise([&](const received& r) {
          if (!sent(r).empty()) return e.make(r);
          answer a = answer::text(401, "text/plain", "who?");
          a.header("WWW-Authenticate", challenge);
          return a;
        });
        reactor::temporary_folder home;
        home.write(".config/helm/registry/config.json", logins);
        for (const words& command : commands) {
          // A repository's server is asked with the login at once.
          const bool of_repository =
              command.back().find("reg/charts") != std::string::npos || command.front() == "repo";
          if (of_repository && challenge.starts_with("Bearer")) continue;
          co_await run(home, server, command);
        }
      }
    }
    for (const received& r : elsewhere.requests())
      EXPECT_EQ(hits(r.target + r.body + sent(r)), 0u) << "a login went to another host";
    co_await server.stop();
    co_await elsewhere.stop();
  });
  EXPECT_GE(found.paths, 100u);
  report("chart commands", found);
}

}  // namespace
}  // namespace canary_run
