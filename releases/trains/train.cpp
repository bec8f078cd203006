#include "releases/trains/train.hpp"

#include "formats/yaml/yaml.hpp"
#include "releases/rules/answer.hpp"
#include "releases/trains/hooks.hpp"

#include <boost/json.hpp>

#include <memory>
#include <utility>

namespace policies::trains {
namespace {

namespace json = boost::json;
using reactor::errc;
using reactor::make_fault;
using reactor::result;
using releases::answer_reader;

constexpr std::size_t most_bytes = 1024 * 1024, most_values = 20'000, most_levels = 8;
// What a train costs whatever is in it: every row of the tables, and guesses at misspelt names.
constexpr std::int64_t instructions_per_train = 2'000'000;
constexpr std::int64_t instructions_per_value = 500, instructions_per_byte = 20;

value value_of(const json::value& v) {
  if (const json::object* o = v.if_object()) {
    value::object out;
    for (const auto& [key, member] : *o) out.emplace(std::string(key), value_of(member));
    return out;
  }
  if (const json::array* a = v.if_array()) {
    value::array out;
    out.reserve(a->size());
    for (const json::value& one : *a) out.push_back(value_of(one));
    return out;
  }
  // Scalars come with their own text.
  if (const json::string* s = v.if_string()) return std::string(*s);
  return {};
}

std::int64_t values_in(const value& v) {
  std::int64_t count = 1;
  if (const value::object* o = v.if_object()) {
    for (const auto& [key, member] : *o) count += values_in(member);
  } else if (const value::array* a = v.if_array()) {
    for (const value& one : *a) count += values_in(one);
  }
  return count;
}

check_row read_check(answer_reader& from) {
  check_row r;
  r.name = from.text("name");
  r.result = from.text("result");
  r.saw = from.texts("saw");
  return r;
}

step_input read_input(answer_reader& from) {
  step_input i;
  i.project = from.text("project");
  i.value = from.text("value");
  return i;
}

step_row read_step(answer_reader& from) {
  step_row r;
  r.id = from.text("id");
  r.state = from.one_of("state", {"done", "started", "ready", "blocked"});
  r.why = from.text("why");
  r.needs = from.texts("needs");
  r.since = from.text("since");
  r.days = from.number_if("days");
  r.inputs = from.list<step_input>("inputs", read_input);
  r.title = from.text("title");
  r.owner = from.text("owner");
  r.pr = from.text("pr");
  r.approval = from.text("approval");
  r.evidence = from.text("evidence");
  return r;
}

edge_row read_edge(answer_reader& from) {
  edge_row r;
  r.from = from.text("from");
  r.to = from.text("to");
  r.kind = from.text("kind");
  return r;
}

pin_fact read_pin(answer_reader& from) {
  pin_fact p;
  p.holder = from.text("holder");
  p.project = from.text("project");
  p.field = from.text("field");
  p.kind = from.text("kind");
  p.value = from.text("value");
  p.image = from.text("image");
  p.comment = from.text("comment");
  p.source = from.text("source");
  if (p.field.empty() || p.value.empty()) from.refuse("field", "expected a field and its value");
  return p;
}

retag read_retag(answer_reader& from) {
  retag r;
  r.from = from.text("from");
  r.to = from.text("to");
  r.arch = from.text("arch");
  r.digest = from.text("digest");
  if (r.from.empty() || r.to.empty() || r.digest.empty())
    from.refuse("to", "expected from, to and the digest that was tested");
  return r;
}

index_part read_part(answer_reader& from) {
  index_part p;
  p.from = from.text("from");
  p.digest = from.text("digest");
  p.architecture = from.text("architecture");
  if (p.from.empty() || p.digest.empty())
    from.refuse("from", "expected an image and the digest that was tested");
  return p;
}

index_row read_index(answer_reader& from) {
  index_row r;
  r.to = from.text("to");
  if (r.to.empty()) from.refuse("to", "expected the name of an index");
  r.parts = from.list<index_part>("parts", read_part);
  return r;
}

match_row read_match(answer_reader& from) {
  match_row r;
  r.train = from.text("train");
  r.bundle = from.text("bundle");
  r.client = from.text("client");
  r.server = from.text("server");
  r.how = from.text("how");
  return r;
}

std::string_view name_of(hook which) {
  switch (which) {
    case hook::check: return "train.check";
    case hook::plan: return "train.plan";
    case hook::promote: return "train.promote";
    case hook::match: return "train.match";
  }
  return "";
}

}  // namespace

result<value> read_train(std::string_view text, std::string file) {
  formats::yaml_limits limits;
  limits.bytes = most_bytes;
  limits.depth = most_levels;
  limits.nodes = most_values;
  limits.documents = 1;
  limits.scalars = formats::yaml_scalars::own_text;
  auto read = formats::parse_kubernetes_yaml(text, "read " + file, limits);
  if (!read) return read.error();
  if (!read->is_object())
    return make_fault(errc::malformed, "read " + file,
                      "expected a mapping with train, projects, pins");
  value made = value_of(*read);
  std::get<value::object>(made.data)["file"] = std::move(file);
  return made;
}

result<train_answer> read_train_answer(const value& answer, const train_consent& agreed) {
  std::optional<reactor::fault> wrong;
  answer_reader from(answer, "", wrong);
  train_answer out;
  out.checks = from.list<check_row>("checks", read_check);
  out.steps = from.list<step_row>("steps", read_step);
  out.void_suites = from.texts("void");
  out.order = from.texts("order");
  out.edges = from.list<edge_row>("edges", read_edge);
  out.next = from.text("next");
  out.earliest = from.text("earliest");
  out.retags = from.list<retag>("retag", read_retag);
  out.indexes = from.list<index_row>("indexes", read_index);
  out.retest = from.one_of("retest", {"", "skipped", "required"});
  out.hash = from.text("hash");
  out.matches = from.list<match_row>("matches", read_match);
  out.rules = from.texts("rules");
  out.findings = releases::read_findings(from);
  from.done();
  if (wrong) return *wrong;
  out.findings = releases::with_consent(std::move(out.findings), agreed.waivers,
                                        releases::consented{agreed.train, out.hash}, agreed.now);
  if (!out.rules.empty()) {
    auto unused = releases::unused_waivers(agreed.waivers, agreed.train, out.rules, out.findings);
    out.findings.insert(out.findings.end(), unused.begin(), unused.end());
    releases::put_in_order(out.findings);
  }
  out.verdict = releases::decide(out.findings);
  if (out.verdict == releases::decision::deny) {
    out.retags.clear();
    out.indexes.clear();
  }
  return out;
}

reactor::awaitable<result<train_answer>> ask_train(host& packs, subject s, hook which,
                                                   value document) {
  return ask_train(packs, std::move(s), which, std::move(document), train_consent());
}

reactor::awaitable<result<train_answer>> ask_train(host& packs, subject s, hook which,
                                                   value document, train_consent agreed) {
  const std::int64_t budget =
      unit_instructions + instructions_per_train + instructions_per_value * values_in(document);
  std::vector<argument> arguments;
  arguments.emplace_back(std::move(document));
  const auto answer = std::make_shared<train_answer>();
  judge accept = [answer, agreed = std::move(agreed)](const value& proposed) -> result<void> {
    auto read = read_train_answer(proposed, agreed);
    if (!read) return read.error();
    *answer = std::move(*read);
    return {};
  };
  std::string name(name_of(which));
  auto made = co_await packs.call(std::move(name), std::move(s), std::move(arguments), budget,
                                  std::move(accept));
  if (!made) co_return made.error();
  answer->pack = made->pack;
  answer->pack_version = made->version;
  answer->cost = made->cost;
  co_return std::move(*answer);
}

namespace {

result<source_answer> read_sources(const value& answer) {
  std::optional<reactor::fault> wrong;
  answer_reader from(answer, "", wrong);
  source_answer out;
  out.known = from.flag("known");
  out.near = from.text("near");
  out.files = from.texts("files");
  out.pins = from.list<pin_fact>("pins", read_pin);
  out.protocol = from.text("protocol");
  out.absent = from.texts("absent");
  from.done();
  if (wrong) return *wrong;
  return out;
}

}  // namespace

namespace {

/// A hook that is told the document `asked`.
policies::hook hook_of(std::string_view name, value asked,
                       result<void> (*read)(const value& answer)) {
  policies::hook h;
  h.name = std::string(name);
  h.apis = {"trains"};
  h.instructions =
      unit_instructions + instructions_per_train + instructions_per_value * values_in(asked);
  h.typical = [asked = std::move(asked)](const pack&) {
    std::vector<std::vector<argument>> all(1);
    all.front().emplace_back(asked);
    return all;
  };
  h.takes = [read](const value& answer, const policies::hook::asking&) { return read(answer); };
  return h;
}

value typical_train() {
  constexpr std::string_view text =
      "train: v0.18.0\nphase: candidate\nnow: \"2026-11-27T00:00:00Z\"\nprojects:\n"
      "- {name: Kata, release: 3.25.0}\n"
      "- {name: Trustee, candidate: f342a12115c67ea3af769fcd57e450f569ff7377}\n"
      "steps:\n- {id: kata-pick, state: done, evidence: 3.25.0, owner: ana}\n";
  auto read = read_train(text, "train.yaml");
  return read ? std::move(*read) : value();
}

value with(value document, const char* field, value::object said) {
  std::get<value::object>(document.data).emplace(field, std::move(said));
  return document;
}

}  // namespace

std::vector<policies::hook> train_hooks() {
  const auto judge_train = [](const value& answer) {
    return outcome_of(read_train_answer(answer));
  };
  std::vector<policies::hook> all;
  all.push_back(hook_of(name_of(hook::check), typical_train(), judge_train));
  all.push_back(hook_of(name_of(hook::plan), typical_train(), judge_train));
  all.push_back(hook_of(name_of(hook::promote),
                        with(typical_train(), "promote", {{"project", "Kata"}, {"tag", "v0.18.0"}}),
                        judge_train));
  all.push_back(hook_of(name_of(hook::match),
                        with(typical_train(), "match", {{"train", "v0.18.0"}}), judge_train));
  all.push_back(hook_of(
      "train.sources", value::object{{"project", "Kata"}, {"files", value::object()}},
      [](const value& answer) -> result<void> { return outcome_of(read_sources(answer)); }));
  return all;
}

reactor::awaitable<result<source_answer>> ask_sources(host& packs, subject s, std::string project,
                                                      std::map<std::string, std::string> files) {
  std::int64_t budget = unit_instructions;
  value::object texts;
  for (auto& [name, text] : files) {
    budget += instructions_per_byte * static_cast<std::int64_t>(text.size());
    texts.emplace(name, std::move(text));
  }
  std::vector<argument> arguments;
  arguments.emplace_back(
      value(value::object{{"project", std::move(project)}, {"files", std::move(texts)}}));
  const auto answer = std::make_shared<source_answer>();
  judge accept = [answer](const value& proposed) -> result<void> {
    auto read = read_sources(proposed);
    if (!read) return read.error();
    *answer = std::move(*read);
    return {};
  };
  auto made = co_await packs.call("train.sources", std::move(s), std::move(arguments), budget,
                                  std::move(accept));
  if (!made) co_return made.error();
  co_return std::move(*answer);
}

}  // namespace policies::trains
