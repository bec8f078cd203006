#include "bench/hostile/neighbours.hpp"

#include "bench/hostile/server_host.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <ctime>
#include <map>
#include <stdexcept>
#include <thread>
#include <vector>

namespace bench::hostile {
namespace {

bool send_all(int fd, std::string_view bytes) {
  return ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
}

}  // namespace

std::int64_t thread_clock() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec * 1'000'000'000LL + t.tv_nsec;
}

struct neighbours::impl {
  struct connection {
    std::string unread;
    std::size_t neighbour = 0;
    bool watching = false, leases = false;
  };

  std::size_t count = 0;
  int listening = -1, poll = -1, wake = -1;
  std::uint16_t port = 0;
  std::atomic<bool> ending{false}, beating{false};
  std::int64_t began = 0;  // the present beat
  std::map<int, connection> open;
  std::uint64_t version = 1'000;
  std::thread thread;

  void add(int fd) {
    epoll_event e{};
    e.events = EPOLLIN;
    e.data.fd = fd;
    epoll_ctl(poll, EPOLL_CTL_ADD, fd, &e);
  }

  void wake_up() {
    const std::uint64_t one = 1;
    (void)!::write(wake, &one, sizeof one);
  }

  void run() {
    std::time_t last_word = ::time(nullptr);
    std::array<epoll_event, 256> ready;
    while (!ending) {
      const int n = epoll_wait(poll, ready.data(), static_cast<int>(ready.size()), 1'000);
      for (int i = 0; i < n; ++i) serve(ready[static_cast<std::size_t>(i)].data.fd);
      if (beating) {
        say_beat();
        beating = false;
        beating.notify_one();
      }
      if (::time(nullptr) - last_word < 5) continue;
      last_word = ::time(nullptr);
      // Nobody's stream is to be taken for silent.
      for (auto& [fd, c] : open)
        if (c.watching) send_all(fd, chunk(bookmark("Any", std::to_string(version))));
    }
    for (auto& [fd, c] : open) ::close(fd);
  }

  void serve(int fd) {
    if (fd == wake) {
      std::uint64_t ignored = 0;
      (void)!::read(wake, &ignored, sizeof ignored);
      return;
    }
    if (fd == listening) {
      const int made = ::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC);
      if (made < 0) return;
      const int on = 1;
      setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      open[made];
      add(made);
      return;
    }
    std::array<char, 16'384> some;
    const ssize_t n = ::recv(fd, some.data(), some.size(), 0);
    if (n <= 0) {
      ::close(fd);
      open.erase(fd);
      return;
    }
    connection& c = open[fd];
    c.unread.append(some.data(), static_cast<std::size_t>(n));
    for (;;) {
      const auto end = c.unread.find("\r\n\r\n");
      if (end == c.unread.npos) return;
      std::size_t whole = end + 4;
      if (const auto at = c.unread.find("Content-Length: "); at < end)
        whole += std::strtoul(c.unread.c_str() + at + 16, nullptr, 10);
      if (c.unread.size() < whole) return;
      answer_one(fd, c, c.unread.substr(0, end));
      c.unread.erase(0, whole);
    }
  }

  void answer_one(int fd, connection& c, const std::string& head) {
    const auto space = head.find(' ');
    const std::string method = head.substr(0, space);
    const std::string target = head.substr(space + 1, head.find(' ', space + 1) - space - 1);
    c.neighbour = std::strtoul(target.c_str() + 3, nullptr, 10);  // "/n/17/…"
    std::string uid = "00000000-0000-4000-a000-000000000000" + std::to_string(c.neighbour);
    uid = uid.substr(0, 24) + uid.substr(uid.size() - 12);
    const std::string good = good_answer(method, target, uid);
    if (!good.empty()) {
      send_all(fd, good);
      return;
    }
    c.watching = true;
    c.leases = target.find("/leases") != target.npos;
    send_all(fd, chunked() + chunk(bookmark("Any", std::to_string(version))));
  }

  void say_beat() {
    ++version;
    const std::string first =
        R"({"type":"MODIFIED","object":{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"node-1","namespace":"kube-node-lease","uid":"00000000-0000-4000-a000-000000000002","resourceVersion":")" +
        std::to_string(version) + R"("},"spec":{"leaseDurationSeconds":40,"holderIdentity":")";
    for (auto& [fd, c] : open)
      if (c.leases) send_all(fd, chunk(first + std::to_string(began) + "\"}}}\n"));
  }
};

neighbours::neighbours(std::size_t count) : impl_(std::make_unique<impl>()) {
  impl& i = *impl_;
  i.count = count;
  i.listening = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof at;
  if (i.listening < 0 || ::bind(i.listening, reinterpret_cast<sockaddr*>(&at), length) != 0 ||
      ::listen(i.listening, 4'096) != 0 ||
      ::getsockname(i.listening, reinterpret_cast<sockaddr*>(&at), &length) != 0)
    throw std::runtime_error("the neighbours cannot listen");
  i.port = ntohs(at.sin_port);
  i.poll = epoll_create1(EPOLL_CLOEXEC);
  i.wake = eventfd(0, EFD_CLOEXEC);
  i.add(i.listening);
  i.add(i.wake);
  i.thread = std::thread([&i] { i.run(); });
}

neighbours::~neighbours() {
  impl_->ending = true;
  impl_->wake_up();
  impl_->thread.join();
  for (const int fd : {impl_->listening, impl_->poll, impl_->wake}) ::close(fd);
}

std::size_t neighbours::count() const noexcept {
  return impl_->count;
}

std::string neighbours::url(std::size_t i) const {
  return "http://127.0.0.1:" + std::to_string(impl_->port) + "/n/" + std::to_string(i);
}

void neighbours::beat() {
  impl_->began = thread_clock();
  impl_->beating = true;
  impl_->wake_up();
  impl_->beating.wait(true);
}

}  // namespace bench::hostile
