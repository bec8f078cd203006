#include "releases/commands/train_answer.hpp"

#include "releases/commands/release_view.hpp"
#include "releases/commands/train_document.hpp"
#include "releases/commands/train_view.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>

namespace cli {
namespace {

namespace json = boost::json;
using namespace policies::trains;
using policies::value;
using policies::releases::finding;

tone tone_of_state(std::string_view state) {
  if (state == "done") return tone::good;
  return state == "ready" || state == "started" ? tone::busy : tone::faint;
}

json::array texts_json(const std::vector<std::string>& texts) {
  json::array all;
  for (const std::string& one : texts) all.emplace_back(one);
  return all;
}

json::array names(const std::vector<step_row>& steps, std::string_view state) {
  json::array all;
  for (const step_row& s : steps) {
    if (s.state == state) all.emplace_back(s.id);
  }
  return all;
}

json::object step_json(const step_row& s) {
  json::object step{{"id", s.id}, {"title", s.title}, {"state", s.state}, {"why", s.why}};
  step["needs"] = texts_json(s.needs);
  step["since"] = s.since.empty() ? json::value() : json::value(s.since);
  step["ageDays"] = s.days ? json::value(static_cast<std::int64_t>(*s.days)) : json::value();
  json::object inputs;
  for (const step_input& i : s.inputs) inputs[i.project] = i.value;
  step["inputs"] = std::move(inputs);
  step["owner"] = s.owner;
  step["pr"] = s.pr;
  step["approval"] = s.approval;
  step["evidence"] = s.evidence;
  return step;
}

json::object check_json(const check_row& c) {
  return {{"name", c.name}, {"result", c.result}, {"compared", texts_json(c.saw)}};
}

page names_text(const std::vector<std::string>& names) {
  page text;
  for (const std::string& name : names) text += (text.empty() ? page() : page(", ")) + name;
  return text;
}

/// How long a step has been what it is.
page age_text(const step_row& s) {
  if (!s.days) return page("-");
  return page(std::to_string(static_cast<std::int64_t>(*s.days))) + "d";
}

std::string inputs_text(const step_row& s) {
  std::string text;
  for (const step_input& i : s.inputs)
    text += (text.empty() ? "with " : ", ") + i.project + " " + with_short_commits(i.value);
  return text;
}

/// Why a step is what it is, or what it is done with.
std::string why_text(const step_row& s) {
  if (!s.why.empty() || s.state == "blocked") return s.why;
  return inputs_text(s);
}

std::string who_text(const step_row& s) {
  std::string text = s.owner;
  if (!s.pr.empty()) text += (text.empty() ? "" : ", ") + s.pr;
  if (s.approval == "needed") text += std::string(text.empty() ? "" : ", ") + "approval needed";
  if (!s.approval.empty() && s.approval != "needed")
    text += (text.empty() ? "" : ", ") + std::string("approved by ") + s.approval;
  return text;
}

page checks_text(const std::vector<check_row>& checks) {
  if (checks.empty()) return page("  no check had anything to compare\n");
  table rows({"CHECK", "RESULT", "COMPARED"});
  for (const check_row& c : checks) {
    page saw;
    for (const std::string& one : c.saw)
      saw += (saw.empty() ? page() : page(", ")) + with_short_commits(one);
    rows.row({c.name, c.result, saw});
  }
  return rows.text("  ", output_columns());
}

/// Each project that is built from others, with those it speaks with and those that may lag.
page edges_text(const std::vector<edge_row>& edges) {
  std::map<std::string, std::map<std::string, std::vector<std::string>>> by_project;
  for (const edge_row& e : edges) by_project[e.to][e.kind].push_back(e.from);
  if (by_project.empty()) return {};
  table rows({"PROJECT", "BUILT FROM", "SPEAKS WITH", "SAME VERSION OF", "MAY LAG BEHIND"});
  for (auto& [project, kinds] : by_project)
    rows.row({project, names_text(kinds["strong"]), names_text(kinds["pair"]),
              names_text(kinds["same-version"]), names_text(kinds["weak"])});
  return rows.text("  ", output_columns());
}

/// What is said of the steps of a plan as a whole.
page plan_text(const train_answer& a) {
  page text = edges_text(a.edges);
  if (!a.void_suites.empty())
    text += page("  no longer count, since the frozen project moved: ") +
            names_text(a.void_suites) + "\n";
  if (!a.next.empty())
    text += page("  next release to ride on  ") + a.next +
            (a.earliest.empty() ? page("\n") : page(", not before ") + a.earliest + "\n");
  return text;
}

listing step_list(const train_answer& a, colours tint) {
  listing rows({{"STEP"}, {"STATE"}, {"FOR", 1}, {"BEHIND", 3}, {"WHO", 2}, {"WHY", 4}});
  for (const step_row& s : a.steps) {
    listed_object one{.kind = "step", .cluster = {}, .ns = {}, .name = s.id};
    one.cells = {s.id,        toned(s.state, tone_of_state(s.state), tint),
                 age_text(s), names_text(s.needs),
                 who_text(s), why_text(s)};
    one.body = step_json(s);
    rows.add(std::move(one));
  }
  return rows;
}

listing image_list(const train_answer& a) {
  listing rows({{"FROM"}, {"TO"}, {"DIGEST", 1}});
  for (const retag& r : a.retags) {
    listed_object one{.kind = "image", .cluster = {}, .ns = {}, .name = r.to};
    one.cells = {r.from, r.to, with_short_digests(r.digest)};
    one.body = {{"from", r.from}, {"to", r.to}, {"arch", r.arch}, {"digest", r.digest}};
    rows.add(std::move(one));
  }
  return rows;
}

listing match_list(const train_answer& a) {
  listing rows({{"TRAIN"}, {"BUNDLE"}, {"CLIENT"}, {"SERVER"}, {"WHY", 1}});
  for (const match_row& r : a.matches) {
    listed_object one{.kind = "train", .cluster = {}, .ns = {}, .name = r.train};
    one.cells = {r.train, r.bundle, r.client, r.server, r.how};
    one.body = {{"train", r.train},
                {"bundle", r.bundle},
                {"client", r.client},
                {"server", r.server},
                {"how", r.how}};
    rows.add(std::move(one));
  }
  return rows;
}

bool is_about(const finding& f, const std::string& about) {
  const std::size_t slash = f.subject.find('/');
  return about.empty() || f.id == about || f.rule == about || f.subject == about ||
         (slash != f.subject.npos && f.subject.substr(slash + 1) == about);
}

std::vector<finding> findings_about(const train_answer& a, const std::string& about) {
  std::vector<finding> found;
  for (const finding& f : a.findings)
    if (is_about(f, about)) found.push_back(f);
  return found;
}

/// One line of Markdown: nothing in it starts a cell, a tag or markup.
std::string markdown(std::string_view text) {
  std::string out;
  for (const char c : std::string(page(std::string(text)).text())) {
    if (c == '|' || c == '<' || c == '>' || c == '*' || c == '`' || c == '[' || c == ']' ||
        c == '\\')
      out += '\\';
    out += c;
  }
  return out;
}

std::string dot_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : std::string(page(std::string(text)).text())) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string title_of(const value& train) {
  const std::string name = train.text_of("train");
  return name.empty() ? "this train" : name;
}

}  // namespace

