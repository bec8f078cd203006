#include "service/page/timeline.hpp"

#include "reactor/plain/keyed_hash.hpp"
#include "reactor/plain/printable.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>

namespace web {
namespace {

/// Beside its texts.
constexpr std::size_t entry_bytes = sizeof(timeline_entry) + 160;

std::size_t bytes_of(const timeline_entry& e) {
  return entry_bytes + e.cluster.size() + e.about.size() + e.what.size() + e.by.size() +
         e.text.size();
}

std::uint64_t sameness_of(const timeline_entry& e, reactor::wall_time at) {
  std::uint64_t h = static_cast<std::uint64_t>(at.time_since_epoch().count());
  for (const std::string* text : {&e.cluster, &e.about, &e.what, &e.by, &e.text})
    h = reactor::keyed_hash(h, reactor::keyed_hash(*text));
  return h;
}

char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// The words of a search, in lower case.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> out(1);
  for (const char c : text.substr(0, timeline::longest_words))
    if (c != ' ' && c != '\t')
      out.back() += lower(c);
    else if (!out.back().empty())
      out.emplace_back();
  if (out.back().empty()) out.pop_back();
  return out;
}

bool has_all(const timeline_entry& e, const std::vector<std::string>& words) {
  if (words.empty()) return true;
  std::string all;
  for (const std::string* text : {&e.cluster, &e.about, &e.what, &e.by, &e.text})
    all.append(*text).push_back('\n');
  std::ranges::transform(all, all.begin(), lower);
  return std::ranges::all_of(words, [&](const std::string& w) { return all.find(w) != all.npos; });
}

std::string json_of(const timeline_entry& e) {
  std::string out = "{\"at\":\"" + reactor::format_rfc3339(e.at) + "\"";
  const auto member = [&](std::string_view key, const std::string& text) {
    if (text.empty()) return;
    out.append(",\"").append(key).append("\":\"");
    reactor::append_json_escaped(out, text);
    out += '"';
  };
  member("cluster", e.cluster);
  member("about", e.about);
  member("what", e.what);
  member("by", e.by);
  member("text", e.text);
  if (e.is == timeline_entry::weight::warning) out += ",\"warning\":true";
  if (e.times > 1) out += ",\"times\":" + std::to_string(e.times);
  return out + "}";
}

}  // namespace

std::string timeline_place::text() const {
  return std::to_string(at.time_since_epoch().count()) + "-" + std::to_string(number);
}

std::optional<timeline_place> timeline_place::read(std::string_view text) {
  reactor::wall_time::rep count = 0;
  timeline_place out;
  const char* const last = text.data() + text.size();
  const auto first = std::from_chars(text.data(), last, count);
  if (first.ec != std::errc{} || first.ptr == last || *first.ptr != '-') return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, last, out.number);
  if (second.ec != std::errc{} || second.ptr != last) return std::nullopt;
  out.at = reactor::wall_time(reactor::wall_time::duration(count));
  return out;
}

void timeline::erase(
    std::map<timeline_place, std::pair<timeline_entry, std::uint64_t>>::iterator at) {
  kept& mine = kept_[static_cast<std::size_t>(at->second.first.of)];
  mine.bytes -= bytes_of(at->second.first);
  mine.places.erase(at->first);
  if (const auto known = known_.find(at->second.second);
      known != known_.end() && known->second == at->first)
    known_.erase(known);
  entries_.erase(at);
}

void timeline::insert(timeline_entry e, std::uint64_t same) {
  const timeline_place at{e.at, ++number_};
  kept& mine = kept_[static_cast<std::size_t>(e.of)];
  mine.bytes += bytes_of(e);
  mine.places.insert(at);
  entries_.emplace(at, std::pair(std::move(e), same));
  known_[same] = at;
  ++revision_;
  while (mine.places.size() > most_entries / 2 || mine.bytes > most_bytes / 2)
    erase(entries_.find(*mine.places.begin()));
}

void timeline::add(timeline_entry e) {
  e.text = reactor::printable(e.text, longest_text);
  const std::uint64_t same = sameness_of(e, {});
  if (const auto known = known_.find(same); known != known_.end()) {
    const auto before = entries_.find(known->second);
    e.times += before->second.first.times;
    erase(before);
  }
  insert(std::move(e), same);
}

bool timeline::put(timeline_entry e) {
  e.text = reactor::printable(e.text, longest_text);
  const std::uint64_t same = sameness_of(e, e.at);
  if (known_.contains(same)) return false;
  insert(std::move(e), same);
  return true;
}

timeline::piece timeline::search(const timeline_question& q, std::optional<timeline_place> before,
                                 std::size_t most_looked) const {
  piece out;
  const std::vector<std::string> words = words_of(q.words);
  auto at = before ? entries_.lower_bound(*before) : entries_.end();
  std::optional<timeline_place> last;
  while (at != entries_.begin() && most_looked-- > 0 && out.found.size() < q.most) {
    --at;
    last = at->first;
    const timeline_entry& e = at->second.first;
    if ((q.cluster.empty() || q.cluster == e.cluster) && has_all(e, words))
      out.found.push_back(json_of(e));
  }
  if (at != entries_.begin()) out.next = last ? last : before;
  return out;
}

}  // namespace web
