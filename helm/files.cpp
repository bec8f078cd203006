#include "helm/files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace helm {
namespace {

/// The system's words as Go has them: without the capital.
problem system_problem(const char* what, const std::string& path) {
  std::string text = std::strerror(errno);
  if (!text.empty() && text[0] >= 'A' && text[0] <= 'Z') text[0] = static_cast<char>(text[0] | 0x20);
  return {what + (" " + path) + ": " + text};
}

}  // namespace

outcome<std::string> read_file(const std::string& path, std::uint64_t limit) {
  if (path.find('\0') != path.npos) return problem{"open " + path + ": invalid argument"};
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return system_problem("open", path);
  std::string out;
  for (;;) {
    const auto before = out.size();
    out.resize(before + (before < (1u << 16) ? 1u << 16 : before));
    const auto got = ::read(file, out.data() + before, out.size() - before);
    if (got < 0 && errno == EINTR) {
      out.resize(before);
      continue;
    }
    if (got < 0) {
      auto failed = system_problem("read", path);
      ::close(file);
      return failed;
    }
    out.resize(before + static_cast<std::size_t>(got));
    if (out.size() > limit) {
      ::close(file);
      return problem{"read " + path + ": more than " + std::to_string(limit) + " bytes"};
    }
    if (got == 0) break;
  }
  ::close(file);
  return out;
}

}  // namespace helm
