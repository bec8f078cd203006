// bootc as 1.16 answers: texts, exit codes and the order of what happens are those of the
// transcripts in tests/data/bootc-1.16.9. An option or a command that it does not have is refused.
#include "tests/hosts/bootc/fake_host.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace fake {
namespace {

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
  const bool composefs = h.has("composefs");
  const std::string deployment =
      R"({"checksum":"954591f6d02e7acbc35e7295ef2afbeee72a79a4928381f0125e85ec16f9d5cf","deploySerial":0,"stateroot":"default"})";
  const std::string verity =
      R"({"bootDigest":null,"bootType":"Bls","bootloader":"grub","missingVerityAllowed":false,"verity":"v"})";
  return R"({"cachedUpdate":null,"composefs":)" + (composefs ? verity : "null") +
         R"(,"downloadOnly":)" + (slot == "staged" && h.has("locked") ? "true" : "false") +
         R"(,"image":{"architecture":"amd64","image":{"image":)" + json_text(image) +
         R"(,"transport":"registry"},"imageDigest":)" + json_text(digest_of(image)) +
         R"(,"timestamp":"2026-01-02T03:04:05.678123456Z","version":"1"},"incompatible":false,)" +
         (composefs ? R"("ostree":null)" : R"("ostree":)" + deployment) +
         R"(,"pinned":false,"softRebootCapable":)" +
         (h.has("soft_reboot_capable") ? "true" : "false") + R"(,"store":)" +
         (composefs ? "null" : R"("ostreeContainer")") + "}";
}

/// The image that `switch` compares with; a queued rollback does not change it.
std::string spec_image(const host_state& h) {
  return h.read(h.has("staged") ? "staged" : "booted");
}

std::string answer(const std::string& spec, const std::string& order, const std::string& slots) {
  return R"({"apiVersion":"org.containers.bootc/v1","kind":"BootcHost","metadata":{"name":"host"},"spec":{"bootOrder":")" +
         order + R"(","image":)" + spec + R"(},"status":{)" + slots + R"(,"usrOverlay":null}})";
}

const option_table status_options{{"--json", takes::nothing},
                                  {"--format", takes::value},
                                  {"--format-version", takes::value},
                                  {"--booted", takes::nothing},
                                  {"--help", takes::nothing}};
const option_table switch_table{{"--quiet", takes::nothing},
                                {"--apply", takes::nothing},
                                {"--soft-reboot", takes::value},
                                {"--transport", takes::value},
                                {"--enforce-container-sigpolicy", takes::nothing},
                                {"--retain", takes::nothing},
                                {"--progress-fd", takes::value},
                                {"--help", takes::nothing}};
const option_table upgrade_options{
    {"--quiet", takes::nothing},           {"--check", takes::nothing},
    {"--apply", takes::nothing},           {"--soft-reboot", takes::value},
    {"--progress-fd", takes::value},       {"--download-only", takes::nothing},
    {"--from-downloaded", takes::nothing}, {"--help", takes::nothing}};
const option_table rollback_options{
    {"--apply", takes::nothing}, {"--soft-reboot", takes::value}, {"--help", takes::nothing}};

/// What clap says of a wrong command line; it ends with 2.
int misused(const std::string& what, const std::string& usage) {
  return fail(
      "error: " + what + "\n\nUsage: bootc " + usage + "\n\nFor more information, try '--help'.",
      2);
}

/// Two options that exclude each other; empty when none do.
std::string conflict(const parsed& p,
                     const std::vector<std::pair<const char*, const char*>>& pairs) {
  for (const auto& [one, other] : pairs)
    if (p.has(one) && p.has(other))
      return "the argument '" + std::string(one) + "' cannot be used with '" + other + "'";
  return {};
}

/// What is wrong with an option's value; empty when nothing is.
std::string wrong_value(const parsed& p) {
  if (!p.lacking.empty())
    return "a value is required for '" + p.lacking + " <VALUE>' but none was supplied";
  const auto soft = p.options.find("--soft-reboot");
  if (soft != p.options.end() && soft->second != "auto" && soft->second != "required")
    return "invalid value '" + soft->second +
           "' for '--soft-reboot <SOFT_REBOOT>'\n  [possible "
           "values: required, auto]";
  const auto fd = p.options.find("--progress-fd");
  if (fd != p.options.end() && std::atoi(fd->second.c_str()) < 3)
    return "invalid value '" + fd->second + "' for '--progress-fd <PROGRESS_FD>': Cannot use fd " +
           fd->second + " for progress JSON";
  return {};
}

