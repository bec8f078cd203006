// A service on real sockets, its API servers in another process: what of their credentials stands
// in our memory when a cluster has left and when everything has ended.
#include "reactor/plain/memory.hpp"

#include "cli/apis.hpp"
#include "formats/base64.hpp"
#include "k8s/sim/api_server.hpp"
#include "k8s/sim/fleet_server.hpp"
#include "reactor/http/authorization.hpp"
#include "reactor/log.hpp"
#include "reactor/loop.hpp"
#include "reactor/plain/entropy.hpp"
#include "service/service.hpp"
#include "tests/hostile/memory_search.hpp"
#include "tests/reactor/run.hpp"

#include <boost/json.hpp>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <iostream>
#include <memory>

namespace canary_run {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;
using reactor::awaitable;

constexpr std::size_t needle_bytes = 24;

std::string random_letters(reactor::entropy& rng, std::size_t length = 40) {
  std::string out;
  for (std::size_t i = 0; i < length; ++i)
    out += static_cast<char>('a' + rng.between(std::uint64_t{0}, std::uint64_t{25}));
  return out;
}

/// The other process: API servers whose home has a Secret for each cluster, until it is told to
/// take them away.
class other_side {
public:
  other_side(int out, int in) : out_(out), in_(in), loop_(reactor::loop::mode::real) {}

