// The shipped service in a memory cgroup whose limit it comes near, and in one that it fills: it
// says so, and it ends by itself with a sentence, before the kernel ends it.
#include "bench/hostile/siege/memory_group.hpp"
#include "reactor/plain/spawn.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
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

/// So many that what the service takes is large beside what it takes for a moment.
std::string unreachable_fleet() {
  constexpr int clusters = 500;
  std::string named, used;
  for (int i = 0; i < clusters; ++i) {
    const std::string n = std::to_string(i);
    named += "- {name: c" + n + ", cluster: {server: \"http://127.0.0.1:1/" + n + "\"}}\n";
    used += "- {name: c" + n + ", context: {cluster: c" + n + ", user: u}}\n";
  }
  return "apiVersion: v1\nkind: Config\ncurrent-context: c0\ncontexts:\n" + used + "clusters:\n" +
         named + "users:\n- {name: u, user: {token: none}}\n";
}

/// The service without a single cluster that answers, in a group of that size.
class limited_service {
public:
  explicit limited_service(std::size_t limit_bytes) : group_(memory_group::make(limit_bytes)) {
    if (!group_) return;
    folder_.write("kubeconfig", unreachable_fleet());
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
  std::size_t held() const { return held_in(group_->entrance()); }
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

/// What the service takes where nothing limits it, at most: that of its start is more than later.
std::size_t taken_without_limit() {
  limited_service s(std::size_t{1} << 30);
  if (!s.can_be_made()) return 0;
  std::size_t most = 0;
  int looks = 0;
  EXPECT_TRUE(s.wait([&] {
    most = std::max(most, s.held());
    looks += s.log().find(starts) != std::string::npos;
    return looks > 20;
  })) << s.log();
  EXPECT_EQ(s.log().find(near), std::string::npos) << s.log();
  return most;
}

TEST(MemoryEnd, IsToldBeforeTheLimitAndComesBeforeTheKernel) {
  const std::size_t takes = taken_without_limit();
  if (takes == 0) GTEST_SKIP() << "no memory cgroup can be made here";
  {
    limited_service s(takes * 100 / 88);
    EXPECT_TRUE(s.wait([&] { return s.log().find(near) != std::string::npos; })) << s.log();
    EXPECT_FALSE(s.ended()) << s.log();
    EXPECT_EQ(s.kills(), 0u);
  }
  limited_service s(takes + mib);
  std::optional<int> code;
  EXPECT_TRUE(s.wait([&] { return code || (code = s.ended()); })) << s.log();
  EXPECT_EQ(code, 1) << s.log();
  EXPECT_NE(s.log().find(reached), std::string::npos) << s.log();
  EXPECT_EQ(s.kills(), 0u);
}

}  // namespace
