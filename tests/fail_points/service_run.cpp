#include "tests/fail_points/service_run.hpp"

#include "cli/commands.hpp"
#include "reactor/http/client.hpp"
#include "reactor/loop.hpp"
#include "reactor/plain/memory.hpp"
#include "simulation/node_world.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <memory>

namespace fail_points {
namespace {

using namespace std::chrono_literals;

constexpr unsigned clock_speed = 8;
constexpr std::string_view token = "canary-token-of-the-home-kubeconfig";

/// What the processes of one run tell one another.
struct shared_state {
  std::atomic<int> ready{0}, step{0}, leave{0}, product{0};
  std::atomic<std::uint32_t> fired{0}, calls{0};
  char kubeconfig[256] = {};
  char wrong[2048] = {};
};

template <class T>
class shared_memory {
public:
  shared_memory()
      : at_(new(::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                       0)) T) {}
  ~shared_memory() { ::munmap(at_, sizeof(T)); }
  shared_memory(const shared_memory&) = delete;
  shared_memory& operator=(const shared_memory&) = delete;
  T* operator->() const { return at_; }
  T& operator*() const { return *at_; }

private:
  T* at_;
};

/// The peers' process.
class peers {
public:
  peers(shared_state& s, std::uint16_t port)
      : shared_(s), port_(port), loop_(reactor::loop::mode::real), tasks_(loop_) {}

  void go() {
    simulation::world_options o;
    o.clusters = 2;
    o.nodes = 2;
    o.mishaps = false;
    o.speed = 40;
    world_ = std::make_unique<simulation::node_world>(loop_, o);
    if (auto started = world_->start(); !started) return say(started.error().message());
    world_->roll_out(simulation::new_image);
    std::string config = world_->kubeconfig();
    for (std::size_t at; (at = config.find("127.0.0.1")) != std::string::npos;)
      config.replace(at, 9, "localhost");
    if (const auto at = config.find("token: demo"); at != std::string::npos)
      config.replace(at + 7, 4, token);
    const std::string path = folder_.write("kubeconfig", config);
    std::snprintf(shared_.kubeconfig, sizeof shared_.kubeconfig, "%s", path.c_str());
    shared_.ready = 1;
    tasks_.start("run", run());
    loop_.run();
  }

private:
  void say(const std::string& what) {
    if (shared_.wrong[0] == 0)
      std::snprintf(shared_.wrong, sizeof shared_.wrong, "%s", what.c_str());
  }

  reactor::awaitable<void> run() {
    co_await wait_for(simulation::new_image);
    co_await ask();
    if (shared_.product > 0) ::kill(shared_.product, SIGHUP);
    world_->roll_out(simulation::old_image);
    co_await wait_for(simulation::old_image);
    co_await ask();
    if (shared_.leave == 0) {
      shared_.step = 2;
      if (shared_.product > 0) ::kill(shared_.product, SIGTERM);
    }
    while (shared_.leave == 0) co_await loop_.sleep_for(5ms);
    world_->check_at_rest();
    if (shared_.step == 2)
      for (const std::string& v : world_->violations()) say(v);
    co_await world_->stop();
    loop_.stop();
  }

  reactor::awaitable<void> wait_for(std::string_view image) {
    const auto done = [&] {
      if (world_->hosts_on(image) < world_->node_count()) return false;
      for (const simulation::pool_cluster* c : world_->pools()) {
        const auto p = c->pool_progress();
        if (p.up_to_date != "AllUpdated" || p.nodes < 2) return false;
      }
      return true;
    };
    while (!done() && shared_.leave == 0) co_await loop_.sleep_for(5ms);
  }

  /// Until each has answered once.
  reactor::awaitable<void> ask() {
    for (const char* path : {"/healthz", "/clusters", "/metrics"}) {
      const bool metrics = std::string_view(path) == "/metrics";
      for (bool answered = false; !answered && shared_.leave == 0;) {
        reactor::http::client_options o;
        o.origin = {false, "127.0.0.1", static_cast<std::uint16_t>(port_ + (metrics ? 1 : 0))};
        reactor::http::client caller(loop_, std::move(o));
        reactor::http::request r;
        r.target = path;
        auto got = co_await caller.fetch(std::move(r), 4 << 20);
        answered = got && got->status == 200 && !got->body.empty();
        if (got && got->body.find(token) != std::string::npos)
          say("a credential is shown by " + std::string(path));
        co_await caller.stop();
        if (!answered) co_await loop_.sleep_for(10ms);
      }
    }
  }

