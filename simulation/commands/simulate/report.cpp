#include "simulation/commands/simulate/report.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <tuple>

namespace cli::simulate {
namespace {

namespace json = boost::json;

std::string hash_text(std::uint64_t hash) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

std::string name_of(const policy_summary& p) {
  return p.policies.empty() ? "stock" : p.policies;
}

double per(std::uint64_t n, std::uint64_t runs) {
  return runs == 0 ? 0 : static_cast<double>(n) / static_cast<double>(runs);
}

std::string decimal(double n) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", n);
  return text;
}

double rounded(double n) {
  return std::isfinite(n) ? std::round(n * 10) / 10 : 0;
}

std::string minutes(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f min", seconds / 60);
  return text;
}

double hours_a_minute(const campaign_outcome& o) {
  return o.cpu_seconds > 0 ? o.cluster_hours / (o.cpu_seconds / 60) : 0;
}

/// One word for a shell.
std::string shell_word(const std::string& text) {
  const bool plain = !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-_./,:=+@%").find(c) != std::string_view::npos;
  });
  if (plain) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string html(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else if (static_cast<unsigned char>(c) >= 0x20 || c == '\n')
      out += c;
  }
  return out;
}

/// What is compared: a heading, and a policy's cell.
struct figure {
  const char* head;
  std::string (*of)(const policy_summary& p);
};
const std::array<figure, 9> figures{
    {{"rollouts", [](const policy_summary& p) { return std::to_string(p.runs); }},
     {"not finished", [](const policy_summary& p) { return std::to_string(p.unfinished); }},
     {"median time",
      [](const policy_summary& p) { return minutes(percentiles_of(p.seconds).median); }},
     {"95 % within",
      [](const policy_summary& p) { return minutes(percentiles_of(p.seconds).most_of_them); }},
     {"longest",
      [](const policy_summary& p) { return minutes(percentiles_of(p.seconds).longest); }},
     {"reboots each", [](const policy_summary& p) { return decimal(per(p.reboots, p.runs)); }},
     {"pods moved each",
      [](const policy_summary& p) { return decimal(per(p.moved_pods, p.runs)); }},
     {"disturbed at once, at most",
      [](const policy_summary& p) { return std::to_string(p.most_disrupted); }},
     {"holds each", [](const policy_summary& p) { return decimal(per(p.holds, p.runs)); }}}};

/// Packs that were given, and those of the program that were asked.
std::vector<asked_hook> worth_showing(const policy_summary& p) {
  std::vector<asked_hook> all = p.asked;
  std::erase_if(all, [](const asked_hook& a) { return a.stock == 1 && a.times == 0; });
  std::ranges::sort(all, {}, [](const asked_hook& a) {
    return std::tuple(a.stock, std::string_view(a.pack), std::string_view(a.hook));
  });
  return all;
}

std::string complaint_about(const std::string& pack, const policy_summary& p) {
  return "policy pack " + pack + " of " + name_of(p) +
         " was never asked: none of its hooks concerns what is simulated, its `applies` names no "
         "cluster or pool of this fleet (labels: --fleet FILE), or a pack before it answers";
}

json::object as_json(const policy_summary& p) {
  const percentiles t = percentiles_of(p.seconds);
  json::array packs, never;
  for (const asked_hook& a : worth_showing(p)) {
    json::object one{{"pack", a.pack}, {"hook", a.hook}};
    one["stock"] = a.stock == 1;
    one["asked"] = a.times;
    packs.push_back(std::move(one));
  }
  for (const std::string& pack : p.never_asked()) never.emplace_back(pack);
  json::object o{{"policies", name_of(p)},
                 {"runs", p.runs},
                 {"unfinished", p.unfinished},
                 {"rollout_s_median", rounded(t.median)},
                 {"rollout_s_p95", rounded(t.most_of_them)},
                 {"rollout_s_max", rounded(t.longest)},
                 {"reboots", p.reboots},
                 {"moved_pods", p.moved_pods},
                 {"max_disrupted", p.most_disrupted},
                 {"holds", p.holds}};
  o["asked"] = std::move(packs);
  o["never_asked"] = std::move(never);
  return o;
}

}  // namespace

std::string replay_command(const failure& f, const std::string& again) {
  std::size_t nodes = 0, tenants = 0, trustees = 0;
  for (const simulation::fleet_cluster& c : f.shrunk.clusters) {
    nodes = std::max(nodes, c.nodes);
    tenants = std::max(tenants, c.tenants);
    trustees = std::max(trustees, c.trustees);
  }
  const auto lodgers = [](const char* flag, std::size_t n) {
    return n > 0 ? " --" + std::string(flag) + " " + std::to_string(n) : std::string();
  };
  std::string out = "windlass simulate" + again;
  const std::string size = f.shrunk.charts > 0 ? " --charts " + std::to_string(f.shrunk.charts)
                                               : " --nodes " + std::to_string(nodes);
  if (!f.policies.empty()) out += " --policies " + shell_word(f.policies);
  return out + " --seed " + std::to_string(f.seed) + " --seeds 1 --clusters " +
         std::to_string(f.shrunk.clusters.size()) + size + lodgers("tenants", tenants) +
         lodgers("trustees", trustees) + " --faults " + simulation::names_of(f.shrunk.faults);
}