train_view view_of(const std::string& file, train_arguments::command what, const train_answer& a,
                   const value& train, colours tint) {
  using command = train_arguments::command;
  train_view out;
  json::object& o = out.machine;
  page &head = out.text.head, &tail = out.text.tail;
  head = page("train ") + file + "   decision: " + decision_text(a.verdict, tint) + "\n";
  o["decision"] = to_string(a.verdict);
  if (what != command::match) {
    json::object checks;
    json::array compared;
    for (const check_row& c : a.checks) {
      checks[c.name] = c.result;
      compared.push_back(check_json(c));
    }
    o["checks"] = std::move(checks);
    o["compared"] = std::move(compared);
    head += checks_text(a.checks);
  }
  if (what == command::check) {
    o["pins"] = pins_json(train, a.findings);
    head += pin_matrix(train, a.findings, tint);
  }
  if (what == command::plan) {
    for (const char* state : {"ready", "started", "blocked", "done"})
      o[state] = names(a.steps, state);
    json::array edges;
    for (const edge_row& e : a.edges)
      edges.push_back(json::object{{"from", e.from}, {"to", e.to}, {"kind", e.kind}});
    o["void"] = texts_json(a.void_suites);
    o["order"] = texts_json(a.order);
    o["edges"] = std::move(edges);
    o["next"] = a.next;
    o["earliest"] = a.earliest.empty() ? json::value() : json::value(a.earliest);
    out.key = "steps";
    out.rows = step_list(a, tint);
    tail += plan_text(a);
  }
  if (!a.hash.empty()) o["hash"] = a.hash;
  if (what == command::promote) {
    o["retest"] = a.retest;
    out.key = "retag";
    out.rows = image_list(a);
    head += page("  second test: ") + a.retest + "\n";
  }
  if (what == command::match) {
    out.key = "matches";
    out.rows = match_list(a);
  }
  o["findings"] = findings_json(a.findings);
  tail += findings_text(a.findings, tint);
  return out;
}

