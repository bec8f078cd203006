#include "helm/upgrades/upgrade_report.hpp"

#include "app/workflow_line.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace helm::upgrades {
namespace {

namespace json = boost::json;
using app::listing;
using app::page;
using removals::finding;

// `listed_object::trouble` of a row.
constexpr unsigned counts = 2, is_waived = 1;

std::string minor_text(int minor) {
  return minor == 0 ? std::string("-") : "1." + std::to_string(minor);
}
std::string or_dash(const std::string& text) {
  return text.empty() ? std::string("-") : text;
}

std::string joined(const std::vector<removals::source>& all) {
  std::string out;
  for (const removals::source s : all)
    out += (out.empty() ? "" : ", ") + std::string(removals::text(s));
  return out;
}

json::object body_of(const finding& f) {
  json::object o{{"object", f.object()}, {"owner", f.owner.text()}, {"apiVersion", f.api_version}};
  if (!f.ns.empty()) o["namespace"] = f.ns;
  if (f.removed_in != 0) o["removedIn"] = minor_text(f.removed_in);
  if (!f.replacement.empty()) o["replacement"] = f.replacement;
  json::array sources;
  for (const removals::source s : f.sources) sources.emplace_back(removals::text(s));
  o["sources"] = std::move(sources);
  if (!f.origin.empty()) o["knownFrom"] = f.origin;
  o["message"] = f.message();
  if (!f.waived.empty()) o["waived"] = f.waived;
  if (!f.note.empty()) o["note"] = f.note;
  return o;
}

/// What no column says.
page below_of(const finding& f, const std::string& path) {
  page out;
  if (f.removed_in == 0) out += page(path) + ": " + f.message() + "\n";
  if (!f.waived.empty()) out += page(path) + ": waived " + f.waived + "\n";
  if (!f.note.empty()) out += page(path) + ": " + f.note + "\n";
  return out;
}

std::string text_in(const json::object& o, std::string_view name) {
  const json::value* v = o.if_contains(name);
  return v && v->is_string() ? std::string(v->get_string()) : std::string();
}

template <class F>
void each_unseen(const upgrade_report& r, F f) {
  for (const upgrade_report::cluster& c : r.clusters)
    for (const unseen& u : c.read.not_seen) f(c.read.cluster, u);
}

std::string unseen_text(const std::string& cluster, const unseen& u) {
  return cluster + ": not looked at: " + u.what + ": " + u.why +
         (u.is == unseen::weight::extra ? " (the answer is whole without it)" : "");
}

}  // namespace

bool upgrade_report::is_partial() const noexcept {
  bool partial = left_out > 0 || clusters.empty();
  each_unseen(*this, [&](const std::string&, const unseen& u) {
    partial = partial || u.is == unseen::weight::needed;
  });
  return partial;
}

listing rows_of(const upgrade_report& r, app::output_format how) {
  const bool wide = how == app::output_format::wide;
  std::vector<app::list_column> columns = {{"CLUSTER"},     {"NAMESPACE", 3}, {"OBJECT"},
                                           {"OWNER"},       {"API"},          {"REMOVED IN"},
                                           {"REPLACEMENT"}, {"SOURCE", 2}};
  if (wide) columns.push_back({"WHY"});
  listing out(std::move(columns));
  for (const finding& f : r.rows) {
    app::listed_object one{"finding", f.cluster, f.ns, f.object()};
    const auto of = std::ranges::find_if(
        r.clusters, [&](const auto& c) { return c.read.cluster == f.cluster; });
    if (of != r.clusters.end()) one.labels = of->labels;
    one.cells = {f.cluster,
                 or_dash(f.ns),
                 f.object(),
                 f.owner.text(),
                 or_dash(f.api_version),
                 minor_text(f.removed_in),
                 or_dash(f.replacement),
                 joined(f.sources)};
    if (wide) one.cells.emplace_back(f.message());
    one.body = body_of(f);
    one.trouble = f.waived.empty() ? counts : is_waived;
    one.below = below_of(f, one.path());
    out.add(std::move(one));
  }
  return out;
}