json::object report_json(const campaign_outcome& o, const std::string& again) {
  json::array seeds, policies, failures;
  for (const std::uint64_t seed : o.failing_seeds) seeds.emplace_back(seed);
  for (const policy_summary& p : o.policies) policies.push_back(as_json(p));
  for (const failure& f : o.failures) {
    json::array findings, tail;
    for (const std::string& s : f.findings) findings.emplace_back(s);
    std::string_view left = f.tail;
    while (!left.empty()) {
      const std::size_t end = left.find('\n');
      tail.emplace_back(left.substr(0, end));
      left.remove_prefix(end == std::string_view::npos ? left.size() : end + 1);
    }
    failures.push_back(json::object{{"seed", f.seed},
                                    {"policies", f.policies.empty() ? "stock" : f.policies},
                                    {"findings", std::move(findings)},
                                    {"tail", std::move(tail)},
                                    {"replay", replay_command(f, again)}});
  }
  return {{"runs", o.runs},
          {"violations", o.violations},
          {"divergent_caches", o.divergent_caches},
          {"failing_seeds", std::move(seeds)},
          {"trace_hash", hash_text(o.trace)},
          {"writes", o.writes},
          {"crashes", o.crashes},
          {"disturbed_answers", o.disturbed_answers},
          {"policy_swaps", o.swaps},
          {"tenants_updated", o.tenants_updated},
          {"trustees_ready", o.trustees_ready},
          {"chart_releases_ready", o.releases_ready},
          {"chart_plans_kept", o.plans_kept},
          {"chart_undos_kept", o.undone},
          {"cluster_hours", rounded(o.cluster_hours)},
          {"cpu_seconds", rounded(o.cpu_seconds)},
          {"cluster_hours_per_cpu_minute", rounded(hours_a_minute(o))},
          {"policies", std::move(policies)},
          {"failures", std::move(failures)}};
}

page report_text(const campaign_outcome& o, const std::string& again, colours tint) {
  std::vector<page> head{page()};
  for (const policy_summary& p : o.policies) head.emplace_back(name_of(p));
  table rows(std::move(head));
  for (const figure& f : figures) {
    std::vector<page> cells{page(std::string(f.head))};
    for (const policy_summary& p : o.policies) cells.emplace_back(f.of(p));
    rows.row(std::move(cells));
  }
  page text = rows.text() + "\n";
  table asked({"PACK", "FROM", "HOOK", "ASKED"});
  for (const policy_summary& p : o.policies)
    for (const asked_hook& a : worth_showing(p))
      asked.row({page(a.pack), a.stock == 1 ? page("stock") : page(name_of(p)), page(a.hook),
                 page(std::to_string(a.times))});
  text += asked.text() + "\n";
  for (const policy_summary& p : o.policies)
    for (const std::string& pack : p.never_asked())
      text += toned("FAIL", tone::bad, tint) + " " + complaint_about(pack, p) + "\n";
  for (const failure& f : o.failures) {
    text += toned("FAIL", tone::bad, tint) + " seed " + std::to_string(f.seed) +
            (f.policies.empty() ? page() : page(" under ") + f.policies) + "\n";
    for (const std::string& s : f.findings) text += page("  ") + s + "\n";
    text += page("  ") + page::lines(f.tail) + "\n  again: " + replay_command(f, again) + "\n";
  }
  text += page(std::to_string(o.runs)) + " runs, " + std::to_string(o.violations) +
          " violations, " + std::to_string(o.divergent_caches) + " caches that differ, " +
          std::to_string(o.failing_seeds.size()) + " failing seeds; trace " + hash_text(o.trace) +
          "\n";
  text += page(decimal(o.cluster_hours)) + " cluster-hours in " + decimal(o.cpu_seconds) +
          " s of processor time: " + decimal(hours_a_minute(o)) + " a minute\n";
  return text;
}