json::object explain_json(const train_answer& a, const std::string& about) {
  json::array checks, steps;
  for (const check_row& c : a.checks)
    if (about.empty() || c.name == about) checks.push_back(check_json(c));
  for (const step_row& s : a.steps)
    if (about.empty() || s.id == about) steps.push_back(step_json(s));
  const std::vector<finding> found = findings_about(a, about);
  if (checks.empty() && steps.empty() && found.empty()) return {};
  json::object o{{"decision", to_string(a.verdict)}};
  o["hash"] = a.hash;
  o["compared"] = std::move(checks);
  o["steps"] = std::move(steps);
  o["findings"] = findings_json(found);
  return o;
}

page explain_text(const train_answer& a, const std::string& about, colours tint) {
  page text;
  for (const check_row& c : a.checks) {
    if (!about.empty() && c.name != about) continue;
    text += page("check ") + c.name + ": " + c.result + "\n";
    for (const std::string& one : c.saw) text += page("    compared  ") + one + "\n";
  }
  for (const step_row& s : a.steps) {
    if (!about.empty() && s.id != about) continue;
    text += page("step ") + s.id + ": " + toned(s.state, tone_of_state(s.state), tint) + ", " +
            s.title + "\n";
    if (!s.why.empty()) text += page("    why       ") + s.why + "\n";
    if (!s.needs.empty()) text += page("    behind    ") + names_text(s.needs) + "\n";
    for (const step_input& i : s.inputs)
      text += page("    with      ") + i.project + " " + i.value + "\n";
    if (!s.evidence.empty()) text += page("    evidence  ") + s.evidence + "\n";
    if (const std::string who = who_text(s); !who.empty())
      text += page("    who       ") + who + "\n";
  }
  const std::vector<finding> found = findings_about(a, about);
  if (text.empty() && found.empty()) return text;
  return page("decision: ") + decision_text(a.verdict, tint) + ", bound to " + a.hash + "\n" +
         text + findings_text(found, tint);
}

std::string checklist(const train_answer& plan, const value& train) {
  std::string out = "## Release of " + markdown(title_of(train)) + "\n\n";
  for (const step_row& s : plan.steps) {
    out += std::string(s.state == "done" ? "- [x] " : "- [ ] ") + "**" + markdown(s.id) + "** " +
           markdown(s.title);
    if (const std::string who = who_text(s); !who.empty()) out += " (" + markdown(who) + ")";
    const std::string why = s.state == "done" ? s.evidence : why_text(s);
    if (!why.empty()) out += ": " + markdown(why);
    out += "\n";
  }
  std::string blocking;
  for (const finding& f : plan.findings)
    if (f.how == policies::releases::severity::error || !f.blocking.empty())
      blocking += "- [ ] " + markdown(f.subject) + ": " + markdown(f.why) +
                  (f.clears.empty() ? "" : " — " + markdown(f.clears)) + "\n";
  if (!blocking.empty()) out += "\n### In the way\n\n" + blocking;
  return out;
}

