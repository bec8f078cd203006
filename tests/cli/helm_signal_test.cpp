// Commands as processes: what a signal does to them while a peer says nothing.
#include "cli/commands.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

/// A server that takes connections and requests and never answers.
class silent_server {
public:
  silent_server() : listening_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    EXPECT_EQ(::bind(listening_, reinterpret_cast<sockaddr*>(&at), size), 0);
    EXPECT_EQ(::listen(listening_, 4), 0);
    EXPECT_EQ(::getsockname(listening_, reinterpret_cast<sockaddr*>(&at), &size), 0);
    port_ = ntohs(at.sin_port);
  }
  ~silent_server() {
    ::close(listening_);
    if (connection_ >= 0) ::close(connection_);
  }
  silent_server(const silent_server&) = delete;
  silent_server& operator=(const silent_server&) = delete;

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  /// The first line of the first request; "" when none came.
  std::string wait_for_request() {
    pollfd p{listening_, POLLIN, 0};
    if (::poll(&p, 1, 30'000) != 1) return "";
    connection_ = ::accept(listening_, nullptr, nullptr);
    p.fd = connection_;
    if (::poll(&p, 1, 30'000) != 1) return "";
    std::string text(4096, '\0');
    text.resize(static_cast<std::size_t>(
        std::max<ssize_t>(::recv(connection_, text.data(), text.size(), 0), 0)));
    return text.substr(0, text.find('\r'));
  }

private:
  int listening_, connection_ = -1;
  std::uint16_t port_ = 0;
};

/// One command in a process of its own; what it writes goes into a pipe.
class command_process {
public:
  command_process(std::vector<std::string> arguments, const std::string& home) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    id_ = ::fork();
    if (id_ == 0) {
      ::clearenv();
      ::setenv("HOME", home.c_str(), 1);
      ::dup2(ends[1], STDOUT_FILENO);
      ::dup2(ends[1], STDERR_FILENO);
      ::close(ends[0]);
      ::close(ends[1]);
      ::_exit(cli::dispatch(arguments));
    }
    ::close(ends[1]);
    output_ = ends[0];
  }
  ~command_process() {
    if (id_ > 0) {
      ::kill(id_, SIGKILL);
      ::waitpid(id_, nullptr, 0);
    }
    ::close(output_);
  }
  command_process(const command_process&) = delete;
  command_process& operator=(const command_process&) = delete;

  void signal(int number) { ::kill(id_, number); }
  /// Everything it wrote; false when it had not ended `patience` later.
  bool read_to_the_end(std::string& out, std::chrono::milliseconds patience) {
    for (pollfd p{output_, POLLIN, 0};;) {
      if (::poll(&p, 1, static_cast<int>(patience.count())) != 1) return false;
      char piece[4096];
      const ssize_t n = ::read(output_, piece, sizeof piece);
      if (n <= 0) return true;
      out.append(piece, static_cast<std::size_t>(n));
    }
  }
  int exit_code() {
    int status = 0;
    ::waitpid(id_, &status, 0);
    id_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

private:
  pid_t id_ = -1;
  int output_ = -1;
};

class HelmSignals : public testing::TestWithParam<std::vector<std::string>> {
protected:
  HelmSignals() {
    std::string name = testing::TempDir() + "/helm-signals-XXXXXX";
    home_ = ::mkdtemp(name.data());
    std::ofstream(home_ + "/config")
        << "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters:\n- name: c\n  cluster: "
           "{server: \"http://127.0.0.1:1\"}\ncontexts:\n- name: c\n  context: {cluster: c}\n";
  }
  ~HelmSignals() override { std::filesystem::remove_all(home_); }
  std::string home_;
};

/// Below what a download may take (two minutes).
constexpr std::chrono::milliseconds patience = std::chrono::seconds(60);

TEST_P(HelmSignals, EndAChartDownloadFromASilentServer) {
  silent_server repository;
  std::vector<std::string> arguments = GetParam();
  for (std::string& a : arguments)
    if (a == "CHART") a = repository.url() + "/web-1.0.0.tgz";
  arguments.insert(arguments.end(), {"--kubeconfig", home_ + "/config"});
  command_process command(arguments, home_);
  ASSERT_EQ(repository.wait_for_request(), "GET /web-1.0.0.tgz HTTP/1.1");
  const auto before = std::chrono::steady_clock::now();
  command.signal(SIGINT);
  std::string said;
  ASSERT_TRUE(command.read_to_the_end(said, patience)) << "Ctrl-C waits";
  const auto took = std::chrono::steady_clock::now() - before;
  EXPECT_EQ(command.exit_code(), GetParam()[1] == "template" ? 128 + SIGINT : 1) << said;
  std::printf("## SIGINT ends helm %s %.0f ms later\n", GetParam()[1].c_str(),
              std::chrono::duration<double, std::milli>(took).count());
  if (GetParam()[1] == "install") {
    EXPECT_NE(said.find("Release web has been cancelled.\n"), std::string::npos) << said;
    EXPECT_NE(said.find("INSTALLATION FAILED: context canceled"), std::string::npos) << said;
  }
}

INSTANTIATE_TEST_SUITE_P(
    OfEveryKind, HelmSignals,
    testing::Values(std::vector<std::string>{"helm", "install", "web", "CHART"},
                    std::vector<std::string>{"helm", "template", "web", "CHART"}),
    [](const auto& param) { return param.param[1]; });

}  // namespace
