#include "policies/fleet_revision.hpp"

#include "policies/hold_text.hpp"
#include "policies/label_views.hpp"
#include "policies/moment.hpp"
#include "reactor/plain/printable.hpp"

#include <algorithm>
#include <chrono>

namespace policies {

template <>
struct view_record<fleet_cluster> {
  static constexpr const char* name = "member";
  static constexpr field fields[] = {
      field_of<&fleet_cluster::name>("name"),
      field_of<&fleet_cluster::cluster_labels>("labels", "of the cluster's Secret at home"),
      field_of<&fleet_cluster::wave>("wave", "by the object's own waves"),
      field_of<&fleet_cluster::state>("state",
                                      "Ready, Moving, Failed, Waiting, Away, Foreign, Refused, "
                                      "NotGranted, Leaving"),
      field_of<&fleet_cluster::has>("has", "the digest of the revision that it has; empty: none"),
      field_of<&fleet_cluster::since>("since", "when it became ready or failed; 0: it is neither",
                                      "unix seconds"),
      field_of<&fleet_cluster::signals>(
          "signals", "of this cluster: those that `signals` of the pack declares"),
  };
};

template <>
struct view_record<fleet_revision> {
  static constexpr const char* name = "fleet object";
  static constexpr field fields[] = {
      field_of<&fleet_revision::kind>("kind", "FleetPool or FleetChart"),
      field_of<&fleet_revision::ns>("namespace"),
      field_of<&fleet_revision::name>("name"),
      field_of<&fleet_revision::labels>("labels"),
      field_of<&fleet_revision::annotations>("annotations", "those of fleet.windlass.dev"),
      field_of<&fleet_revision::revision>("revision", "the number of what is asked for"),
      field_of<&fleet_revision::digest>("digest", "of its content"),
      field_of<&fleet_revision::reference>("reference", "of its image"),
      field_of<&fleet_revision::proven>(
          "proven", "the digest of the newest revision that finished its waves; empty: none did"),
  };
};

namespace {

using reactor::errc;
using reactor::make_fault;
using reactor::result;

constexpr std::int64_t instructions_per_member = 1'000;

const shape& fleet_answer_shape() {
  static const shape all = [] {
    return record_shape(
        "consent",
        {maybe("holds", map_shape(reason_shape(), "a table of reasons by cluster"),
               "who must not begin it now, and why; nil: everybody may, as far as the policy goes"),
         {"look_again",
          number_shape("seconds, 0 or more", 0),
          "ask again after that long although nothing changed; kept between a second and a day",
          "seconds",
          true,
          {}}},
        "a table with holds and look_again");
  }();
  return all;
}

std::vector<argument> fleet_arguments_of(std::shared_ptr<const fleet_question> q,
                                         reactor::wall_time now) {
  std::vector<argument> out;
  out.emplace_back(view_of(std::shared_ptr<const fleet_revision>(q, &q->object)));
  out.emplace_back(view_of(std::shared_ptr<const std::vector<fleet_cluster>>(q, &q->clusters)));
  out.push_back(now_argument(now));
  return out;
}

std::vector<std::vector<argument>> typical_fleet_questions(const pack& of) {
  auto q = std::make_shared<fleet_question>();
  q->object = {
      "FleetPool", "bootc-operator", "workers", {}, {}, 2, "3f2a", "registry.example.com/os:2",
      "1c9a"};
  const char* states[] = {"Ready", "Moving", "Failed", "Waiting", "Away"};
  for (int i = 0; i < 5; ++i) {
    fleet_cluster c;
    c.name = "prod-" + std::to_string(i + 1);
    c.wave = i < 2 ? "canary" : "others";
    c.state = states[i];
    c.has = i < 3 ? "3f2a" : "1c9a";
    c.since = c.state == "Ready" ? 1'795'427'000 : 0;
    c.signals = typical_signals(of.about().signals, i % 2 ? std::nullopt : std::optional(0.5));
    q->clusters.push_back(std::move(c));
  }
  std::vector<std::vector<argument>> questions;
  questions.push_back(
      fleet_arguments_of(q, reactor::wall_time(std::chrono::seconds(1'795'428'000))));
  return questions;
}

std::int64_t fleet_instructions(std::size_t clusters) {
  return unit_instructions + instructions_per_member * static_cast<std::int64_t>(clusters);
}

}  // namespace

result<fleet_answer> read_fleet_answer(const value& answer, const fleet_question& q) {
  if (auto fine = check(answer, fleet_answer_shape()); !fine) return fine.error();
  fleet_answer out;
  if (const value* seconds = answer.find("look_again"))
    out.look_again = bounded_wait(*seconds->if_number());
  const value* holds = answer.find("holds");
  if (holds == nullptr) return out;
  for (const auto& [cluster, reason] : *holds->if_object()) {
    auto hold = read_hold(cluster, reason);
    if (!hold) return hold.error();
    if (std::ranges::find(q.clusters, cluster, &fleet_cluster::name) == q.clusters.end())
      return make_fault(errc::malformed, {},
                        "holds: there is no cluster '" + reactor::printable(cluster, 60) + "'");
    out.holds.emplace(cluster, std::move(*hold));
  }
  return out;
}

reactor::awaitable<result<fleet_answer>> ask_revision(
    host& packs, subject s, std::shared_ptr<const fleet_question> question,
    reactor::wall_time now) {
  const auto answer = std::make_shared<fleet_answer>();
  judge accept = [answer, question](const value& proposed) -> result<void> {
    auto read = read_fleet_answer(proposed, *question);
    if (!read) return read.error();
    *answer = std::move(*read);
    return {};
  };
  auto made = co_await packs.call("fleet.revision", std::move(s), fleet_arguments_of(question, now),
                                  fleet_instructions(question->clusters.size()), std::move(accept));
  if (!made) co_return made.error();
  answer->pack = made->pack;
  answer->version = made->version;
  co_return std::move(*answer);
}

hook fleet_revision_hook() {
  hook h;
  h.name = "fleet.revision";
  h.question = "which clusters must not begin this revision now, and why?";
  h.asked =
      "for each FleetPool and FleetChart of which a cluster would begin the revision that is asked "
      "for, whenever something of it changed and after `look_again`; not asked where no pack has "
      "it";
  h.failure = "no other cluster begins; what is under way is finished. The error is the reason";
  h.budget = "200,000 instructions and 1,000 a cluster";
  h.arguments = {
      {"object", shape_of<fleet_revision>(), "what was said at home, and its newest revision"},
      {"clusters", shape_of<std::vector<fleet_cluster>>(),
       "every cluster that it is for, by name ascending"},
      now_described()};
  h.answer = fleet_answer_shape();
  h.typical = typical_fleet_questions;
  h.takes = [](const value& answer, const hook::asking& of) {
    fleet_question q;
    const value clusters = plain_argument(of.question, 1);
    if (const value::array* all = clusters.if_array())
      for (const value& one : *all) {
        fleet_cluster c;
        c.name = one.text_of("name");
        q.clusters.push_back(std::move(c));
      }
    return outcome_of(read_fleet_answer(answer, q));
  };
  h.instructions = fleet_instructions(10);
  return h;
}

}  // namespace policies
