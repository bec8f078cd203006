#pragma once

#include "simulation/commands/simulate/trial.hpp"

#include <gtest/gtest.h>

#include <cctype>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>

namespace simulation {

/// A rule that is switched off, and by what it is found out that it is.
class MutantHunt {
public:
  static constexpr std::uint64_t most_seeds = 200;

  /// Runs seed after seed without the rule until one says so, then that seed with it, which must
  /// be good.
  void run(const std::string& name, const std::function<cli::simulate::trial(std::uint64_t)>& made,
           const std::string& finding, const std::function<void()>& mend) {
    std::uint64_t seed = 1;
    std::string found;
    for (; seed <= most_seeds && found.empty(); ++seed)
      for (const std::string& f : cli::simulate::run(made(seed)).findings())
        if (f.find(finding) != std::string::npos) found = f;
    ASSERT_FALSE(found.empty()) << "nobody noticed in " << most_seeds << " seeds";
    std::printf("## mutant %s: seed %llu says: %s\n", name.c_str(),
                static_cast<unsigned long long>(seed - 1), found.c_str());
    mend();
    const cli::simulate::trial_outcome whole = cli::simulate::run(made(seed - 1));
    EXPECT_TRUE(whole.is_good()) << whole.findings().front() << "\n" << whole.tail;
  }

  void ended() {
    ++tried_;
    if (!testing::Test::HasFailure()) ++caught_;
  }
  /// When all run in one process, the sum.
  void say(const char* what) const {
    if (tried_ > 1) std::printf("## {\"%s\": %d, \"caught\": %d}\n", what, tried_, caught_);
  }

  /// For the name of a test.
  static std::string letters_of(const char* text) {
    std::string name;
    for (const char c : std::string(text))
      if (std::isalpha(static_cast<unsigned char>(c))) name += c;
    return name;
  }

private:
  int tried_ = 0, caught_ = 0;
};

}  // namespace simulation
