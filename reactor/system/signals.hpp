#pragma once

#include <functional>
#include <memory>

namespace reactor {

class loop;

struct signal_actions {
  std::function<void()> stop;  // the first SIGTERM or SIGINT
  /// SIGHUP. Unset: a closed terminal asks to stop, too, unless the process was started to outlive
  /// it (nohup).
  std::function<void()> reload;
  /// A second signal to stop, with 128 + its number. Unset: the process ends there and then.
  std::function<void(int exit_code)> exit_now = {};
  std::function<void()> resized = {};  // SIGWINCH: the terminal has another size
};

/// Turns signals into calls on the loop; SIGPIPE is ignored, since a write to a closed socket is an
/// ordinary fault. Keeps the loop running until it is destroyed or closed.
class signals {
public:
  signals(loop& l, signal_actions actions);
  ~signals();
  signals(const signals&) = delete;
  signals& operator=(const signals&) = delete;

  /// Gives the signals back to the system.
  void close();
  /// The signal that asked to stop; 0 when none did.
  int stopped_by() const noexcept;

private:
  struct impl;
  std::shared_ptr<impl> impl_;
};

}  // namespace reactor
