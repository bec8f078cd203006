#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <iostream>
#include <string>
#include <utility>

/// The cases of one table that a test goes through. `./dev test hostile` shows how many there were
/// and how many of them failed a check, which means that something got through.
class counted_cases {
public:
  explicit counted_cases(std::string what) : what_(std::move(what)) {}
  ~counted_cases() {
    std::cout << "## " << what_ << " " << cases_ << " escapes " << escapes_ << "\n";
  }
  counted_cases(const counted_cases&) = delete;
  counted_cases& operator=(const counted_cases&) = delete;

  template <class Case>
  void operator()(Case play) {
    const int before = failures();
    play();
    ++cases_;
    if (failures() > before) ++escapes_;
  }

private:
  static int failures() {
    return testing::UnitTest::GetInstance()->current_test_info()->result()->total_part_count();
  }
  std::string what_;
  std::size_t cases_ = 0, escapes_ = 0;
};
