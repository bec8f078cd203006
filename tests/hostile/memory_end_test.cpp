// The shipped service in a memory cgroup whose limit it comes near, and in one that it fills: it
// says so, and it ends by itself with a sentence, before the kernel ends it.
#include "bench/hostile/siege/memory_group.hpp"
#include "reactor/plain/spawn.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <thread>

namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using bench::hostile::memory_group;

constexpr std::size_t mib = std::size_t{1} << 20;

std::string text_in(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// What the group holds without the cache of files.
std::size_t held_in(const std::string& entrance) {
  const std::string folder = fs::path(entrance).parent_path();
  const bool is_v2 = fs::exists(folder + "/memory.current");
  std::ifstream usage(folder + (is_v2 ? "/memory.current" : "/memory.usage_in_bytes")),
      stat(folder + "/memory.stat");
  const std::string before = is_v2 ? "" : "total_";
  std::size_t held = 0, n = 0;
  usage >> held;
  for (std::string name; stat >> name >> n;)
    if (name == before + "inactive_file" || name == before + "active_file")
      held -= std::min(n, held);
  return held;
}

std::string unreachable_cluster() {
  return "apiVersion: v1\nkind: Config\ncurrent-context: c\n"
         "contexts:\n- {name: c, context: {cluster: c, user: u}}\n"
         "clusters:\n- {name: c, cluster: {server: \"http://127.0.0.1:1\"}}\n"
         "users:\n- {name: u, user: {token: none}}\n";
}

/// Another process of the group. It holds what the test says, so that no verdict depends on what
/// the service takes by itself.
class ballast {
public:
  explicit ballast(const std::string& entrance) {
    int request[2], answer[2];
    if (::pipe2(request, O_CLOEXEC) != 0) return;
    if (::pipe2(answer, O_CLOEXEC) != 0) return;
    pid_ = ::fork();
    if (pid_ == 0) hold(entrance, request[0], answer[1]);
    ::close(request[0]);
    ::close(answer[1]);
    request_ = request[1];
    answer_ = answer[0];
  }
  ~ballast() {
    ::close(request_);
    ::close(answer_);
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ballast(const ballast&) = delete;
  ballast& operator=(const ballast&) = delete;

  /// Holds so many bytes more when this returns; false where the process is gone.
  bool take(std::size_t bytes) {
    char done = 0;
    return ::write(request_, &bytes, sizeof bytes) == sizeof bytes &&
           ::read(answer_, &done, 1) == 1;
  }

private:
  /// The child: nothing but system calls. It ends when the test does.
  [[noreturn]] static void hold(const std::string& entrance, int request, int answer) {
    const int group = ::open(entrance.c_str(), O_WRONLY | O_CLOEXEC);
    if (::write(group, "0", 1) != 1) ::_exit(1);
    std::size_t bytes = 0;
    while (::read(request, &bytes, sizeof bytes) == sizeof bytes) {
      void* const p = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
      if (p == MAP_FAILED || ::write(answer, "", 1) != 1) ::_exit(1);
    }
    ::_exit(0);
  }

  pid_t pid_ = -1;
  int request_ = -1, answer_ = -1;
};

/// The service without a single cluster that answers, in a group of that size.
class limited_service {
public:
  explicit limited_service(std::size_t limit_bytes) : group_(memory_group::make(limit_bytes)) {
    if (!group_) return;
    folder_.write("kubeconfig", unreachable_cluster());
    reactor::spawn_request r;
    r.argv = {"/bin/sh",
              "-c",
              "echo $$ > \"$0\" && exec \"$@\"",
              group_->entrance(),
              fs::read_symlink("/proc/self/exe").parent_path() / "windlass",
              "run",
              "--kubeconfig",
              folder_ / "kubeconfig",
              "--fleet",
              "contexts",
              "--metrics-bind-address",
              "0",
              "--health-probe-bind-address",
              "0"};
    const int log = ::open((folder_ / "log").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    r.out = r.err = log;
    auto started = reactor::spawn(std::move(r));
    ::close(log);
    if (started) pid_ = *started;
  }
  ~limited_service() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  limited_service(const limited_service&) = delete;
  limited_service& operator=(const limited_service&) = delete;

  bool can_be_made() const { return group_.has_value(); }
  std::string log() const { return text_in(folder_ / "log"); }
  std::string entrance() const { return group_->entrance(); }
  std::size_t held() const { return held_in(entrance()); }
  std::size_t kills() const { return group_->kills(); }
  /// Its exit code once it has ended; none while it lives.
  std::optional<int> ended() {
    int status = 0;
    if (pid_ <= 0 || ::waitpid(pid_, &status, WNOHANG) == 0) return std::nullopt;
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  /// Until `is`, for as long as a slow machine needs.
  bool wait(const std::function<bool()>& is) {
    for (int i = 0; i < 3'000 && !is(); ++i) std::this_thread::sleep_for(20ms);
    return is();
  }

private:
  std::optional<memory_group> group_;
  reactor::temporary_folder folder_;
  pid_t pid_ = -1;
};

constexpr const char* starts = "windlass starts";
constexpr const char* near = "the memory limit is near";
constexpr const char* reached = "the memory limit is reached";

TEST(MemoryEnd, IsToldBeforeTheLimitAndComesBeforeTheKernel) {
  limited_service s(256 * mib);
  if (!s.can_be_made()) GTEST_SKIP() << "no memory cgroup can be made here";
  const auto says = [&](const char* word) { return s.log().find(word) != std::string::npos; };
  ASSERT_TRUE(s.wait([&] { return says(starts); })) << s.log();
  EXPECT_FALSE(says(near)) << s.log();

  ballast other(s.entrance());
  const auto fill = [&](std::size_t bytes) {
    const std::size_t held = s.held();
    EXPECT_TRUE(held >= bytes || other.take(bytes - held));
  };
  fill(230 * mib);
  EXPECT_TRUE(s.wait([&] { return says(near); })) << s.log();
  EXPECT_FALSE(s.ended()) << s.log();
  EXPECT_FALSE(says(reached)) << s.log();

  // The reserve is 8 MiB. What the service gives back meanwhile is filled again.
  std::optional<int> code;
  EXPECT_TRUE(s.wait([&] {
    if (!code && !(code = s.ended())) fill(251 * mib);
    return code.has_value();
  })) << s.log();
  EXPECT_EQ(code, 1) << s.log();
  EXPECT_TRUE(says(reached)) << s.log();
  EXPECT_EQ(s.kills(), 0u);
}

}  // namespace
