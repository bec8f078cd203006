#include "reactor/system/rooted_files.hpp"

#include "reactor/system/descriptor.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdio>
#include <cstdlib>

namespace reactor {
namespace {

constexpr int most_links = 40;  // as the kernel follows

file_descriptor open_below(const std::string& root, const std::string& path, int flags) {
  const file_descriptor base(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (base.get() < 0) return file_descriptor(-1);
  open_how how{};
  how.flags = static_cast<unsigned>(flags | O_CLOEXEC);
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  for (int tries = 0;; ++tries) {
    const long fd = ::syscall(SYS_openat2, base.get(), path.c_str(), &how, sizeof how);
    // Something was renamed meanwhile.
    if (fd < 0 && errno == EAGAIN && tries < most_links) continue;
    return file_descriptor(static_cast<int>(fd));
  }
}

struct rooted_place {
  file_descriptor folder;
  std::string name;
};

rooted_place folder_and_name(const std::string& root, const std::string& path) {
  const auto slash = path.rfind('/');
  const std::string folder = slash == 0 ? "/" : path.substr(0, slash);
  return {open_below(root, folder, O_PATH | O_DIRECTORY), path.substr(slash + 1)};
}

/// Where the bytes of `path` are, behind links.
result<rooted_place> real_place(const std::string& root, std::string path,
                                const std::string& doing) {
  for (int links = 0; links < most_links; ++links) {
    rooted_place at = folder_and_name(root, path);
    if (at.folder.get() < 0) return system_fault(doing);
    std::array<char, PATH_MAX> target;
    const ssize_t n = ::readlinkat(at.folder.get(), at.name.c_str(), target.data(), target.size());
    if (n < 0) return at;
    const std::string to(target.data(), static_cast<std::size_t>(n));
    path = to.starts_with('/') ? to : path.substr(0, path.rfind('/') + 1) + to;
  }
  return make_fault(errc::refused, doing, "too many links");
}

}  // namespace

result<std::string> rooted_files::load(const std::string& path, std::size_t limit_bytes) const {
  const std::string doing = "read " + shown(path);
  const file_descriptor file = open_below(root_, path, O_RDONLY | O_NOCTTY | O_NONBLOCK);
  if (file.get() < 0) return system_fault(doing);
  return read_all<std::string>(file.get(), doing, limit_bytes);
}

result<secret> rooted_files::load_secret(const std::string& path, std::size_t limit_bytes) const {
  const std::string doing = "read " + shown(path);
  const file_descriptor file = open_below(root_, path, O_RDONLY | O_NOCTTY | O_NONBLOCK);
  if (file.get() < 0) return system_fault(doing);
  auto read = read_all<wiped_string>(file.get(), doing, limit_bytes);
  if (!read) return read.error();
  return secret(std::string(read->begin(), read->end()));
}

result<void> rooted_files::store(const std::string& path, std::string_view bytes,
                                 mode_t mode) const {
  const std::string doing = "write " + shown(path);
  auto at = real_place(root_, path, doing);
  if (!at) return at.error();
  // Through the folder that is open, so that no path is resolved a second time.
  const std::string folder = "/proc/self/fd/" + std::to_string(at->folder.get()) + "/";
  std::string temporary = folder + at->name + ".XXXXXX";
  file_descriptor file(::mkostemp(temporary.data(), O_CLOEXEC));
  if (file.get() < 0) return system_fault(doing);
  const bool written = ::fchmod(file.get(), mode) == 0 && write_all(file.get(), bytes) &&
                       ::fsync(file.get()) == 0 && file.close() == 0 &&
                       ::rename(temporary.c_str(), (folder + at->name).c_str()) == 0;
  if (written) return {};
  fault f = system_fault(doing);
  ::unlink(temporary.c_str());
  return f;
}

result<void> rooted_files::make_folder(const std::string& path, mode_t mode) const {
  const rooted_place at = folder_and_name(root_, path);
  if (at.folder.get() >= 0 &&
      (::mkdirat(at.folder.get(), at.name.c_str(), mode) == 0 || errno == EEXIST))
    return {};
  return system_fault("make " + shown(path));
}

void rooted_files::remove(const std::string& path) const {
  const rooted_place at = folder_and_name(root_, path);
  if (at.folder.get() >= 0) ::unlinkat(at.folder.get(), at.name.c_str(), 0);
}

std::optional<std::timespec> rooted_files::changed(const std::string& path) const {
  const file_descriptor file = open_below(root_, path, O_PATH);
  struct stat info{};
  if (file.get() < 0 || ::fstat(file.get(), &info) != 0) return std::nullopt;
  return info.st_mtim;
}

}  // namespace reactor