int status(const host_state& h, const arguments& args) {
  const parsed p = parse(args, status_options);
  if (!p.unknown.empty())
    return misused("unexpected argument '" + p.unknown + "' found", "status [OPTIONS]");
  if (!p.words.empty())
    return misused("unexpected argument '" + p.words[0] + "' found", "status [OPTIONS]");
  // Inside of a container bootc reports an empty host, and says nothing of it.
  if (std::getenv("container") || h.has("container")) {
    std::cout << answer(
        "null", "default",
        R"("booted":null,"readOnly":false,"rollback":null,"rollbackQueued":false,"staged":null,"type":null)");
    return 0;
  }
  std::optional<sysroot_lock> lock;
  if (!h.has("composefs")) lock.emplace(h);
  if (h.has("status_fails")) return fail("error: " + h.read("status_fails"));
  const bool queued = h.has("rollback_queued");
  std::cout << answer(R"({"image":)" + json_text(spec_image(h)) + R"(,"transport":"registry"})",
                      queued ? "rollback" : "default",
                      R"("booted":)" + entry(h, "booted") + R"(,"readOnly":)" +
                          (h.has("readonly") ? "true" : "false") + R"(,"rollback":)" +
                          entry(h, "rollback") + R"(,"rollbackQueued":)" +
                          (queued ? "true" : "false") + R"(,"staged":)" + entry(h, "staged") +
                          R"(,"type":"bootcHost")");
  return 0;
}

