#include "service/reference/reference.hpp"

#include "app/api/row_figures.hpp"
#include "policies/host/embedded.hpp"
#include "service/metrics/own_metrics.hpp"
#include "service/policy_refusals.hpp"

#include <boost/json.hpp>

#include <span>
#include <sstream>

namespace cli {

using namespace app;

namespace {

namespace json = boost::json;

std::string page_of(const std::string& title, const std::string& about) {
  return "# " + title +
         "\n\n<!-- Made by `./dev render` from the tables of the program; a test says when it is "
         "older. -->\n\n" +
         about + "\n";
}

/// A cell ends at a bar.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

std::string row(const std::vector<std::string>& cells) {
  std::string out = "|";
  for (const std::string& c : cells) out += " " + cell(c) + " |";
  return out + "\n";
}

std::string head(const std::vector<std::string>& names) {
  std::string out = row(names) + "|";
  for (std::size_t i = 0; i < names.size(); ++i) out += "---|";
  return out + "\n";
}

std::string code(std::string_view text) {
  return "`" + std::string(text) + "`";
}

std::string rows_of(std::span<const units::hold_kind> table) {
  std::string out = head({"code", "", "the unit waits because", "released when", "set by"});
  for (const units::hold_kind& k : table)
    out += row({code(k.code), std::string(text(k.nature)), std::string(k.meaning),
                std::string(k.released), std::string(k.set_by)});
  return out;
}

std::string holds_page(const std::vector<units::api>& apis) {
  std::string out = page_of(
      "Holds",
      "Why a unit waits. The codes are stable: `windlass status -o json`, `explain`, the column "
      "`HOLD` of `kubectl get bootcnodes`, `status.held` of a pool, Events and the metric "
      "`windlass_held_units` say the same ones. What waits its turn or is in progress goes on by "
      "itself; *trouble* may need a person.");
  out += "\n## Of every API\n\n" + rows_of(units::hold_code::of_every_api);
  for (const units::api& a : apis)
    if (!a.holds.empty()) out += "\n## Of " + a.name + "\n\n" + rows_of(a.holds);
  return out;
}

/// What the stock packs may say: their tables says.json, by pack.
std::vector<std::pair<std::string, json::object>> words_of_packs() {
  constexpr std::string_view name = "/says.json";
  std::vector<std::pair<std::string, json::object>> out;
  for (const policies::embedded_file& file : policies::stock_files())
    if (file.path.ends_with(name))
      out.emplace_back(file.path.substr(0, file.path.size() - name.size()),
                       json::parse(file.content).as_object());
  return out;
}

std::string text_of(const json::value& row, const char* key) {
  return std::string(row.at(key).as_string());
}

std::string conditions_page(const std::vector<units::api>& apis) {
  std::string out = page_of(
      "Conditions",
      "What `status.conditions` of the kinds may say. Those marked as a problem are shown as one "
      "by `windlass status`, `plan`, `explain` and the page.");
  for (const units::api& a : apis) {
    std::string_view kind;
    for (const units::condition_kind& c : a.conditions) {
      if (c.kind != kind)
        out += "\n## " + std::string(c.kind) + "\n\n" +
               head({"type", "status", "reason", "problem", "means"});
      kind = c.kind;
      out += row({code(c.type), code(c.status), code(c.reason),
                  c.shows == units::condition_shows::problem ? "yes" : "", std::string(c.meaning)});
    }
  }
  for (const auto& [pack, words] : words_of_packs()) {
    std::string kind;
    for (const json::value& c : words.at("conditions").as_array()) {
      if (text_of(c, "kind") != kind)
        out += "\n## " + text_of(c, "kind") + ", by the pack " + pack + "\n\n" +
               head({"type", "status", "reason", "means"});
      kind = text_of(c, "kind");
      out += row({code(text_of(c, "type")), code(text_of(c, "status")), code(text_of(c, "reason")),
                  text_of(c, "means")});
    }
  }
  return out;
}

std::string rows_of(std::span<const k8s::event_kind> table) {
  std::string out = head({"reason", "type", "about", "means"});
  for (const k8s::event_kind& e : table)
    out += row({code(e.reason), e.type == k8s::event_severity::normal ? "Normal" : "Warning",
                std::string(e.about), std::string(e.meaning)});
  return out;
}

std::string events_page(const std::vector<units::api>& apis) {
  std::string out =
      page_of("Events",
              "What `kubectl get events` shows. Each is written once, as it begins; one that is "
              "repeated within ten minutes raises the count of the first.");
  out += "\n## Of the fleet, at home\n\n" + rows_of(k8s::fleet_event::table);
  out += "\n## Of policies that come from a ConfigMap, at home\n\n" + rows_of(policy_event::table);
  out += "\n## Of the service's memory, at home\n\n" + rows_of(memory_event::table);
  for (const units::api& a : apis)
    if (!a.events.empty()) out += "\n## Of " + a.name + ", on each cluster\n\n" + rows_of(a.events);
  for (const auto& [pack, words] : words_of_packs()) {
    out += "\n## Of the pack " + pack + "\n\n" + head({"reason", "type", "about", "means"});
    for (const json::value& e : words.at("events").as_array())
      out += row({code(text_of(e, "reason")), text_of(e, "type"), text_of(e, "kind"),
                  text_of(e, "means")});
  }
  return out;
}

std::string metrics_page(const std::vector<units::api>& apis) {
  std::string out = page_of(
      "Metrics",
      "What `/metrics` of `windlass run` serves (`--metrics-bind-address`), in Prometheus' text "
      "format and, to who accepts `application/openmetrics-text`, as OpenMetrics 1.0. No other "
      "family can be made.\n\nSeries are bounded: a family holds 100,000, what is refused is in "
      "`windlass_metric_series_refused_total`; " +
          std::to_string(units::row_budget::most_rows) +
          " pools have series of their own, those beyond are summed for each cluster as pool `" +
          std::string(units::row_budget::other) +
          "` and counted in `windlass_rows_without_series`; codes of holds and states come from "
          "tables, the words of policies are left out; the series of a cluster go with it.\n\n"
          "[deploy/monitoring](../../deploy/monitoring) has a dashboard and alerts made of them.");
  out += "\n" + head({"metric", "type", "labels", ""});
  for (const reactor::metric_kind& k : metric_tables(apis)) {
    std::string labels;
    for (const std::string_view l : k.labels)
      if (!l.empty()) labels += (labels.empty() ? "" : ", ") + code(l);
    out += row({code(k.name), std::string(name_of(k.type)), labels, std::string(k.help)});
  }
  return out;
}

std::string documents_page(const std::vector<std::string>& schemas) {
  std::string out = page_of(
      "Documents",
      "What `-o json` and `-o yaml` print: `apiVersion: windlass.dev/v1alpha1`, a `kind`, and "
      "keys as Kubernetes writes them. [docs/schema](../schema) has a JSON Schema for each; a test "
      "holds real output against them.");
  out += "\n" + head({"kind", "", "always has"});
  for (const std::string& text : schemas) {
    const json::value read = json::parse(text);
    const json::object& s = read.as_object();
    const std::string kind(s.at("title").as_string());
    std::string required;
    if (const json::value* all = s.if_contains("required"))
      for (const json::value& key : all->as_array())
        if (key != json::value("apiVersion") && key != json::value("kind"))
          required += (required.empty() ? "" : ", ") + code(std::string(key.as_string()));
    const json::value* about = s.if_contains("description");
    out += row({"[" + kind + "](../schema/" + kind + ".json)",
                about ? std::string(about->as_string()) : std::string(), required});
  }
  return out;
}

std::string flags_page(const app::program& all, const std::vector<units::api>& apis) {
  std::string out = page_of(
      "Commands and flags",
      "What each command says with `--help-all`. `windlass helm` takes the flags of Helm, see "
      "`windlass helm help`. Settings come from a flag, else from the environment, else from "
      "`--config`, else from here.");
  for (const app::command& c : all.commands) {
    std::vector<std::string> words;
    std::istringstream in(c.path);
    for (std::string word; in >> word;) words.push_back(word);
    words.emplace_back("--help-all");
    const app::parse_outcome said =
        app::parse(all, words, [](std::string_view) { return std::string(); }, &apis);
    if (said.out.empty()) continue;
    out += "\n## " + code("windlass " + c.path) + "\n\n```text\n" + said.out +
           (said.out.ends_with('\n') ? "" : "\n") + "```\n";
  }
  return out;
}

}  // namespace

std::map<std::string, std::string> reference_pages(const app::program& commands,
                                                   const std::vector<units::api>& apis,
                                                   const std::vector<std::string>& schemas) {
  return {{"holds.md", holds_page(apis)},
          {"conditions.md", conditions_page(apis)},
          {"events.md", events_page(apis)},
          {"metrics.md", metrics_page(apis)},
          {"documents.md", documents_page(schemas)},
          {"flags.md", flags_page(commands, apis)}};
}

}  // namespace cli
