// Commands as they begin: what they say first, and how they end when they cannot start.
#include "bootc/daemon/serve.hpp"
#include "cli/commands.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

namespace cli {
namespace {

namespace fs = std::filesystem;

/// A port of loopback that is taken as long as it lives.
class busy_port {
public:
  busy_port() : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    auto* raw = reinterpret_cast<sockaddr*>(&at);  // NOLINT: as sockets are spoken to
    EXPECT_EQ(::bind(fd_, raw, size), 0);
    EXPECT_EQ(::listen(fd_, 1), 0);
    EXPECT_EQ(::getsockname(fd_, raw, &size), 0);
    number_ = ntohs(at.sin_port);
  }
  ~busy_port() { ::close(fd_); }
  busy_port(const busy_port&) = delete;
  busy_port& operator=(const busy_port&) = delete;
  std::string text() const { return std::to_string(number_); }
  std::string before() const { return std::to_string(number_ - 1); }

private:
  int fd_;
  std::uint16_t number_ = 0;
};

struct ended {
  int code;
  std::string err;
};

ended run_program(const std::vector<std::string>& arguments) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  const int code = dispatch(arguments);
  (void)testing::internal::GetCapturedStdout();
  return {code, testing::internal::GetCapturedStderr()};
}

TEST(Starting, ABusyPortEndsTheApiserverInOneSentence) {
  const busy_port taken;
  reactor::temporary_folder folder;
  const std::string dir = folder / "";
  const ended one = run_program({"apiserver", "--port", taken.text(), "--dir", dir});
  EXPECT_EQ(one.code, 1);
  EXPECT_NE(one.err.find("127.0.0.1:" + taken.text()), std::string::npos) << one.err;
  EXPECT_EQ(std::ranges::count(one.err, '\n'), 1) << one.err;
  // The first of two listens already when the second meets the busy port.
  const ended two =
      run_program({"apiserver", "--clusters", "2", "--port", taken.before(), "--dir", dir});
  EXPECT_EQ(two.code, 1);
  EXPECT_EQ(std::ranges::count(two.err, '\n'), 1) << two.err;
}

const char* const nowhere =
    "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{name: c, cluster: {server: "
    "\"http://127.0.0.1:1\"}}]\nusers: [{name: u, user: {token: t}}]\ncontexts: [{name: c, "
    "context: {cluster: c, user: u}}]\n";

TEST(Starting, ABusyPortEndsTheDaemonAndTheServiceInOneSentence) {
  const busy_port taken;
  reactor::temporary_folder folder;
  folder.write("kubeconfig", nowhere);
  const std::string at = "127.0.0.1:" + taken.text();
  const auto expect_one_sentence = [&](const ended& e) {
    EXPECT_EQ(e.code, 1) << e.err;
    EXPECT_NE(e.err.find(at), std::string::npos) << e.err;
    EXPECT_EQ(std::ranges::count(e.err, '\n'), 1) << e.err;
  };
  expect_one_sentence(run_program({"run", "--metrics-bind-address", "0", "--kubeconfig",
                                   folder / "kubeconfig", "--health-probe-bind-address", at,
                                   "--log-level", "error"}));
  bootc::daemon_arguments daemon;
  daemon.node_name = "n";
  daemon.host = bootc::daemon_arguments::host_form::direct;
  daemon.kubeconfig = folder / "kubeconfig";
  daemon.health_address = at;
  daemon.log_level = "error";
  testing::internal::CaptureStderr();
  const int code = bootc::serve_daemon(daemon);
  expect_one_sentence({code, testing::internal::GetCapturedStderr()});
}

TEST(Starting, TheServiceNamesEverySettingThatCountsAndWhoSaidSo) {
  reactor::temporary_folder folder;
  folder.write("kubeconfig", nowhere);
  const ended e = run_program({"run", "--kubeconfig", folder / "kubeconfig",
                               "--metrics-bind-address", "0", "--health-probe-bind-address", "0"});
  EXPECT_EQ(e.code, 1);
  const std::string first = e.err.substr(0, e.err.find('\n'));
  EXPECT_NE(first.find("windlass starts"), std::string::npos) << e.err;
  EXPECT_NE(first.find("metrics-bind-address=0 (flag)"), std::string::npos) << first;
  EXPECT_NE(first.find("leader-elect=false (default)"), std::string::npos) << first;
  EXPECT_NE(first.find("kubeconfig-label=sigs.k8s.io/multicluster-runtime-kubeconfig (default)"),
            std::string::npos)
      << first;
  EXPECT_NE(e.err.find("cannot use the home cluster at"), std::string::npos) << e.err;
}

/// Of cli/, service/ and every folder called commands, and of helm/members.
std::vector<fs::directory_entry> sources_of_commands() {
  std::vector<fs::directory_entry> out;
  for (const char* top :
       {"bootc", "cli", "compose", "helm", "policies", "releases", "service", "simulation"})
    for (const auto& entry :
         fs::recursive_directory_iterator(fs::path(WINDLASS_SOURCE_DIR) / top)) {
      const std::string path = entry.path().string();
      const bool whole = std::string_view(top) == "cli" || std::string_view(top) == "service";
      const bool is_command =
          whole || path.find("/commands/") != path.npos || path.find("/helm/members/") != path.npos;
      if (entry.path().extension() == ".cpp" && is_command) out.push_back(entry);
    }
  return out;
}

// What runs on a loop is stopped by the loop: who starts something and returns before the loop ran
// leaves it running, and its task_group ends the process.
TEST(Starting, NoCommandReturnsBetweenAStartAndTheLoop) {
  std::size_t looked = 0;
  for (const auto& entry : sources_of_commands()) {
    std::ifstream in(entry.path());
    std::vector<std::string> body;  // of the function under way
    for (std::string line; std::getline(in, line);) {
      if (!line.empty() && line.front() != ' ' && line.front() != '}') body.clear();
      body.push_back(line);
      EXPECT_EQ(line.find("task_group tasks(loop)"), std::string::npos)
          << entry.path() << ": run_to_end() does it";
      if (!std::regex_search(line, std::regex(R"(^  ((loop|l)\.run\(|run_to_end\())"))) continue;
      ++looked;
      bool started = false;
      for (const std::string& before : body) {
        // Deeper lines are a coroutine's, which the loop runs.
        if (started && std::regex_search(before, std::regex(R"(^  (  )?((if|else).*)?return\b)")))
          ADD_FAILURE() << entry.path() << ": " << before;
        if (std::regex_search(before, std::regex(R"(^  \S.*[.>]start\()"))) started = true;
      }
    }
  }
  EXPECT_GT(looked, 8u);
}

}  // namespace
}  // namespace cli
