#include "bench/fleet/shipped_run.hpp"

#include "reactor/loop.hpp"
#include "reactor/plain/spawn.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace bench {
namespace {

using namespace std::chrono_literals;

std::string whole_text(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string shipped_program() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "windlass";
}

}  // namespace

shipped_run::~shipped_run() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

std::vector<std::string> shipped_run::on_home(std::vector<std::string> words) const {
  std::vector<std::string> command{shipped_program()};
  command.insert(command.end(), words.begin(), words.end());
  for (const char* one : {"--fleet", "secrets", "--namespace", "fleet", "--apis",
                          options_.apis.c_str(), "--kubeconfig"})
    command.emplace_back(one);
  command.push_back(options_.kubeconfig);
  return command;
}

pid_t shipped_run::spawn(std::vector<std::string> command, const std::string& out) {
  reactor::spawn_request r;
  if (options_.soft_limit > 0)
    r.argv = {"/bin/sh", "-c", "ulimit -S -n \"$0\" && exec \"$@\"",
              std::to_string(options_.soft_limit)};
  r.argv.insert(r.argv.end(), command.begin(), command.end());
  const int to = ::open(out.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  r.out = r.err = to;
  auto started = reactor::spawn(std::move(r));
  ::close(to);
  if (!started) throw std::runtime_error(started.error().message());
  return *started;
}

void shipped_run::start() {
  pid_ = spawn(on_home({"run", "--leader-elect", "--ui", page_.address(), "--metrics-bind-address",
                        metrics_.address(), "--health-probe-bind-address", health_.address()}),
               options_.log);
}

bool shipped_run::lives() {
  if (pid_ <= 0 || ::waitpid(pid_, nullptr, WNOHANG) == 0) return pid_ > 0;
  pid_ = -1;
  return false;
}

reactor::awaitable<int> shipped_run::ended(pid_t pid, reactor::nanoseconds within) {
  const reactor::steady_time until = loop_.now() + within;
  int status = 0;
  while (::waitpid(pid, &status, WNOHANG) == 0) {
    if (loop_.now() > until) ::kill(pid, SIGKILL);
    co_await loop_.sleep_for(5ms);
  }
  co_return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

reactor::awaitable<int> shipped_run::stop() {
  if (pid_ <= 0) co_return -1;
  ::kill(pid_, SIGTERM);
  const int code = co_await ended(pid_, 60s);
  pid_ = -1;
  co_return code;
}

reactor::awaitable<int> shipped_run::run_command(std::vector<std::string> words, std::string to) {
  const pid_t pid = spawn(on_home(std::move(words)), to);
  const int code = co_await ended(pid, 300s);
  co_return code;
}

std::uint16_t shipped_run::port(listener who) const noexcept {
  return who == listener::health    ? health_.number()
         : who == listener::metrics ? metrics_.number()
                                    : page_.number();
}

reactor::awaitable<std::optional<std::string>> shipped_run::ask(listener who, std::string path,
                                                                reactor::nanoseconds within) {
  reactor::http::client_options o;
  o.origin = {false, "127.0.0.1", port(who)};
  reactor::http::client asking(loop_, std::move(o));
  reactor::http::request r;
  r.method = "GET";
  r.target = std::move(path);
  constexpr std::size_t most = 512 * 1024 * 1024;
  auto said = co_await asking.fetch(std::move(r), most, loop_.now() + within);
  co_await asking.stop();
  if (!said || said->status != 200) co_return std::nullopt;
  co_return std::move(said->body);
}

reactor::nanoseconds shipped_run::cpu() const {
  const std::string stat = whole_text("/proc/" + std::to_string(pid_) + "/stat");
  // Fields 14 and 15, counted from 3 behind the name in parentheses. Source: proc(5).
  std::istringstream in(stat.substr(std::min(stat.size(), stat.rfind(')') + 1)));
  std::string skipped;
  for (int field = 3; field < 14; ++field) in >> skipped;
  std::int64_t user = 0, system = 0;
  in >> user >> system;
  return reactor::nanoseconds((user + system) * (1'000'000'000 / ::sysconf(_SC_CLK_TCK)));
}

std::size_t shipped_run::resident_bytes(const char* which) const {
  const std::string status = whole_text("/proc/" + std::to_string(pid_) + "/status");
  const auto at = status.find(which);
  if (at == status.npos) return 0;
  return std::strtoull(status.c_str() + at + std::char_traits<char>::length(which), nullptr, 10) *
         1'024;
}

std::string shipped_run::last_lines() const {
  constexpr std::size_t shown = 2'000;
  const std::string all = whole_text(options_.log);
  return all.size() > shown ? all.substr(all.size() - shown) : all;
}

}  // namespace bench
