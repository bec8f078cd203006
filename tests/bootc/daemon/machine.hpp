#pragma once

#include "bootc/daemon/command_host.hpp"
#include "bootc/daemon/host_status.hpp"
#include "reactor/loop.hpp"
#include "tests/bootc/builders.hpp"
#include "tests/reactor/run.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

namespace bootc::testing {

using namespace std::chrono_literals;

/// The stand-in for a host, its state in a folder, and the real command runner on it.
struct machine {
  explicit machine(command_form how = command_form::direct) : commands(loop, settings(how)) {
    put("booted", image_of('a'));
    put("stage_seconds", "0.1");
  }
  command_host_options settings(command_form how) {
    // Programs are looked up with our own PATH.
    static const std::string path =
        std::string(WINDLASS_BINARY_DIR) + "/fake_host_bin:" + std::getenv("PATH");
    ::setenv("PATH", path.c_str(), 1);
    command_host_options o;
    o.form = how;
    if (how == command_form::direct) o.environment["FAKE_HOST"] = folder.path();
    // Of the host's first process: what a command that enters the host finds.
    std::filesystem::create_directories(folder / "proc/1");
    std::string block = "PATH=" + path + '\0' + "FAKE_HOST=" + folder.path() + '\0';
    reactor::put(folder / "proc/1/environ", block + "container=podman" + '\0');
    o.root = folder.path();
    o.watch_interval = 20ms;
    o.going_down_time = 0s;
    return o;
  }
  void put(const std::string& name, const std::string& text) {
    reactor::put(folder / name, text + "\n");
  }
  /// The next stage goes on, with the sysroot lock, until let_go().
  void hold() { put("held", ""); }
  void let_go() { std::filesystem::remove(folder / "held"); }
  reactor::awaitable<void> until_held() {
    while (get("held") != "by a stage") co_await loop.sleep_for(5ms);
  }
  std::string get(const std::string& name) {
    std::ifstream in(folder / name);
    std::string line;
    std::getline(in, line);
    return line;
  }
  std::string log() {
    std::ifstream in(folder / "log");
    return std::string((std::istreambuf_iterator<char>(in)), {});
  }
  void power_on() {
    EXPECT_EQ(std::system(("FAKE_HOST=" + folder.path() + " " + WINDLASS_BINARY_DIR +
                           "/fake_host_bin/power_on")
                              .c_str()),
              0);
  }
  void run(std::function<reactor::awaitable<void>(machine&)> body) {
    reactor::run_task(loop, [&]() -> reactor::awaitable<void> {
      co_await body(*this);
      co_await commands.stop();
    });
  }
  reactor::awaitable<reactor::result<void>> stage(char image) {
    host_command c;
    c.action = host_action::stage;
    c.image = image_of(image);
    co_return co_await commands.run(std::move(c));
  }
  reactor::awaitable<host_status> status() {
    auto text = co_await commands.status();
    EXPECT_TRUE(text) << (text ? "" : text.error().message());
    auto parsed = parse_host_status(text ? *text : std::string());
    EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().message());
    co_return parsed ? *parsed : host_status{};
  }

  reactor::temporary_folder folder;
  reactor::loop loop;
  command_host commands;
};

}  // namespace bootc::testing
