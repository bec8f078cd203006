// A stand-in for the bootc command and for what it needs of its host (systemctl, systemd-run,
// journalctl, nsenter), for tests of everything that runs these commands. One program: what it is
// asked to be is the name it is called by.
//
// Each refuses what the real one refuses: docs/internals/fakes.md.
//
// State lives in $FAKE_HOST, a folder (or in /fake_host), as small files that a test may write too:
//   booted, staged, rollback   the image of each slot, one line; absent = none
//   locked                     present: the staged image is locked
//   boot_id, soft_reboots      of the present boot
//   ostree/bootc               touched when deployments change
//   run/…                      what a full reboot drops and a soft reboot keeps
//   stage_seconds              how long a switch takes (0.2)
//   held                       present: a switch goes on until it is removed, and has written
//                              "by a stage" into it when it holds the sysroot lock
//   progress                   present: `switch` has --progress-fd and writes these lines to it,
//                              one after the other while it takes its time
//   unpullable, unreachable    parts of images that a registry does not have, or whose registry
//                              does not answer; one a line
//   unbootable                 parts of images that do not come up; one a line
//   fetched                    images that were fetched so far
//   too_large                  parts of images that the host's disk has no room for; one a line
//   fetch                      a program that fetches an image, or says why not
//   composefs, container, readonly, no_lock, switch_options, active_units
//                              present: the host is like that; switch_options lists further options
//                              of `switch`
//   rollback_queued            present: the next reboot boots the rollback, unless one is staged
//   reboot_fails               what `systemctl reboot` says instead of rebooting
//   power_is_real              present: bootc reboots by the machine's own `systemctl reboot`
//   reboots                    one line for each reboot; wait for it to grow, then `power_on`
//   log                        every command line that came
// Source: what bootc 1.16.9 did and printed, tests/data/bootc-1.16.9; util-linux 2.34; systemd 252.
#include "tests/hosts/bootc/fake_host.hpp"

#include <algorithm>
#include <set>

