#include "helm/commands/program/helm_sources.hpp"

#include "app/login_helpers.hpp"
#include "app/output.hpp"
#include "app/progress.hpp"
#include "formats/go/files.hpp"
#include "helm/commands/program/helm_cluster.hpp"
#include "helm/commands/source_commands.hpp"
#include "helm/sources/repository.hpp"
#include "k8s/client/kubeconfig.hpp"
#include "reactor/loop.hpp"
#include "reactor/task_group.hpp"

#include <termios.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <iostream>
#include <iterator>

namespace cli {

using namespace app;

namespace {

namespace sources = helm::sources;

std::string environment(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  return value ? value : "";
}

std::string ask_name(const std::string& prompt) {
  write_bytes(STDERR_FILENO, prompt);
  std::string line;
  std::getline(std::cin, line);
  return line;
}

/// Turns the terminal's echo off for as long as it lives.
class silence {
public:
  silence() {
    if (::tcgetattr(STDIN_FILENO, &before_) != 0) return;
    active_ = true;
    termios quiet = before_;
    quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet);
  }
  ~silence() {
    if (active_) ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
  }
  silence(const silence&) = delete;
  silence& operator=(const silence&) = delete;

private:
  termios before_{};
  bool active_ = false;
};

formats::outcome<reactor::secret> ask_secret(const std::string& prompt) {
  std::string line;
  {
    const silence quiet;
    line = ask_name(prompt);
  }
  write_out(STDERR_FILENO, "\n");
  if (!std::cin) return formats::problem{"EOF"};
  return reactor::secret(std::move(line));
}

}  // namespace

void run_to_the_end(reactor::loop& l, std::function<reactor::awaitable<void>()> body) {
  std::exception_ptr failure;
  reactor::task_group tasks(l, [&](std::string_view, std::exception_ptr why) { failure = why; });
  std::function<void()> stop_when_empty = [&] {
    if (tasks.empty())
      l.stop();
    else
      l.post(stop_when_empty);
  };
  tasks.start("command", [&]() -> reactor::awaitable<void> {
    co_await body();
    stop_when_empty();
  });
  l.run();
  if (failure) std::rethrow_exception(failure);
}

std::string helm_variable(const std::string& name) {
  return environment(name);
}

sources::settings helm_settings() {
  return sources::settings_from(environment);
}

static sources::settings settings_for(reactor::loop& l) {
  sources::settings out = sources::settings_from(environment);
  out.helpers = login_helpers(l);
  return out;
}

std::unique_ptr<sources::chart_source> chart_source_for(reactor::loop& l,
                                                        const helm::chart_flags& flags) {
  return std::make_unique<sources::chart_source>(l, sources::settings_of(settings_for(l), flags),
                                                 environment);
}

reactor::awaitable<formats::outcome<std::string>> read_address(sources::chart_source& from,
                                                               std::string address) {
  sources::repository_entry without_login;
  return sources::fetch(from.network(), std::move(without_login), std::move(address),
                        formats::file_bytes_limit);
}

helm::peers peers_of(reactor::loop& l) {
  helm::peers out;
  out.locate = [&l](const std::string& reference, const helm::chart_flags& flags,
                    std::vector<std::string>& notes) -> formats::outcome<std::string> {
    formats::outcome<sources::located_chart> found = formats::problem{};
    run_to_the_end(l, [&]() -> reactor::awaitable<void> {
      const auto source = chart_source_for(l, flags);
      found = co_await source->locate(reference, sources::origin_of(flags));
      co_await source->stop();
    });
    if (!found) return found.error();
    notes.insert(notes.end(), found->notes.begin(), found->notes.end());
    return found->path;
  };
  out.fetch = [&l](const std::string& address) -> formats::outcome<std::string> {
    formats::outcome<std::string> text = formats::problem{};
    run_to_the_end(l, [&]() -> reactor::awaitable<void> {
      const auto source = chart_source_for(l, {});
      text = co_await read_address(*source, address);
      co_await source->stop();
    });
    return text;
  };
  out.home_namespace = [](const helm::cluster_flags& f) {
    const auto to = k8s::load_default(f.kubeconfig, f.context, k8s::environment::of_process());
    return to ? to->ns : std::string();
  };
  out.lookups = [&l](const helm::cluster_flags& f) { return lookups_on(l, f); };
  return out;
}

helm::command_result run_source_command(reactor::loop& l, const std::vector<std::string>& arguments,
                                        const helm::render_runtime& runtime) {
  sources::command_context context{
      l,           settings_for(l),
      environment, [] { return std::string(std::istreambuf_iterator(std::cin), {}); },
      ask_name,    ask_secret,
      runtime,     app::told_to_a_person("pulling", "charts")};
  helm::command_result out;
  run_to_the_end(l, [&]() -> reactor::awaitable<void> {
    out = co_await sources::run_source_command(context, arguments);
  });
  return out;
}

}  // namespace cli