std::size_t counted(const listing& chosen) {
  return static_cast<std::size_t>(
      std::ranges::count(chosen.objects(), counts, &app::listed_object::trouble));
}

app::around_list around(const upgrade_report& r, const listing& shown) {
  app::around_list out;
  for (const upgrade_report::cluster& c : r.clusters) {
    const auto runs = removals::minor_of(c.read.version);
    if (runs && *runs >= r.to)
      out.head += page(c.read.cluster) + " runs " + c.read.version + " already\n";
  }
  if (r.to > removals::known_until)
    out.head += page("of Kubernetes beyond ") + minor_text(removals::known_until) +
                " only what is announced is known\n";
  each_unseen(r, [&](const std::string& cluster, const unseen& u) {
    out.tail += page(unseen_text(cluster, u)) + "\n";
  });
  for (const std::string& sentence : r.unused_waivers) out.tail += page(sentence) + "\n";
  if (r.left_out > 0)
    out.tail += page("and ") + std::to_string(r.left_out) +
                " more that are not listed; --cluster asks for fewer\n";
  std::size_t objects = 0, releases = 0, read = 0;
  for (const upgrade_report::cluster& c : r.clusters) {
    objects += c.read.objects;
    releases += c.read.releases;
    if (!c.read.version.empty()) ++read;
  }
  const std::size_t counting = counted(shown), all = r.clusters.size();
  out.tail += page(std::to_string(counting)) + " found that 1." + std::to_string(r.to) +
              " would break, " + std::to_string(shown.objects().size() - counting) +
              " waived; looked at " + std::to_string(objects) + " objects and " +
              std::to_string(releases) + " releases on " + std::to_string(read) + " of " +
              std::to_string(all) + (all == 1 ? " cluster" : " clusters");
  if (r.is_partial()) out.tail += "; the answer is partial";
  out.tail += "\n";
  return out;
}

json::object report_document(const upgrade_report& r, const listing& shown) {
  json::object o{{"target", minor_text(r.to)},
                 {"passed", counted(shown) == 0 && !r.is_partial()},
                 {"partial", r.is_partial()},
                 {"leftOut", r.left_out}};
  json::array clusters, unused;
  for (const upgrade_report::cluster& c : r.clusters) {
    json::object one{
        {"name", c.read.cluster}, {"objects", c.read.objects}, {"releases", c.read.releases}};
    if (!c.read.version.empty()) one["version"] = c.read.version;
    json::array not_seen;
    for (const unseen& u : c.read.not_seen)
      not_seen.push_back(json::object{
          {"what", u.what}, {"why", u.why}, {"needed", u.is == unseen::weight::needed}});
    one["notLookedAt"] = std::move(not_seen);
    clusters.push_back(std::move(one));
  }
  for (const std::string& sentence : r.unused_waivers) unused.emplace_back(sentence);
  o["clusters"] = std::move(clusters);
  o["unusedWaivers"] = std::move(unused);
  return app::document("UpgradeCheck", std::move(o));
}

std::string report_github(const upgrade_report& r, const listing& shown) {
  std::string out;
  for (const app::listed_object& o : shown.objects()) {
    std::string says = text_in(o.body, "message") + "; owner: " + text_in(o.body, "owner");
    if (const std::string by = text_in(o.body, "replacement"); !by.empty()) says += "; use " + by;
    if (const std::string waived = text_in(o.body, "waived"); !waived.empty())
      says += "; waived " + waived;
    if (const std::string note = text_in(o.body, "note"); !note.empty()) says += "; " + note;
    out += app::workflow_line(o.trouble == counts ? "error" : "notice", {}, o.path(), says);
  }
  each_unseen(r, [&](const std::string& cluster, const unseen& u) {
    out += app::workflow_line("warning", {}, cluster, unseen_text(cluster, u));
  });
  return out;
}

}  // namespace helm::upgrades
