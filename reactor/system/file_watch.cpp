#include "reactor/system/file_watch.hpp"

#include "reactor/expiry.hpp"
#include "reactor/loop.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <dirent.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace reactor {
namespace {

constexpr int max_depth = 8;
constexpr std::size_t max_files = 10'000;
constexpr nanoseconds least_pause = 20ms;
constexpr std::uint32_t interesting = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO |
                                      IN_CLOSE_WRITE | IN_MODIFY | IN_ATTRIB | IN_DELETE_SELF |
                                      IN_MOVE_SELF;

/// FNV-1a, enough to tell two states apart that were not made to collide.
class fingerprint {
public:
  void add(std::string_view text) {
    for (unsigned char c : text) mix(c);
    mix(0);
  }
  void add(std::uint64_t n) {
    for (int i = 0; i < 8; ++i) mix(static_cast<unsigned char>(n >> (8 * i)));
  }
  void add(const timespec& t) {
    add(static_cast<std::uint64_t>(t.tv_sec));
    add(static_cast<std::uint64_t>(t.tv_nsec));
  }
  std::uint64_t value() const { return hash_; }

private:
  void mix(unsigned char byte) { hash_ = (hash_ ^ byte) * 0x100000001b3; }
  std::uint64_t hash_ = 0xcbf29ce484222325;
};

bool counts(std::string_view name) {
  return !name.starts_with('.') && !name.ends_with('~');
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(folder.c_str()), ::closedir);
  if (!entries) return names;
  while (const dirent* e = ::readdir(entries.get())) {
    if (counts(e->d_name) && names.size() < max_files) names.emplace_back(e->d_name);
  }
  std::ranges::sort(names);
  return names;
}

/// Looks at `path` and below; `folders` gets each folder that it passes.
void look_at(const std::string& path, int depth, std::size_t& files, fingerprint& print,
             std::vector<std::string>& folders) {
  struct stat info;
  if (files >= max_files || ::stat(path.c_str(), &info) != 0) {
    print.add("absent");
    return;
  }
  ++files;
  print.add(path);
  print.add(std::uint64_t{info.st_dev});
  print.add(std::uint64_t{info.st_ino});
  if (!S_ISDIR(info.st_mode)) {
    print.add(static_cast<std::uint64_t>(info.st_size));
    print.add(info.st_mtim);
    print.add(info.st_ctim);
    return;
  }
  folders.push_back(path);
  if (depth == max_depth) return;
  for (const std::string& name : names_in(path))
    look_at(path + "/" + name, depth + 1, files, print, folders);
}

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string nearest_folder(std::string path) {
  struct stat info;
  while (path != "/" && path != "." && (::stat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)))
    path = parent_of(path);
  return path;
}

/// What was seen, and the inotify descriptor that reports what comes later; none = -1.
class look {
public:
  look() = default;
  ~look() {
    if (inotify_ >= 0) ::close(inotify_);
  }
  look(look&& other) noexcept : state(other.state), inotify_(other.release()) {}
  look(const look&) = delete;
  look& operator=(const look&) = delete;
  look& operator=(look&&) = delete;

  void open() { inotify_ = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC); }
  void drop() {
    if (inotify_ >= 0) ::close(release());
  }
  int inotify() const noexcept { return inotify_; }
  int release() noexcept { return std::exchange(inotify_, -1); }

  std::uint64_t state = 0;

private:
  int inotify_ = -1;
};

/// Watches first and looks then, so that a change is either seen now or reported later.
look watch_and_look(const std::string& path, bool with_inotify) {
  look l;
  std::vector<std::string> folders;
  const auto take = [&] {
    fingerprint print;
    std::size_t files = 0;
    folders.clear();
    look_at(path, 0, files, print, folders);
    l.state = print.value();
  };
  take();
  if (!with_inotify) return l;
  l.open();
  if (l.inotify() < 0) return l;
  bool complete = true;
  const auto watch = [&](const std::string& folder) {
    complete = ::inotify_add_watch(l.inotify(), folder.c_str(), interesting) >= 0 && complete;
  };
  watch(nearest_folder(parent_of(path)));
  for (const std::string& folder : folders) watch(folder);
  if (char* real = ::realpath(path.c_str(), nullptr)) {
    watch(parent_of(real));
    std::free(real);
  }
  take();
  if (!complete) l.drop();  // out of watches, or a folder has just gone: poll
  return l;
}

/// Until the kernel reports something, or for so long. Takes the descriptor; without one it waits
/// for `blind`.
awaitable<void> wait_for_hint(loop& l, int inotify, nanoseconds at_most, nanoseconds blind) {
  if (inotify < 0) {
    co_await l.sleep_for(blind);
    co_return;
  }
  asio::posix::basic_stream_descriptor<executor> hints(l.get_executor());
  error_code unusable;
  hints.assign(inotify, unusable);
  if (unusable) {
    ::close(inotify);
    co_await l.sleep_for(blind);
    co_return;
  }
  struct counted {
    loop& of;
    explicit counted(loop& counting) : of(counting) { ++of.live().streams; }
    ~counted() { --of.live().streams; }
  } const one(l);
  expiry limit(l, [&hints] {
    error_code ignored;
    hints.cancel(ignored);
  });
  limit.set(l.now() + at_most);
  (void)co_await hints.async_wait(hints.wait_read,
                                  asio::as_tuple(asio::use_awaitable_t<executor>{}));
}

std::string without_slash(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

}  // namespace

file_watch::file_watch(loop& l, std::string path, file_watch_settings settings)
    : loop_(l),
      path_(without_slash(std::move(path))),
      settings_(settings),
      seen_(watch_and_look(path_, false).state) {}

awaitable<void> file_watch::changed() {
  for (;;) {
    std::string path = path_;
    look now = co_await loop_.offload(&watch_and_look, std::move(path), !loop_.simulated());
    if (now.state == seen_) {
      const int inotify = now.release();
      co_await wait_for_hint(loop_, inotify, settings_.recheck, settings_.poll);
      // In a busy folder most hints are about other files.
      if (inotify >= 0) co_await loop_.sleep_for(settings_.debounce);
      continue;
    }
    now.drop();
    std::uint64_t state = now.state;
    const steady_time latest = loop_.now() + settings_.longest_debounce;
    for (;;) {
      co_await loop_.sleep_for(settings_.debounce);
      std::string again = path_;
      const look later = co_await loop_.offload(&watch_and_look, std::move(again), false);
      const bool settled = later.state == state || loop_.now() >= latest;
      state = later.state;
      if (settled) break;
    }
    if (state == seen_) continue;  // gone and back again
    seen_ = state;
    co_return;
  }
}

awaitable<void> changed_in(loop& l, std::vector<std::string> folders, nanoseconds poll,
                           std::function<bool()> differs) {
  for (;;) {
    look watched;
    if (!l.simulated()) watched.open();
    for (const std::string& folder : folders)
      if (watched.inotify() >= 0)
        (void)::inotify_add_watch(watched.inotify(), folder.c_str(), interesting);
    if (differs()) co_return;
    const int inotify = watched.release();
    co_await wait_for_hint(l, inotify, poll, poll);
    co_await l.sleep_for(least_pause);  // it may change all the time
  }
}

}  // namespace reactor
