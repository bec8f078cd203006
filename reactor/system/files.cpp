#include "reactor/system/files.hpp"

#include "reactor/loop.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <utility>

namespace reactor {
namespace {

class file_descriptor {
public:
  explicit file_descriptor(int fd) : fd_(fd) {}
  ~file_descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  file_descriptor(const file_descriptor&) = delete;
  file_descriptor& operator=(const file_descriptor&) = delete;
  int get() const noexcept { return fd_; }
  /// Some file systems report a failed write only here.
  int close() noexcept { return ::close(std::exchange(fd_, -1)); }

private:
  int fd_;
};

fault system_fault(const std::string& doing) {
  if (errno == ENOENT) return make_fault(errc::not_found, doing, "there is no such file");
  return make_fault(error_code(errno, boost::system::system_category()), doing);
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// Where the bytes of `path` really are.
std::string behind_links(const std::string& path) {
  struct stat info;
  if (::lstat(path.c_str(), &info) != 0 || !S_ISLNK(info.st_mode)) return path;
  char* real = ::realpath(path.c_str(), nullptr);
  if (real == nullptr) return path;
  std::string target(real);
  std::free(real);
  return target;
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

template <class Text>
result<Text> load(const std::string& path, std::size_t limit_bytes) {
  const std::string doing = "read " + path;
  // Not blocking, because a pipe of that name would wait for a writer.
  const file_descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (file.get() < 0) return system_fault(doing);
  struct stat info;
  if (::fstat(file.get(), &info) != 0) return system_fault(doing);
  if (!S_ISREG(info.st_mode)) return make_fault(errc::refused, doing, "it is not a regular file");
  const auto too_big = [&] {
    return make_fault(errc::limit, doing,
                      "it is bigger than " + std::to_string(limit_bytes) + " bytes");
  };
  const auto size = static_cast<std::size_t>(std::max<off_t>(info.st_size, 0));
  if (size > limit_bytes) return too_big();
  Text bytes;
  std::size_t used = 0;
  for (;
       // until the end rather than for st_size: the file may grow, and files in /proc have no size
       ;) {
    bytes.resize(std::max(size + 1, used + 4096));
    const ssize_t n = ::read(file.get(), bytes.data() + used, bytes.size() - used);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_fault(doing);
    if (n == 0) break;
    used += static_cast<std::size_t>(n);
    if (used > limit_bytes) return too_big();
  }
  bytes.resize(used);
  return bytes;
}

}  // namespace

result<std::string> load_file(const std::string& path, std::size_t limit_bytes) {
  return load<std::string>(path, limit_bytes);
}

result<secret> load_secret(const std::string& path, std::size_t limit_bytes) {
  auto read = load<wiped_string>(path, limit_bytes);
  if (!read) return read.error();
  return secret(std::string(read->begin(), read->end()));
}

result<void> store_file(const std::string& path, std::string_view bytes, mode_t mode) {
  const std::string doing = "write " + path;
  const std::string target = behind_links(path);
  std::string temporary = target + ".XXXXXX";
  file_descriptor file(::mkostemp(temporary.data(), O_CLOEXEC));
  if (file.get() < 0) return system_fault(doing);
  const bool written = ::fchmod(file.get(), mode) == 0 && write_all(file.get(), bytes) &&
                       ::fsync(file.get()) == 0 && file.close() == 0 &&
                       ::rename(temporary.c_str(), target.c_str()) == 0;
  if (!written) {
    fault f = system_fault(doing);
    ::unlink(temporary.c_str());
    return f;
  }
  // So that the new name survives a power cut; not every file system can, and the bytes are there
  // either way.
  const file_descriptor folder(
      ::open(folder_of(target).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() >= 0) (void)::fsync(folder.get());
  return {};
}

awaitable<result<std::string>> read_file(loop& l, std::string path, std::size_t limit_bytes) {
  auto job = [path = std::move(path), limit_bytes] { return load_file(path, limit_bytes); };
  co_return co_await l.offload(std::move(job));
}

awaitable<result<void>> write_file_atomically(loop& l, std::string path, std::string bytes,
                                              mode_t mode) {
  auto job = [path = std::move(path), bytes = std::move(bytes), mode] {
    return store_file(path, bytes, mode);
  };
  co_return co_await l.offload(std::move(job));
}

}  // namespace reactor