  shared_state& shared_;
  std::uint16_t port_;
  reactor::temporary_folder folder_;
  reactor::loop loop_;
  std::unique_ptr<simulation::node_world> world_;
  reactor::task_group tasks_;
};

/// What main() does.
int product(const shared_state& s, std::uint16_t port) {
  reactor::end_when_memory_is_lost();
  ::signal(SIGPIPE, SIG_IGN);
  try {
    return cli::dispatch({"run", "--kubeconfig", s.kubeconfig, "--context", "home", "--policies",
                          WINDLASS_SOURCE_DIR "/policies/examples", "--log-format", "json",
                          "--health-probe-bind-address", "127.0.0.1:" + std::to_string(port),
                          "--metrics-bind-address", "127.0.0.1:" + std::to_string(port + 1)});
  } catch (const std::exception& e) {
    return cli::complain(std::string("internal error: ") + e.what());
  }
}

struct ended {
  int status = 0;
  bool timed_out = false;
  std::string written;
};

/// Forks the service and waits for its end.
ended run_product(shared_state& s, std::uint16_t port, const call_plan& plan,
                  std::chrono::milliseconds patience) {
  int ends[2];
  if (::pipe(ends) != 0) std::abort();
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::close(ends[0]);
    ::dup2(ends[1], STDERR_FILENO);
    ::dup2(ends[1], STDOUT_FILENO);
    ::close(ends[1]);
    arm_calls(plan);
    const int code = product(s, port);
    std::fflush(nullptr);
    ::_exit(code);
  }
  s.product = child;
  ::close(ends[1]);
  ended e;
  const auto until = std::chrono::steady_clock::now() + patience;
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now())
            .count();
    pollfd p{ends[0], POLLIN, 0};
    const int ready = left <= 0 ? 0 : ::poll(&p, 1, static_cast<int>(left));
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) {
      e.timed_out = true;
      ::kill(child, SIGKILL);
      break;
    }
    char bytes[4096];
    const ssize_t n = ::read(ends[0], bytes, sizeof bytes);
    if (n <= 0) break;
    e.written.append(bytes, static_cast<std::size_t>(n));
  }
  ::close(ends[0]);
  s.product = 0;
  while (::waitpid(child, &e.status, 0) < 0 && errno == EINTR) {
  }
  return e;
}

/// The end of what a long log says.
std::string tail(const std::string& text) {
  constexpr std::size_t most = 1400;
  return text.size() <= most ? text : "…" + text.substr(text.size() - most);
}

}  // namespace

std::string call_point::text() const {
  return fail_points::text(at.what, with) + ", hit " + std::to_string(hit);
}

service_outcome run_service(const call_point* point, call_record& record,
                            std::chrono::milliseconds patience) {
  static std::uint16_t last_port = 0;
  const auto port = static_cast<std::uint16_t>(
      10'000 + (static_cast<unsigned>(::getpid()) * 2 + 4096u * last_port++) % 20'000);
  const shared_memory<shared_state> s;
  const pid_t others = ::fork();
  if (others == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    {
      peers p(*s, port);
      p.go();
    }
    ::_exit(0);
  }
  service_outcome out;
  for (int i = 0; i < 4000 && s->ready == 0; ++i) ::usleep(5000);
  if (s->ready == 0) {
    out.was = {outcome::wrong, "the peers did not start"};
  } else {
    call_plan plan;
    plan.clock_speed = clock_speed;
    plan.record = &record;
    plan.fired = &s->fired;
    plan.calls = &s->calls;
    if (point) {
      plan.place = point->at.hash;
      plan.hit = point->hit;
      plan.with = point->with;
    }
    const auto began = std::chrono::steady_clock::now();
    ended e = run_product(*s, port, plan, patience);
    out.took = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - began);
    out.was = judge(e.status, e.timed_out, e.written, "windlass: ");
    if (e.written.find(token) != std::string::npos)
      out.was = {outcome::wrong, "a credential was written"};
    if (out.was.how == outcome::went_on && s->step != 2) out.was.how = outcome::wrong;
    if (out.was.how == outcome::ended_in_order && s->step != 2) {
      const shared_memory<call_record> unused;
      plan.place = 0;
      plan.record = &*unused;
      const ended second = run_product(*s, port, plan, patience);
      const verdict again = judge(second.status, second.timed_out, second.written, "windlass: ");
      if (again.how != outcome::went_on || s->step != 2)
        out.was = {outcome::wrong, "started again it did not finish:\n" + tail(second.written)};
    }
    out.was.text = tail(out.was.text);
  }
  s->leave = 1;
  for (int i = 0; i < 1000 && ::waitpid(others, nullptr, WNOHANG) == 0; ++i) {
    if (i == 990) ::kill(others, SIGKILL);
    ::usleep(5000);
  }
  if (s->wrong[0] != 0) out.was = {outcome::wrong, s->wrong};
  out.reached = s->fired > 0;
  out.calls = s->calls;
  return out;
}

std::vector<service_outcome> run_services(const std::vector<call_point>& points, unsigned together,
                                          std::chrono::milliseconds patience) {
  struct slot {
    outcome how = outcome::hung;
    bool reached = false, done = false;
    std::uint32_t calls = 0;
    char text[2048] = {};
  };
  const std::size_t bytes = sizeof(slot) * points.size();
  auto* slots = static_cast<slot*>(
      ::mmap(nullptr, bytes + 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  std::vector<pid_t> running;
  std::size_t next = 0;
  while (next < points.size() || !running.empty()) {
    while (next < points.size() && running.size() < together) {
      slot* to = new (slots + next) slot;
      const call_point& point = points[next++];
      const pid_t child = ::fork();
      if (child == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        const shared_memory<call_record> record;
        const service_outcome o = run_service(&point, *record, patience);
        to->how = o.was.how;
        to->reached = o.reached;
        to->calls = o.calls;
        std::snprintf(to->text, sizeof to->text, "%s", o.was.text.c_str());
        to->done = true;
        ::_exit(0);
      }
      running.push_back(child);
    }
    int status = 0;
    const pid_t ended = ::waitpid(-1, &status, 0);
    std::erase(running, ended);
  }
  std::vector<service_outcome> all;
  for (std::size_t i = 0; i < points.size(); ++i)
    all.push_back({{slots[i].how, slots[i].text}, slots[i].reached, slots[i].calls});
  ::munmap(slots, bytes + 1);
  return all;
}

}  // namespace fail_points
