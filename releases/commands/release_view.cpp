#include "releases/commands/release_view.hpp"

#include "app/exit_code.hpp"

#include <boost/json.hpp>

namespace cli {

using namespace app;

namespace {

namespace json = boost::json;
using namespace policies::releases;

json::object image_json(const pool_image& i) {
  json::array segments, tags;
  for (const image_segment& s : i.segments)
    segments.push_back(json::object{{"name", s.name}, {"text", s.text}, {"source", s.source}});
  for (const std::string& t : i.tags) tags.emplace_back(t);
  json::object o{{"image", i.image}, {"rule", i.rule}, {"segments", std::move(segments)}};
  // Whole numbers, as they are counted.
  o["limit"] = static_cast<std::int64_t>(i.limit);
  o["length"] = static_cast<std::int64_t>(i.length);
  if (!i.pool.empty()) o["pool"] = i.pool;
  if (!i.image_version.empty()) o["imageVersion"] = i.image_version;
  if (!tags.empty()) o["tags"] = std::move(tags);
  if (!i.ref.empty()) o["ref"] = i.ref;
  return o;
}

tone tone_of(severity s) {
  return s == severity::error ? tone::bad : s == severity::warn ? tone::busy : tone::faint;
}

tone tone_of(decision d) {
  return d == decision::deny ? tone::bad : d == decision::allow ? tone::good : tone::busy;
}

page number(double n) {
  return std::to_string(static_cast<std::int64_t>(n));
}

/// "from -> to", or what there is of it.
page step(const std::string& from, const std::string& to) {
  if (from.empty()) return to;
  return to.empty() ? page(from) : page(from) + " -> " + to;
}

page rolls_text(const std::string& rolls) {
  if (rolls == "yes") return "ROLLS NODES";
  if (rolls == "chart") return "may roll nodes";
  return rolls == "-" ? page("no images of its own") : page("rolls no nodes");
}

json::object change_json(const diff_change& c) {
  json::object o{{"kind", c.kind}, {"name", c.name}, {"what", c.what},
                 {"from", c.from}, {"to", c.to},     {"rolls", c.rolls}};
  if (!c.level.empty()) o["level"] = c.level;
  if (!c.direction.empty()) o["direction"] = c.direction;
  if (!c.strict.empty() && c.strict != c.direction) o["strict"] = c.strict;
  return o;
}

void add_change(table& rows, const diff_change& c) {
  const page rolls = c.rolls == "yes" ? "rolls" : c.rolls == "chart" ? "may roll" : "";
  const page what = c.what == "changed" ? page(c.level) : page(c.what);
  const page kind = c.kind == "app" ? "app " : c.kind == "binary" ? "  inside: " : "";
  rows.row(
      {kind + c.name, step(c.from, c.to), what, c.direction == "down" ? page("goes back") : rolls});
}

}  // namespace

json::array findings_json(const std::vector<finding>& findings) {
  json::array all;
  for (const finding& f : findings)
    all.push_back(json::object{{"id", f.id},
                               {"severity", to_string(f.how)},
                               {"blocking", f.blocking},
                               {"subject", f.subject},
                               {"from", f.from},
                               {"to", f.to},
                               {"rule", f.rule},
                               {"why", f.why},
                               {"evidence", f.evidence},
                               {"clears", f.clears}});
  return all;
}

page findings_text(const std::vector<finding>& findings, colours tint) {
  page text;
  for (const finding& f : findings) {
    text += page("  ") + toned(std::string(to_string(f.how)), tone_of(f.how), tint) + "  " + f.id +
            "  " + f.subject;
    if (!f.from.empty() || !f.to.empty()) text += page("  ") + step(f.from, f.to);
    text += page("\n      ") + f.why;
    if (!f.blocking.empty()) text += page(" (waits for ") + f.blocking + ")";
    if (!f.rule.empty()) text += page("  rule ") + f.rule;
    if (!f.evidence.empty()) text += page("\n      ") + toned(f.evidence, tone::faint, tint);
    if (!f.clears.empty()) text += page("\n      to clear it: ") + f.clears;
    text += "\n";
  }
  return text;
}

page decision_text(decision d, colours tint) {
  return toned(std::string(to_string(d)), tone_of(d), tint);
}

int exit_code_of(decision d) {
  switch (d) {
    case decision::allow: return success;
    case decision::needs_approval: return needs_approval;
    case decision::deny: return denied;
  }
  return failure;
}

json::object map_json(const std::string& name, const map_answer& a) {
  json::object o{{"release", name}, {"decision", to_string(a.verdict)}};
  o["provider"] = a.provider;
  o["chart"] = a.chart;
  // The first pool's image is the answer where there is but one; the others stand beside it.
  for (auto& [key, v] : image_json(a.images.empty() ? pool_image() : a.images.front()))
    o[key] = std::move(v);
  if (a.images.size() > 1) {
    json::array pools;
    for (const pool_image& i : a.images) pools.push_back(image_json(i));
    o["pools"] = std::move(pools);
  }
  if (!a.inside.empty()) o["inside"] = inside_json(a.inside);
  o["findings"] = findings_json(a.findings);
  return o;
}

json::object inside_json(const std::vector<baked_tool>& inside) {
  json::object all;
  for (const baked_tool& t : inside) all[t.name] = t.version;
  return all;
}

page map_text(const std::string& name, const map_answer& a, colours tint) {
  page text = page("image ") + name +
              "  decision: " + toned(std::string(to_string(a.verdict)), tone_of(a.verdict), tint) +
              "\n";
  for (const pool_image& i : a.images) {
    if (!i.pool.empty()) text += page("pool ") + i.pool + "\n";
    if (!i.image.empty()) {
      text += page("  ") + i.image;
      if (i.limit > 0) text += page("  (") + number(i.length) + "/" + number(i.limit) + ")";
      text += "\n";
    }
    for (const std::string& t : i.tags) text += page("  tag ") + t + "\n";
    if (!i.image_version.empty()) text += page("  version ") + i.image_version + "\n";
    if (!i.ref.empty()) text += page("  ref ") + i.ref + "\n";
    if (i.image.empty() && i.tags.empty()) text += "  the provider has images of its own\n";
    text += page("  rule ") + i.rule +
            (a.explained.empty() ? page() : page(" (") + a.explained + ")") + "\n";
    if (!i.segments.empty()) {
      table rows({"SEGMENT", "TEXT", "FROM"});
      for (const image_segment& s : i.segments) rows.row({s.name, s.text, s.source});
      text += rows.text("  ", output_columns());
    }
  }
  for (const baked_tool& t : a.inside) text += page("  inside: ") + t.name + " " + t.version + "\n";
  return text + findings_text(a.findings, tint);
}

json::object diff_json(const judged_release& j) {
  const diff_answer& a = j.answer;
  json::array changes;
  for (const diff_change& c : a.changes) changes.push_back(change_json(c));
  json::object o{{"release", j.name},
                 {"from", j.from},
                 {"decision", to_string(a.verdict)},
                 {"level", a.level},
                 {"rolls", a.rolls},
                 {"images", json::object{{"from", a.image_from}, {"to", a.image_to}}}};
  if (!j.folder.empty()) o["folder"] = j.folder;
  if (!j.hash.empty()) o["hash"] = j.hash;
  o["changes"] = std::move(changes);
  o["findings"] = findings_json(a.findings);
  return o;
}

namespace {

/// What a waiver needs beside the id and the subject of a finding; nothing where none is asked for.
page consent_text(const judged_release& j) {
  if (j.answer.verdict == decision::allow || j.hash.empty()) return {};
  return page("  a waiver names release: ") + j.name + ", hash: " + j.hash + "\n";
}

}  // namespace

page diff_text(const judged_release& j, colours tint) {
  const diff_answer& a = j.answer;
  page text =
      page("plan ") + (j.from.empty() ? page() : page(j.from) + " -> ") + j.name + "   " + a.level +
      "   " + toned(rolls_text(a.rolls), a.rolls == "yes" ? tone::busy : tone::plain, tint) +
      "   decision: " + toned(std::string(to_string(a.verdict)), tone_of(a.verdict), tint) + "\n";
  // What replaces machines first, then the chart, then the apps.
  table rows({"CHANGED", "VERSION", "LEVEL", ""});
  std::size_t count = 0, apps = 0;
  bool chart = false;
  for (const char* rolls : {"yes", "chart", "no"}) {
    for (const diff_change& c : a.changes) {
      if (c.kind == "app" || c.rolls != rolls) continue;
      chart = chart || c.rolls == "chart";
      add_change(rows, c);
      ++count;
    }
  }
  for (const diff_change& c : a.changes) {
    if (c.kind != "app") continue;
    apps += c.what == "changed";
    add_change(rows, c);
    ++count;
  }
  if (count > 0) text += rows.text("  ", output_columns());
  if (!j.from.empty())
    text += page("  apps changed: ") + std::to_string(apps) +
            (chart ? page("   chart: changed\n") : page("   chart: unchanged\n"));
  if (!a.image_to.empty()) {
    const bool same = a.image_from == a.image_to;
    text += page("  image  ") + step(same ? std::string() : a.image_from, a.image_to);
    if (a.limit > 0) text += page("  (") + number(a.length) + "/" + number(a.limit) + ")";
    text += "\n";
  }
  return text + findings_text(a.findings, tint) + consent_text(j);
}

page notes_text(const judged_release& j) {
  const diff_answer& a = j.answer;
  page text = page("# ") + j.name + "\n\nA " + a.level + " Release after " + j.from + ". ";
  if (a.rolls == "yes") {
    text += "**Machines are replaced.**\n";
  } else if (a.rolls == "chart") {
    text += "Machines may be replaced: the chart changes.\n";
  } else {
    text += "No machine is replaced.\n";
  }
  if (!a.image_to.empty()) {
    text += page("\nImage: `") + a.image_to + "`";
    if (a.image_from != a.image_to && !a.image_from.empty())
      text += page(" (was `") + a.image_from + "`)";
    text += "\n";
  }
  const std::pair<const char*, const char*> parts[] = {
      {"component", "Components"}, {"binary", "Inside of the image"}, {"app", "Apps"}};
  for (const auto& [kind, title] : parts) {
    page rows;
    for (const diff_change& c : a.changes) {
      if (c.kind != kind) continue;
      rows += page("| ") + c.name + " | " + c.from + " | " + c.to + " | " +
              (c.what == "changed" ? page(c.level) : page(c.what)) +
              (c.direction == "down" ? page(", goes back |\n") : page(" |\n"));
    }
    if (!rows.empty())
      text += page("\n## ") + title + "\n\n| | before | now | |\n|---|---|---|---|\n" + rows;
  }
  return text;
}

namespace {

/// "azure/v14.1.0": without its folder an old name is one of several providers'.
std::string shown_name(const judged_release& j) {
  const bool old = j.name.size() > 1 && j.name[0] == 'v' && j.name[1] >= '0' && j.name[1] <= '9';
  return old && !j.folder.empty() ? j.folder + "/" + j.name : j.name;
}

}  // namespace

listing check_list(const std::vector<judged_release>& all, colours tint) {
  listing rows({{"RELEASE"},
                {"AFTER", 3},
                {"LEVEL", 2},
                {"ROLLS", 1},
                {"ERRORS"},
                {"WARNINGS"},
                {"DECISION"}});
  for (const judged_release& j : all) {
    std::size_t errors = 0, warnings = 0;
    std::vector<finding> worth;
    for (const finding& f : j.answer.findings) {
      errors += f.how == severity::error;
      warnings += f.how == severity::warn;
      // Consent that does not count is why its author reads this.
      if (f.how == severity::error || !f.blocking.empty() || f.id == "waiver.void")
        worth.push_back(f);
    }
    const std::string name = shown_name(j);
    // What was found of a folder as a whole stands as "capa/".
    const bool of_folder = name.ends_with('/');
    listed_object one{.kind = of_folder ? "folder" : "release",
                      .cluster = {},
                      .ns = {},
                      .name = of_folder ? name.substr(0, name.size() - 1) : name};
    one.cells = {name,
                 j.from,
                 j.answer.level,
                 j.answer.rolls,
                 std::to_string(errors),
                 std::to_string(warnings),
                 decision_text(j.answer.verdict, tint)};
    one.body = diff_json(j);
    if (!worth.empty())
      one.below = page("\n") + name + "\n" + findings_text(worth, tint) + consent_text(j);
    rows.add(std::move(one));
  }
  return rows;
}

json::object answer_json(decision verdict, const std::vector<finding>& findings) {
  json::object o{{"decision", to_string(verdict)}};
  o["findings"] = findings_json(findings);
  return o;
}

listing path_list(const path_answer& a) {
  listing rows({{"STEP"}, {"TO"}, {"LEVEL"}, {"GOES BACK", 1}, {"DENIED"}});
  for (const path_step& step : a.steps) {
    json::array back;
    for (const path_downgrade& d : step.downgrades)
      back.push_back(json::object{{"subject", d.subject}, {"from", d.from}, {"to", d.to}});
    listed_object one{.kind = "release", .cluster = {}, .ns = {}, .name = step.to};
    one.cells = {step.from, step.to, step.level, std::to_string(step.downgrades.size()),
                 step.denied.empty() ? page() : page("yes")};
    one.body = {{"from", step.from}, {"to", step.to}, {"level", step.level}};
    one.body["downgrades"] = std::move(back);
    if (!step.denied.empty()) one.body["denied"] = step.denied;
    rows.add(std::move(one));
  }
  return rows;
}

listing lifecycle_list(const lifecycle_answer& a) {
  listing rows({{"RELEASE"}, {"STATE"}, {"ACTION"}, {"WHY", 1}});
  for (const lifecycle_row& r : a.releases) {
    listed_object one{.kind = "release", .cluster = {}, .ns = {}, .name = r.name};
    one.cells = {r.name, r.state, r.action, r.why};
    one.body = {{"name", r.name}, {"state", r.state}, {"action", r.action}, {"why", r.why}};
    rows.add(std::move(one));
  }
  return rows;
}

json::object bump_json(const bump_answer& a, const std::string& document) {
  json::array items;
  for (const bump_item& item : a.items)
    items.push_back(json::object{{"kind", item.kind},
                                 {"name", item.name},
                                 {"from", item.from},
                                 {"to", item.to},
                                 {"why", item.why}});
  json::object o{{"decision", to_string(a.verdict)}, {"version", a.version}};
  o["items"] = std::move(items);
  if (!document.empty()) o["document"] = document;
  o["findings"] = findings_json(a.findings);
  return o;
}

page bump_text(const bump_answer& a, colours tint) {
  page text = page("next ") + a.version + "   decision: " + decision_text(a.verdict, tint) + "\n";
  table rows({"ITEM", "VERSION", "WHY"});
  for (const bump_item& item : a.items) {
    const page version = item.from.empty() ? page("new: ") + item.to
                         : item.to.empty() ? page(item.from) + ", removed"
                                           : step(item.from, item.to);
    rows.row({item.name, version, item.why});
  }
  if (!a.items.empty()) text += rows.text("  ", output_columns());
  return text + findings_text(a.findings, tint);
}

}  // namespace cli
