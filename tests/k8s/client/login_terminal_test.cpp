// Login programs that ask a person: the terminal is theirs while they run, and ours afterwards.
#include "k8s/client/login_session.hpp"
#include "reactor/loop.hpp"
#include "tests/reactor/run.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <string>
#include <string_view>

namespace k8s {
namespace {

using input = login_program::input;
using reactor::awaitable;

volatile sig_atomic_t interrupts = 0;

/// A process of its own on a terminal, at which a test types.
class at_terminal {
public:
  explicit at_terminal(const std::function<void()>& body) {
    id_ = ::forkpty(&fd_, nullptr, nullptr, nullptr);
    if (id_ != 0) return;
    body();
    std::fflush(stdout);
    ::_exit(0);
  }
  ~at_terminal() {
    if (id_ > 0) {
      ::kill(id_, SIGKILL);
      ::waitpid(id_, nullptr, 0);
    }
    ::close(fd_);
  }
  at_terminal(const at_terminal&) = delete;
  at_terminal& operator=(const at_terminal&) = delete;

  /// Reads until it has shown the words; false when it ended, or half a minute passed without a
  /// byte.
  bool until(std::string_view words) {
    while (shown.find(words) == std::string::npos)
      if (!read_some()) return false;
    return true;
  }
  void type(std::string_view keys) {
    ASSERT_EQ(::write(fd_, keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
  }
  void read_to_the_end() {
    while (read_some()) {
    }
  }
  /// The signal that ended it; 0: it ended by itself.
  int signal() {
    int status = 0;
    ::waitpid(id_, &status, 0);
    id_ = -1;
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }
  std::string shown;

private:
  bool read_some() {
    pollfd p{fd_, POLLIN, 0};
    if (::poll(&p, 1, 30'000) != 1) return false;
    char piece[1024];
    const ssize_t n = ::read(fd_, piece, sizeof piece);
    if (n <= 0) return false;
    shown.append(piece, static_cast<std::size_t>(n));
    return true;
  }
  int fd_ = -1;
  pid_t id_ = -1;
};

/// What a person sees of the terminal once the login program has ended.
void show_terminal() {
  termios modes{};
  const bool echoes = ::tcgetattr(STDIN_FILENO, &modes) == 0 && (modes.c_lflag & ECHO) != 0;
  std::printf("%s, %s\n",
              ::tcgetpgrp(STDIN_FILENO) == ::getpgrp() ? "in the foreground" : "in the background",
              echoes ? "echo" : "no echo");
}

/// It asks for a password and leaves the terminal without echo, as one does that is killed.
constexpr const char* asking =
    "#!/bin/sh\n"
    "echo \"$KUBERNETES_EXEC_INFO\" | grep -q '\"interactive\":true' || exit 7\n"
    "[ -t 0 ] || exit 8\n"
    "stty -echo <&0\n"
    "printf 'Password: ' >/dev/tty\n"
    "read -r answer\n"
    "echo '{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\","
    "\"status\":{\"token\":\"'\"$answer\"'\"}}'\n";

class LoginAtATerminal : public testing::TestWithParam<input> {
protected:
  /// Logs in by the program and shows what came of it.
  std::function<void()> login() {
    const std::string path = folder.write("login", asking);
    ::chmod(path.c_str(), 0755);
    return [path] {
      reactor::loop l;
      login_program p;
      p.api_version = "client.authentication.k8s.io/v1";
      p.command = path;
      p.interactive = GetParam();
      login_session s(std::move(p));
      s.talk({.terminal = true});
      std::string got;
      reactor::run_task(l, [&]() -> awaitable<void> {
        auto one = co_await s.get(l, 0);
        got = one ? "token " + one.value()->login.token.reveal() : one.error().message();
      });
      std::printf("%s\n", got.c_str());
      show_terminal();
    };
  }
  reactor::temporary_folder folder;
};
INSTANTIATE_TEST_SUITE_P(Modes, LoginAtATerminal,
                         testing::Values(input::if_available, input::always));

TEST_P(LoginAtATerminal, TheProgramAsksThereAndGivesItBack) {
  at_terminal person(login());
  ASSERT_TRUE(person.until("Password: ")) << person.shown;
  person.type("open-sesame\n");
  EXPECT_TRUE(person.until("echo")) << person.shown;
  person.read_to_the_end();
  EXPECT_NE(person.shown.find("token open-sesame"), std::string::npos) << person.shown;
  EXPECT_NE(person.shown.find("in the foreground, echo"), std::string::npos) << person.shown;
}

TEST_P(LoginAtATerminal, ControlCEndsTheProgramAndIsToldToUs) {
  const auto body = login();
  at_terminal person([&] {
    ::signal(SIGINT, [](int) { interrupts = interrupts + 1; });
    body();
    std::printf("interrupts: %d\n", static_cast<int>(interrupts));
  });
  ASSERT_TRUE(person.until("Password: ")) << person.shown;
  person.type("\x03");
  EXPECT_TRUE(person.until("interrupts: ")) << person.shown;
  person.read_to_the_end();
  EXPECT_NE(person.shown.find("killed by signal 2"), std::string::npos) << person.shown;
  EXPECT_NE(person.shown.find("in the foreground, echo"), std::string::npos) << person.shown;
  EXPECT_NE(person.shown.find("interrupts: 1"), std::string::npos) << person.shown;
}

TEST_P(LoginAtATerminal, ControlCEndsACommandThatListensToNoSignal) {
  at_terminal person(login());
  ASSERT_TRUE(person.until("Password: ")) << person.shown;
  person.type("\x03");
  person.read_to_the_end();
  EXPECT_EQ(person.signal(), SIGINT) << person.shown;
  EXPECT_EQ(person.shown.find("killed by"), std::string::npos) << person.shown;
}

}  // namespace
}  // namespace k8s
