#include "app/progress.hpp"

#include "reactor/plain/worker_clock.hpp"

#include <unistd.h>

#include <algorithm>
#include <memory>

namespace app {
namespace {

using namespace std::chrono_literals;

constexpr reactor::nanoseconds short_task = 3s, redraw = 200ms;
constexpr std::size_t tenths = 10, longest_bar = 30, shortest_bar = 8;

std::string two_digits(long n) {
  return (n < 10 ? "0" : "") + std::to_string(n);
}

}  // namespace

std::string clock_text(reactor::nanoseconds d) {
  const long s =
      std::max(0L, static_cast<long>(std::chrono::round<std::chrono::seconds>(d).count()));
  const std::string tail = ":" + two_digits(s % 60);
  return s < 3600 ? std::to_string(s / 60) + tail
                  : std::to_string(s / 3600) + ":" + two_digits(s / 60 % 60) + tail;
}

std::string time_text(const progress_state& s) {
  std::string text = "after " + clock_text(s.elapsed);
  if (s.done == 0 || s.done >= s.of) return text;
  const double pace = static_cast<double>(s.elapsed.count()) / static_cast<double>(s.done);
  const double left = pace * static_cast<double>(s.of - s.done);
  return text + ", about " + clock_text(reactor::nanoseconds(static_cast<long>(left))) +
         " left at this pace";
}

page progress_line(const progress_state& s, std::size_t columns) {
  const page text = page(s.what) + ": " + std::to_string(s.done) + " of " + std::to_string(s.of) +
                    " " + s.units + " " + time_text(s);
  const std::size_t room = columns == any_width     ? longest_bar + 3
                           : columns > text.width() ? columns - text.width() - 1
                                                    : 0;
  if (room < shortest_bar + 3 || s.of == 0) return text;
  const std::size_t cells = std::min(longest_bar, room - 3);
  std::string bar;
  for (std::size_t i = 0; i < cells; ++i)
    bar += (i + 1) * s.of <= std::min(s.done, s.of) * cells ? '#' : '.';
  return text + " [" + bar + "]";
}

progress::place progress::standard_error(reader who) {
  place to;
  to.is_screen = is_screen(STDERR_FILENO);
  if (to.is_screen) to.columns = size_of_terminal(STDERR_FILENO).columns;
  if (to.is_screen || who == reader::everyone)
    to.write = [](const page& text) { write_out(STDERR_FILENO, text); };
  to.now = [] { return reactor::worker_clock().now(); };
  return to;
}

progress::progress(place to, std::string what, std::string units, std::size_t of)
    : to_(std::move(to)), began_(to_.now()) {
  state_.what = std::move(what);
  state_.units = std::move(units);
  state_.of = of;
}

void progress::at(std::size_t done) {
  state_.done = done;
  const reactor::nanoseconds now = to_.now();
  state_.elapsed = now - began_;
  if (!to_.write || state_.elapsed < short_task) return;
  if (to_.is_screen) {
    if (drawn_ && now - *drawn_ < redraw && done < state_.of) return;
    drawn_ = now;
    to_.write(redrawn(progress_line(state_, to_.columns - 1), to_.columns - 1));
    on_screen_ = true;
    return;
  }
  const std::size_t tenth = state_.of == 0 ? 0 : done * tenths / state_.of;
  if (tenth <= told_) return;
  told_ = tenth;
  to_.write(progress_line(state_) + "\n");
}

void progress::tell(const page& line) {
  if (!to_.write) return;
  clear();
  to_.write(line + "\n");
}

std::function<void(std::size_t, std::size_t)> told_to_a_person(std::string what,
                                                               std::string units) {
  const auto shown = std::make_shared<std::optional<progress>>();
  return
      [shown, what = std::move(what), units = std::move(units)](std::size_t done, std::size_t of) {
        if (!*shown)
          shown->emplace(progress::standard_error(progress::reader::person), what, units, of);
        (*shown)->at(done);
      };
}

void progress::clear() {
  if (!on_screen_) return;
  to_.write(redrawn(page(), to_.columns));
  on_screen_ = false;
}

}  // namespace app
