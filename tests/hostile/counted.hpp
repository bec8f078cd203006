#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

/// The cases of one table that a test goes through. `./dev test hostile` shows how many there were
/// and how many of them failed a check, which means that something got through, and where.
class counted_cases {
public:
  explicit counted_cases(std::string what) : what_(std::move(what)) {}
  ~counted_cases() {
    std::cout << "## " << what_ << " " << cases_ << " escapes " << escapes_ << "\n";
    for (const std::string& why : failed_) std::cout << "## " << what_ << ": " << why << "\n";
  }
  counted_cases(const counted_cases&) = delete;
  counted_cases& operator=(const counted_cases&) = delete;

  template <class Case>
  void operator()(Case play) {
    const int before = failures();
    play();
    ++cases_;
    if (failures() == before) return;
    ++escapes_;
    failed_.push_back(first_after(before));
  }

private:
  static const testing::TestResult& result() {
    return *testing::UnitTest::GetInstance()->current_test_info()->result();
  }
  static int failures() { return result().total_part_count(); }
  /// What the first failed check says, on one line: the name of its case is at the end.
  static std::string first_after(int before) {
    std::string text = result().GetTestPartResult(before).message();
    std::ranges::replace(text, '\n', ' ');
    return text;
  }
  std::string what_;
  std::size_t cases_ = 0, escapes_ = 0;
  std::vector<std::string> failed_;
};
