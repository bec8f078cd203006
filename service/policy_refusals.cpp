#include "service/policy_refusals.hpp"

#include "formats/json/member.hpp"
#include "k8s/client/client.hpp"
#include "k8s/client/list_pages.hpp"
#include "k8s/client/resource.hpp"
#include "policies/host/pack.hpp"
#include "service/config_map_packs.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <utility>

namespace cli {
namespace {

namespace json = boost::json;

constexpr std::string_view content_prefix = "content ",
                           then = " is not taken, and the policies before it stay in force: ";
constexpr std::size_t digits_shown = 12;

const k8s::resource& core_events() {
  static const k8s::resource r{"", "v1", "events", "Event", true};
  return r;
}

/// One Event about a refusal.
struct sighting {
  refused_policy is;
  std::string content;
};

std::optional<sighting> sighting_in(const json::value& item) {
  if (!item.is_object()) return std::nullopt;
  const json::object& event = item.get_object();
  auto noted = read_refusal_note(formats::text_member(event, "message"));
  if (!noted) return std::nullopt;
  sighting out;
  out.is = {formats::text_member(event, "involvedObject", "namespace"),
            formats::text_member(event, "involvedObject", "name"), std::move(noted->why),
            formats::text_member(event, "eventTime")};
  out.content = std::move(noted->content);
  return out;
}

reactor::awaitable<k8s::result<std::vector<sighting>>> sightings(k8s::client& home,
                                                                 std::string ns) {
  k8s::list_options o;
  o.ns = std::move(ns);
  o.field_selector = k8s::field_is("reason", policy_event::refused.reason) + "," +
                     k8s::field_is("involvedObject.kind", policy_event::refused.about);
  k8s::list_pages pages(home, core_events(), std::move(o));
  std::vector<sighting> all;
  for (;;) {
    auto page = co_await pages.next();
    if (!page) co_return page.error();
    if (!*page) co_return all;
    if (const json::array* items = k8s::items_of(**page))
      for (const json::value& item : *items)
        if (auto one = sighting_in(item)) all.push_back(std::move(*one));
  }
}

reactor::awaitable<std::string> present_content(k8s::client& home, std::string ns,
                                                std::string name) {
  k8s::object_key key{std::move(ns), std::move(name)};
  auto got = co_await home.get(k8s::resources::config_maps(), std::move(key));
  if (!got) co_return got.error().code == k8s::errc::not_found ? content_of(nullptr) : "";
  auto view = k8s::parse_view<config_map_view>(json::serialize(*got));
  co_return view ? content_of(&*view) : std::string();
}

}  // namespace

std::string content_of(const config_map_view* m) {
  if (!m) return "none";
  policies::pack_files all(m->data.begin(), m->data.end());
  for (const std::string& key : m->binary) all.emplace("binary/" + key, std::string());
  const std::string digest = policies::digest_of(all);
  return digest.substr(digest.find(':') + 1).substr(0, digits_shown);
}

std::string refusal_note(std::string_view content, std::string_view why) {
  return std::string(content_prefix) + std::string(content) + std::string(then) + std::string(why);
}

std::optional<noted_refusal> read_refusal_note(std::string_view note) {
  if (!note.starts_with(content_prefix)) return std::nullopt;
  note.remove_prefix(content_prefix.size());
  const std::size_t end = note.find(then);
  if (end == note.npos) return std::nullopt;
  return noted_refusal{std::string(note.substr(0, end)),
                       std::string(note.substr(end + then.size()))};
}

std::vector<k8s::event_note> refusal_teller::on(const std::string& from, state is,
                                                reactor::steady_time now) {
  std::vector<k8s::event_note> out;
  const auto known = told_.find(from);
  if (is.why.empty()) {
    if (known == told_.end()) return out;
    told_.erase(known);
    out.push_back(k8s::tell_of(policy_event::accepted, std::move(is.about),
                               "content " + is.content + " is in force"));
    return out;
  }
  if (known != told_.end() && known->second.content == is.content && known->second.why == is.why &&
      now - known->second.at < refusals_told_again)
    return out;
  for (const std::string& why : is.why)
    out.push_back(k8s::tell_of(policy_event::refused, is.about, refusal_note(is.content, why)));
  told_.insert_or_assign(from, told{std::move(is.content), std::move(is.why), now});
  return out;
}

reactor::awaitable<std::vector<refused_policy>> refused_policies(k8s::client& home,
                                                                 std::string ns) {
  std::vector<refused_policy> out;
  auto seen = co_await sightings(home, std::string());
  if (!seen && seen.error().code == k8s::errc::forbidden)
    seen = co_await sightings(home, std::move(ns));
  if (!seen) co_return out;
  std::map<std::pair<std::string, std::string>, std::string> present;
  for (sighting& s : *seen) {
    const std::pair<std::string, std::string> name(s.is.ns, s.is.config_map);
    if (!present.contains(name)) {
      std::string content = co_await present_content(home, s.is.ns, s.is.config_map);
      present.emplace(name, std::move(content));
    }
    if (present.at(name) != s.content) continue;
    const auto known = std::ranges::find_if(out, [&](const refused_policy& r) {
      return r.ns == s.is.ns && r.config_map == s.is.config_map && r.why == s.is.why;
    });
    if (known == out.end())
      out.push_back(std::move(s.is));
    else
      known->since = std::min(known->since, s.is.since);
  }
  std::ranges::sort(out);
  co_return out;
}

}  // namespace cli