namespace {

constexpr std::array<const char*, 6> colours_of_policies{"#1f6feb", "#d4572a", "#2da44e",
                                                         "#8250df", "#bf8700", "#57606a"};
std::string colour_of(std::size_t policy) {
  return colours_of_policies[policy % colours_of_policies.size()];
}

/// Up to the end of the table of figures.
std::string head_html(const campaign_outcome& o) {
  std::string out =
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>windlass "
      "simulate</title>\n<style>body{font:15px/1.5 sans-serif;max-width:60em;margin:2em "
      "auto;padding:0 "
      "1em;color:#1f2328;background:#fff}table{border-collapse:collapse}th,td{padding:.3em "
      "1em;border-bottom:1px solid "
      "#d0d7de;text-align:right}th:first-child,td:first-child{text-align:left}pre{background:#"
      "f6f8fa;"
      "padding:1em;overflow:auto}</style></head><body>\n<h1>" +
      std::to_string(o.runs) + " simulated rollouts</h1>\n<p>" + std::to_string(o.violations) +
      " violations, " + std::to_string(o.divergent_caches) + " caches that differ, " +
      std::to_string(o.failing_seeds.size()) + " failing seeds, trace " + hash_text(o.trace) +
      ".</p>\n<table><tr><th></th>";
  for (std::size_t i = 0; i < o.policies.size(); ++i)
    out += "<th style=\"color:" + colour_of(i) + "\">" + html(name_of(o.policies[i])) + "</th>";
  out += "</tr>\n";
  for (const figure& f : figures) {
    out += "<tr><td>" + html(f.head) + "</td>";
    for (const policy_summary& p : o.policies) out += "<td>" + html(f.of(p)) + "</td>";
    out += "</tr>\n";
  }
  return out + "</table>\n";
}

/// A curve for each policy: the share of its rollouts that were done, by time.
std::string curves_html(const campaign_outcome& o) {
  constexpr double width = 720, height = 300, left = 48, bottom = 34;
  double longest = 60;
  for (const policy_summary& p : o.policies)
    longest = std::max(longest, percentiles_of(p.seconds).longest);
  std::string out =
      "<h2>How many rollouts were done by when</h2>\n<svg role=\"img\" viewBox=\"0 0 " +
      decimal(width) + " " + decimal(height) +
      "\" width=\"100%\"><title>Share of rollouts that were done, by minutes</title>\n";
  for (int i = 0; i <= 4; ++i) {
    const double y = (height - bottom) * (1 - i / 4.0) + 4, x = left + (width - left - 8) * i / 4.0;
    out += "<line x1=\"" + decimal(left) + "\" x2=\"" + decimal(width - 8) + "\" y1=\"" +
           decimal(y) + "\" y2=\"" + decimal(y) + "\" stroke=\"#d0d7de\"/><text x=\"" +
           decimal(left - 6) + "\" y=\"" + decimal(y + 4) +
           "\" text-anchor=\"end\" font-size=\"12\">" + std::to_string(25 * i) +
           " %</text><text x=\"" + decimal(x) + "\" y=\"" + decimal(height - 12) +
           "\" text-anchor=\"middle\" font-size=\"12\">" + minutes(longest * i / 4.0) + "</text>\n";
  }
  for (std::size_t i = 0; i < o.policies.size(); ++i) {
    std::vector<double> all = o.policies[i].seconds;
    std::ranges::sort(all);
    std::string points = decimal(left) + "," + decimal(height - bottom + 4);
    double share = 0;
    for (const double s : all) {
      const double x = left + (width - left - 8) * s / longest;
      const auto at = [&] { return decimal((height - bottom) * (1 - share) + 4); };
      points += " " + decimal(x) + "," + at();
      share += 1.0 / static_cast<double>(std::max<std::uint64_t>(1, o.policies[i].runs));
      points += " " + decimal(x) + "," + at();
    }
    out += "<polyline fill=\"none\" stroke-width=\"2\" stroke=\"" + colour_of(i) + "\" points=\"" +
           points + "\"/>\n";
  }
  return out + "</svg>\n";
}

std::string packs_html(const campaign_outcome& o) {
  std::string out =
      "<h2>Which packs were asked</h2>\n<table><tr><th>pack</th><th>from</th>"
      "<th>hook</th><th>asked</th></tr>\n";
  for (const policy_summary& p : o.policies) {
    for (const asked_hook& a : worth_showing(p))
      out += "<tr><td>" + html(a.pack) + "</td><td>" + html(a.stock == 1 ? "stock" : name_of(p)) +
             "</td><td>" + html(a.hook) + "</td><td>" + std::to_string(a.times) + "</td></tr>\n";
    for (const std::string& pack : p.never_asked())
      out += "<tr><td colspan=\"4\">" + html(complaint_about(pack, p)) + "</td></tr>\n";
  }
  return out + "</table>\n";
}

}  // namespace

std::string report_html(const campaign_outcome& o, const std::string& again) {
  std::string out = head_html(o) + curves_html(o) + packs_html(o);
  for (const failure& f : o.failures) {
    out += "<h2>Seed " + std::to_string(f.seed) + "</h2><ul>";
    for (const std::string& s : f.findings) out += "<li>" + html(s) + "</li>";
    out += "</ul><pre>" + html(f.tail) + "</pre><p><code>" + html(replay_command(f, again)) +
           "</code></p>\n";
  }
  out += "<p>" + decimal(o.cluster_hours) + " cluster-hours in " + decimal(o.cpu_seconds) +
         " s of processor time, " + decimal(hours_a_minute(o)) + " a minute.</p></body></html>\n";
  return out;
}

}  // namespace cli::simulate
