#include "bootc/daemon/command_host.hpp"

#include "formats/digest.hpp"
#include "reactor/loop.hpp"
#include "reactor/plain/reason.hpp"
#include "reactor/system/file_watch.hpp"

#include <array>

namespace bootc {
namespace {

using namespace std::chrono_literals;
using arguments = std::vector<std::string>;

/// What systemd gives its services where the kernel gave PID 1 none.
constexpr const char* default_path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
constexpr std::size_t most_environment_bytes = 1u << 20;
constexpr const char* switch_unit = "bootc-operator-switch.service";
constexpr reactor::nanoseconds short_time = 10s, stop_time = 30s, lock_time = 5min,
                               reboot_time = 10min;
constexpr reactor::nanoseconds stage_time =
    std::chrono::hours(6);  // a slow link and a large image, but not for ever
/// Where ostree and composefs keep them, below the host's root.
constexpr std::array<const char*, 2> deployments{"/ostree/bootc", "/sysroot/state/deploy"};
/// The last line that bootc wrote to its progress descriptor, below the host's root.
constexpr const char* progress_file = "/run/windlass-stage-progress";
/// The image of the last stage that was begun here, so that the next daemon knows it from what an
/// administrator staged. Gone with a full reboot, as is what was staged.
constexpr const char* staged_file = "/run/windlass-staged";
constexpr std::size_t most_image_bytes = 4096;
constexpr std::size_t most_progress_bytes = 64u << 10;
/// `bootc switch` with a pipe as descriptor 3, whose last line $0 shows; further arguments are
/// bootc's. It ends as bootc does, and what cannot be written stops nothing. The image stays the
/// last word of the unit, without " ; " before it, where staged_by_unit looks for it.
constexpr const char* switch_with_progress =
    R"(exec 4>&1; : >"$0"; code=$( { { bootc switch --progress-fd 3 "$@" 3>&1 >&4 4>&- 5>&-; )"
    R"(echo "$?" >&5; } | while IFS= read -r line; do printf "%s\n" "$line" >"$0"; done >&4; } )"
    R"(5>&1 ); rm -f "$0"; exit "$code")";
constexpr int most_unanswered = 10;  // questions about a unit, in a row

std::string words_of(const arguments& argv) {
  std::string out;
  for (const auto& a : argv) out += (out.empty() ? "" : " ") + a;
  return out;
}

reactor::fault refused(const arguments& argv, std::string why) {
  return reactor::make_fault(reactor::errc::refused, words_of(argv), why);
}

/// The last lines that a program said, without the trailing newline.
std::string last_words(const std::string& text) {
  constexpr std::size_t most = 1024;
  std::string out = text.size() > most ? text.substr(text.size() - most) : text;
  while (!out.empty() && (out.back() == '\n' || out.back() == ' ')) out.pop_back();
  out.erase(0, out.find_first_not_of("\n "));
  if (out.starts_with("error: ")) out = out.substr(7);
  return out;
}

/// Why a command did not end well.
std::string why_of(const reactor::result<reactor::process_exit>& ended) {
  if (!ended) return reactor::reason_of(ended.error());
  const std::string said = last_words(ended->err);
  return said.empty() ? ended->text() : said;
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

}  // namespace

std::vector<std::string> host_command_line(command_form how, std::vector<std::string> argv) {
  if (how == command_form::direct) return argv;
  // No option newer than util-linux 2.34: the nsenter is the image's, and that of Debian 12 (2.38)
  // has no --env.
  arguments out{"nsenter",  "--target", "1",        "--mount", "--pid", "--cgroup",
                "--setuid", "0",        "--setgid", "0",       "--"};
  out.insert(out.end(), std::make_move_iterator(argv.begin()), std::make_move_iterator(argv.end()));
  return out;
}

std::map<std::string, std::optional<std::string>> host_environment(std::string_view block) {
  std::map<std::string, std::optional<std::string>> out{{"PATH", default_path}};
  while (!block.empty()) {
    const std::string_view entry = block.substr(0, block.find('\0'));
    block.remove_prefix(std::min(entry.size() + 1, block.size()));
    const std::size_t equals = entry.find('=');
    if (equals != entry.npos && equals != 0)
      out[std::string(entry.substr(0, equals))] = std::string(entry.substr(equals + 1));
  }
  out.erase("container");
  return out;
}

std::string staged_by_unit(std::string_view shown) {
  const auto value_of = [&](std::string_view key) {
    const std::size_t at = shown.starts_with(key) ? 0 : shown.find("\n" + std::string(key));
    if (at == shown.npos) return std::string_view();
    const auto line = shown.substr(at + (at == 0 && shown.starts_with(key) ? 0 : 1) + key.size());
    return line.substr(0, line.find('\n'));
  };
  const std::string_view state = value_of("ActiveState=");
  if (state != "active" && state != "activating" && state != "deactivating") return {};
  // ExecStart={ path=/usr/bin/bootc ; argv[]=/usr/bin/bootc switch IMAGE ; ignore_errors=no ; … }
  // or { path=/usr/bin/sh ; argv[]=/usr/bin/sh -c … bootc switch … IMAGE ; ignore_errors=no ; … }:
  // systemd-run puts the whole path of a program for its name.
  constexpr std::string_view begin = "argv[]=", ours = "bootc switch ";
  std::string_view line = value_of("ExecStart=");
  const std::size_t at = line.find(begin);
  if (at == line.npos) return {};
  line.remove_prefix(at + begin.size());
  line = line.substr(0, line.find(" ; "));
  line.remove_prefix(line.substr(0, line.find(' ')).rfind('/') + 1);
  if (!line.starts_with(ours) && !(line.starts_with("sh ") && line.find(ours) != line.npos))
    return {};
  return std::string(line.substr(line.rfind(' ') + 1));
}

/// A stage that is left before its end leaves its unit running on the host.
struct command_host::unit_guard {
  command_host& host;
  bool ended = false;
  ~unit_guard() {
    if (ended || host.leaving_ || host.tasks_.cancelled()) return;
    host.stopping_unit_ = true;
    host.tasks_.start("stop " + std::string(switch_unit), host.stop_unit());
  }
};

command_host::command_host(reactor::loop& l, command_host_options o)
    : loop_(l), options_(std::move(o)), files_(options_.root), unit_stopped_(l), tasks_(l) {
  seen_ = fingerprint();
}

command_host::~command_host() = default;

awaitable<void> command_host::stop() {
  co_await tasks_.cancel_and_join();
}

/// Blocks, but not for long: what it reads is the kernel's memory.
reactor::result<reactor::command> command_host::prepare(std::vector<std::string> argv) const {
  reactor::command c;
  c.argv = host_command_line(options_.form, std::move(argv));
  if (options_.form == command_form::nsenter) {
    auto block = files_.load("/proc/1/environ", most_environment_bytes);
    if (!block)
      return reactor::make_fault(
          reactor::errc::refused, "run " + c.argv[0],
          "the environment of the host's first process cannot be read: " + block.error().message());
    c.base = reactor::environment_base::empty;
    c.environment = host_environment(*block);
  } else {
    c.environment["container"] = std::nullopt;
  }
  for (const auto& [name, value] : options_.environment) c.environment[name] = value;
  return c;
}

awaitable<reactor::result<reactor::process_exit>> command_host::execute(
    std::vector<std::string> argv, reactor::nanoseconds within) {
  auto c = prepare(std::move(argv));
  if (!c) co_return c.error();
  co_return co_await reactor::run_process(loop_, std::move(*c), loop_.now() + within);
}

awaitable<reactor::result<std::string>> command_host::ask(std::vector<std::string> argv,
                                                          reactor::nanoseconds within) {
  const std::string said = words_of(argv);
  auto ended = co_await execute(std::move(argv), within);
  if (ended && ended->succeeded()) co_return std::move(ended->out);
  if (!ended && reactor::is_cancelled(ended.error())) co_return ended.error();
  co_return reactor::make_fault(reactor::errc::refused, "", said + ": " + why_of(ended));
}

awaitable<reactor::result<void>> command_host::succeed(std::vector<std::string> argv,
                                                       reactor::nanoseconds within) {
  auto answer = co_await ask(std::move(argv), within);
  if (!answer) co_return answer.error();
  co_return reactor::result<void>();
}

/// Tells a host that cannot be entered from one that has no bootc.
awaitable<reactor::result<void>> command_host::enter() {
  if (options_.form == command_form::direct) co_return reactor::result<void>();
  arguments nothing{"true"};
  auto ended = co_await execute(std::move(nothing), short_time);
  if (ended && ended->succeeded()) co_return reactor::result<void>();
  if (!ended && reactor::is_cancelled(ended.error())) co_return ended.error();
  co_return reactor::make_fault(reactor::errc::refused, "",
                                "nsenter cannot enter the host: " + why_of(ended));
}

awaitable<reactor::result<host_traits>> command_host::inspect() {
  auto entered = co_await enter();
  if (!entered) co_return entered.error();
  arguments ask_switch{"bootc", "switch", "--help"}, ask_upgrade{"bootc", "upgrade", "--help"};
  auto switching = co_await ask(std::move(ask_switch), short_time);
  if (!switching) co_return switching.error();
  auto upgrading = co_await ask(std::move(ask_upgrade), short_time);
  if (!upgrading) co_return upgrading.error();
  const auto offers = [](const std::string& help, std::string_view option) {
    return help.find(option) != std::string::npos;
  };
  host_traits out;
  out.switch_download_only = offers(*switching, "--download-only");
  out.switch_from_downloaded = offers(*switching, "--from-downloaded");
  out.upgrade_download_only = offers(*upgrading, "--download-only");

  // The help hides the option; that a host knows it shows in what it finds wrong with this.
  arguments ask_progress{"bootc", "switch", "--progress-fd", "2", "--help"};
  auto progress = co_await execute(std::move(ask_progress), short_time);
  out.progress = progress && (progress->succeeded() ||
                              (progress->err.find("'--progress-fd") != std::string::npos &&
                               progress->err.find("unexpected argument") == std::string::npos));

  arguments ask_boot{"cat", "/proc/sys/kernel/random/boot_id"};
  auto boot = co_await execute(std::move(ask_boot), short_time);
  const auto note = [&out](const char* what, const auto& ended) {
    const bool read = ended && ended->succeeded();
    out.unread.emplace_back(what, read ? std::string() : why_of(ended));
    return read;
  };
  if (note("the boot's id", boot)) out.boot.id = first_line(boot->out);
  arguments ask_soft{"systemctl", "show", "--property=SoftRebootsCount", "--value"};
  auto soft = co_await execute(std::move(ask_soft), short_time);
  if (note("how often it was soft-rebooted", soft))
    out.boot.soft_reboots = std::strtoull(soft->out.c_str(), nullptr, 10);

  // Both reboot the host on their own, past every slot.
  arguments ask_timer{"systemctl", "is-active", "--quiet", "bootc-fetch-apply-updates.timer"};
  auto timer = co_await execute(std::move(ask_timer), short_time);
  if (timer && timer->succeeded())
    out.uncoordinated.emplace_back("bootc-fetch-apply-updates.timer");
  arguments ask_kured{"pgrep", "-x", "kured"};
  auto kured = co_await execute(std::move(ask_kured), short_time);
  if (kured && kured->succeeded()) out.uncoordinated.emplace_back("kured");
  auto staging = co_await image_being_staged();
  out.unread.emplace_back("whether it is staging an image",
                          staging ? std::string() : reactor::reason_of(staging.error()));
  if (staging) out.staging = std::move(*staging);
  const auto read = [](const reactor::rooted_files& files) {
    return files.load(staged_file, most_image_bytes);
  };
  auto staged = co_await loop_.offload(read, files_);
  const bool lost = !staged && staged.error().code != reactor::errc::not_found &&
                    staged.error().code != std::errc::no_such_file_or_directory;
  out.unread.emplace_back("which image was staged last",
                          lost ? staged.error().message() : std::string());
  if (staged) out.staged = first_line(*staged);
  traits_ = out;
  co_return out;
}

awaitable<reactor::result<std::string>> command_host::status() {
  arguments argv{"bootc", "status", "--json", "--format-version", "1"};
  const std::string said = words_of(argv);
  auto ended = co_await execute(std::move(argv), options_.status_time);
  if (ended && ended->succeeded()) co_return std::move(ended->out);
  if (!ended && reactor::is_cancelled(ended.error())) co_return ended.error();
  if (!ended && ended.error().code == reactor::errc::timed_out) {
    // It waits for the lock of a bootc that an administrator runs: ours is not asked beside one.
    arguments ask_bootc{"pgrep", "-x", "bootc"};
    auto other = co_await execute(std::move(ask_bootc), short_time);
    if (other && other->succeeded())
      co_return reactor::make_fault(reactor::errc::closed, "",
                                    "a bootc that was started on the host by hand holds its lock");
  }
  co_return reactor::make_fault(reactor::errc::refused, "", said + ": " + why_of(ended));
}

awaitable<reactor::result<void>> command_host::run(host_command command) {
  switch (command.action) {
    case host_action::stage:
      return command.adopted ? await_stage(std::move(command)) : stage(std::move(command));
    case host_action::lock: return lock();
    case host_action::stay: return stay();
    case host_action::reboot:
    case host_action::roll_back: break;
  }
  return reboot(std::move(command));
}

awaitable<reactor::result<void>> command_host::stage(host_command command) {
  while (stopping_unit_) (void)co_await unit_stopped_.wait();
  {
    arguments stop_former{"systemctl", "stop", switch_unit};
    auto stopped = co_await execute(std::move(stop_former), stop_time);
    if (!stopped) co_return stopped.error();
  }
  const auto note = [](const reactor::rooted_files& files, const std::string& text) {
    return files.store(staged_file, text);
  };
  std::string line = command.image + "\n";
  auto noted = co_await loop_.offload(note, files_, std::move(line));
  if (!noted) co_return noted.error();
  const std::string cursor = co_await journal_cursor();
  unit_guard guard{*this};
  arguments argv{"systemd-run", "--wait", "--collect", "--unit", switch_unit};
  if (traits_.progress)
    argv.insert(argv.end(), {"sh", "-c", switch_with_progress, progress_file});
  else
    argv.insert(argv.end(), {"bootc", "switch"});
  if (traits_.switch_download_only && !command.unlocked) argv.emplace_back("--download-only");
  argv.push_back(command.image);
  const arguments said{"bootc", "switch", command.image};
  auto ended = co_await execute(std::move(argv), stage_time);
  if (!ended) co_return ended.error();
  guard.ended = true;
  if (!ended->succeeded()) {
    const std::string why = co_await journal_since(cursor);
    co_return refused(said, why.empty() ? why_of(ended) : why);
  }
  co_await lock_staged(std::move(command));
  co_return reactor::result<void>();
}

/// Until it is locked, any reboot would boot what was staged. A host that cannot lock it says so in
/// its status.
awaitable<void> command_host::lock_staged(host_command command) {
  if (!traits_.switch_download_only && traits_.upgrade_download_only && !command.composefs &&
      !command.unlocked)
    (void)co_await lock();
}

/// A stage that an earlier process began: no caller can wait for its unit as systemd-run does, so
/// it is looked at. How it ended shows in the status.
awaitable<reactor::result<void>> command_host::await_stage(host_command command) {
  unit_guard guard{*this};
  const auto deadline = loop_.now() + stage_time;
  for (int unanswered = 0; loop_.now() < deadline;) {
    auto image = co_await image_being_staged();
    if (!image && ++unanswered == most_unanswered) co_return image.error();
    if (image) unanswered = 0;
    if (image && *image != command.image) {
      guard.ended = true;
      co_await lock_staged(std::move(command));
      co_return reactor::result<void>();
    }
    co_await loop_.sleep_for(options_.watch_interval);
  }
  co_return reactor::make_fault(reactor::errc::timed_out, "stage " + command.image,
                                "it did not end in time");
}

awaitable<reactor::result<std::string>> command_host::image_being_staged() {
  arguments ask{"systemctl", "show", switch_unit, "--property=ActiveState", "--property=ExecStart"};
  auto shown = co_await execute(std::move(ask), short_time);
  if (!shown) co_return shown.error();
  co_return staged_by_unit(shown->succeeded() ? shown->out : std::string());
}

awaitable<reactor::result<void>> command_host::lock() {
  arguments argv{"bootc", "upgrade", "--download-only"};
  return succeed(std::move(argv), lock_time);
}

/// A second `bootc rollback` takes the first one back.
awaitable<reactor::result<void>> command_host::stay() {
  arguments argv{"bootc", "rollback"};
  return succeed(std::move(argv), lock_time);
}

awaitable<reactor::result<void>> command_host::reboot(host_command command) {
  if (command.action == host_action::roll_back && !command.queued) {
    arguments back{"bootc", "rollback"};
    auto rolled = co_await succeed(std::move(back), lock_time);
    if (!rolled) co_return rolled.error();
  }
  arguments argv{"systemctl", "reboot"};
  // On composefs an image that is not locked is not applied by --from-downloaded, which then does
  // not reboot either.
  if (command.locked || (command.soft && !command.composefs)) {
    argv = {"bootc", traits_.switch_from_downloaded ? "switch" : "upgrade", "--from-downloaded",
            "--apply"};
    if (command.soft) argv.emplace_back("--soft-reboot=auto");
  }
  auto ended = co_await succeed(std::move(argv), reboot_time);
  // A host that goes down ends the command as well, in the middle, and then us.
  if (!ended) co_await loop_.sleep_for(options_.going_down_time);
  co_return ended;
}

awaitable<void> command_host::stop_unit() {
  arguments argv{"systemctl", "stop", switch_unit};
  (void)co_await execute(std::move(argv), stop_time);
  stopping_unit_ = false;
  unit_stopped_.wake_all();
}

/// Where the journal ends now; empty when it cannot be read.
awaitable<std::string> command_host::journal_cursor() {
  arguments argv{"journalctl", "--show-cursor", "-n", "0", "-o", "cat"};
  auto ended = co_await execute(std::move(argv), short_time);
  constexpr std::string_view mark = "-- cursor: ";
  const std::size_t at = ended && ended->succeeded() ? ended->out.find(mark) : std::string::npos;
  if (at == std::string::npos) co_return std::string();
  co_return first_line(ended->out.substr(at + mark.size()));
}

awaitable<std::string> command_host::journal_since(std::string cursor) {
  if (cursor.empty()) co_return std::string();
  arguments sync{"journalctl", "--sync"};  // what was said last may not be written yet
  (void)co_await execute(std::move(sync), short_time);
  // What the unit's own processes said: -u would add what systemd says of it. Not --after-cursor,
  // which leaves out the first entry that matches when the cursor's own does not.
  arguments argv{
      "journalctl",        "-o", "cat", "--no-pager", "_SYSTEMD_UNIT=" + std::string(switch_unit),
      "--cursor=" + cursor};
  auto ended = co_await execute(std::move(argv), short_time);
  if (!ended || !ended->succeeded()) co_return std::string();
  const std::size_t error = ended->out.rfind("\nerror: ");  // bootc tells of its steps before it
  co_return last_words(error == std::string::npos ? ended->out : ended->out.substr(error));
}

std::string command_host::fingerprint() const {
  std::string out;
  for (const char* below : deployments) {
    if (const auto changed = files_.changed(below))
      out += std::to_string(changed->tv_sec) + "." + std::to_string(changed->tv_nsec);
    out += "/";
  }
  return out;
}

namespace {

constexpr std::size_t most_auth_bytes = 4u << 20;

/// Blocks. The digest goes first: with a crash in between, a file of others is not taken for ours.
reactor::result<void> put_auth(const reactor::rooted_files& files,
                               const std::optional<reactor::secret>& config) {
  const std::string folder = "/run/ostree", file = folder + "/auth.json",
                    mark = folder + "/.windlass-auth-digest";
  if (config) {
    for (const std::string& each : {std::string("/run"), folder})
      if (auto made = files.make_folder(each, 0755); !made) return made;
    auto marked = files.store(mark, formats::digest_of(config->reveal()), 0600);
    if (!marked) return marked;
    return files.store(file, config->reveal(), 0600);
  }
  auto ours = files.load(mark, 128);
  if (!ours) return {};
  auto there = files.load_secret(file, most_auth_bytes);
  if (there && formats::digest_of(there->reveal()) == *ours) files.remove(file);
  files.remove(mark);
  return {};
}

}  // namespace

awaitable<reactor::result<void>> command_host::show_registries(
    std::optional<reactor::secret> docker_config) {
  const auto job = [](const reactor::rooted_files& files,
                      const std::optional<reactor::secret>& config) {
    return put_auth(files, config);
  };
  co_return co_await loop_.offload(job, files_, std::move(docker_config));
}

awaitable<std::string> command_host::progress() {
  const auto read = [](const reactor::rooted_files& files) {
    return files.load(progress_file, most_progress_bytes);
  };
  auto line = co_await loop_.offload(read, files_);
  if (!line) co_return std::string();
  co_return first_line(*line);
}

awaitable<void> command_host::changed() {
  std::vector<std::string> folders;
  // A link there would have us watch a folder of ours, and learn no more than that it changed.
  for (const char* below : deployments) folders.push_back(files_.shown(below));
  auto differs = [this] {
    std::string now = fingerprint();
    const bool changed = now != seen_;
    seen_ = std::move(now);
    return changed;
  };
  co_await reactor::changed_in(loop_, std::move(folders), options_.watch_interval,
                               std::move(differs));
}

}  // namespace bootc
