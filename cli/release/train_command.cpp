#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/release/fact_file.hpp"
#include "cli/release/facts.hpp"
#include "cli/release/promotion.hpp"
#include "cli/release/release_view.hpp"
#include "cli/release/train_view.hpp"
#include "cli/service/run_to_end.hpp"
#include "policies/trains/train.hpp"
#include "reactor/loop.hpp"
#include "reactor/plain/time.hpp"
#include "reactor/system/files.hpp"

#include <boost/json.hpp>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>

namespace cli {
namespace {

namespace json = boost::json;
using namespace policies::trains;
using policies::value;
using reactor::result;

constexpr std::size_t most_document_bytes = 1024 * 1024;

tone tone_of_state(std::string_view state) {
  if (state == "done") return tone::good;
  return state == "ready" || state == "started" ? tone::busy : tone::faint;
}

json::array names(const std::vector<step_row>& steps, std::string_view state) {
  json::array all;
  for (const step_row& s : steps) {
    if (s.state == state) all.emplace_back(s.id);
  }
  return all;
}

json::object answer_json(train_arguments::command what, const train_answer& a, const value& train) {
  json::object o{{"decision", to_string(a.verdict)}};
  json::object checks;
  for (const check_row& c : a.checks) checks[c.name] = c.result;
  if (what == train_arguments::command::check || what == train_arguments::command::plan)
    o["checks"] = std::move(checks);
  if (what == train_arguments::command::check) o["pins"] = pins_json(train, a.findings);
  if (what == train_arguments::command::plan) {
    for (const char* state : {"ready", "started", "blocked", "done"})
      o[state] = names(a.steps, state);
    json::array steps, voided;
    for (const step_row& s : a.steps) {
      json::array needs;
      for (const std::string& id : s.needs) needs.emplace_back(id);
      json::object step{{"id", s.id}, {"state", s.state}, {"why", s.why}};
      step["needs"] = std::move(needs);
      step["since"] = s.since.empty() ? json::value() : json::value(s.since);
      step["ageDays"] = s.days ? json::value(static_cast<std::int64_t>(*s.days)) : json::value();
      json::object inputs;
      for (const step_input& i : s.inputs) inputs[i.project] = i.value;
      step["inputs"] = std::move(inputs);
      steps.push_back(std::move(step));
    }
    for (const std::string& id : a.void_suites) voided.emplace_back(id);
    o["steps"] = std::move(steps);
    o["void"] = std::move(voided);
    o["next"] = a.next;
    o["earliest"] = a.earliest.empty() ? json::value() : json::value(a.earliest);
  }
  if (!a.hash.empty()) o["hash"] = a.hash;
  if (what == train_arguments::command::promote) {
    json::array retags;
    for (const retag& r : a.retags)
      retags.push_back(
          json::object{{"from", r.from}, {"to", r.to}, {"arch", r.arch}, {"digest", r.digest}});
    o["retest"] = a.retest;
    o["retag"] = std::move(retags);
  }
  if (what == train_arguments::command::match) {
    json::array matches;
    for (const match_row& r : a.matches)
      matches.push_back(json::object{{"train", r.train},
                                     {"bundle", r.bundle},
                                     {"client", r.client},
                                     {"server", r.server},
                                     {"how", r.how}});
    o["matches"] = std::move(matches);
  }
  o["findings"] = findings_json(a.findings);
  return o;
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

/// Why a step is what it is, or what it is done with.
page why_text(const step_row& s) {
  if (!s.why.empty() || s.state == "blocked") return page(s.why);
  page text;
  for (const step_input& i : s.inputs)
    text +=
        (text.empty() ? page("with ") : page(", ")) + i.project + " " + with_short_commits(i.value);
  return text;
}

page answer_text(const std::string& file, train_arguments::command what, const train_answer& a,
                 const value& train, colours tint) {
  page text = page("train ") + file + "   decision: " + decision_text(a.verdict, tint) + "\n";
  if (!a.checks.empty()) {
    table rows({"CHECK", "RESULT"});
    for (const check_row& c : a.checks) rows.row({c.name, c.result});
    text += rows.text("  ", output_columns());
  }
  if (what == train_arguments::command::check) text += pin_matrix(train, a.findings, tint);
  if (what == train_arguments::command::plan) {
    table rows({"STEP", "STATE", "FOR", "BEHIND", "WHY"});
    for (const step_row& s : a.steps)
      rows.row({s.id, toned(s.state, tone_of_state(s.state), tint), age_text(s),
                names_text(s.needs), why_text(s)});
    text += rows.text("  ", output_columns());
    if (!a.next.empty())
      text += page("  next release to ride on  ") + a.next +
              (a.earliest.empty() ? page("\n") : page(", not before ") + a.earliest + "\n");
  }
  if (what == train_arguments::command::promote) {
    text += page("  second test: ") + a.retest + "\n";
    table rows({"FROM", "TO", "DIGEST"});
    for (const retag& r : a.retags) rows.row({r.from, r.to, with_short_digests(r.digest)});
    if (!a.retags.empty()) text += rows.text("  ", output_columns());
  }
  if (!a.matches.empty()) {
    table rows({"TRAIN", "BUNDLE", "CLIENT", "SERVER", "WHY"});
    for (const match_row& r : a.matches) rows.row({r.train, r.bundle, r.client, r.server, r.how});
    text += rows.text("  ", output_columns());
  }
  return text + findings_text(a.findings, tint);
}

hook hook_of(train_arguments::command what) {
  switch (what) {
    case train_arguments::command::check: return hook::check;
    case train_arguments::command::plan: return hook::plan;
    case train_arguments::command::promote: return hook::promote;
    case train_arguments::command::match: return hook::match;
    case train_arguments::command::facts: break;  // asks no policy
  }
  return hook::check;
}

struct asking {
  reactor::loop& loop;
  const train_arguments& arguments;
  policies::host packs;
  value train = {};                  // as it was asked about
  registry::web* network = nullptr;  // promote: where images get their names; null: they get none
  int exit_code = failure;
};

/// What a file of facts says, behind what the document says itself.
void add_facts(value& document, value facts) {
  auto& into = std::get<value::object>(document.data);
  for (auto& [name, member] : std::get<value::object>(facts.data)) {
    auto* more = std::get_if<value::array>(&member.data);
    if (more == nullptr) continue;
    auto& list = into[name];
    if (list.is_null()) list = value::array();
    auto* there = std::get_if<value::array>(&list.data);
    if (there == nullptr) continue;  // the policy says that it is no list
    there->insert(there->end(), std::make_move_iterator(more->begin()),
                  std::make_move_iterator(more->end()));
  }
}

reactor::awaitable<result<train_answer>> answer_of(asking& a) {
  auto loaded = co_await a.packs.load();
  if (!loaded) co_return loaded.error();
  auto text = co_await reactor::read_file(a.loop, a.arguments.file, most_document_bytes);
  if (!text) co_return text.error();
  auto document = read_train(*text, a.arguments.file);
  if (!document) co_return document.error();
  for (const std::string& file : a.arguments.with_facts) {
    auto said = co_await reactor::read_file(a.loop, file, most_document_bytes);
    if (!said) co_return said.error();
    auto facts = read_train(*said, file);
    if (!facts) co_return facts.error();
    add_facts(*document, std::move(*facts));
  }
  train_consent agreed;
  if (const value* name = document->find("train"); name != nullptr && name->if_string() != nullptr)
    agreed.train = *name->if_string();
  agreed.now = a.loop.wall();
  const std::string beside =
      (std::filesystem::path(a.arguments.file).parent_path() / "waivers.yaml").string();
  auto waivers = co_await reactor::read_file(a.loop, beside, most_document_bytes);
  if (!waivers && waivers.error().code != reactor::errc::not_found) co_return waivers.error();
  if (waivers) {
    auto given = policies::releases::read_waivers(*waivers, beside);
    if (!given) co_return given.error();
    agreed.waivers = std::move(*given);
  }
  // Policies have no clock: ages are counted to what the document says, else to now.
  auto& said = std::get<value::object>(document->data);
  if (!said.contains("now")) said["now"] = reactor::format_rfc3339(a.loop.wall());
  if (a.arguments.what == train_arguments::command::promote)
    std::get<value::object>(document->data)["promote"] =
        value::object{{"project", a.arguments.project}, {"tag", a.arguments.tag}};
  if (a.arguments.what == train_arguments::command::match)
    std::get<value::object>(document->data)["match"] =
        value::object{{"client", a.arguments.client},
                      {"server", a.arguments.server},
                      {"bundle", a.arguments.bundle},
                      {"train", a.arguments.train},
                      {"protocol", a.arguments.protocol}};
  a.train = *document;
  policies::subject who;
  who.api = "trains";
  co_return co_await ask_train(a.packs, std::move(who), hook_of(a.arguments.what),
                               std::move(*document), std::move(agreed));
}

registry::client_options options_of_client(const train_arguments& a) {
  registry::client_options options;
  options.plain_http = a.plain_http;
  if (const char* home = std::getenv("HOME"))
    options.config_files = {std::string(home) + "/.docker/config.json"};
  if (const char* realms = std::getenv(std::string(registry::token_realms_variable).c_str()))
    options.other_realms = registry::token_realms_in(realms);
  return options;
}

/// What is denied or has to be tested again gets no name.
reactor::awaitable<result<std::vector<named_image>>> name_images(asking& a,
                                                                 train_answer plan) {  // borrowed
  for (const policies::releases::finding& f : plan.findings)
    if (f.id == "train.retest-required")
      co_return reactor::make_fault(
          reactor::errc::refused, "train promote --write",
          "nothing gets a name before it is tested again: " + f.subject + ": " + f.why);
  registry::client client(a.loop, *a.network, options_of_client(a.arguments));
  std::string place = a.arguments.registry;
  co_return co_await give_names(client, std::move(place), std::move(plan));
}

json::array named_json(const std::vector<named_image>& named) {
  json::array all;
  for (const named_image& n : named)
    all.push_back(
        json::object{{"ref", n.ref},
                     {"digest", n.digest},
                     {"how", n.how == named_image::naming::given ? "given" : "there already"}});
  return all;
}

page named_text(const std::vector<named_image>& named) {
  table rows({"NAMED", "DIGEST", ""});
  for (const named_image& n : named)
    rows.row({n.ref, with_short_digests(n.digest),
              n.how == named_image::naming::given ? page() : page("there already")});
  return rows.text("  ", output_columns());
}

reactor::awaitable<void> answer_and_name(asking& a) {  // borrowed
  auto answer = co_await answer_of(a);
  if (!answer) {
    a.exit_code = complain(answer.error().message());
    co_return;
  }
  const auto what = a.arguments.what;
  json::object o = answer_json(what, *answer, a.train);
  page text = answer_text(a.arguments.file, what, *answer, a.train, colours_at(STDOUT_FILENO));
  std::string failed;
  if (a.network != nullptr && answer->verdict == policies::releases::decision::allow) {
    auto named = co_await name_images(a, *answer);
    if (!named) {
      failed = named.error().message();
    } else {
      o["named"] = named_json(*named);
      text += named_text(*named);
    }
  }
  const bool written = a.arguments.output == output_format::text
                           ? write_out(STDOUT_FILENO, folded(text, output_columns(), 4))
                           : write_bytes(STDOUT_FILENO, machine_text(o, a.arguments.output));
  a.exit_code = !failed.empty() ? complain(failed)
                : written       ? exit_code_of(answer->verdict)
                                : failure;
}

reactor::awaitable<void> ask_and_show(asking& a) {  // borrowed
  co_await answer_and_name(a);
  if (a.network != nullptr) co_await a.network->stop();
  a.loop.stop();
}

reactor::awaitable<result<void>> write_facts(reactor::loop& l, const train_arguments& a,
                                             registry::client& client) {  // borrowed
  fact_settings settings;
  settings.registry = a.registry;
  settings.images = a.images;
  settings.filter = a.filter;
  settings.most_tags = a.most_tags;
  for (const std::string& text : a.clones) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == text.npos)
      co_return reactor::make_fault(reactor::errc::malformed, "--clone " + text,
                                    "expected PROJECT=FOLDER");
    settings.clones[text.substr(0, equals)] = text.substr(equals + 1);
  }
  for (const std::string& text : a.ranges) {
    auto range = read_fact_range(text);
    if (!range)
      co_return reactor::make_fault(reactor::errc::malformed, "--range " + text,
                                    "expected PROJECT=FROM..TO");
    settings.ranges.push_back(std::move(*range));
  }
  if (!settings.images.empty() && settings.registry.empty())
    co_return reactor::make_fault(reactor::errc::malformed, "--image", "name its --registry");
  auto before = co_await reactor::read_file(l, a.file, most_document_bytes);
  if (!before && before.error().code != reactor::errc::not_found) co_return before.error();
  std::string text = before ? std::move(*before) : std::string();
  if (!text.empty()) {
    auto known = read_train(text, a.file);
    if (!known) co_return known.error();
    settings.known = known_by(*known);
  }
  auto facts = co_await collect_facts(l, client, std::move(settings));
  if (!facts) co_return facts.error();
  auto updated = with_facts(std::move(text), a.file, *facts);
  if (!updated) co_return updated.error();
  co_return co_await reactor::write_file_atomically(l, a.file, std::move(*updated));
}

reactor::awaitable<void> look(reactor::loop& l, const train_arguments& a, registry::web& network,
                              int& exit_code) {
  // A task that never waits would end behind the stop that it asks for.
  co_await l.yield();
  registry::client client(l, network, options_of_client(a));
  auto done = co_await write_facts(l, a, client);
  if (!done) {
    exit_code = complain(done.error().message());
  } else {
    exit_code = success;
  }
  co_await network.stop();
  l.stop();
}

std::string in_environment(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  return value != nullptr ? value : "";
}

int facts_command(const train_arguments& a) {
  if (a.images.empty() && a.clones.empty() && a.ranges.empty())
    return complain(
        "train facts " + a.file + ": nothing is asked for; name --image, --clone or --range",
        wrong_usage);
  reactor::loop loop;
  registry::web network(loop, in_environment);
  int exit_code = failure;
  run_to_end(loop, "facts", look(loop, a, network, exit_code));
  return exit_code;
}

policies::host::options options_of(const train_arguments& a) {
  policies::host::options o;
  if (!a.policies.empty()) o.folders.push_back(a.policies);
  return o;
}

}  // namespace

int train_command(const train_arguments& a) {
  if (a.what == train_arguments::command::facts) return facts_command(a);
  reactor::loop loop;
  std::optional<registry::web> network;
  asking question{loop, a, policies::host(loop, options_of(a))};
  if (a.what == train_arguments::command::promote && a.write)
    question.network = &network.emplace(loop, in_environment);
  run_to_end(loop, "train", ask_and_show(question));
  return question.exit_code;
}

}  // namespace cli
