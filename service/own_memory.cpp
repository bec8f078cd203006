#include "service/own_memory.hpp"

#include "formats/json/member.hpp"
#include "k8s/client/client.hpp"
#include "k8s/client/list_pages.hpp"
#include "k8s/client/resource.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace cli {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

constexpr std::size_t mebibyte = std::size_t{1} << 20;
constexpr std::size_t near_percent = 85, recovered_percent = 80;
constexpr std::size_t least_reserve = 2 * mebibyte, most_reserve = 16 * mebibyte;
/// What one thread that reads lists as fast as it can was seen to take in a second, and more.
constexpr std::size_t bytes_a_second = 64 * mebibyte;
constexpr reactor::nanoseconds soonest_look = 20ms, latest_look = 2s;
/// An Event that is older was not written again: the process has ended since.
constexpr reactor::nanoseconds word_is_good_for = memory_told_again + 2min;

std::size_t percent_of(const reactor::memory_use& use) {
  return use.limit_bytes == 0 ? 0 : use.used_bytes * 100 / use.limit_bytes;
}

/// From here on the process ends.
std::size_t end_line(const reactor::memory_use& use) {
  const std::size_t reserve = std::clamp(use.limit_bytes / 32, least_reserve, most_reserve);
  return use.limit_bytes - std::min(reserve, use.limit_bytes);
}

const k8s::resource& events_of_core() {
  static const k8s::resource r{"", "v1", "events", "Event", true};
  return r;
}

using object_name = std::tuple<std::string, std::string, std::string>;  // kind, namespace, name

/// The newest Event of that reason for each object. Errors: those of the list.
reactor::awaitable<k8s::result<std::map<object_name, service_near_limit>>> newest_words(
    k8s::client& home, std::string ns, std::string_view reason) {  // borrowed
  k8s::list_options o;
  o.ns = std::move(ns);
  o.field_selector = k8s::field_is("reason", reason);
  k8s::list_pages pages(home, events_of_core(), std::move(o));
  std::map<object_name, service_near_limit> all;
  for (;;) {
    auto page = co_await pages.next();
    if (!page) co_return page.error();
    if (!*page) co_return all;
    const json::array* items = k8s::items_of(**page);
    if (!items) continue;
    for (const json::value& item : *items) {
      if (!item.is_object()) continue;
      const json::object& event = item.get_object();
      service_near_limit one{formats::text_member(event, "involvedObject", "kind"),
                             formats::text_member(event, "involvedObject", "namespace"),
                             formats::text_member(event, "involvedObject", "name"),
                             formats::text_member(event, "message"),
                             formats::text_member(event, "series", "lastObservedTime")};
      if (one.seen.empty()) one.seen = formats::text_member(event, "eventTime");
      service_near_limit& known = all[object_name(one.kind, one.ns, one.name)];
      if (known.seen < one.seen) known = std::move(one);
    }
  }
}

}  // namespace

memory_judge::step memory_judge::on(const reactor::memory_use& use, reactor::steady_time now) {
  if (use.used_bytes >= end_line(use)) return step::end;
  const std::size_t percent = percent_of(use);
  if (percent < (is_near_ ? recovered_percent : near_percent))
    return std::exchange(is_near_, false) ? step::tell_recovered : step::nothing;
  if (std::exchange(is_near_, true) && now - told_ < memory_told_again) return step::nothing;
  told_ = now;
  return step::tell_near;
}

reactor::nanoseconds next_memory_look(const reactor::memory_use& use) {
  const std::size_t line = end_line(use);
  const std::size_t left = line - std::min(line, use.used_bytes);
  const auto until_taken = std::chrono::duration_cast<reactor::nanoseconds>(
      std::chrono::duration<double>(static_cast<double>(left) / bytes_a_second));
  return std::clamp(until_taken, soonest_look, latest_look);
}

std::string memory_words(const reactor::memory_use& use) {
  return "holds " + std::to_string(use.used_bytes / mebibyte) + " of the " +
         std::to_string(use.limit_bytes / mebibyte) + " MiB that its memory limit allows (" +
         std::to_string(percent_of(use)) + " %)";
}

reactor::awaitable<std::vector<service_near_limit>> services_near_limit(k8s::client& home,
                                                                        std::string ns,
                                                                        reactor::wall_time now) {
  std::vector<service_near_limit> out;
  std::string where;
  auto near = co_await newest_words(home, where, memory_event::near_limit.reason);
  if (!near && near.error().code == k8s::errc::forbidden) {
    where = std::move(ns);
    near = co_await newest_words(home, where, memory_event::near_limit.reason);
  }
  if (!near || near->empty()) co_return out;
  auto recovered = co_await newest_words(home, where, memory_event::recovered.reason);
  const std::string oldest = reactor::format_rfc3339_micro(now - word_is_good_for);
  for (auto& [about, word] : *near) {
    if (word.seen < oldest) continue;
    if (recovered) {
      const auto since = recovered->find(about);
      if (since != recovered->end() && since->second.seen > word.seen) continue;
    }
    out.push_back(std::move(word));
  }
  co_return out;
}

}  // namespace cli
