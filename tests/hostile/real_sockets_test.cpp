// All hostile servers of the table at the same time, on real sockets, in a process of their own:
// the cluster beside them stays Live, and everything that was begun ends.
#include "bench/hostile/attackers.hpp"
#include "bench/hostile/server_host.hpp"
#include "bootc/api.hpp"
#include "k8s/client/kubeconfig.hpp"
#include "k8s/fleet/cluster.hpp"
#include "reactor/loop.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace bench::hostile;
using namespace std::chrono_literals;

/// This program as the attackers, until the test ends.
class attackers_process {
public:
  attackers_process() {
    int ends[2];
    if (pipe(ends) != 0) return;
    pid_ = fork();
    if (pid_ == 0) {
      dup2(ends[1], STDOUT_FILENO);
      close(ends[0]);
      _exit(run_attackers());
    }
    close(ends[1]);
    std::string line;
    for (char c = 0; read(ends[0], &c, 1) == 1 && c != '\n';) line += c;
    close(ends[0]);
    at = parse_attackers(line);
  }
  ~attackers_process() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    unlink(at.ca_file.c_str());
  }
  attackers_at at;

private:
  pid_t pid_ = -1;
};

std::unique_ptr<k8s::cluster> follow(reactor::loop& l, const std::string& name,
                                     const std::string& url, const std::string& ca) {
  k8s::connection to;
  to.server = url;
  to.source = "test";
  to.ca.bytes = reactor::secret(ca);
  k8s::cluster_options options;
  options.name = name;
  bootc::bootc_cluster::options b;
  b.name = name;
  options.apis.push_back(bootc::engage_bootc(b));
  auto made = std::make_unique<k8s::cluster>(l, std::move(to), std::move(options));
  made->start();
  return made;
}

TEST(HostileServersOnRealSockets, AllOfThemTogetherDoNotMakeAGoodClusterOld) {
  const attackers_process attackers;
  ASSERT_EQ(attackers.at.servers.size(), servers().size());
  // The certificates of the attackers are signed by an authority of their own process.
  reactor::loop l;
  std::string trusted;
  if (FILE* f = std::fopen(attackers.at.ca_file.c_str(), "r")) {
    char some[8'192];
    trusted.assign(some, std::fread(some, 1, sizeof some, f));
    std::fclose(f);
  }
  server_host good(l, nullptr, server_host::security::tls, 500ms);
  ASSERT_TRUE(good.start({"127.0.0.1", 0}).has_value());
  bool was_live = false, stopped = false;
  std::uint64_t heard_first = 0, heard_last = 0;
  reactor::task_group tasks(l);
  tasks.start("test", [&]() -> reactor::awaitable<void> {
    auto neighbour = follow(l, "good", "https://127.0.0.1:" + std::to_string(good.local().port),
                            authority().certificate_pem);
    was_live = co_await neighbour->engaged(l.now() + 30s);
    std::vector<std::unique_ptr<k8s::cluster>> bad;
    for (const std::uint16_t port : attackers.at.servers)
      bad.push_back(follow(l, "hostile-" + std::to_string(port),
                           "https://127.0.0.1:" + std::to_string(port), trusted));
    const auto heard = [&neighbour] {
      auto* part = bootc::bootc_part(*neighbour);
      return part ? part->node_informer().counters().events : 0;
    };
    heard_first = heard();
    const auto until = l.now() + 6s;
    while (was_live && l.now() < until) {
      co_await l.sleep_for(100ms);
      was_live = neighbour->is_live();
    }
    heard_last = heard();
    for (auto& c : bad) co_await c->stop();
    co_await neighbour->stop();
    co_await good.stop();
    stopped = true;
    l.stop();
  });
  l.run();
  EXPECT_TRUE(was_live);
  EXPECT_TRUE(stopped);
  EXPECT_GT(heard_last, heard_first) << "it changes an object twice a second";
}

}  // namespace