/// The host goes down: the test that plays the power switch sees the line in `reboots`, and a host
/// of its own with a `power_is_real` file goes down itself. Does not return.
[[noreturn]] void reboot(const host_state& h, bool soft) {
  h.write("next_boot", soft ? "soft" : "full");
  h.append("reboots", soft ? "soft" : "full");
  std::cout.flush();
  if (h.has("power_is_real") && std::system("systemctl reboot") != 0) std::exit(1);
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

/// What apply does with what is staged.
void apply_staged(const host_state& h, const parsed& p) {
  const bool soft = p.has("--soft-reboot") && h.has("soft_reboot_capable");
  if (soft) std::cout << "Staged deployment is soft-reboot capable, preparing for soft-reboot...\n";
  reboot(h, soft);
}

void touch_deployments(const host_state& h) {
  fs::create_directories(h.path("ostree/bootc"));
  fs::last_write_time(h.path("ostree/bootc"), fs::file_time_type::clock::now());
}

void stage(const host_state& h, const std::string& image, bool locked) {
  h.write("staged", image);
  if (locked)
    h.write("locked", "");
  else
    h.remove("locked");
  h.write("run/reboot-required", "bootc: Reboot required for image: " + image);
  touch_deployments(h);
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

/// The time a stage takes, with its progress.
void take_time(const host_state& h, std::optional<int> progress) {
  if (h.has("held")) h.write("held", "by a stage");
  const std::string seconds = h.has("stage_seconds") ? h.read("stage_seconds") : "0.2";
  const arguments steps = progress ? h.lines("progress") : arguments();
  const std::chrono::duration<double> each(
      std::atof(seconds.c_str()) / static_cast<double>(std::max<std::size_t>(steps.size(), 1)));
  for (const std::string& line : steps) {
    say(*progress, line);
    std::this_thread::sleep_for(each);
  }
  if (steps.empty()) std::this_thread::sleep_for(each);
  while (h.has("held")) std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

/// "manifest unknown" as bootc words it, for a tag as for a digest.
std::string not_found(const std::string& image) {
  const std::size_t at = image.find('@'), colon = image.rfind(':');
  const std::size_t cut = at != std::string::npos ? at : colon;
  return "error: Switching: Switching (ostree): Preparing import: Fetching manifest: failed to "
         "invoke method OpenImage: reading manifest " +
         image.substr(cut + 1) + " in " + image.substr(0, cut) + ": manifest unknown";
}

std::string refused_connection(const std::string& image) {
  const std::string registry = image.substr(0, image.find('/'));
  return "error: Switching: Switching (ostree): Preparing import: Fetching manifest: failed to "
         "invoke method OpenImage: pinging container registry " +
         registry + ": Get \"https://" + registry + "/v2/\": dial tcp " + registry +
         ": connect: connection refused";
}

int switch_to(const host_state& h, const arguments& args) {
  const std::string usage = "switch [OPTIONS] <TARGET>";
  option_table known = switch_table;
  if (!h.has("progress")) known.erase("--progress-fd");
  for (const std::string& further : h.lines("switch_options")) known[further] = takes::nothing;
  const parsed p = parse(args, known);
  if (!p.unknown.empty()) return misused("unexpected argument '" + p.unknown + "' found", usage);
  std::string wrong = wrong_value(p);
  if (!wrong.empty()) return fail("error: " + wrong + "\n\nFor more information, try '--help'.", 2);
  if (p.has("--help")) {
    std::cout << "Target a new container image reference to boot.\n\nUsage: bootc " << usage
              << "\n\nArguments:\n  <TARGET>\n          Target image to use for the next boot\n\n"
                 "Options:\n";
    for (const auto& [name, what] : known)
      if (name != "--progress-fd") std::cout << "      " << name << '\n';
    return 0;
  }
  wrong = conflict(p, {{"--download-only", "--apply"}});
  if (wrong.empty() && p.has("--from-downloaded") && !p.words.empty())
    wrong = "the argument '--from-downloaded' cannot be used with '[TARGET]'";
  if (!wrong.empty()) return misused(wrong, usage);
  if (p.has("--from-downloaded")) {
    if (!h.has("staged")) return fail("error: Switching: No staged deployment found");
    h.remove("locked");
    std::cout << "Staged deployment will now be applied on reboot\n";
    if (p.has("--apply")) apply_staged(h, p);
    return 0;
  }
  if (p.words.empty())
    return misused("the following required arguments were not provided:\n  <TARGET>", usage);
  if (p.words.size() > 1) return misused("unexpected argument '" + p.words[1] + "' found", usage);
  const std::string& image = p.words[0];
  if (h.has("readonly")) return fail("error: Switching: the sysroot is read-only");
  if (image == spec_image(h)) {
    std::cout << "Image specification is unchanged.\n";
    if (p.has("--apply") && h.has("staged")) reboot(h, false);
    return 0;
  }
  if (h.has("composefs") && (image == h.read("booted") || image == h.read("rollback")))
    return fail("error: Switching: the image is already deployed");
  sysroot_lock lock(h);
  const auto fd = p.options.find("--progress-fd");
  take_time(
      h, fd == p.options.end() ? std::nullopt : std::optional<int>(std::atoi(fd->second.c_str())));
  if (h.has("fetch")) {
    const std::string fetch = h.path("fetch").string() + " '" + image + "'";
    std::cout.flush();
    if (std::system(fetch.c_str()) != 0) return 1;  // it has said why
  }
  if (h.marked("unpullable", image)) return fail(not_found(image));
  if (h.marked("unreachable", image)) return fail(refused_connection(image));
  if (h.marked("too_large", image))
    return fail(
        "error: Switching: Switching (ostree): Importing: Unencapsulating base: Writing content "
        "object: write: No space left on device");
  stage(h, image, p.has("--download-only"));
  const arguments fetched = h.lines("fetched");
  if (std::find(fetched.begin(), fetched.end(), image) != fetched.end())
    std::cout << "No changes in " << image << " => " << digest_of(image) << '\n';
  else
    std::cout << "layers already present: 1; layers needed: 1 (187 bytes)\n";
  h.append("fetched", image);
  std::cout << "Queued for next boot: " << image << "\n  Version: 1\n  Digest: " << digest_of(image)
            << "\n\n";
  std::cerr << "Deploying...done (0 seconds)\n";
  if (p.has("--apply")) apply_staged(h, p);
  return 0;
}

int upgrade(const host_state& h, const arguments& args) {
  const std::string usage = "upgrade [OPTIONS]";
  const parsed p = parse(args, upgrade_options);
  if (!p.unknown.empty()) return misused("unexpected argument '" + p.unknown + "' found", usage);
  if (!p.words.empty()) return misused("unexpected argument '" + p.words[0] + "' found", usage);
  std::string wrong = wrong_value(p);
  if (!wrong.empty()) return fail("error: " + wrong + "\n\nFor more information, try '--help'.", 2);
  if (p.has("--help")) {
    std::cout << "Download and queue an updated container image to apply.\n\nUsage: bootc " << usage
              << "\n\nOptions:\n";
    for (const auto& [name, what] : upgrade_options)
      if (name != "--progress-fd") std::cout << "      " << name << '\n';
    return 0;
  }
  wrong = conflict(p, {{"--download-only", "--apply"},
                       {"--download-only", "--check"},
                       {"--from-downloaded", "--check"},
                       {"--from-downloaded", "--download-only"},
                       {"--check", "--apply"}});
  if (!wrong.empty()) return misused(wrong, usage);
  sysroot_lock lock(h);
  const std::string image = spec_image(h);
  if (p.has("--from-downloaded")) {
    if (!h.has("staged")) return fail("error: Upgrading: No staged deployment found");
    if (h.has("composefs") && !h.has("locked")) {
      std::cout << "Staged deployment is not in download-only mode\n";
      return 0;
    }
    h.remove("locked");
    std::cout << "Staged deployment will now be applied on reboot\n";
    if (p.has("--apply")) apply_staged(h, p);
    return 0;
  }
  if (p.has("--check")) {
    std::cout << "No changes in: docker://" << image << '\n';
    return 0;
  }
  std::cout << "No changes in " << image << " => " << digest_of(image) << '\n';
  if (!h.has("staged")) {
    std::cout << "No update available.\n";
    return 0;
  }
  if (p.has("--download-only")) {
    if (h.has("no_lock")) return fail("error: Upgrading: cannot finalize");
    if (h.has("composefs")) return 0;  // an image staged unlocked cannot be locked there any more
    h.write("locked", "");
    std::cout << "Image downloaded, but will not be applied on reboot\n";
    return 0;
  }
  h.remove("locked");
  if (p.has("--apply")) apply_staged(h, p);
  return 0;
}

/// Asked for a second time it takes back what is queued. What is staged is dropped.
int rollback(const host_state& h, const arguments& args) {
  const parsed p = parse(args, rollback_options);
  if (!p.unknown.empty() || !p.words.empty())
    return misused(
        "unexpected argument '" + (p.unknown.empty() ? p.words[0] : p.unknown) + "' found",
        "rollback [OPTIONS]");
  const std::string wrong = wrong_value(p);
  if (!wrong.empty()) return fail("error: " + wrong + "\n\nFor more information, try '--help'.", 2);
  if (!h.has("rollback")) return fail("error: Rolling back: No rollback available");
  h.remove("staged");
  h.remove("locked");
  const bool reverts = h.has("rollback_queued");
  if (reverts) {
    h.remove("rollback_queued");
    std::cout << "notice: Reverting queued rollback state\nNext boot: current deployment\n";
  } else {
    h.write("rollback_queued", "");
    std::cout << "Next boot: rollback deployment\n";
  }
  h.write("run/reboot-required", "");
  touch_deployments(h);
  if (p.has("--apply")) reboot(h, false);
  return 0;
}

}  // namespace

bool is_sysroot_locked(const host_state& h) {
  const int file = open(h.path("sysroot.lock").c_str(), O_RDWR | O_CLOEXEC);
  const bool locked = file >= 0 && flock(file, LOCK_EX | LOCK_NB) != 0;
  if (file >= 0) close(file);
  return locked;
}

int bootc(const host_state& h, arguments args) {
  const std::string usage = "[OPTIONS] <COMMAND>";
  if (args.empty()) return misused("'bootc' requires a subcommand but one was not provided", usage);
  const std::string verb = args.front();
  args.erase(args.begin());
  if (verb == "--version") {
    std::cout << "bootc 1.16.9\n";
    return 0;
  }
  if (verb == "status") return status(h, args);
  if (verb == "switch") return switch_to(h, args);
  if (verb == "upgrade") return upgrade(h, args);
  if (verb == "rollback") return rollback(h, args);
  return misused(verb.starts_with("-") ? "unexpected argument '" + verb + "' found"
                                       : "unrecognized subcommand '" + verb + "'",
                 usage);
}

}  // namespace fake