namespace fake {
namespace {

/// What the firmware and the boot loader do; called by the test when `reboots` has grown.
int power_on(const host_state& h) {
  const bool soft = h.read("next_boot") == "soft";
  h.remove("next_boot");
  if (soft) {
    h.write("soft_reboots", std::to_string(std::atoi(h.read("soft_reboots").c_str()) + 1));
  } else {
    h.new_boot();
    h.remove("run");
    fs::create_directories(h.path("run"));
  }
  std::string next;
  if (h.has("staged") && !h.has("locked"))
    next = h.read("staged");
  else if (h.has("rollback_queued"))
    next = h.read("rollback");
  for (const char* gone : {"staged", "locked"}) h.remove(gone);
  if (next.empty()) return 0;
  if (h.marked("unbootable", next)) {
    // The boot loader falls back, but the order of the deployments stays.
    h.write("rollback", next);
    h.write("rollback_queued", "");
    return 0;
  }
  h.remove("rollback_queued");
  const std::string before = h.read("booted");
  h.write("booted", next);
  h.write("rollback", before);
  return 0;
}

int cat(const host_state& h, const arguments& args) {
  const parsed p = parse(args, {});
  if (const std::string wrong = wrong_option("cat", p); !wrong.empty()) return fail(wrong);
  if (p.words != arguments{"/proc/sys/kernel/random/boot_id"})
    return fail("cat: " + (p.words.empty() ? "-" : p.words[0]) + ": No such file or directory");
  std::cout << h.read("boot_id") << '\n';
  return 0;
}

int pgrep(const host_state& h, const arguments& args) {
  const parsed p = parse(args, {{"-x", takes::nothing}});
  if (const std::string wrong = wrong_option("pgrep", p); !wrong.empty()) return fail(wrong, 2);
  if (p.words.size() != 1) return fail("pgrep: no matching criteria specified", 2);
  const bool works = p.words[0] == "bootc" && is_sysroot_locked(h);
  return works || h.has("process_" + p.words[0]) ? 0 : 1;
}

int dispatch(const host_state& h, const std::string& name, arguments args);

bool is_number(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// The options of util-linux 2.34, the oldest that an image may have. The environment stays as it
/// is, and only a command that entered the mount and PID namespaces of process 1 is on the host.
int nsenter(const host_state& h, const arguments& args) {
  const std::set<std::string> namespaces{"--mount", "--uts",    "--ipc", "--net",
                                         "--pid",   "--cgroup", "--user"};
  option_table known{{"--all", takes::nothing},
                     {"--target", takes::value},
                     {"--setuid", takes::value},
                     {"--setgid", takes::value},
                     {"--preserve-credentials", takes::nothing},
                     {"--root", takes::maybe_value},
                     {"--wd", takes::maybe_value},
                     {"--no-fork", takes::nothing},
                     {"--follow-context", takes::nothing},
                     {"--version", takes::nothing}};
  for (const std::string& each : namespaces) known[each] = takes::maybe_value;
  const parsed p = parse(args, known, ends::at_first_word);
  if (const std::string wrong = wrong_option("nsenter", p); !wrong.empty())
    return fail(wrong + "\nTry 'nsenter --help' for more information.");
  if (p.has("--version")) {
    std::cout << "nsenter from util-linux 2.34\n";
    return 0;
  }
  for (const auto& [option, what] :
       {std::pair("--target", "pid"), std::pair("--setuid", "uid"), std::pair("--setgid", "gid")})
    if (p.has(option) && !is_number(p.options.at(option)))
      return fail("nsenter: failed to parse " + std::string(what) + ": '" + p.options.at(option) +
                  "'");
  const std::string target = p.has("--target") ? p.options.at("--target") : std::string();
  for (const std::string& each : namespaces) {
    if (!p.has(each) || !p.options.at(each).empty()) continue;
    const std::string file = each == "--mount" ? "mnt" : each.substr(2);
    if (target.empty())
      return fail("nsenter: neither filename nor target pid supplied for ns/" + file);
    if (target != "1")
      return fail("nsenter: cannot open /proc/" + target + "/ns/" + file +
                  ": No such file or directory");
  }
  if (p.words.empty()) return fail("nsenter: the test gives it a program");
  const std::string& program = p.words[0];
  const bool entered = p.has("--all") || (p.has("--mount") && p.has("--pid"));
  const std::set<std::string> there{"bootc", "systemctl", "systemd-run", "journalctl",
                                    "pgrep", "cat",       "true"};
  if (!entered || !there.contains(program))
    return fail("nsenter: failed to execute " + program + ": No such file or directory", 127);
  return dispatch(h, program, arguments(p.words.begin() + 1, p.words.end()));
}

int dispatch(const host_state& h, const std::string& name, arguments args) {
  if (name == "bootc") return bootc(h, std::move(args));
  if (name == "systemctl") return systemctl(h, args);
  if (name == "systemd-run") return systemd_run(h, args);
  if (name == "journalctl") return journalctl(h, args);
  if (name == "cat") return cat(h, args);
  if (name == "pgrep") return pgrep(h, args);
  if (name == "power_on") return power_on(h);
  if (name == "nsenter") return nsenter(h, args);
  if (name == "true") return 0;
  return fail(name + ": command not found", 127);
}

}  // namespace
}  // namespace fake

int main(int argc, char** argv) {
  const fake::host_state h;
  fake::arguments args(argv + 1, argv + argc);
  std::string name = fake::fs::path(argv[0]).filename();
  std::string line = name;
  for (const auto& a : args) line += " " + a;
  h.append("log", line);
  // By its own name it takes the name from its first argument: fake_host power_on.
  if (name == "fake_host" && !args.empty()) {
    name = args.front();
    args.erase(args.begin());
  }
  return fake::dispatch(h, name, std::move(args));
}
