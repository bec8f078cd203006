#include "simulation/commands/demo/view.hpp"

#include "reactor/plain/printable.hpp"

#include <algorithm>
#include <utility>

namespace cli::demo {
namespace {

constexpr std::size_t most_messages = 5, widest_name = 30, longest_bar = 40, shortest_bar = 4;

/// Adds the text in lines of its own, while there is room.
void add(page& block, std::size_t& rows_left, const page& text, std::size_t columns) {
  const page lines = folded(text, columns) + "\n";
  const auto height = static_cast<std::size_t>(std::ranges::count(lines.text(), '\n'));
  if (height > rows_left) return;
  block += lines;
  rows_left -= height;
}

page cluster_line(const view::line& l, std::size_t name_columns, std::size_t state_columns,
                  std::size_t columns, colours tint) {
  const std::string count = std::to_string(l.updated) + "/" + std::to_string(l.units);
  const std::size_t beside = name_columns + state_columns + 6 + 9;
  const std::size_t room = columns > beside + shortest_bar ? columns - beside : shortest_bar;
  const std::size_t cells = std::min({l.units, longest_bar, std::max(shortest_bar, room / 2)});
  std::string bar;
  for (std::size_t i = 0; i < cells; ++i) bar += i * l.units / cells < l.updated ? "█" : "·";
  const page whole = l.name;
  const page name = std::string(reactor::first_columns(whole.text(), name_columns));
  const auto pad = [](std::size_t has, std::size_t wants) {
    page spaces;
    for (; has < wants; ++has) spaces += " ";
    return spaces;
  };
  return name + pad(name.width(), name_columns) + "  " +
         toned(bar, l.is_done() ? tone::good : tone::busy, tint) + "  " + count +
         pad(count.size(), 7) + "  " +
         toned(l.state, l.state == "Live" ? tone::plain : tone::bad, tint) +
         pad(page(l.state).width(), state_columns) + "  " +
         (l.trouble.empty() ? page() : toned(l.trouble, tone::bad, tint) + "  ") +
         toned(l.is_done() ? "" : l.message, tone::faint, tint);
}

}  // namespace

page drawn(const view& v, const terminal_size& size, colours tint) {
  page head, tail;
  std::size_t left = size.rows;
  add(tail, left, v.footer, size.columns);
  add(head, left, v.title, size.columns);
  // A third for where to look and what was said, the rest for the clusters.
  std::size_t for_about = left / 4, for_messages = std::min(left / 4, most_messages);
  left -= for_about + for_messages;
  for (const page& p : v.about) add(head, for_about, p, size.columns);
  page said;
  std::vector<page> newest;
  std::size_t said_rows = for_messages;
  for (auto m = v.messages.rbegin(); m != v.messages.rend() && said_rows > 0; ++m) {
    page one;
    const std::size_t before = said_rows;
    add(one, said_rows, *m, size.columns);
    if (said_rows == before) break;
    newest.push_back(std::move(one));
  }
  for (auto m = newest.rbegin(); m != newest.rend(); ++m) said += *m;
  left += for_about + said_rows;

  std::vector<std::size_t> chosen;
  const std::size_t n = v.clusters.size();
  const std::size_t shown = n <= left ? n : left == 0 ? 0 : left - 1;
  for (const bool done : {false, true})
    for (std::size_t i = 0; i < n && chosen.size() < shown; ++i)
      if (v.clusters[i].is_done() == done) chosen.push_back(i);
  std::ranges::sort(chosen);
  std::size_t names = 0, states = 0;
  for (const std::size_t i : chosen) {
    names = std::max(names, page(v.clusters[i].name).width());
    states = std::max(states, page(v.clusters[i].state).width());
  }
  names = std::min({names, widest_name, size.columns / 3});
  page block = head;
  for (const std::size_t i : chosen)
    block += cluster_line(v.clusters[i], names, states, size.columns, tint) + "\n";
  if (shown < n && left > 0) {
    const auto done = static_cast<std::size_t>(
        std::ranges::count_if(v.clusters, [](const view::line& l) { return l.is_done(); }));
    const auto shown_done = static_cast<std::size_t>(
        std::ranges::count_if(chosen, [&](std::size_t i) { return v.clusters[i].is_done(); }));
    block += toned("… and " + std::to_string(n - shown) + " more clusters, " +
                       std::to_string(done - shown_done) + " of them done",
                   tone::faint, tint) +
             "\n";
    left = 0;
  } else {
    left -= shown;
  }
  // What is said stands at the bottom.
  for (; left > 0; --left) block += "\n";
  return block + said + tail;
}

live_screen::live_screen(int fd) : fd_(fd), with_(colours_at(fd)) {
  write_out(fd_, entering_screen());
}

void live_screen::show(view v) {
  const terminal_size now = size_of_terminal(fd_);
  if (!on_ || (v == shown_ && now == size_)) return;
  shown_ = std::move(v);
  size_ = now;
  write_out(fd_, screen(drawn(shown_, size_, with_), size_));
}

void live_screen::look_again() {
  if (on_ && !(size_of_terminal(fd_) == size_)) show(view(shown_));
}

void live_screen::leave() {
  if (!std::exchange(on_, false)) return;
  write_out(fd_, leaving_screen());
}

}  // namespace cli::demo