std::string graph(const train_answer& plan, const value& train) {
  const std::map<std::string_view, std::string_view> colours = {
      {"done", "palegreen"}, {"ready", "lightskyblue"}, {"started", "khaki"}};
  std::string out = "digraph " + dot_text(title_of(train)) +
                    " {\n  rankdir=LR;\n  node [shape=box, style=\"rounded,filled\", "
                    "fillcolor=white];\n  subgraph cluster_steps {\n    label=\"steps\";\n";
  for (const step_row& s : plan.steps) {
    const auto colour = colours.find(s.state);
    out += "    " + dot_text("step " + s.id) + " [label=" + dot_text(s.id + ": " + s.state) +
           ", fillcolor=" + std::string(colour == colours.end() ? "white" : colour->second) +
           "];\n";
  }
  for (const step_row& s : plan.steps)
    for (const std::string& need : s.needs)
      out += "    " + dot_text("step " + need) + " -> " + dot_text("step " + s.id) + ";\n";
  out += "  }\n  subgraph cluster_projects {\n    label=\"projects\";\n";
  for (const edge_row& e : plan.edges) {
    const char* style = e.kind == "strong" ? "solid" : e.kind == "weak" ? "dotted" : "dashed";
    out += "    " + dot_text(e.from) + " -> " + dot_text(e.to) + " [style=" + style +
           ", label=" + dot_text(e.kind == "strong" ? "" : e.kind) + "];\n";
  }
  return out + "  }\n}\n";
}

namespace {

/// The pins of a document, each under the name that a list of changes gives it.
std::map<std::string, const value*> pins_by_key(const value& document) {
  std::map<std::string, const value*> all;
  if (const value::array* pins = document.list_of("pins"))
    for (const value& pin : *pins) all.emplace(pin_key(pin), &pin);
  return all;
}

/// What is pinned otherwise than in `former`, each on a line of a table of Markdown; without one,
/// than the document says that it was.
std::string changed_pins(const value& train, const value& former) {
  std::string rows;
  const auto row = [&](const value& pin, const std::string& from, const std::string& to) {
    if (from != to)
      rows += "| " + markdown(pin.text_of("holder")) + " | " + markdown(pin.text_of("project")) +
              " " + markdown(pin.text_of("field")) + " | " + markdown(from) + " | " + markdown(to) +
              " |\n";
  };
  const std::map<std::string, const value*> now = pins_by_key(train), before = pins_by_key(former);
  for (const auto& [key, pin] : now) {
    const auto there = before.find(key);
    std::string from = there != before.end() ? there->second->text_of("value")
                       : former.is_null()    ? pin->text_of("was")
                                             : "(new)";
    if (from.empty()) from = pin->text_of("value");
    row(*pin, from, pin->text_of("value"));
  }
  for (const auto& [key, pin] : before)
    if (!now.contains(key)) row(*pin, pin->text_of("value"), "(gone)");
  return rows;
}

}  // namespace

std::string release_notes(const train_answer& a, const value& train, const value& former) {
  std::string out = "# " + markdown(title_of(train)) + "\n\n";
  out += "| project | release | commit | protocol |\n| --- | --- | --- | --- |\n";
  const value::array none;
  const value::array* projects = train.list_of("projects");
  for (const value& p : projects != nullptr ? *projects : none)
    out += "| " + markdown(p.text_of("name")) + " | " + markdown(p.text_of("release")) + " | " +
           markdown(p.text_of("candidate")) + " | " + markdown(p.text_of("protocol")) + " |\n";
  const std::string moved = changed_pins(train, former);
  if (!moved.empty())
    out += "\n## Changes\n\n| in | of | from | to |\n| --- | --- | --- | --- |\n" + moved;
  std::string known;
  for (const finding& f : a.findings)
    if (f.how != policies::releases::severity::info)
      known += "- " + markdown(f.subject) + ": " + markdown(f.why) + "\n";
  if (!known.empty()) out += "\n## Known differences\n\n" + known;
  return out;
}

}  // namespace cli
