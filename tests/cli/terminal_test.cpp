// What is drawn, as a terminal shows it.
#include "tests/cli/terminal.hpp"

#include "cli/apis.hpp"
#include "cli/commands.hpp"
#include "reactor/loop.hpp"
#include "simulation/commands/demo/show.hpp"
#include "simulation/commands/demo/view.hpp"
#include "simulation/node_world.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>

namespace cli {
namespace {

using namespace std::chrono_literals;

void expect_calm(const terminal& t) {
  EXPECT_EQ(t.wrapped, 0u) << t.text();
  EXPECT_EQ(t.scrolled, 0u) << t.text();
}

/// The first so many pictures of a demo in virtual time, drawn on a terminal that `seen` may
/// resize.
void watch(std::size_t clusters, std::size_t nodes, colours with, terminal& t, terminal_size& size,
           std::size_t pictures, const std::function<void(std::size_t drawn)>& seen) {
  reactor::loop l(reactor::loop::mode::simulated, 3);
  simulation::world_options o;
  o.clusters = clusters;
  o.nodes = nodes;
  const auto world = std::make_unique<simulation::node_world>(l, o);
  ASSERT_TRUE(world->start());
  service_options options = with_all_apis();
  options.home = world->home();
  service windlass(l, std::move(options), reactor::logger());
  demo::show_options show;
  std::size_t drawn = 0;
  reactor::event stop(l);
  show.about = {"export KUBECONFIG=/tmp/windlass-demo-abcdef/kubeconfig", "edit a policy: /tmp/x"};
  show.draw = [&](demo::view v) {
    t.write(screen(demo::drawn(v, size, with), size).text());
    seen(drawn);
    if (++drawn == pictures) stop.set();
  };
  reactor::task_group tasks(l);
  tasks.start("show", [&]() -> reactor::awaitable<void> {
    const demo::show_result r = co_await demo::play(l, *world, windlass, show, stop);
    EXPECT_EQ(r.problem, "");
    co_await windlass.stop();
    co_await world->stop();
    l.stop();
  });
  l.run();
  EXPECT_GE(drawn, 15u);
}

TEST(Terminal, ShowsTheDemoAt80By24AndAt60By20AndResizedInBetween) {
  terminal t(80, 24);
  terminal_size size{80, 24};
  bool bars = false, stop = false;
  watch(20, 4, colours::shown, t, size, 100, [&](std::size_t drawn) {
    expect_calm(t);
    bars = bars || t.shows("█");
    stop = stop || t.shows("Ctrl-C stops it");
    EXPECT_TRUE(size.columns < 60 ||
                t.shows("export KUBECONFIG=/tmp/windlass-demo-abcdef/kubeconfig"))
        << t.text();
    const terminal_size sizes[] = {{80, 24}, {60, 20}, {132, 40}, {60, 20}, {40, 12}, {80, 24}};
    size = sizes[drawn / 5 % std::size(sizes)];
    t.resize(size.columns, size.rows);
  });
  EXPECT_TRUE(bars);
  EXPECT_TRUE(stop);
  EXPECT_GT(t.colours, 0u);
}

TEST(Terminal, SumsTheDemoUpInALineForEachThing) {
  reactor::loop l(reactor::loop::mode::simulated, 3);
  const simulation::node_world world(l, {});
  demo::show_result r;
  r.finished = true;
  r.last.clusters.resize(1);
  r.last.clusters[0].name = "c";
  r.last.clusters[0].apis.resize(1);
  r.last.clusters[0].apis[0].rows.resize(1);
  r.last.clusters[0].apis[0].rows[0].holds = {
      {"node-1", "pdb", "its budget allows none", "a budget"}};
  const std::string text = demo::result_text(world, r, colours::none).text();
  EXPECT_NE(
      text.find(" times\n  c/node-1 waits: its budget allows none [pdb]; released by: a budget\n"
                "no invariant was broken\n"),
      text.npos)
      << text;
}

TEST(Terminal, SaysHowManyOfTwoHundredClustersAreNotShown) {
  terminal t(80, 24);
  terminal_size size{80, 24};
  watch(200, 3, colours::shown, t, size, 20, [&](std::size_t) {
    expect_calm(t);
    EXPECT_TRUE(t.shows(" more clusters, ")) << t.text();
  });
  std::printf("## the last picture of 200 clusters at 80×24:\n");
  for (std::size_t i = 0; i < 24; ++i) std::printf("##   %s\n", t.line(i).c_str());
}

TEST(Terminal, NoColorTakesTheColoursAndNotTheView) {
  terminal t(60, 20);
  terminal_size size{60, 20};
  watch(3, 4, colours::none, t, size, 50, [&](std::size_t) { expect_calm(t); });
  EXPECT_EQ(t.colours, 0u);
  EXPECT_TRUE(t.shows("cluster-003")) << t.text();
}

TEST(Terminal, KeepsWideAndLongTextsInTheirLines) {
  demo::view v;
  v.title = "a title";
  for (int i = 0; i < 30; ++i)
    v.clusters.push_back({std::string("東京") + std::to_string(i), "Unreachable",
                          std::string(300, 'x'), std::string("é́") + std::string(200, 'y'), 5'000,
                          static_cast<std::size_t>(i)});
  v.messages = {std::string(500, 'z'), "short"};
  v.footer = "Ctrl-C stops it";
  for (std::size_t columns = 1; columns < 120; ++columns)
    for (const std::size_t rows : {1u, 2u, 5u, 12u, 24u, 50u}) {
      terminal t(columns, rows);
      const terminal_size size{columns, rows};
      for (const colours with : {colours::none, colours::shown})
        t.write(screen(demo::drawn(v, size, with), size).text());
      EXPECT_EQ(t.wrapped + t.scrolled, 0u) << columns << "×" << rows << "\n" << t.text();
    }
}

/// A command in a process of its own, on a terminal.
class on_terminal {
public:
  on_terminal(std::vector<std::string> arguments, terminal_size size,
              const std::map<std::string, std::string>& environment)
      : shown(size.columns, size.rows) {
    winsize w{};
    w.ws_col = static_cast<unsigned short>(size.columns);
    w.ws_row = static_cast<unsigned short>(size.rows);
    id_ = ::forkpty(&fd_, nullptr, nullptr, &w);
    if (id_ == 0) {
      ::clearenv();
      for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
      ::_exit(dispatch(arguments));
    }
  }
  ~on_terminal() {
    if (id_ > 0) {
      ::kill(id_, SIGKILL);
      ::waitpid(id_, nullptr, 0);
    }
    ::close(fd_);
  }
  on_terminal(const on_terminal&) = delete;
  on_terminal& operator=(const on_terminal&) = delete;

