#include "helm/commands/program/helm_command.hpp"

#include "app/nearest.hpp"
#include "app/output.hpp"
#include "helm/commands/about_commands.hpp"
#include "helm/commands/commands.hpp"
#include "helm/commands/flags/command_flags.hpp"
#include "helm/commands/help.hpp"
#include "helm/commands/program/helm_sources.hpp"
#include "helm/commands/program/helm_verbs.hpp"
#include "helm/commands/release/release_command_line.hpp"
#include "helm/commands/verbs.hpp"
#include "k8s/client/kubeconfig.hpp"
#include "reactor/loop.hpp"
#include "reactor/plain/entropy.hpp"
#include "reactor/plain/worker_clock.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

namespace cli {

using namespace app;

namespace {

using words = std::vector<std::string>;

/// Flags before the command, as Helm takes them, behind it.
words command_first(const words& arguments) {
  helm::command_flags general;
  helm::chart_flags places;
  helm::ignore_cluster_flags(general);
  helm::add_place_flags(general, places);
  std::size_t at = 0;
  while (at < arguments.size() && arguments[at].starts_with('-') && arguments[at].size() > 1)
    at += general.wants_another(arguments[at]) ? 2 : 1;
  if (at == 0 || at >= arguments.size()) return arguments;
  words out(arguments.begin() + static_cast<std::ptrdiff_t>(at), arguments.end());
  const helm::verb* v = helm::find_verb(out);
  const auto behind = static_cast<std::ptrdiff_t>(v ? helm::words_of(*v) : 1);
  out.insert(out.begin() + behind, arguments.begin(),
             arguments.begin() + static_cast<std::ptrdiff_t>(at));
  return out;
}

bool asks_for_help(const words& arguments) {
  for (const std::string& word : arguments) {
    if (word == "--") return false;
    if (word == "--help" || word == "-h") return true;
  }
  return false;
}

int show(const std::string& text) {
  return write_bytes(STDOUT_FILENO, text) ? success : failure;
}

int refuse(const helm::verb& v) {
  write_bytes(STDERR_FILENO, "Error: " + helm::refusal_of(v) + "\n");
  return wrong_usage;
}

/// In Helm's words and with its exit code.
int unknown(const std::string& name) {
  std::string why = "Error: unknown flag: " + name;
  if (!name.starts_with('-')) {
    std::vector<std::string> known;
    for (const helm::verb& v : helm::verbs())
      if (v.family != helm::verb_family::refused && helm::words_of(v) == 1)
        known.emplace_back(v.name);
    why =
        "Error: unknown command " + helm::quote(name) + " for \"helm\"" + did_you_mean(name, known);
  }
  write_bytes(STDERR_FILENO, why + "\nRun 'windlass helm --help' for usage.\n");
  return failure;
}

/// `help …` and `… --help`.
int show_help(const words& asked) {
  if (asked.empty()) return show(helm::help_text());
  if (asked.front() == "--reference") return show(helm::reference_text(helm_flags));
  const helm::verb* v = helm::find_verb(asked);
  if (!v) return unknown(asked.front());
  if (v->family == helm::verb_family::refused) return refuse(*v);
  return show(helm::is_group(*v) ? helm::help_of(*v) : helm::help_of(*v, helm_flags(*v)));
}

helm::command_result about_helm(const words& arguments) {
  if (arguments.front() == "version") return helm::version_of_helm(arguments, WINDLASS_VERSION);
  std::error_code e;
  const auto home = k8s::load_default({}, {}, k8s::environment::of_process());
  return helm::env_command(arguments, helm_variable, helm_settings(),
                           std::filesystem::read_symlink("/proc/self/exe", e).string(),
                           home ? home->ns : std::string());
}

/// Everything but help; the arguments begin with a verb's own name.
helm::command_result run(const helm::verb& v, const words& arguments) {
  reactor::loop loop;
  const helm::render_runtime runtime = machine_runtime();
  return v.family == helm::verb_family::source
             ? run_source_command(loop, arguments, runtime)
             : helm::run_command(arguments, runtime, peers_of(loop), helm_variable);
}

}  // namespace

helm::render_runtime machine_runtime() {
  helm::render_runtime out;
  out.now = [] { return reactor::worker_clock().wall(); };
  out.steady = [] { return reactor::worker_clock().now(); };
  out.random = [](std::span<unsigned char> bytes) { reactor::system_entropy().fill(bytes); };
  return out;
}

std::vector<helm::flag_info> helm_flags(const helm::verb& v) {
  words arguments;
  for (std::size_t at = 0; at < v.name.size();) {
    const std::size_t end = std::min(v.name.find(' ', at), v.name.size());
    arguments.emplace_back(v.name.substr(at, end - at));
    at = end + 1;
  }
  arguments.emplace_back("--help");
  switch (v.family) {
    case helm::verb_family::chart:
    case helm::verb_family::source: return helm::read_flags(run(v, arguments).out);
    case helm::verb_family::release: {
      const auto line = helm::release::parse_command_line(arguments, helm_variable);
      return line ? std::vector<helm::flag_info>() : helm::read_flags(line.error().text);
    }
    case helm::verb_family::about:
      if (v.name == "version" || v.name == "env")
        return helm::read_flags(about_helm(arguments).out);
      return {};
    case helm::verb_family::refused: return {};
  }
  return {};
}

namespace {

std::vector<std::string> parts_of(std::string_view text, char between) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(between, at), text.size());
    if (end > at) out.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

completed_command words_of_verb(const helm::verb& v) {
  completed_command one;
  one.name = "helm " + std::string(v.name);
  one.about = v.about;
  for (const helm::verb* below : helm::verbs_in(v))
    one.words.push_back(parts_of(below->name, ' ').back());
  if (v.argument == helm::verb_argument::release_name)
    one.takes = completed_command::argument::release;
  if (v.argument == helm::verb_argument::repository_name)
    one.takes = completed_command::argument::repository;
  if (v.takes.find('|') != v.takes.npos) one.words = parts_of(v.takes, '|');
  if (helm::is_group(v)) return one;
  for (const helm::flag_info& f : helm_flags(v)) {
    if (f.is != helm::flag_info::use::works) continue;
    completed_command::flag to{
        f.name, f.about, f.brief, !f.type.empty() && !f.type.starts_with("string["), {}};
    if (f.type.find('|') != f.type.npos) to.values = parts_of(f.type, '|');
    one.flags.push_back(std::move(to));
  }
  return one;
}

int helm_command(const std::vector<std::string>& given, const invocation& i) {
  words arguments = helm::spelled_out(command_first(given));
  if (arguments.empty()) {
    show(helm::help_text());
    return wrong_usage;
  }
  if (arguments.front() == "help")
    return show_help(asks_for_help(arguments) ? words{"help"}
                                              : words(arguments.begin() + 1, arguments.end()));
  if (arguments.front().starts_with('-'))
    return asks_for_help(arguments) ? show(helm::help_text()) : unknown(arguments.front());
  const helm::verb* v = helm::find_verb(arguments);
  if (!v) return unknown(arguments.front());
  if (v->family == helm::verb_family::refused) return refuse(*v);
  if (asks_for_help(arguments)) return show_help(arguments);
  if (helm::is_group(*v)) return show(helm::help_of(*v));  // alone, or with a word that is no verb
  if (v->family == helm::verb_family::release) {
    reactor::loop loop;
    return helm_release_command(loop, arguments);
  }
  if (v->name == "completion") {
    std::erase(arguments, "--no-descriptions");
    return app::run(i.of, arguments, i.environment, i.known);  // one script for all of windlass
  }
  const helm::command_result r =
      v->family == helm::verb_family::about ? about_helm(arguments) : run(*v, arguments);
  for (const auto& part : r.in_order())
    if (!write_bytes(part.descriptor, part.text)) return failure;
  return r.exit_code;
}

}  // namespace

std::vector<app::command> helm_commands() {
  app::command c{"helm",
                 "Render, check, install and find Helm charts with Helm's own commands and flags; "
                 "`windlass helm help` lists them"};
  c.raw = helm_command;
  c.completed = [] {
    std::vector<completed_command> out(1);
    out.front().name = "helm";
    for (const helm::verb& v : helm::verbs()) {
      if (v.family == helm::verb_family::refused) continue;
      if (helm::words_of(v) == 1) out.front().words.emplace_back(v.name);
    }
    for (const helm::verb& v : helm::verbs())
      if (v.family != helm::verb_family::refused) out.push_back(words_of_verb(v));
    return out;
  };
  return {c};
}

}  // namespace cli
