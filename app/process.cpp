#include "app/process.hpp"

#include "app/exit_code.hpp"
#include "reactor/loop.hpp"
#include "reactor/plain/entropy.hpp"
#include "reactor/plain/memory.hpp"
#include "reactor/plain/printable.hpp"
#include "reactor/plain/write.hpp"
#include "reactor/system/file_limit.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <new>

/// jemalloc's settings: one thread does nearly everything, and none of its turns gives memory back
/// to the kernel. docs/adr/0008 says why it is used.
extern "C" const char* malloc_conf;
const char* malloc_conf = "narenas:1,background_thread:true,max_background_threads:1";

namespace app {

int main_of(std::string_view name, int argc, char** argv,
            const std::function<int(const std::vector<std::string>&)>& body) {
  reactor::end_when_memory_is_lost();
  // a reader that is gone is a failed write, not the end of the process
  std::signal(SIGPIPE, SIG_IGN);
  reactor::raise_file_limit();
  try {
    return body({argv, argv + argc});
  } catch (const std::bad_alloc&) {
    reactor::memory_lost();
  } catch (const std::exception& e) {
    return complain_as(name, std::string("internal error: ") + e.what());
  }
}

environment_reader process_environment() {
  return [](std::string_view name) {
    const char* value = std::getenv(std::string(name).c_str());
    return std::string(value ? value : "");
  };
}

int complain(std::string_view sentence, int code) {
  return complain_as("windlass", sentence, code);
}

int complain_as(std::string_view program, std::string_view sentence, int code) {
  reactor::write_all(STDERR_FILENO,
                     std::string(program) + ": " + reactor::printable_lines(sentence) + "\n");
  return code;
}

reactor::result<std::string> find_sibling(const std::string& self, const std::string& name) {
  const std::filesystem::path beside = std::filesystem::path(self).parent_path(),
                              libexec = beside.parent_path() / "libexec/windlass";
  for (const std::filesystem::path& folder : {beside, libexec})
    if (const std::string path = folder / name; ::access(path.c_str(), X_OK) == 0) return path;
  return reactor::make_fault(reactor::errc::not_found, "find " + name,
                             "it is neither in " + beside.string() + " nor in " + libexec.string());
}

int execute_sibling(const std::string& name, const std::vector<std::string>& arguments) {
  std::error_code failed;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe", failed).string();
  const auto path = find_sibling(self, name);
  if (!path) return complain(path.error().message());
  std::vector<char*> words{const_cast<char*>(name.c_str())};
  for (const std::string& word : arguments) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  ::execv(path->c_str(), words.data());
  const reactor::error_code why(errno, boost::system::system_category());
  return complain(reactor::make_fault(why, "execute " + *path).message());
}

void declare_logging(app::flags& f, std::string& level, std::string& format) {
  f.value("--log-level,--zap-log-level", level, "debug, info, warning, error or off")
      .shows_default();
  f.read(
       "-v,--v",
       [&level](const std::string& number) -> std::string {
         if (number.size() != 1 || number < "0" || number > "9")
           return "expected a number from 0 to 9";
         level = number < "1"   ? "error"
                 : number < "2" ? "warning"
                 : number < "5" ? "info"
                                : "debug";
         return {};
       },
       "how much is logged, as kubectl has it: 0 errors … 9 everything")
      .takes("NUMBER");
  f.value("--log-format,--zap-encoder", format, "console or json")
      .one_of({"console", "json"})
      .shows_default();
}

reactor::result<std::optional<reactor::endpoint>> parse_bind_address(const std::string& text,
                                                                     const std::string& flag) {
  if (text == "0") return std::optional<reactor::endpoint>();
  const auto bad = [&] {
    return reactor::make_fault(reactor::errc::malformed, "--" + flag + " " + text,
                               "expected HOST:PORT, :PORT, or 0 to turn it off");
  };
  const auto colon = text.rfind(':');
  if (colon == std::string::npos) return bad();
  reactor::endpoint at;
  at.host = text.substr(0, colon);
  if (at.host.starts_with('[') && at.host.ends_with(']'))
    at.host = at.host.substr(1, at.host.size() - 2);
  if (at.host.empty()) at.host = "0.0.0.0";
  const char* first = text.data() + colon + 1;
  const char* last = text.data() + text.size();
  const auto [end, ec] = std::from_chars(first, last, at.port);
  if (first == last || ec != std::errc{} || end != last) return bad();
  return std::optional<reactor::endpoint>(at);
}

reactor::result<reactor::logger> logger_from(reactor::loop& l, const std::string& level,
                                             const std::string& format) {
  auto parsed = reactor::parse_log_level(level);
  if (!parsed) return parsed.error();
  reactor::log_options o;
  o.level = *parsed;
  o.format = format == "json" ? reactor::log_format::json : reactor::log_format::console;
  return reactor::make_logger(l, o);
}

std::string host_identity() {
  if (const char* pod = std::getenv("POD_NAME"); pod && *pod) return pod;
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : "windlass";
}

const std::string& process_identity() {
  static const std::string identity = [] {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string random(8, '0');
    std::uint64_t drawn = reactor::system_entropy().next();
    for (char& c : random) c = digits[drawn % 16], drawn /= 16;
    return host_identity() + "-" + random;
  }();
  return identity;
}

}  // namespace app
