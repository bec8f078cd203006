#pragma once

#include "policies/host/pack.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/plain/result.hpp"
#include "reactor/plain/time.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace reactor {
class loop;
}

namespace policies {

/// One question with all that was given, and what came of it.
struct question_note {
  std::string hook;
  subject about;
  std::vector<argument> arguments;
  std::int64_t instructions = unit_instructions;
  std::string pack, version, digest;     // whose answer it is; empty: none was asked
  answer_value answer;                   // null: it failed
  std::optional<reactor::fault> failed;  // what is said then
  reactor::wall_time at{};
};

/// A view as plain data, field by field. What kubectl keeps of a whole object in an annotation is
/// only named by its digest.
value plain_of(const argument& a);

/// Keeps questions and answers in a file, so that other policies can be asked the same.
/// Shape    FILE has a line of JSON for each, and a first one that says what it is; each line's
///          `sum` also covers the line before. When FILE is half of `most_bytes` long it becomes
///          FILE.1, and a new one begins.
/// Where    on a worker, before the caller goes on: a snapshot is read while it is one. Of several
///          callers each has its line, in the order in which they come to it.
/// Mode     0600.
/// Errors   the system's; the record stays whole and goes on with the next question that can be
///          written. A question of more than 8 MiB is left out and counted.
class recorder {
public:
  static constexpr std::size_t most_bytes = 64 * 1024 * 1024;
  recorder(reactor::loop& l, std::string path, std::size_t most = most_bytes);
  ~recorder();
  reactor::awaitable<reactor::result<void>> open();
  /// Returns how many questions before this one could not be written and are missing.
  reactor::awaitable<reactor::result<std::size_t>> write(question_note n);
  const std::string& path() const noexcept { return path_; }

private:
  struct file;
  reactor::loop& loop_;
  std::string path_;
  std::shared_ptr<file> file_;  // the workers', one at a time
};

/// A question of a record, as it can be asked again.
struct recorded_question {
  std::size_t number = 0;  // from 1
  std::string at, hook, pack, version, digest, fault;
  subject about;
  std::int64_t instructions = unit_instructions;
  std::vector<value> arguments;
  value answer;  // null with a fault
};
struct policy_record {
  std::vector<recorded_question> questions;
  /// The last line is not whole: its writer was stopped.
  bool cut_short = false;
};

/// Errors   errc::malformed: a sentence with the line: no record, one of another version, edited or
///          damaged. errc::limit: more than 128 MiB.
reactor::result<policy_record> read_record(std::string_view text, const std::string& name);

}  // namespace policies
