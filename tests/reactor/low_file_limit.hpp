#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace reactor {

/// The soft limit of open files for one test; that of before comes back with its end.
class low_file_limit {
public:
  explicit low_file_limit(rlim_t files) {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    rlimit low = before;
    low.rlim_cur = files;
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  }
  ~low_file_limit() { EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0); }
  low_file_limit(const low_file_limit&) = delete;
  low_file_limit& operator=(const low_file_limit&) = delete;

  rlimit before{};
};

}  // namespace reactor
