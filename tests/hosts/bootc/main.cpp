// A stand-in for the bootc command and for what it needs of its host (systemctl, systemd-run,
// journalctl, nsenter), for tests of everything that runs these commands. One program: what it is
// asked to be is the name it is called by.
//
// State lives in $FAKE_HOST, a folder, as small files that a test may write too:
//   booted, staged, rollback   the image of each slot, one line; absent = none
//   locked                     present: the staged image is locked
//   spec                       the image of the last switch
//   boot_id, soft_reboots      of the present boot
//   ostree/bootc               touched when deployments change
//   run/…                      what a full reboot drops and a soft reboot keeps
//   stage_seconds              how long a switch takes (0.2)
//   progress                   present: `switch` has --progress-fd and writes these lines to it,
//                              one after the other while it takes its time
//   unpullable, unbootable     parts of images that cannot be fetched, or do not come up; one a
//                              line
//   too_large                  parts of images that the host's disk has no room for; one a line
//   fetch                      a program that fetches an image, or says why not
//   composefs, container, readonly, no_lock, switch_options, active_units
//                              present: the host is like that; switch_options lists further options
//                              of `switch`
//   reboots                    one line for each reboot; wait for it to grow, then `power_on`
//   log                        every command line that came
// Source: what bootc 1.16 does and prints.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

namespace fs = std::filesystem;
using arguments = std::vector<std::string>;

class host_state {
public:
  host_state() {
    const char* folder = std::getenv("FAKE_HOST");
    if (!folder || !*folder) {
      std::cerr << "FAKE_HOST names no folder\n";
      std::exit(2);
    }
    root_ = folder;
    fs::create_directories(root_ / "run");
    if (!has("boot_id")) new_boot();
  }

  bool has(const std::string& name) const { return fs::exists(root_ / name); }
  std::string read(const std::string& name) const {
    std::ifstream in(root_ / name);
    std::string text((std::istreambuf_iterator<char>(in)), {});
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.pop_back();
    return text;
  }
  arguments lines(const std::string& name) const {
    std::istringstream in(read(name));
    arguments out;
    for (std::string line; std::getline(in, line);)
      if (!line.empty()) out.push_back(line);
    return out;
  }
  /// Whole or not at all, as a reader in another process expects.
  void write(const std::string& name, const std::string& text) const {
    const fs::path temporary = root_ / (name + "." + std::to_string(getpid()));
    std::ofstream(temporary) << text << '\n';
    fs::rename(temporary, root_ / name);
  }
  void append(const std::string& name, const std::string& line) const {
    std::ofstream(root_ / name, std::ios::app) << line << '\n';
  }
  void remove(const std::string& name) const { fs::remove_all(root_ / name); }
  void new_boot() const {
    std::random_device rng;
    std::ostringstream id;
    id << std::hex << rng() << '-' << rng();
    write("boot_id", id.str());
    write("soft_reboots", "0");
  }
  bool marked(const std::string& list, const std::string& image) const {
    for (const auto& part : lines(list))
      if (image.find(part) != std::string::npos) return true;
    return false;
  }
  fs::path path(const std::string& name) const { return root_ / name; }

private:
  fs::path root_;
};

