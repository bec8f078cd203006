#include "releases/trains/train.hpp"

#include "formats/yaml/yaml.hpp"
#include "policies/host/value_view.hpp"
#include "releases/rules/answer_table.hpp"
#include "releases/rules/ask.hpp"
#include "releases/trains/hooks.hpp"

#include <boost/json.hpp>

#include <memory>
#include <utility>

namespace policies {

namespace releases {

template <>
struct answer_record<trains::check_row> {
  static constexpr const char* name = "comparison";
  static constexpr answer_field<trains::check_row> fields[] = {
      taken<&trains::check_row::name>("name"),
      taken<&trains::check_row::result>("result", "\"equal\""),
      taken<&trains::check_row::saw>("saw", "what was compared"),
  };
};

template <>
struct answer_record<trains::step_input> {
  static constexpr const char* name = "input of a step";
  static constexpr answer_field<trains::step_input> fields[] = {
      taken<&trains::step_input::project>("project"),
      taken<&trains::step_input::value>("value", "what the step takes of it"),
  };
};

template <>
struct answer_record<trains::step_row> {
  static constexpr const char* name = "step of a train";
  static constexpr answer_field<trains::step_row> fields[] = {
      taken<&trains::step_row::id>("id"),
      word_of<&trains::step_row::state, "done", "started", "ready", "blocked">("state"),
      taken<&trains::step_row::why>("why", "a sentence"),
      taken<&trains::step_row::needs>("needs", "steps that come before it"),
      taken<&trains::step_row::since>("since",
                                      "when it became that, as the facts say it; empty: not known"),
      taken<&trains::step_row::days>("days", "from then to the now of the document"),
      taken<&trains::step_row::inputs>("inputs", "fixed when it starts"),
      taken<&trains::step_row::title>("title"),
      taken<&trains::step_row::owner>("owner"),
      taken<&trains::step_row::pr>("pr"),
      taken<&trains::step_row::approval>("approval"),
      taken<&trains::step_row::evidence>("evidence"),
  };
};

template <>
struct answer_record<trains::edge_row> {
  static constexpr const char* name = "edge between projects";
  static constexpr answer_field<trains::edge_row> fields[] = {
      taken<&trains::edge_row::from>("from"),
      taken<&trains::edge_row::to>("to"),
      taken<&trains::edge_row::kind>("kind",
                                     "to is built from from (strong), speaks its protocol (pair), "
                                     "or has it and may lag (weak)"),
  };
};

template <>
struct answer_record<trains::retag> {
  static constexpr const char* name = "retag";
  static constexpr answer_field<trains::retag> fields[] = {
      taken<&trains::retag::from>("from", "the image"),
      taken<&trains::retag::to>("to", "its new name"),
      taken<&trains::retag::arch>("arch"),
      taken<&trains::retag::digest>("digest", "that was tested"),
  };
  static void check(answer_reader& from, const trains::retag& r) {
    if (r.from.empty() || r.to.empty() || r.digest.empty())
      from.refuse("to", "expected from, to and the digest that was tested");
  }
};

template <>
struct answer_record<trains::index_part> {
  static constexpr const char* name = "part of an index";
  static constexpr answer_field<trains::index_part> fields[] = {
      taken<&trains::index_part::from>("from", "the image"),
      taken<&trains::index_part::digest>("digest", "that was tested"),
      taken<&trains::index_part::architecture>("architecture"),
  };
  static void check(answer_reader& from, const trains::index_part& p) {
    if (p.from.empty() || p.digest.empty())
      from.refuse("from", "expected an image and the digest that was tested");
  }
};

template <>
struct answer_record<trains::index_row> {
  static constexpr const char* name = "index of images";
  static constexpr answer_field<trains::index_row> fields[] = {
      taken<&trains::index_row::to>("to", "its name"),
      taken<&trains::index_row::parts>("parts", "one an architecture"),
  };
  static void check(answer_reader& from, const trains::index_row& r) {
    if (r.to.empty()) from.refuse("to", "expected the name of an index");
  }
};

template <>
struct answer_record<trains::match_row> {
  static constexpr const char* name = "match";
  static constexpr answer_field<trains::match_row> fields[] = {
      taken<&trains::match_row::train>("train"),
      taken<&trains::match_row::bundle>("bundle"),
      taken<&trains::match_row::client>("client"),
      taken<&trains::match_row::server>("server"),
      taken<&trains::match_row::how>("how", "why that is believed"),
  };
};

template <>
struct answer_record<trains::train_answer> {
  static constexpr const char* name = "verdict on a train";
  static constexpr answer_field<trains::train_answer> fields[] = {
      taken<&trains::train_answer::checks>("checks", "check and plan: what was compared"),
      taken<&trains::train_answer::steps>("steps", "plan: in the order of the tables"),
      taken<&trains::train_answer::void_suites>("void", "plan: suites that no longer count"),
      taken<&trains::train_answer::order>("order",
                                          "plan: projects, each behind those that it depends on"),
      taken<&trains::train_answer::edges>("edges", "plan"),
      taken<&trains::train_answer::next>(
          "next", "plan: the release of the bundle that the next train may ride on"),
      taken<&trains::train_answer::earliest>("earliest",
                                             "plan: the day from which it may; empty: not known"),
      taken<&trains::train_answer::retags>("retag", "promote"),
      taken<&trains::train_answer::indexes>("indexes", "promote: over what has its new name then"),
      word_of<&trains::train_answer::retest, "", "skipped", "required">(
          "retest", "promote: whether it must be tested again"),
      taken<&trains::train_answer::hash>(
          "hash", "check, plan and promote: of the content that suites and waivers are bound to"),
      taken<&trains::train_answer::matches>("matches", "match"),
      taken<&trains::train_answer::rules>(
          "rules", "check, plan and promote: every id that a finding may have"),
      findings_of<trains::train_answer>(),
  };
};

template <>
struct answer_record<trains::pin_fact> {
  static constexpr const char* name = "pin of a project";
  static constexpr answer_field<trains::pin_fact> fields[] = {
      taken<&trains::pin_fact::holder>("holder"),
      taken<&trains::pin_fact::project>("project"),
      taken<&trains::pin_fact::field>("field", "required"),
      taken<&trains::pin_fact::kind>("kind"),
      taken<&trains::pin_fact::value>("value", "required"),
      taken<&trains::pin_fact::image>("image"),
      taken<&trains::pin_fact::comment>("comment"),
      taken<&trains::pin_fact::source>("source"),
  };
  static void check(answer_reader& from, const trains::pin_fact& p) {
    if (p.field.empty() || p.value.empty()) from.refuse("field", "expected a field and its value");
  }
};

template <>
struct answer_record<trains::source_answer> {
  static constexpr const char* name = "what files of a project say";
  static constexpr answer_field<trains::source_answer> fields[] = {
      taken<&trains::source_answer::known>("known", "whether there is a table for the project"),
      taken<&trains::source_answer::near>("near", "without one: the project that may be meant"),
      taken<&trains::source_answer::files>("files",
                                           "every file that is read, whether it is there or not"),
      taken<&trains::source_answer::pins>("pins"),
      taken<&trains::source_answer::protocol>("protocol", "that it speaks"),
      taken<&trains::source_answer::absent>("absent", "what none of the files has"),
  };
};

}  // namespace releases

namespace trains {
namespace {

namespace json = boost::json;
using reactor::errc;
using reactor::make_fault;
using reactor::result;

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
  auto read = releases::read_answer<train_answer>(answer);
  if (!read) return read;
  train_answer& out = *read;
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
  return read;
}

reactor::awaitable<result<train_answer>> ask_train(host& packs, subject s, hook which,
                                                   value document) {
  return ask_train(packs, std::move(s), which, std::move(document), train_consent());
}

reactor::awaitable<result<train_answer>> ask_train(host& packs, subject s, hook which,
                                                   value document, train_consent agreed) {
  const std::int64_t budget =
      unit_instructions + instructions_per_train + instructions_per_value * values_in(document);
  auto read = [agreed = std::move(agreed)](const value& answer) {
    return read_train_answer(answer, agreed);
  };
  co_return co_await releases::ask<train_answer>(packs, std::string(name_of(which)), std::move(s),
                                                 argument(std::move(document)), budget,
                                                 std::move(read));
}

namespace {

/// A list of the document, by its name, and the fields of an entry.
struct document_list {
  const char *name, *about, *entry;
  std::initializer_list<const char*> fields;
};
constexpr std::initializer_list<document_list> document_lists = {
    {"projects",
     "whose commits and tags go together",
     "project of a train",
     {"name", "candidate", "digest", "release", "protocol", "evidence", "head"}},
    {"pins",
     "which project holds which",
     "pin of a train",
     {"holder", "project", "field", "kind", "value", "comment", "image", "was", "tested",
      "former"}},
    {"edges",
     "beside those that the pack knows",
     "edge of a train",
     {"from", "to", "kind", "field"}},
    {"steps",
     "what was done",
     "step of the document",
     {"id", "state", "evidence", "commit", "title", "owner", "pr", "approval"}},
    {"suites", "which suites ran", "suite of a train", {"id", "project", "contentHash", "result"}},
    {"tags",
     "of foreign projects",
     "tag of a project",
     {"project", "tag", "commit", "digest", "was"}},
    {"ancestry",
     "how far one commit is from another",
     "ancestry of commits",
     {"project", "from", "to", "ahead", "behind"}},
    {"images", "that registries have", "image of a registry", {"ref", "digest", "arch", "was"}},
    {"releases", "of the bundle", "release of the bundle", {"tag", "date"}},
    {"trains",
     "train.match: what was released together",
     "released train",
     {"train", "bundle", "client", "server", "client_commit", "server_commit", "client_protocol",
      "server_protocol"}},
};
/// A mapping of the document.
constexpr std::initializer_list<document_list> document_mappings = {
    {"freeze",
     "from when on nothing moves",
     "freeze of a train",
     {"project", "baseCommit", "since", "until", "by", "fixup", "mode"}},
    {"promote", "train.promote: what gets which name", "wanted promotion", {"project", "tag"}},
    {"match",
     "train.match: what it is for",
     "wanted match",
     {"client", "server", "bundle", "train", "protocol"}},
};

/// Texts that may be there, and where a fact is from and when it was seen, which any may say.
shape document_entry(std::string name, std::initializer_list<const char*> fields) {
  shape s = record_shape(std::move(name), {});
  for (const char* field : fields) s.members.push_back(maybe(field, text_shape(), ""));
  s.members.push_back(maybe("source", text_shape(), "where it is from, for people"));
  s.members.push_back(maybe("at", text_shape(), "when it was seen, for people"));
  s.open = true;
  return s;
}

/// A train document as a person wrote it: every scalar is a text, and what the fields mean is the
/// policy's.
shape document_shape() {
  shape s = document_entry("train document", {"train", "file", "phase", "order", "cadence", "since",
                                              "now", "bump", "reqs_payload_commit"});
  for (const document_list& l : document_lists) {
    shape entry = document_entry(l.entry, l.fields);
    if (l.name == std::string_view("steps")) {
      entry.members.push_back(maybe("inputs", map_shape(text_shape()), "by project"));
      entry.members.push_back(maybe("needs", list_shape(text_shape()), "other steps"));
    }
    s.members.push_back(maybe(l.name, list_shape(std::move(entry)), l.about));
  }
  for (const document_list& m : document_mappings)
    s.members.push_back(maybe(m.name, document_entry(m.entry, m.fields), m.about));
  s.members.push_back(
      maybe("present", list_shape(text_shape()), "evidence that is there; nil: not known"));
  return s;
}

/// A hook that is told the document `asked`.
template <class Answer>
policies::hook hook_of(std::string_view name, std::string question, shape_member argument_is,
                       value asked, result<Answer> (*read)(const value& answer)) {
  policies::hook h;
  h.name = std::string(name);
  h.question = std::move(question);
  h.asked = "by `windlass " + h.family() + " " +
            (h.function() == "sources" ? "facts" : h.function()) + "`";
  h.failure = "nothing is ready, and nothing gets another name";
  h.budget = "2,200,000 instructions and 500 a value of the document";
  h.arguments = {std::move(argument_is)};
  h.answer = releases::answer_shape<Answer>();
  h.apis = {"trains"};
  h.instructions =
      unit_instructions + instructions_per_train + instructions_per_value * values_in(asked);
  h.typical = [asked = std::move(asked)](const pack&) {
    std::vector<std::vector<argument>> all(1);
    all.front().emplace_back(asked);
    return all;
  };
  h.takes = [read](const value& answer, const policies::hook::asking&) {
    return outcome_of(read(answer));
  };
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
  const auto judge_train = +[](const value& answer) { return read_train_answer(answer); };
  const shape_member document{"train", document_shape(), "the document, with what is known"};
  const auto about_train = [&](hook which, std::string question, value asked) {
    return hook_of<train_answer>(name_of(which), std::move(question), document, std::move(asked),
                                 judge_train);
  };
  shape project = record_shape(
      "project and its files",
      {{"project", text_shape(), "its name", {}, false, value(std::string())},
       {"files", map_shape(text_shape()), "texts by their names; none: which are to be read?"}});
  std::vector<policies::hook> all;
  all.push_back(about_train(hook::check, "does what is pinned fit together?", typical_train()));
  all.push_back(
      about_train(hook::plan, "which steps are done, started, ready, blocked?", typical_train()));
  all.push_back(
      about_train(hook::promote, "which images get which names, and must they be tested again?",
                  with(typical_train(), "promote", {{"project", "Kata"}, {"tag", "v0.18.0"}})));
  all.push_back(about_train(hook::match, "which server fits a client, a bundle or a train?",
                            with(typical_train(), "match", {{"train", "v0.18.0"}})));
  all.push_back(hook_of<source_answer>(
      "train.sources", "what do the files of a project pin, and which protocol does it speak?",
      {"question", std::move(project), "of which project"},
      value::object{{"project", "Kata"}, {"files", value::object()}},
      releases::read_answer<source_answer>));
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
  value question = value::object{{"project", std::move(project)}, {"files", std::move(texts)}};
  co_return co_await releases::ask<source_answer>(packs, "train.sources", std::move(s),
                                                  argument(std::move(question)), budget,
                                                  releases::read_answer<source_answer>);
}

}  // namespace trains
}  // namespace policies
