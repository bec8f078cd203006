#pragma once

#include "app/output.hpp"
#include "reactor/plain/time.hpp"

#include <functional>
#include <optional>
#include <string>

namespace app {

/// How far a task of many equal pieces is.
struct progress_state {
  std::string what;   // "simulating"
  std::string units;  // "runs"
  std::size_t done = 0, of = 0;
  reactor::nanoseconds elapsed = {};
};

/// "0:07", "12:40", "1:02:03".
std::string clock_text(reactor::nanoseconds d);
/// "after 0:12, about 0:38 left at this pace"; without an estimate before the first piece is done
/// and after the last.
std::string time_text(const progress_state& s);
/// "simulating: 12 of 50 runs after 0:12, about 0:38 left at this pace", the text that matters
/// first, and a bar where `columns` leave room for one.
page progress_line(const progress_state& s, std::size_t columns = any_width);

/// Tells how far a task is that may take more than three seconds: at a screen one line that is
/// redrawn in its place, elsewhere a line for each tenth, and nothing of a shorter task.
class progress {
public:
  struct place {
    bool is_screen = false;
    std::size_t columns = any_width;
    std::function<void(const page&)> write;
    std::function<reactor::nanoseconds()> now;  // any steady clock
  };
  /// Who is told: a person at a screen, or a reader of a pipe or file too.
  enum class reader { person, everyone };
  /// Standard error, as it is at this moment.
  static place standard_error(reader who);

  progress(place to, std::string what, std::string units, std::size_t of);
  ~progress() { clear(); }
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;

  /// So many pieces are done.
  void at(std::size_t done);
  void next() { at(state_.done + 1); }
  /// One line of the story, above the bar.
  void tell(const page& line);

private:
  void clear();
  place to_;
  progress_state state_;
  reactor::nanoseconds began_;
  std::optional<reactor::nanoseconds> drawn_;
  std::size_t told_ = 0;  // tenths
  bool on_screen_ = false;
};

/// Told how many pieces are done, it tells a person at a screen on standard error; what it drew
/// goes with it.
std::function<void(std::size_t done, std::size_t of)> told_to_a_person(std::string what,
                                                                       std::string units);

}  // namespace app
