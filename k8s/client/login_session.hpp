#pragma once

#include "k8s/client/login_program.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/log.hpp"
#include "reactor/waiters.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

namespace reactor {
class loop;
}

namespace k8s {

/// Where a login program's standard error goes, and whether a person answers it.
struct login_dialogue {
  /// It may read from this process's terminal.
  bool terminal = false;
  /// As it is written: for the person at the terminal.
  std::function<void(std::string_view piece)> show = {};
  /// Once it has ended: one printable line without what looks like a credential.
  std::function<void(std::string_view line)> note = {};
};

/// What a service does with it: a line of its log that names the cluster.
login_dialogue logged_dialogue(reactor::logger log, std::string cluster);

using login_runner = std::function<reactor::awaitable<reactor::result<reactor::process_exit>>(
    reactor::loop& l, reactor::command c, reactor::steady_time deadline)>;

/// The credentials of one `exec` user. Copies of a connection share it: the program runs once for
/// all of them, and a caller that needs credentials meanwhile waits for that run.
/// Limits    60 s, or five minutes where it has the terminal; 64 KiB of answer. Its process group
///           is ended then, and when the caller that began the run is cancelled.
/// Digest    where the program must have one, its file is opened, hashed and executed by that
///           descriptor: another file under its path is not run.
class login_session {
public:
  explicit login_session(login_program p, login_runner run = reactor::run_process);
  login_session(const login_session&) = delete;
  login_session& operator=(const login_session&) = delete;

  struct numbered {
    std::uint64_t number = 0;
    issued_login login;
  };
  /// Credentials to use now. `refused`: the number of those that the server did not take, else 0.
  /// Errors: one sentence that names the program and what to do. A failed run is not repeated
  /// before its pause is over; the sentence stays.
  reactor::awaitable<reactor::result<std::shared_ptr<const numbered>>> get(
      std::reference_wrapper<reactor::loop> l, std::uint64_t refused);
  void accepted(reactor::steady_time now) { schedule_.accepted(now); }

  const login_program& program() const noexcept { return program_; }
  bool has_dialogue() const noexcept { return dialogue_.show || dialogue_.note; }
  void talk(login_dialogue d) { dialogue_ = std::move(d); }

private:
  reactor::awaitable<reactor::result<issued_login>> run(reactor::loop& l);  // borrowed
  void note(const reactor::process_exit& ended) const;
  login_program program_;
  login_runner run_;
  login_dialogue dialogue_;
  login_schedule schedule_;
  std::shared_ptr<const numbered> current_;
  std::uint64_t runs_ = 0;
  std::optional<reactor::fault> failure_;
  std::unique_ptr<reactor::waiters> running_;  // those that wait for the run that is under way
};

}  // namespace k8s
