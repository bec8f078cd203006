#include "formats/base64.hpp"
#include "k8s/sim/core.hpp"

#include <algorithm>
#include <charconv>

namespace k8s::sim {

namespace {

/// Where a paged list goes on: the version all its pages show and the first key of the next one.
struct page_token {
  std::int64_t revision = 0;  // -1: whatever is current, inconsistently
  std::string start;
};

std::string encode(const page_token& t) {
  json::object o{
      {"v", "meta.k8s.io/v1"}, {"rv", t.revision}, {"start", t.start + std::string(1, '\0')}};
  std::string text = formats::encode_base64(json::serialize(o));
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  while (!text.empty() && text.back() == '=') text.pop_back();
  return text;
}

std::optional<page_token> decode(std::string_view text) {
  std::string padded(text);
  std::replace(padded.begin(), padded.end(), '-', '+');
  std::replace(padded.begin(), padded.end(), '_', '/');
  while (padded.size() % 4 != 0) padded += '=';
  auto bytes = formats::decode_base64(padded);
  if (!bytes) return std::nullopt;
  auto v = parse(*bytes);
  if (!v || !v->is_object()) return std::nullopt;
  const json::object& o = v->get_object();
  if (k8s::sim::text(o, {"v"}) != "meta.k8s.io/v1") return std::nullopt;
  page_token t;
  t.revision = number(o, {"rv"});
  t.start = std::string(k8s::sim::text(o, {"start"}));
  if (t.start.empty()) return std::nullopt;
  t.start.pop_back();
  return t;
}

std::string list_prefix(const call& c) {
  return c.ns.empty() ? std::string() : c.ns + "/";
}

failure list_invalid(std::string field, std::string message) {
  return invalid("meta.k8s.io", "ListOptions", "",
                 {field_error::forbidden(std::move(field), message)});
}

}  // namespace

outcome<std::uint64_t> core::parse_revision(std::string_view text, std::string_view field) const {
  std::uint64_t n = 0;
  auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (text.empty() || code != std::errc() || end != text.data() + text.size()) {
    return bad_request("invalid resource version: " + std::string(field) +
                       ": Invalid value: " + quoted(text) + ": strconv.ParseUint: parsing " +
                       quoted(text) + ": invalid syntax");
  }
  return outcome<std::uint64_t>(boost::system::in_place_value, n);
}

outcome<answer> core::get(call& c) {
  version_ptr v = find(*c.kind, c.key());
  if (std::string rv = c.query("resourceVersion"); !rv.empty()) {
    auto asked = parse_revision(rv, "resourceVersion");
    if (!asked) return asked.error();
    if (*asked > objects.revision()) return too_large_version(*asked, objects.revision());
  }
  const bool stale = stale_by != 0 && (stale_all || c.query("resourceVersion") == "0");
  if (stale && objects.revision() > stale_by) {
    std::uint64_t then = std::max(objects.revision() - stale_by, objects.compacted());
    store::collection old = objects.snapshot(c.kind->collection(), then);
    auto at = old.find(c.key());
    v = at == old.end() ? nullptr : at->second;
  }
  if (!v) return not_found(*c.kind, c.name);
  answer a;
  a.body = c.as.render(*v);
  return a;
}

outcome<answer> core::list(call& c) {
  auto labels = label_selector::parse(c.query("labelSelector"));
  if (!labels) return labels.error();
  auto fields = field_selector::parse(c.query("fieldSelector"), *c.kind);
  if (!fields) return fields.error();
  const std::string rv = c.query("resourceVersion"), match = c.query("resourceVersionMatch"),
                    next = c.query("continue");
  std::uint64_t limit = 0;
  if (std::string l = c.query("limit"); !l.empty()) {
    auto [end, code] = std::from_chars(l.data(), l.data() + l.size(), limit);
    if (code != std::errc() || end != l.data() + l.size()) {
      return bad_request("strconv.ParseInt: parsing " + quoted(l) + ": invalid syntax");
    }
  }
  if (!match.empty()) {
    if (!next.empty()) {
      return list_invalid("resourceVersionMatch",
                          "resourceVersionMatch is forbidden when continue is provided");
    }
    if (rv.empty()) {
      return list_invalid("resourceVersionMatch",
                          "resourceVersionMatch is forbidden unless resourceVersion is provided");
    }
    if (match != "Exact" && match != "NotOlderThan") {
      return invalid("meta.k8s.io", "ListOptions", "",
                     {field_error::unsupported("resourceVersionMatch", json::string(match),
                                               {"Exact", "NotOlderThan", ""})});
    }
    if (match == "Exact" && rv == "0") {
      return list_invalid("resourceVersionMatch",
                          "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
    }
  }
  const std::uint64_t current = objects.revision();
  std::uint64_t shown = current;
  page_token from;
  bool exact = false;
  if (!next.empty()) {
    if (!rv.empty() && rv != "0") {
      return bad_request("specifying resource version is not allowed when using continue");
    }
    auto token = decode(next);
    if (!token) return bad_request("continue key is not valid");
    from = *token;
    if (from.revision > 0) {
      shown = static_cast<std::uint64_t>(from.revision);
      if (shown < objects.compacted()) {
        failure f = expired(
            "The provided continue parameter is too old to display a consistent list result. You "
            "can start a new list "
            "without the continue parameter, or use the continue token in this response to "
            "retrieve the remainder of "
            "the results. Continuing with the provided token results in an inconsistent list - "
            "objects that were "
            "created, modified, or deleted between the time the first chunk was returned and now "
            "may show up in the "
            "list.");
        f.continue_token = encode({-1, from.start});
        return f;
      }
      if (shown > current) return bad_request("continue key is not valid");
      exact = true;
    }
  } else if (!rv.empty()) {
    auto asked = parse_revision(rv, "resourceVersion");
    if (!asked) return asked.error();
    if (*asked > current) return too_large_version(*asked, current);
    if (match == "Exact" || (match.empty() && limit > 0 && *asked > 0)) {
      if (*asked < objects.compacted())
        return expired("The resourceVersion for the provided list is too old.");
      shown = *asked;
      exact = true;
    }
  }
  if (!exact && stale_by != 0 && current > stale_by && (stale_all || rv == "0")) {
    shown = std::max(current - stale_by, objects.compacted());
    exact = true;
  }
  // resourceVersion=0 is served whole: the real server's cache ignores the limit there.
  if (rv == "0" && next.empty()) limit = 0;

  store::collection then;
  const store::collection* all = &objects.objects(c.kind->collection());
  if (exact && shown != current) {
    then = objects.snapshot(c.kind->collection(), shown);
    all = &then;
  }
  const std::string prefix = list_prefix(c);
  const bool selective = !labels->empty() || !fields->empty();
  const std::string *named = fields->required("metadata.name"),
                    *on_node = fields->required("spec.nodeName");  // of pods
  std::vector<version_ptr> page;
  std::vector<json::object> rows;
  std::string last;
  std::uint64_t remaining = 0;
  bool more = false;
  auto at = from.start.empty() ? all->lower_bound(prefix)
                               : all->upper_bound(std::max(prefix, from.start));
  for (; at != all->end() && at->first.starts_with(prefix); ++at) {
    if (limit > 0 && page.size() >= limit) {
      more = true;
      if (selective) break;
      ++remaining;
      continue;
    }
    if (selective) {
      if (named && at->first.substr(at->first.rfind('/') + 1) != *named) continue;
      if (on_node && at->second->node != *on_node) continue;
      const auto looked = at->second->look();
      const json::object elsewhere =
          c.kind->storage_elsewhere ? from_storage(*c.kind, *looked) : json::object();
      const json::object& seen = c.kind->storage_elsewhere ? elsewhere : *looked;
      if (!labels->matches_object(seen) || !fields->matches(seen)) continue;
    }
    page.push_back(at->second);
    last = at->first;
  }
  json::object meta{{"resourceVersion", std::to_string(shown)}};
  if (more) {
    meta["continue"] = encode({static_cast<std::int64_t>(shown), last});
    if (!selective) meta["remainingItemCount"] = remaining;
  }
  answer a;
  if (c.as.as == representation::form::table) {
    for (const version_ptr& v : page) rows.push_back(v->parsed());
    a.body = table(c.as, rows, std::move(meta), true);
    return a;
  }
  std::size_t bytes = 200;
  for (const version_ptr& v : page) bytes += v->bytes.size() + 1;
  a.body.reserve(bytes);
  a.body += "{\"kind\":" + quoted(c.as.list_kind()) +
            ",\"apiVersion\":" + quoted(c.as.list_api_version()) +
            ",\"metadata\":" + json::serialize(meta) + ",\"items\":";
  if (page.empty() && c.as.as == representation::form::partial) {
    a.body += "null}";  // as API servers say it
    return a;
  }
  a.body += '[';
  for (std::size_t i = 0; i < page.size(); ++i) {
    if (i) a.body += ',';
    a.body += c.as.render_item(*page[i]);
  }
  a.body += "]}";
  return a;
}

outcome<answer> core::watch(call& c) {
  watch_filter filter;
  filter.as = c.as;
  filter.collection = c.kind->collection();
  filter.key_prefix = list_prefix(c);
  filter.bookmarks = c.query_flag("allowWatchBookmarks");
  auto labels = label_selector::parse(c.query("labelSelector"));
  if (!labels) return labels.error();
  filter.labels = *labels;
  std::string wanted = c.query("fieldSelector");
  if (!c.name.empty()) wanted += (wanted.empty() ? "" : ",") + ("metadata.name=" + c.name);
  auto fields = field_selector::parse(wanted, *c.kind);
  if (!fields) return fields.error();
  filter.fields = *fields;

  const std::string rv = c.query("resourceVersion"), match = c.query("resourceVersionMatch");
  const bool initial_asked = c.has_query("sendInitialEvents"),
             initial = c.query_flag("sendInitialEvents");
  if (initial_asked) {
    if (match != "NotOlderThan") {
      return list_invalid(
          "resourceVersionMatch",
          "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
    }
    if (initial && !filter.bookmarks) {
      return list_invalid("sendInitialEvents",
                          "sendInitialEvents requires setting allowWatchBookmarks to true");
    }
  } else if (!match.empty()) {
    return list_invalid(
        "resourceVersionMatch",
        "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
  }
  std::uint64_t asked = 0;
  if (!rv.empty()) {
    auto n = parse_revision(rv, "resourceVersion");
    if (!n) return n.error();
    asked = *n;
  }
  const std::uint64_t current = objects.revision();
  if (initial && asked > current) return too_large_version(asked, current);

  reactor::nanoseconds timeout{};
  std::uint64_t seconds = 0;
  if (std::string t = c.query("timeoutSeconds"); !t.empty())
    std::from_chars(t.data(), t.data() + t.size(), seconds);
  // Without a wish the server chooses between half an hour and an hour, so that watches do not end
  // together.
  using namespace std::chrono_literals;
  timeout =
      seconds != 0
          ? reactor::nanoseconds(std::chrono::seconds(std::min<std::uint64_t>(seconds, 86'400)))
          : options.entropy->between(reactor::nanoseconds(30min), reactor::nanoseconds(60min));

  const bool from_now = asked == 0;
  const bool with_state = initial || (from_now && !initial_asked);
  auto s =
      std::make_shared<subscription>(filter, with_state || from_now ? current : asked, now(),
                                     timeout, options.bookmark_every, options.watch_pending_limit);
  if (with_state) {
    for (auto at = objects.objects(filter.collection).lower_bound(filter.key_prefix);
         at != objects.objects(filter.collection).end() && at->first.starts_with(filter.key_prefix);
         ++at) {
      s->add_initial(*at->second);
    }
    // Older clients that take bookmarks and ask for the state are told when it is complete, too.
    if (filter.bookmarks) s->send_bookmark(current, true);
  } else if (!from_now) {
    if (asked < objects.compacted()) {
      s->fail(expired("too old resource version: " + std::to_string(asked) + " (" +
                      std::to_string(objects.compacted()) + ")"));
    } else {
      auto first =
          std::upper_bound(objects.changes().begin(), objects.changes().end(), asked,
                           [](std::uint64_t n, const change& x) { return n < x.revision; });
      for (; first != objects.changes().end(); ++first) {
        shared_lines none;
        s->offer(*first, none);
      }
    }
  }
  if (frozen) s->hold(true);
  std::erase_if(watches, [](const watcher& w) { return w.by.expired(); });
  watches.push_back({s->filter().collection, s});
  answer a;
  a.watch = std::move(s);
  return a;
}

outcome<answer> core::log(call& c) {
  const version_ptr v = find(*c.kind, c.key());
  if (!v) return not_found(*c.kind, c.name);
  const json::object pod = v->parsed();
  const std::string container = c.query("container");
  auto text = options.pod_log ? options.pod_log(c.ns, c.name, container) : std::nullopt;
  answer a;
  a.content_type = "text/plain";
  if (!text) {
    a.status = 204;
    return a;
  }
  a.body = std::move(*text);
  return a;
}

}  // namespace k8s::sim