/// The sysroot lock: who stages holds it, and status waits for it.
class sysroot_lock {
public:
  explicit sysroot_lock(const host_state& h)
      : file_(open(h.path("sysroot.lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644)) {
    if (flock(file_, LOCK_EX | LOCK_NB) == 0) return;
    std::cerr << "note: waiting for the sysroot lock\n";
    flock(file_, LOCK_EX);
  }
  ~sysroot_lock() { close(file_); }
  sysroot_lock(const sysroot_lock&) = delete;
  sysroot_lock& operator=(const sysroot_lock&) = delete;

private:
  int file_;
};

std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string digest_of(const std::string& image) {
  const auto at = image.find('@');
  return at == std::string::npos ? "sha256:" + std::string(64, '0') : image.substr(at + 1);
}

std::string entry(const host_state& h, const std::string& slot) {
  if (!h.has(slot)) return "null";
  const std::string image = h.read(slot);
  const std::string where =
      h.has("composefs")
          ? R"("composefs":{"bootType":"Bls","bootloader":"grub","missingVerityAllowed":false,"verity":"v"})"
          : R"("ostree":{"checksum":"c","deploySerial":0,"stateroot":"default"})";
  return R"({"cachedUpdate":null,)" + where + R"(,"downloadOnly":)" +
         (slot == "staged" && h.has("locked") ? "true" : "false") +
         R"(,"image":{"architecture":"amd64","image":{"image":)" + json_text(image) +
         R"(,"transport":"registry"},"imageDigest":)" + json_text(digest_of(image)) +
         R"(,"timestamp":"2026-01-02T03:04:05.678Z","version":"1"},"incompatible":false,"pinned":false,"softRebootCapable":)" +
         (h.has("soft_reboot_capable") ? "true" : "false") + "}";
}

int status(const host_state& h) {
  // Inside of a container bootc reports an empty host, and says nothing of it.
  if (std::getenv("container") || h.has("container")) {
    std::cout
        << R"({"apiVersion":"org.containers.bootc/v1","kind":"BootcHost","metadata":{"name":"host"},"spec":{"bootOrder":"default","image":null},"status":{"booted":null,"rollback":null,"rollbackQueued":false,"staged":null,"type":null}})";
    return 0;
  }
  std::optional<sysroot_lock> lock;
  if (!h.has("composefs")) lock.emplace(h);
  if (h.has("status_fails")) {
    std::cerr << "error: " << h.read("status_fails") << '\n';
    return 1;
  }
  std::cout
      << R"({"apiVersion":"org.containers.bootc/v1","kind":"BootcHost","metadata":{"name":"host"},"spec":{"bootOrder":"default","image":null},"status":{"booted":)"
      << entry(h, "booted") << R"(,"readOnly":)" << (h.has("readonly") ? "true" : "false")
      << R"(,"rollback":)" << entry(h, "rollback") << R"(,"rollbackQueued":)"
      << (h.has("rollback_queued") ? "true" : "false") << R"(,"staged":)" << entry(h, "staged")
      << R"(,"type":"bootcHost"}})";
  return 0;
}

int fail(std::string_view why) {
  std::cerr << "error: " << why << '\n';
  return 1;
}

bool take(arguments& args, std::string_view option) {
  const auto at = std::find(args.begin(), args.end(), option);
  if (at == args.end()) return false;
  args.erase(at);
  return true;
}

/// The host goes down: whoever plays the power switch sees the line in `reboots`. Does not return.
[[noreturn]] void reboot(const host_state& h, bool soft) {
  h.write("next_boot", soft ? "soft" : "full");
  h.append("reboots", soft ? "soft" : "full");
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

void stage(const host_state& h, const std::string& image, bool locked) {
  h.write("spec", image);
  h.write("staged", image);
  if (locked)
    h.write("locked", "");
  else
    h.remove("locked");
  h.write("run/reboot-required", "");
  fs::create_directories(h.path("ostree/bootc"));
  fs::last_write_time(h.path("ostree/bootc"), fs::file_time_type::clock::now());
}

/// The descriptor that --progress-fd names, which goes from the arguments; nothing without one.
std::optional<int> take_progress(arguments& args) {
  const auto at = std::find(args.begin(), args.end(), "--progress-fd");
  if (at == args.end() || at + 1 == args.end()) return std::nullopt;
  const int fd = std::atoi((at + 1)->c_str());
  args.erase(at, at + 2);
  return fd;
}

/// Whoever reads it may be gone: bootc goes on then.
void say(int fd, const std::string& line) {
  const std::string text = line + "\n";
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t n = ::write(fd, text.data() + at, text.size() - at);
    if (n < 0) return;
    at += static_cast<std::size_t>(n);
  }
}

int switch_to(const host_state& h, arguments args) {
  const std::optional<int> progress = take_progress(args);
  if (progress && !h.has("progress")) {
    std::cerr << "error: unexpected argument '--progress-fd' found\n";
    return 2;
  }
  if (progress && *progress < 3) {
    std::cerr << "error: invalid value '" << *progress
              << "' for '--progress-fd <PROGRESS_FD>': not a descriptor to write to\n";
    return 2;
  }
  const arguments further = h.lines("switch_options");
  const auto offers = [&](std::string_view option) {
    return std::find(further.begin(), further.end(), option) != further.end();
  };
  if (take(args, "--help")) {
    std::cout << "Usage: bootc switch [OPTIONS] <TARGET>\n\nOptions:\n  --quiet\n  --apply\n  "
                 "--soft-reboot <SOFT_REBOOT>\n"
                 "  --transport <TRANSPORT>\n  --enforce-container-sigpolicy\n  --retain\n";
    for (const auto& option : further) std::cout << "  " << option << '\n';
    return 0;
  }
  const bool apply = take(args, "--apply");
  const bool download_only = take(args, "--download-only"),
             from_downloaded = take(args, "--from-downloaded");
  bool soft = false;
  for (const char* kind : {"--soft-reboot=auto", "--soft-reboot=required"})
    soft |= take(args, kind);
  if ((download_only && !offers("--download-only")) ||
      (from_downloaded && !offers("--from-downloaded")))
    return fail("unexpected argument");
  if (download_only && apply)
    return fail("the argument '--download-only' cannot be used with '--apply'");
  if (from_downloaded) {
    if (!args.empty())
      return fail("the argument '--from-downloaded' cannot be used with '<TARGET>'");
    if (!h.has("staged")) return fail("No staged deployment found");
    h.remove("locked");
    if (apply) reboot(h, soft && h.has("soft_reboot_capable"));
    return 0;
  }
  if (args.size() != 1) return fail("the following required arguments were not provided: <TARGET>");
  const std::string image = args[0];
  const std::string present = h.has("staged") ? h.read("staged") : h.read("booted");
  if (h.has("readonly")) return fail("the sysroot is read-only");
  if (image == present) {
    std::cout << "Image specification is unchanged.\n";
    if (apply && h.has("staged")) reboot(h, false);
    return 0;
  }
  if (h.has("composefs") && (image == h.read("booted") || image == h.read("rollback")))
    return fail("the image is already deployed");
  sysroot_lock lock(h);
  const std::string seconds = h.has("stage_seconds") ? h.read("stage_seconds") : "0.2";
  const arguments steps = progress ? h.lines("progress") : arguments();
  const std::chrono::duration<double> each(
      std::atof(seconds.c_str()) / static_cast<double>(std::max<std::size_t>(steps.size(), 1)));
  for (const std::string& line : steps) {
    say(*progress, line);
    std::this_thread::sleep_for(each);
  }
  if (steps.empty()) std::this_thread::sleep_for(each);
  if (h.has("fetch")) {
    const std::string fetch = h.path("fetch").string() + " '" + image + "'";
    std::cout.flush();
    if (std::system(fetch.c_str()) != 0) return 1;  // it has said why
  }
  if (h.marked("unpullable", image))
    return fail("Pulling: initializing source docker://" + image + ": manifest unknown");
  if (h.marked("too_large", image))
    return fail(
        "Pulling: Importing: Unencapsulating base: Writing content object: write: No space left on "
        "device");
  stage(h, image, download_only);
  if (apply) reboot(h, soft && h.has("soft_reboot_capable"));
  return 0;
}

int upgrade(const host_state& h, arguments args) {
  if (take(args, "--help")) {
    std::cout << "Usage: bootc upgrade [OPTIONS]\n\nOptions:\n  --quiet\n  --check\n  --apply\n  "
                 "--soft-reboot <SOFT_REBOOT>\n"
                 "  --download-only\n  --from-downloaded\n";
    return 0;
  }
  const bool apply = take(args, "--apply");
  bool soft = false;
  for (const char* kind : {"--soft-reboot=auto", "--soft-reboot=required"})
    soft |= take(args, kind);
  if (take(args, "--download-only")) {
    sysroot_lock lock(h);
    if (h.has("no_lock")) return fail("cannot finalize");
    if (!h.has("staged")) return 0;
    if (h.has("composefs")) return 0;  // an image staged unlocked cannot be locked there any more
    h.write("locked", "");
    return 0;
  }
  if (take(args, "--from-downloaded")) {
    if (!h.has("staged")) return fail("No staged deployment found");
    if (h.has("composefs") && !h.has("locked")) {
      std::cout << "Staged deployment is not in download-only mode\n";
      return 0;
    }
    h.remove("locked");
    if (apply) reboot(h, soft && h.has("soft_reboot_capable"));
    return 0;
  }
  if (h.has("staged")) h.remove("locked");
  if (apply && h.has("staged")) reboot(h, soft && h.has("soft_reboot_capable"));
  return 0;
}

int bootc(const host_state& h, arguments args) {
  if (args.empty()) return fail("a command is needed");
  const std::string verb = args.front();
  args.erase(args.begin());
  if (verb == "status") return status(h);
  if (verb == "switch") return switch_to(h, std::move(args));
  if (verb == "upgrade") return upgrade(h, std::move(args));
  if (verb == "rollback") {
    if (!h.has("rollback")) return fail("No rollback available");
    h.remove("staged");
    h.remove("locked");
    h.write("rollback_queued", "");
    h.write("run/reboot-required", "");
    if (take(args, "--apply")) reboot(h, false);
    return 0;
  }
  return fail("unrecognized subcommand '" + verb + "'");
}

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
  if (h.has("rollback_queued"))
    next = h.read("rollback");
  else if (h.has("staged") && !h.has("locked"))
    next = h.read("staged");
  for (const char* gone : {"rollback_queued", "staged", "locked"}) h.remove(gone);
  if (next.empty() || h.marked("unbootable", next)) return 0;
  const std::string before = h.read("booted");
  h.write("booted", next);
  h.write("rollback", before);
  return 0;
}

int systemctl(const host_state& h, const arguments& args) {
  if (args.empty()) return 0;
  if (args[0] == "reboot") {
    h.write("next_boot", "full");
    h.append("reboots", "full");
    return 0;  // returns at once, as the real one
  }
  if (args[0] == "is-active") {
    const auto active = h.lines("active_units");
    const bool is = std::find(active.begin(), active.end(), args.back()) != active.end();
    if (std::find(args.begin(), args.end(), "--quiet") == args.end())
      std::cout << (is ? "active" : "inactive") << '\n';
    return is ? 0 : 3;
  }
  if (args[0] == "show" && args[1].starts_with("bootc-operator-switch")) {
    const int pid = h.has("unit_pid") ? std::atoi(h.read("unit_pid").c_str()) : 0;
    const bool runs = pid > 1 && kill(pid, 0) == 0;
    std::cout << "ActiveState=" << (runs ? "active" : "inactive") << '\n';
    if (runs)
      std::cout << "ExecStart={ path=/usr/bin/bootc ; argv[]=" << h.read("unit_command")
                << " ; ignore_errors=no ; start_time=[n/a] ; stop_time=[n/a] ; pid=" << pid
                << " ; code=(null) ; status=0/0 }\n";
    return 0;
  }
  if (args[0] == "show") {
    std::cout << h.read("soft_reboots") << '\n';
    return 0;
  }
  if (args[0] == "stop" && h.has("unit_pid")) {
    const int pid = std::atoi(h.read("unit_pid").c_str());
    if (pid > 1) kill(-pid, SIGTERM);  // the whole unit
    h.remove("unit_pid");
  }
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

/// --wait: runs the command as a unit, whose errors go to the journal and not to whoever waits; it
/// outlives that one.
int systemd_run(const host_state& h, const arguments& args) {
  std::size_t at = 0;
  while (at < args.size() && args[at].starts_with("--")) at += args[at] == "--unit" ? 2 : 1;
  const arguments command(args.begin() + static_cast<std::ptrdiff_t>(at), args.end());
  if (command.empty() || (command[0] != "bootc" && command[0] != "sh"))
    return fail("Failed to find executable");
  std::string line;
  for (const auto& a : command) line += (line.empty() ? "" : " ") + a;
  h.write("unit_command", line);
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
    h.remove("unit_pid");
    std::cout.flush();
    _exit(code);
  }
  int ended = 0;
  while (waitpid(unit, &ended, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(ended) ? WEXITSTATUS(ended) : 1;
}

int journalctl(const host_state& h, const arguments& args) {
  const bool cursor_wanted = std::find(args.begin(), args.end(), "--show-cursor") != args.end();
  const std::string text = h.has("journal") ? h.read("journal") : std::string();
  if (cursor_wanted) {
    std::cout << "-- cursor: s=" << text.size() << '\n';
    return 0;
  }
  std::size_t from = 0;
  for (const auto& a : args)
    if (a.starts_with("--after-cursor=s="))
      from = static_cast<std::size_t>(std::atoll(a.substr(17).c_str()));
  if (from < text.size()) std::cout << text.substr(from) << '\n';
  return 0;
}

int cat(const host_state& h, const arguments& args) {
  if (!args.empty() && args[0].ends_with("boot_id")) std::cout << h.read("boot_id") << '\n';
  return 0;
}

int dispatch(const host_state& h, const std::string& name, arguments args) {
  if (name == "bootc") return bootc(h, std::move(args));
  if (name == "systemctl") return systemctl(h, args);
  if (name == "systemd-run") return systemd_run(h, args);
  if (name == "journalctl") return journalctl(h, args);
  if (name == "cat") return cat(h, args);
  if (name == "pgrep")
    return h.has("process_" + (args.empty() ? std::string() : args.back())) ? 0 : 1;
  if (name == "power_on") return power_on(h);
  if (name == "nsenter") {
    while (!args.empty() && args.front() != "--") args.erase(args.begin());
    if (args.size() < 2) return fail("nsenter: no command");
    unsetenv("container");  // --env: PID 1 has none
    const std::string inner = args[1];
    return dispatch(h, inner, arguments(args.begin() + 2, args.end()));
  }
  return fail(name + ": command not found");
}

}  // namespace

int main(int argc, char** argv) {
  const host_state h;
  arguments args(argv + 1, argv + argc);
  std::string name = fs::path(argv[0]).filename();
  std::string line = name;
  for (const auto& a : args) line += " " + a;
  h.append("log", line);
  // By its own name it takes the name from its first argument: fake_host power_on.
  if (name == "fake_host" && !args.empty()) {
    name = args.front();
    args.erase(args.begin());
  }
  return dispatch(h, name, std::move(args));
}
