#include "tests/fail_points/outcome.hpp"

#include <gtest/gtest.h>
#include <link.h>
#include <sys/wait.h>

#include <cstdio>
#include <iostream>
#include <memory>
#include <set>
#include <sstream>

namespace fail_points {
namespace {

std::uintptr_t load_address() {
  std::uintptr_t base = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* to) {
        *static_cast<std::uintptr_t*>(to) = info->dlpi_addr;  // the program itself comes first
        return 1;
      },
      &base);
  return base;
}

std::string_view name(outcome o) {
  switch (o) {
    case outcome::went_on: return "went on";
    case outcome::ended_in_order: return "ended in order";
    case outcome::crashed: return "CRASH";
    case outcome::hung: return "HANG";
    case outcome::wrong: return "WRONG";
  }
  return "";
}

}  // namespace

verdict judge(int status, bool timed_out, const std::string& written, std::string_view sentence) {
  if (timed_out) return {outcome::hung, written};
  if (WIFSIGNALED(status))
    return {outcome::crashed, "signal " + std::to_string(WTERMSIG(status)) + "\n" + written};
  const int code = WEXITSTATUS(status);
  if (code == 0) return {outcome::went_on, written};
  if (written.find("Sanitizer") != std::string::npos ||
      written.find("runtime error") != std::string::npos)
    return {outcome::crashed, written};
  if (code != 1) return {outcome::wrong, "exit code " + std::to_string(code) + "\n" + written};
  std::istringstream lines(written);
  std::size_t sentences = 0;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(sentence)) ++sentences;
  if (sentences != 1)
    return {outcome::wrong, std::to_string(sentences) + " sentences about the end\n" + written};
  return {outcome::ended_in_order, written};
}

void tally::count(const finding& f) {
  ++points;
  switch (f.was.how) {
    case outcome::went_on: ++went_on; return;
    case outcome::ended_in_order: ++ended; return;
    case outcome::crashed: ++crashes; break;
    case outcome::hung: ++hangs; break;
    case outcome::wrong: ++wrong; break;
  }
  findings.push_back(f);
}

std::string describe(std::span<void* const> stack) {
  std::ostringstream command;
  command << "addr2line -Cfpse /proc/" << getpid() << "/exe";
  const std::uintptr_t base = load_address();
  for (void* at : stack)
    command << " 0x" << std::hex << reinterpret_cast<std::uintptr_t>(at) - base - 1;
  std::string out;
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.str().c_str(), "r"), ::pclose);
  char line[1024];
  while (pipe && std::fgets(line, sizeof line, pipe.get()))
    out += "    " + std::string(line).substr(0, 240) +
           (std::string_view(line).size() > 240 ? "\n" : "");
  return out;
}

void report(const std::string& what, const tally& t) {
  std::cout << "## fail points " << t.points << " crashes " << t.crashes << " hangs " << t.hangs
            << " wrong " << t.wrong << " (" << what << ": " << t.ended << " ended with a sentence, "
            << t.went_on << " went on)\n";
  std::size_t shown = 0;
  for (const finding& f : t.findings) {
    if (++shown > 20) break;
    ADD_FAILURE() << name(f.was.how) << " at " << f.point << "\n"
                  << f.was.text.substr(0, 1500) << "\n"
                  << describe(f.stack);
  }
  EXPECT_EQ(t.bad(), 0u);
}

}  // namespace fail_points
