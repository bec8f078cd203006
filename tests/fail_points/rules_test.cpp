// What keeps a lost allocation from being more than the end of the process or of one request.
#include "reactor/plain/memory.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <string>

// A size that nobody has is refused there too, instead of ending the program in the sanitizer's own
// way.
extern "C" const char* __asan_default_options() {
  return "allocator_may_return_null=1";
}

namespace {

namespace fs = std::filesystem;

std::size_t more_than_there_is() {
  volatile std::size_t size = std::size_t{1} << 46;
  return size;
}

TEST(LostMemory, EndsTheProcessWithOneSentence) {
  EXPECT_EXIT(
      {
        reactor::end_when_memory_is_lost();
        std::string text;
        text.reserve(more_than_there_is());
      },
      testing::ExitedWithCode(1),
      "^(==.*WARNING: AddressSanitizer failed to allocate .* bytes\n)?windlass: out of memory: "
      ".*\n$");
}

TEST(LostMemory, OfOneRequestFailsThatRequest) {
  reactor::end_when_memory_is_lost();
  std::string text;
  EXPECT_FALSE(reactor::memory_allows([&] { text.reserve(more_than_there_is()); }));
  EXPECT_TRUE(reactor::memory_allows([&] { text = "as much as there is"; }));
}

/// Registering a destructor for a thread allocates inside the C library, which aborts when it
/// cannot: reactor/per_thread.hpp.
TEST(LostMemory, NoThreadLocalHasADestructor) {
  const std::regex plain(
      R"(thread_local (const |constinit )?(share|int|bool|char|std::size_t|std::uint64_t|std::array<char, \w+>|\w+\*|const char\*) )");
  std::size_t seen = 0;
  for (const char* folder :
       {"reactor", "registry", "k8s", "policies", "bootc", "app", "service", "cli"})
    for (const auto& file :
         fs::recursive_directory_iterator(fs::path(WINDLASS_SOURCE_DIR) / folder)) {
      if (file.path().extension() != ".cpp" && file.path().extension() != ".hpp") continue;
      std::ifstream in(file.path());
      for (std::string line; std::getline(in, line);) {
        const auto at = line.find("thread_local ");
        if (at == std::string::npos || line.find("//") < at) continue;
        ++seen;
        EXPECT_TRUE(std::regex_search(line, plain)) << file.path() << ": " << line;
      }
    }
  EXPECT_GT(seen, 0u);
}

}  // namespace
