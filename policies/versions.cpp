#include "policies/versions.hpp"

#include "policies/hold_text.hpp"
#include "policies/label_views.hpp"
#include "policies/moment.hpp"
#include "reactor/plain/printable.hpp"

#include <algorithm>
#include <chrono>

namespace policies {

template <>
struct view_record<catalogue_entry> {
  static constexpr const char* name = "catalogue entry";
  static constexpr field fields[] = {
      field_of<&catalogue_entry::version>("version", "three numbers, such as 1.4.2"),
      field_of<&catalogue_entry::reference>("reference", "of its image or chart"),
      field_of<&catalogue_entry::channel>("channel", "empty: in none"),
      field_of<&catalogue_entry::released>("released", "0: unknown", "unix seconds"),
  };
};

template <>
struct view_record<versions_question> {
  static constexpr const char* name = "version question";
  static constexpr field fields[] = {
      field_of<&versions_question::api>("api", "such as bootc"),
      field_of<&versions_question::cluster>("cluster"),
      field_of<&versions_question::name>("name"),
      field_of<&versions_question::cluster_labels>("cluster_labels",
                                                   "of the cluster's Secret at home"),
      field_of<&versions_question::labels>("labels"),
      field_of<&versions_question::annotations>("annotations"),
      field_of<&versions_question::running>("running", "its version; empty: nothing or unknown"),
      field_of<&versions_question::wanted>(
          "wanted", "what its object asks for: a version, a range, a channel"),
  };
};

namespace {

using reactor::errc;
using reactor::make_fault;
using reactor::result;

constexpr std::int64_t instructions_per_version = 500;

const shape& answer_shape() {
  static const shape all = record_shape(
      "version",
      {maybe("version", text_shape("a version of the catalogue"),
             "what it should run; nil: it stays as it is"),
       {"reason", text_shape("a sentence"), "why, for people"},
       {"look_again",
        number_shape("seconds, 0 or more", 0),
        "ask again after that long although nothing changed; kept between a second and a day",
        "seconds",
        true,
        {}}},
      "a table with version and reason");
  return all;
}

std::vector<argument> question_of(std::shared_ptr<const versions_question> q,
                                  reactor::wall_time now) {
  std::vector<argument> out;
  out.emplace_back(view_of(q));
  out.emplace_back(view_of(std::shared_ptr<const std::vector<catalogue_entry>>(q, &q->catalogue)));
  out.push_back(now_argument(now));
  return out;
}

std::vector<std::vector<argument>> typical_questions(const pack&) {
  auto q = std::make_shared<versions_question>();
  q->api = "bootc";
  q->cluster = "prod-eu";
  q->name = "workers";
  q->running = "1.0.0";
  q->wanted = ">= 1.0.0 < 2.0.0";
  for (const char* version : {"1.0.0", "1.1.0", "1.2.0-rc.1", "2.0.0"}) {
    catalogue_entry e;
    e.version = version;
    e.reference = std::string("registry.example.com/os:") + version;
    e.channel = "stable";
    e.released = 1'795'000'000;
    q->catalogue.push_back(std::move(e));
  }
  std::vector<std::vector<argument>> questions;
  questions.push_back(question_of(q, reactor::wall_time(std::chrono::seconds(1'795'428'000))));
  return questions;
}

std::int64_t instructions_for(std::size_t versions) {
  return unit_instructions + instructions_per_version * static_cast<std::int64_t>(versions);
}

}  // namespace

result<versions_answer> read_versions_answer(const value& answer, const versions_question& q) {
  if (auto fine = check(answer, answer_shape()); !fine) return fine.error();
  versions_answer out;
  out.reason = one_line(*answer.find("reason")->if_string());
  if (const value* seconds = answer.find("look_again"))
    out.look_again = bounded_wait(*seconds->if_number());
  const value* version = answer.find("version");
  if (version == nullptr) return out;
  out.version = *version->if_string();
  const auto found =
      std::find_if(q.catalogue.begin(), q.catalogue.end(),
                   [&](const catalogue_entry& e) { return e.version == out.version; });
  if (found == q.catalogue.end())
    return make_fault(
        errc::malformed, {},
        "version: '" + reactor::printable(out.version, 60) + "' is not in the catalogue");
  out.reference = found->reference;
  return out;
}

reactor::awaitable<result<versions_answer>> resolve_version(
    host& packs, subject s, std::shared_ptr<const versions_question> question,
    reactor::wall_time now) {
  const auto answer = std::make_shared<versions_answer>();
  judge accept = [answer, question](const value& proposed) -> result<void> {
    auto read = read_versions_answer(proposed, *question);
    if (!read) return read.error();
    *answer = std::move(*read);
    return {};
  };
  auto made = co_await packs.call("versions.resolve", std::move(s), question_of(question, now),
                                  instructions_for(question->catalogue.size()), std::move(accept));
  if (!made) co_return made.error();
  answer->pack = made->pack;
  co_return std::move(*answer);
}

hook versions_hook() {
  hook h;
  h.name = "versions.resolve";
  h.question = "which version should this unit run?";
  h.asked =
      "for each pool that follows the Release of its cluster, whenever it, a label of the cluster "
      "or a Release changed";
  h.failure = "what was answered last stays; without such an answer the unit is held";
  h.budget = "200,000 instructions and 500 a version";
  h.arguments = {
      {"unit", shape_of<versions_question>(), "the unit that it is about"},
      {"catalogue", shape_of<std::vector<catalogue_entry>>(), "what there is to choose from"},
      now_described()};
  h.answer = answer_shape();
  h.typical = typical_questions;
  h.takes = [](const value& answer, const hook::asking& of) {
    versions_question q;
    const value catalogue = plain_argument(of.question, 1);
    if (const value::array* all = catalogue.if_array())
      for (const value& one : *all) q.catalogue.push_back({.version = one.text_of("version")});
    return outcome_of(read_versions_answer(answer, q));
  };
  h.instructions = instructions_for(10);
  return h;
}

}  // namespace policies