  /// Reads until it shows the words; false when it ended, or half a minute passed without a byte.
  bool until(std::string_view words) {
    return until([&] { return shown.shows(words); });
  }
  bool until(const std::function<bool()>& so) {
    while (!so())
      if (!read_some()) return false;
    return true;
  }
  /// How many the view says that it does not show.
  std::size_t hidden_clusters() const {
    static constexpr std::string_view before = "… and ";
    const std::string all = shown.text();
    const std::size_t at = all.find(before);
    return at == std::string::npos ? 0
                                   : std::strtoul(all.c_str() + at + before.size(), nullptr, 10);
  }
  void read_to_the_end() {
    while (read_some()) {
    }
  }
  void resize(terminal_size size) {
    winsize w{};
    w.ws_col = static_cast<unsigned short>(size.columns);
    w.ws_row = static_cast<unsigned short>(size.rows);
    ::ioctl(fd_, TIOCSWINSZ, &w);
    shown.resize(size.columns, size.rows);
  }
  void signal(int number) { ::kill(id_, number); }
  int exit_code() {
    int status = 0;
    ::waitpid(id_, &status, 0);
    id_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  terminal shown;

private:
  bool read_some() {
    pollfd p{fd_, POLLIN, 0};
    if (::poll(&p, 1, 30'000) != 1) return false;
    char piece[4096];
    const ssize_t n = ::read(fd_, piece, sizeof piece);
    if (n <= 0) return false;
    shown.write({piece, static_cast<std::size_t>(n)});
    return true;
  }
  int fd_ = -1;
  pid_t id_ = -1;
};

class DemoOnATerminal : public testing::Test {
protected:
  DemoOnATerminal() {
    std::string name = testing::TempDir() + "/terminal-XXXXXX";
    temporary_ = ::mkdtemp(name.data());
  }
  ~DemoOnATerminal() override { std::filesystem::remove_all(temporary_); }
  std::map<std::string, std::string> environment() const {
    return {{"TERM", "xterm"}, {"TMPDIR", temporary_}, {"HOME", temporary_}};
  }
  bool left_nothing() const { return std::filesystem::is_empty(temporary_); }
  std::string temporary_;
};

TEST_F(DemoOnATerminal, FollowsItsSizeAndEndsInOneSentenceOnCtrlC) {
  on_terminal demo({"demo", "--clusters", "30", "--nodes", "4", "--speed", "0.1"}, {80, 24},
                   environment());
  ASSERT_TRUE(demo.until("Ctrl-C stops it")) << demo.shown.text();
  ASSERT_TRUE(demo.until("more clusters")) << demo.shown.text();
  const std::size_t scrolled = demo.shown.scrolled, wrapped = demo.shown.wrapped,
                    hidden = demo.hidden_clusters();
  EXPECT_GT(hidden, 0u);
  demo.resize({60, 20});
  // The whole of it was drawn anew for that size.
  ASSERT_TRUE(demo.until([&] { return demo.hidden_clusters() > hidden + 1; })) << demo.shown.text();
  EXPECT_TRUE(demo.shown.cursor_hidden);
  demo.signal(SIGINT);
  demo.read_to_the_end();
  EXPECT_EQ(demo.exit_code(), 0);
  EXPECT_FALSE(demo.shown.other_screen);
  EXPECT_FALSE(demo.shown.cursor_hidden);
  EXPECT_TRUE(demo.shown.shows("stopped after ")) << demo.shown.text();
  EXPECT_FALSE(demo.shown.shows("invariant")) << demo.shown.text();
  EXPECT_EQ(demo.shown.scrolled, scrolled);
  EXPECT_EQ(demo.shown.wrapped, wrapped);  // that of a long path, before the view
  EXPECT_TRUE(left_nothing());
}

TEST_F(DemoOnATerminal, NoColorAndADumbTerminalAreHonoured) {
  auto plain = environment();
  plain["NO_COLOR"] = "1";
  on_terminal coloured({"demo", "--clusters", "1", "--nodes", "3", "--speed", "0.1"}, {60, 20},
                       plain);
  ASSERT_TRUE(coloured.until("Ctrl-C stops it")) << coloured.shown.text();
  EXPECT_TRUE(coloured.shown.other_screen);
  EXPECT_EQ(coloured.shown.colours, 0u);
  auto dumb = environment();
  dumb["TERM"] = "dumb";
  on_terminal lines({"demo", "--clusters", "1", "--nodes", "3", "--speed", "0.1"}, {200, 50}, dumb);
  ASSERT_TRUE(lines.until("is known after")) << lines.shown.text();
  EXPECT_FALSE(lines.shown.ever_other_screen);
}

}  // namespace
}  // namespace cli
