#include "reactor/system/files.hpp"

#include "reactor/loop.hpp"
#include "reactor/system/descriptor.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

namespace reactor {
namespace {

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

template <class Text>
result<Text> load(const std::string& path, std::size_t limit_bytes) {
  const std::string doing = "read " + path;
  // Not blocking, because a pipe of that name would wait for a writer.
  const file_descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (file.get() < 0) return system_fault(doing);
  return read_all<Text>(file.get(), doing, limit_bytes);
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
  co_return co_await l.offload(&load_file, std::move(path), limit_bytes);
}

awaitable<result<void>> write_file_atomically(loop& l, std::string path, std::string bytes,
                                              mode_t mode) {
  co_return co_await l.offload(&store_file, std::move(path), std::move(bytes), mode);
}

}  // namespace reactor
