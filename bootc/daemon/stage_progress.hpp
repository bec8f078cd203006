#pragma once

#include "reactor/plain/time.hpp"

#include <string>
#include <string_view>

namespace bootc {

/// A line of what `bootc --progress-fd` writes, in few words: "pulling: 25 % of 1234 MB",
/// "staging: step 2 of 4". Bytes count in quarters, since each other text is written to the API.
/// Empty when the line says nothing of the kind, or is no line of it at all.
/// Shape    one line that fits into a condition; of the host's words only a few letters are taken.
/// Source   bootc, experimental-progress-fd (JSON lines; version 0.1.0 of the protocol).
std::string progress_words(std::string_view line);

/// What is published of a stage's progress: at most one other text in ten seconds.
class stage_progress {
public:
  static constexpr reactor::nanoseconds pause = std::chrono::seconds(10);

  /// True when words() changed. A line that says nothing leaves them.
  bool heard(std::string_view line, reactor::steady_time now);
  const std::string& words() const noexcept { return words_; }
  /// Of another stage. The pause goes on: a host that begins new stages all the time is no
  /// exception.
  void forget() { words_.clear(); }

private:
  std::string words_;
  reactor::steady_time again_{};
};

}  // namespace bootc
