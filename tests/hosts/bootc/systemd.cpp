// What the daemon needs of systemd on its host, with what systemd refuses.
#include "tests/hosts/bootc/fake_host.hpp"

#include <fcntl.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

namespace fake {
namespace {

/// Begins a line of the journal that systemd itself wrote about a unit.
constexpr char by_systemd = '\x01';

int unit_pid(const host_state& h) {
  const int pid = h.has("unit_pid") ? std::atoi(h.read("unit_pid").c_str()) : 0;
  return pid > 1 && kill(pid, 0) == 0 ? pid : 0;
}

int show(const host_state& h, const parsed& p) {
  if (p.words.size() < 2) {
    std::cout << h.read("soft_reboots") << '\n';
    return 0;
  }
  const int pid = p.words[1] == h.read("unit_name") ? unit_pid(h) : 0;
  std::cout << "ActiveState=" << (pid != 0 ? "active" : "inactive") << '\n';
  if (pid != 0)
    std::cout << "ExecStart={ path=/usr/bin/bootc ; argv[]=" << h.read("unit_command")
              << " ; ignore_errors=no ; start_time=[n/a] ; stop_time=[n/a] ; pid=" << pid
              << " ; code=(null) ; status=0/0 }\n";
  return 0;
}

/// A shell script as a unit runs it. What it names in /run is in ours.
int shell(const host_state& h, arguments args) {
  std::vector<char*> words;
  for (std::string& a : args) {
    if (a.starts_with("/run/")) a = h.path(a.substr(1)).string();
    words.push_back(a.data());
  }
  words.push_back(nullptr);
  const pid_t script = fork();
  if (script == 0) {
    execvp(words[0], words.data());
    _exit(127);
  }
  int ended = 0;
  while (waitpid(script, &ended, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(ended) ? WEXITSTATUS(ended) : 1;
}

}  // namespace

int systemctl(const host_state& h, const arguments& args) {
  const parsed p = parse(args, {{"--quiet", takes::nothing},
                                {"-q", takes::nothing},
                                {"--property", takes::value},
                                {"-p", takes::value},
                                {"--value", takes::nothing},
                                {"--no-pager", takes::nothing}});
  if (const std::string wrong = wrong_option("systemctl", p); !wrong.empty()) return fail(wrong);
  const std::string verb = p.words.empty() ? std::string() : p.words[0];
  if (verb == "reboot") {
    if (h.has("reboot_fails")) return fail(h.read("reboot_fails"));
    h.write("next_boot", "full");
    h.append("reboots", "full");
    return 0;  // returns at once, as the real one
  }
  if (verb == "is-active" && p.words.size() > 1) {
    const auto active = h.lines("active_units");
    const bool is = std::find(active.begin(), active.end(), p.words[1]) != active.end();
    if (!p.has("--quiet")) std::cout << (is ? "active" : "inactive") << '\n';
    return is ? 0 : 3;
  }
  if (verb == "show") return show(h, p);
  if (verb == "stop" && p.words.size() > 1) {
    const int pid = p.words[1] == h.read("unit_name") ? unit_pid(h) : 0;
    if (pid == 0)
      return fail("Failed to stop " + p.words[1] + ": Unit " + p.words[1] + " not loaded.", 5);
    kill(-pid, SIGTERM);  // the whole unit
    h.remove("unit_pid");
    return 0;
  }
  if (verb == "is-active" || verb == "stop") return fail("Too few arguments.");
  return fail("Unknown command verb " + verb + ".");
}

/// --wait: runs the command as a unit, whose errors go to the journal and not to the caller; it
/// outlives the caller.
int systemd_run(const host_state& h, const arguments& args) {
  const parsed p = parse(args,
                         {{"--wait", takes::nothing},
                          {"--collect", takes::nothing},
                          {"-G", takes::nothing},
                          {"--unit", takes::value},
                          {"-u", takes::value},
                          {"--quiet", takes::nothing},
                          {"-q", takes::nothing}},
                         ends::at_first_word);
  if (const std::string wrong = wrong_option("systemd-run", p); !wrong.empty()) return fail(wrong);
  if (p.words.empty()) return fail("Command line to execute required.");
  const arguments& command = p.words;
  if (command[0] != "bootc" && command[0] != "sh")
    return fail("Failed to find executable " + command[0] + ": No such file or directory");
  const std::string unit_name = p.has("--unit") ? p.options.at("--unit") : "run-u1.service";
  if (unit_pid(h) != 0 && h.read("unit_name") == unit_name)
    return fail("Failed to start transient service unit: Unit " + unit_name +
                " was already loaded or has a fragment file.");
  std::string line;
  for (const auto& a : command) line += (line.empty() ? "" : " ") + a;
  h.write("unit_name", unit_name);
  h.write("unit_command", "/usr/bin/" + line);  // the program's whole path, as it was found
  const auto note = [&](const std::string& said) { h.append("journal", by_systemd + said); };
  note("Started " + unit_name + " - [systemd-run] " + line + ".");
  std::cerr << "Running as unit: " << unit_name << '\n';
  const pid_t unit = fork();
  if (unit == 0) {
    setsid();
    h.write("unit_pid", std::to_string(getpid()));
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    const int journal =
        open(h.path("journal").c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0644);
    dup2(nothing, 0);
    dup2(journal, 1);
    dup2(journal, 2);
    const int code = command[0] == "sh" ? shell(h, command)
                                        : bootc(h, arguments(command.begin() + 1, command.end()));
    std::cout.flush();
    if (code != 0) {
      note(unit_name + ": Main process exited, code=exited, status=" + std::to_string(code) +
           "/FAILURE");
      note(unit_name + ": Failed with result 'exit-code'.");
    }
    h.remove("unit_pid");
    _exit(code);
  }
  int ended = 0;
  while (waitpid(unit, &ended, 0) < 0 && errno == EINTR) continue;
  const int code = WIFEXITED(ended) ? WEXITSTATUS(ended) : 1;
  std::cerr << "Finished with result: " << (code == 0 ? "success" : "exit-code")
            << "\nMain processes terminated with: code=exited/status=" << code << '\n';
  return code;
}

/// --after-cursor leaves out the first entry that matches, as the cursor's own does not.
/// -u shows what a unit's processes said and what systemd said of it, _SYSTEMD_UNIT= the former.
int journalctl(const host_state& h, const arguments& args) {
  const parsed p = parse(args, {{"--show-cursor", takes::nothing},
                                {"-n", takes::value},
                                {"--lines", takes::value},
                                {"-o", takes::value},
                                {"--output", takes::value},
                                {"-u", takes::value},
                                {"--unit", takes::value},
                                {"--no-pager", takes::nothing},
                                {"--sync", takes::nothing},
                                {"--cursor", takes::value},
                                {"--after-cursor", takes::value}});
  if (const std::string wrong = wrong_option("journalctl", p); !wrong.empty()) return fail(wrong);
  for (const std::string& match : p.words)
    if (match.find('=') == std::string::npos)
      return fail("Failed to add match '" + match + "': Invalid argument");
  const std::string text = h.has("journal") ? h.read("journal") : std::string();
  if (p.has("--show-cursor")) {
    std::cout << "-- cursor: s=" << text.size() << '\n';
    return 0;
  }
  if (p.has("--sync")) return 0;
  std::size_t from = 0;
  for (const char* option : {"--cursor", "--after-cursor"}) {
    if (!p.has(option)) continue;
    const std::string& cursor = p.options.at(option);
    if (!cursor.starts_with("s=")) return fail("Failed to seek to cursor: Invalid argument");
    from = static_cast<std::size_t>(std::atoll(cursor.substr(2).c_str()));
  }
  bool left_out = !p.has("--after-cursor") || (p.words.empty() && !p.has("-u") && !p.has("--unit"));
  std::istringstream lines(from < text.size() ? text.substr(from) : std::string());
  for (std::string line; std::getline(lines, line);) {
    const bool noted = line.starts_with(by_systemd);
    if (noted && !p.words.empty()) continue;
    if (line.empty() || !std::exchange(left_out, true)) continue;
    std::cout << line.substr(noted ? 1 : 0) << '\n';
  }
  return 0;
}

}  // namespace fake