  void run() {
    reactor::run_task(loop_, [this]() -> awaitable<void> {
      // A service account's token has about a thousand.
      const std::string token = random_letters(loop_.random(), 1'100),
                        next = random_letters(loop_.random(), 1'000),
                        password = random_letters(loop_.random()),
                        proxy = random_letters(loop_.random());
      k8s::sim::fleet_options o;
      o.clusters = 5;
      o.security = k8s::sim::transport_security::tls;
      o.adjust = [&](std::size_t i, k8s::sim::api_options& a) {
        if (i != 1) return;
        a.access.tokens = {{token, "admin"}, {next, "admin"}};
        a.access.anonymous = false;
      };
      k8s::sim::fleet_server fleet(loop_, std::move(o));
      if (auto started = fleet.start(); !started)
        throw std::runtime_error(started.error().message());
      const std::string admin = fleet.kubeconfig(0);
      const std::string ca = field(admin, "certificate-authority-data: ");
      const auto config = [&](std::size_t i, const std::string& user,
                              const std::string& more = {}) {
        return "clusters:\n- name: c\n  cluster:\n    server: " + fleet.url(i) +
               "\n    certificate-authority-data: " + ca + "\n" + more +
               "users:\n- name: u\n  user: {" + user +
               "}\ncontexts:\n- name: x\n  context: {cluster: c, user: u}\n";
      };
      const std::string key = field(admin, "client-key-data: ");
      const std::string via =
          "    proxy-url: http://joe:" + proxy + "@" + fleet.url(0).substr(8) + "\n";
      const std::string configs[] = {
          config(1, "token: " + token), config(2, "username: joe, password: " + password),
          config(3, "client-key-data: " + key +
                        ", client-certificate-data: " + field(admin, "client-certificate-data: ")),
          config(4, "token: " + token, via)};
      for (const std::string* one : {&token, &next})
        for (const std::size_t at : {0u, 500u, 900u}) add("a token", one->substr(at));
      add("the password", password);
      add("the password as it is sent", formats::encode_base64("joe:" + password).substr(8));
      add("the proxy's password", proxy);
      add("the proxy's password as it is sent", formats::encode_base64("joe:" + proxy).substr(8));
      const std::string pem = *formats::decode_base64(key);
      std::string body = pem.substr(pem.find('\n') + 1);
      body.erase(body.find("-----END"));
      add("the key in PEM", pem.substr(pem.find('\n') + 70));
      add("the key in the kubeconfig", key.substr(key.size() / 2));
      const std::string der = *formats::decode_base64(body);
      const std::size_t scalar = der.find(std::string("\x04\x20", 2));
      add("the key", der.substr(scalar + 4));
      const std::string number = der.substr(scalar + 2, 32);
      add("the key as a number", std::string(number.rbegin(), number.rend()));
      std::size_t n = 0;
      const auto put = [&](std::size_t i, const std::string& text, const std::string& bait) {
        const std::size_t at = (text.find(bait) + 4) / 3 * 4;
        add("a Secret", formats::encode_base64(text).substr(at));
        return json::object{
            {"apiVersion", "v1"},
            {"kind", "Secret"},
            {"metadata",
             {{"name", "c" + std::to_string(i)},
              {"namespace", "default"},
              {"labels", {{"sigs.k8s.io/multicluster-runtime-kubeconfig", "true"}}}}},
            {"data", {{"kubeconfig", formats::encode_base64(text)}}}};
      };
      for (const std::string& text : configs) {
        const std::string bait = n == 0 || n == 3 ? token
                                 : n == 1         ? password
                                                  : key.substr(key.size() / 2);
        fleet.api(0).put(put(n, text, bait));
        ++n;
      }
      json::object rotated = put(0, config(1, "token: " + next), next);
      send(std::to_string(needles_.size()) + "\n");
      for (const needle& one : needles_) send(one.name + "\n" + one.bytes);
      send(scrambled(admin));
      ::close(out_);
      for (;;) {
        char c = 0;
        const ssize_t got = ::read(in_, &c, 1);
        if (got == 0) ::_exit(0);
        if (got == 1 && c == 'r') fleet.api(0).put(std::move(rotated));
        if (got == 1 && c == 'e')
          for (std::size_t i = 0; i < n; ++i)
            fleet.api(0).erase("", "secrets", "default", "c" + std::to_string(i));
        co_await loop_.sleep_for(20ms);
      }
    });
  }

private:
  static std::string field(const std::string& text, const std::string& name) {
    const auto at = text.find(name) + name.size();
    return text.substr(at, text.find('\n', at) - at);
  }
  void add(std::string name, const std::string& bytes) {
    needles_.push_back({std::move(name), scrambled(bytes.substr(0, needle_bytes))});
  }
  void send(const std::string& text) {
    for (std::size_t done = 0; done < text.size();) {
      const ssize_t n = ::write(out_, text.data() + done, text.size() - done);
      if (n < 0) ::_exit(1);
      done += static_cast<std::size_t>(n);
    }
  }

  int out_, in_;
  reactor::loop loop_;
  std::vector<needle> needles_;
};

class CanaryMemory : public testing::Test {
protected:
  CanaryMemory() {
    reactor::end_when_memory_is_lost();  // as main() does, before OpenSSL has used any
    int from[2], to[2];
    if (::pipe(from) != 0 || ::pipe(to) != 0) throw std::runtime_error("pipe");
    child_ = ::fork();
    if (child_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::close(from[0]);
      ::close(to[1]);
      ::fcntl(to[0], F_SETFL, O_NONBLOCK);
      try {
        other_side(from[1], to[0]).run();
      } catch (const std::exception& e) {
        std::cerr << e.what() << "\n";
      }
      ::_exit(1);
    }
    ::close(from[1]);
    ::close(to[0]);
    tell_ = to[1];
    std::string said;
    char piece[4096];
    for (ssize_t n = 0; (n = ::read(from[0], piece, sizeof piece)) > 0;)
      said.append(piece, static_cast<std::size_t>(n));
    ::close(from[0]);
    std::size_t at = 0;
    const auto line = [&] {
      const std::size_t end = said.find('\n', at);
      std::string out = said.substr(at, end - at);
      at = end + 1;
      return out;
    };
    for (std::size_t left = std::stoul(line()); left > 0; --left) {
      needle one;
      one.name = line();
      one.bytes = said.substr(at, needle_bytes);
      at += needle_bytes;
      needles_.push_back(std::move(one));
    }
    home_ = said.substr(at);
  }
  ~CanaryMemory() override {
    ::close(tell_);
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }

  reactor::secret home() const {
    std::string text = home_;
    for (char& c : text) c ^= scramble;
    return reactor::secret(std::move(text));
  }
  /// Fails for each needle that is there.
  std::size_t expect_nothing(const char* when, bool key_too) {
    const std::vector<std::size_t> found = find_in_memory(needles_);
    std::size_t all = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (!key_too && needles_[i].name.starts_with("the key")) continue;
      EXPECT_EQ(found[i], 0u) << needles_[i].name << " " << when;
      all += found[i];
    }
    return all;
  }

  pid_t child_ = -1;
  int tell_ = -1;
  std::string home_;  // the kubeconfig, scrambled
  std::vector<needle> needles_;
};

TEST_F(CanaryMemory, HoldsNoCredentialOfAClusterThatHasLeft) {
  ASSERT_GE(needles_.size(), 19u);
  expect_nothing("before anything has begun", true);
  std::size_t used = 0, left = 0;
  {
    reactor::loop l(reactor::loop::mode::real);
    reactor::run_task(l, [&]() -> awaitable<void> {
      cli::service_options options = cli::with_all_apis();
      {
        k8s::kubeconfig_options reading;
        reading.source = "home";
        options.home = k8s::load_kubeconfig(home().reveal(), reading).value();
      }
      options.home_alone_is_a_fleet = false;
      cli::service windlass(l, std::move(options), reactor::logger());
      auto started = co_await windlass.start();
      EXPECT_TRUE(started) << started.error().message();
      // Three have answered, and the proxy has refused the fourth.
      const auto tried = [&] {
        std::size_t n = 0;
        for (const k8s::cluster* c : windlass.fleet().clusters())
          n += !c->uid().empty() || !c->last_error().empty();
        return n;
      };
      reactor::steady_time patience = l.now() + 30s;
      while (tried() < 4 && l.now() < patience) co_await l.sleep_for(50ms);
      EXPECT_EQ(tried(), 4u);
      for (const std::size_t n : find_in_memory(needles_)) used += n > 0;
      const std::string before = windlass.fleet().find("c0")->hash();
      EXPECT_EQ(::write(tell_, "r", 1), 1);
      const auto rotated = [&] {
        const k8s::cluster* c = windlass.fleet().find("c0");
        return c && c->hash() != before && (!c->uid().empty() || !c->last_error().empty());
      };
      while (!rotated() && l.now() < patience) co_await l.sleep_for(50ms);
      EXPECT_TRUE(rotated());
      EXPECT_EQ(::write(tell_, "e", 1), 1);
      patience = l.now() + 30s;
      while (windlass.fleet().size() > 0 && l.now() < patience) co_await l.sleep_for(50ms);
      EXPECT_EQ(windlass.fleet().size(), 0u);
      co_await l.sleep_for(1s);
      left = expect_nothing("after its cluster has left", false);
      co_await windlass.stop();
    });
  }
  EXPECT_GE(used, 5u) << "nothing was in use, so nothing was tried";
  left += expect_nothing("at the end", true);
  std::cout << "## canary memory: forms of credentials " << needles_.size() << " in use " << used
            << " copies left " << left << "\n";
}

}  // namespace
}  // namespace canary_run
