#include "formats/go/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace formats {
namespace {

/// The system's words as Go has them: without the capital.
problem system_problem(const char* what, const std::string& path) {
  std::string text = std::strerror(errno);
  if (!text.empty() && text[0] >= 'A' && text[0] <= 'Z')
    text[0] = static_cast<char>(text[0] | 0x20);
  return {what + (" " + path) + ": " + text};
}

}  // namespace

outcome<std::string> read_file(const std::string& path, std::uint64_t limit) {
  if (path.find('\0') != path.npos) return problem{"open " + path + ": invalid argument"};
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return system_problem("open", path);
  std::string out;
  struct stat about{};
  if (::fstat(file, &about) == 0 && S_ISREG(about.st_mode))
    out.reserve(static_cast<std::size_t>(
        std::min<std::uint64_t>(static_cast<std::uint64_t>(about.st_size), limit)));
  char buffer[1 << 16];
  for (;;) {
    const auto got = ::read(file, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      auto failed = system_problem("read", path);
      ::close(file);
      return failed;
    }
    if (got == 0) break;
    out.append(buffer, static_cast<std::size_t>(got));
    if (out.size() > limit) {
      ::close(file);
      return problem{"read " + path + ": more than " + std::to_string(limit) + " bytes"};
    }
  }
  ::close(file);
  return out;
}

}  // namespace formats
