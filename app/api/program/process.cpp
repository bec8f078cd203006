#include "units/program/process.hpp"

#include "reactor/plain/memory.hpp"
#include "reactor/plain/printable.hpp"
#include "reactor/plain/write.hpp"
#include "reactor/task_group.hpp"

#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <exception>
#include <filesystem>
#include <new>
#include <utility>

/// jemalloc's settings: one thread does nearly everything, and none of its turns gives memory back
/// to the kernel. cli/CMakeLists.txt says why it is used.
extern "C" const char* malloc_conf;
const char* malloc_conf = "narenas:1,background_thread:true,max_background_threads:1";

namespace program {

int run(std::string_view name, int argc, char** argv,
        const std::function<int(const std::vector<std::string>&)>& body) {
  reactor::end_when_memory_is_lost();
  // a reader that is gone is a failed write, not the end of the process
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return body({argv, argv + argc});
  } catch (const std::bad_alloc&) {
    reactor::memory_lost();
  } catch (const std::exception& e) {
    return complain(name, std::string("internal error: ") + e.what());
  }
}

int complain(std::string_view name, std::string_view sentence, int code) {
  reactor::write_all(STDERR_FILENO,
                     std::string(name) + ": " + reactor::printable_lines(sentence) + "\n");
  return code;
}

void run_to_end(reactor::loop& l, std::string name, reactor::awaitable<void> body) {
  reactor::task_group tasks(l);
  tasks.start(std::move(name), std::move(body));
  l.run();
  constexpr int most_turns = 3;
  for (int i = 0; i < most_turns && !tasks.empty(); ++i) {
    l.post([&l] { l.stop(); });
    l.run();
  }
}

stop_guard::stop_guard(reactor::loop& l, std::string_view name)
    : loop_(l), timer_(l.timers().arm(l.now() + longest, [name] {
        _exit(complain(name, "what was under way did not end within 4 s of stopping"));
      })) {}

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
  if (!path) return complain("windlass", path.error().message());
  std::vector<char*> words{const_cast<char*>(name.c_str())};
  for (const std::string& word : arguments) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  ::execv(path->c_str(), words.data());
  const reactor::error_code why(errno, boost::system::system_category());
  return complain("windlass", reactor::make_fault(why, "execute " + *path).message());
}

}  // namespace program
