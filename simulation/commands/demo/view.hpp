#pragma once

#include "app/output.hpp"

#include <deque>
#include <string>
#include <vector>

namespace cli::demo {

using namespace app;

/// What the live view shows, whatever the terminal looks like.
struct view {
  struct line {
    std::string name, state, trouble, message;
    std::size_t units = 0, updated = 0;
    bool is_done() const noexcept { return updated == units; }
    friend bool operator==(const line&, const line&) = default;
  };
  page title;
  std::vector<page> about;  // where to look and what to edit
  std::vector<line> clusters;
  std::vector<page> messages;  // the newest last
  page footer;                 // whether it is done, and how to stop
  friend bool operator==(const view&, const view&) = default;
};

/// The view on a terminal of this size: at most so many lines of at most so many columns. Clusters
/// that are not done come before those that are; how many more there are is said.
page drawn(const view& v, const terminal_size& size, colours tint);

/// A terminal's screen for as long as it lives, redrawn where something changed: the view, or the
/// terminal's size. What was on the terminal before is there again afterwards.
class live_screen {
public:
  explicit live_screen(int fd);
  ~live_screen() { leave(); }
  live_screen(const live_screen&) = delete;
  live_screen& operator=(const live_screen&) = delete;

  void show(view v);
  /// The size has changed, perhaps.
  void look_again();
  /// Once; nothing is shown any more.
  void leave();

private:
  int fd_;
  bool on_ = true;
  colours with_;
  view shown_;
  terminal_size size_;
};

}  // namespace cli::demo
