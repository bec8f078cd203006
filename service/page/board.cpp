#include "service/page/board.hpp"

#include "reactor/loop.hpp"
#include "reactor/plain/printable.hpp"

#include <charconv>
#include <utility>

namespace web {

board::board(reactor::loop& l) : name_(l.random().suffix(16)), waiting_(l) {}

void board::touch(std::string_view key, entry& e) {
  if (e.revision > 0) by_revision_.erase(e.revision);
  e.revision = ++revision_;
  by_revision_.emplace(e.revision, key);
  waiting_.wake_all();
}

bool board::put(std::string_view key, std::string json) {
  auto at = entries_.find(key);
  if (at == entries_.end()) at = entries_.emplace(key, entry{}).first;
  if (at->second.json == json) return false;
  if (!at->second.json) ++present_;
  at->second.json = std::move(json);
  touch(key, at->second);
  return true;
}

void board::erase(std::string_view key) {
  const auto at = entries_.find(key);
  if (at == entries_.end() || !at->second.json) return;
  at->second.json.reset();
  --present_;
  touch(key, at->second);
  if (entries_.size() - present_ <= most_gone) return;
  // The oldest that is gone is forgotten; a reader that has not heard of it begins again.
  for (const auto& [revision, name] : by_revision_) {
    const auto oldest = entries_.find(name);
    if (oldest->second.json) continue;
    forgotten_ = revision;
    by_revision_.erase(revision);
    entries_.erase(oldest);
    break;
  }
}

const std::string* board::find(std::string_view key) const {
  const auto at = entries_.find(key);
  return at == entries_.end() || !at->second.json ? nullptr : &*at->second.json;
}

std::string board::id_of(std::uint64_t revision) const {
  return name_ + "-" + std::to_string(revision);
}

std::optional<std::uint64_t> board::cursor_of(std::string_view id) const {
  if (id.size() <= name_.size() + 1 || !id.starts_with(name_) || id[name_.size()] != '-')
    return std::nullopt;
  id.remove_prefix(name_.size() + 1);
  std::uint64_t cursor = 0;
  const char* const last = id.data() + id.size();
  const auto [end, wrong] = std::from_chars(id.data(), last, cursor);
  if (wrong != std::errc{} || end != last || cursor > revision_ || cursor < forgotten_)
    return std::nullopt;
  return cursor;
}

std::optional<board::piece> board::next(std::uint64_t cursor) const {
  auto at = by_revision_.upper_bound(cursor);
  if (at == by_revision_.end()) return std::nullopt;
  piece out;
  std::string set, gone;
  for (; at != by_revision_.end() && set.size() + gone.size() < piece_bytes; ++at) {
    const entry& e = entries_.find(at->second)->second;
    std::string& to = e.json ? set : gone;
    if (!to.empty()) to += ',';
    to += '"';
    reactor::append_json_escaped(to, at->second);
    to += '"';
    if (e.json) to.append(":").append(*e.json);
    out.cursor = at->first;
  }
  out.text = "\"set\":{" + set + "},\"gone\":[" + gone + "]";
  out.more = at != by_revision_.end();
  return out;
}

reactor::awaitable<bool> board::changed(std::uint64_t since, reactor::steady_time deadline) {
  const std::size_t wakes = wakes_;
  while (revision_ <= since) {
    const reactor::woken how = co_await waiting_.wait(deadline);
    if (how == reactor::woken::by_deadline || wakes != wakes_) co_return false;
  }
  co_return true;
}

void board::wake_readers() {
  ++wakes_;
  waiting_.wake_all();
}

}  // namespace web
