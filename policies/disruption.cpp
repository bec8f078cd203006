#include "policies/disruption.hpp"

#include "policies/hold_text.hpp"
#include "policies/rollout_views.hpp"

#include <algorithm>
#include <chrono>

namespace policies {
namespace {

using reactor::errc;
using reactor::make_fault;
using reactor::result;

constexpr std::int64_t instructions_per_peer = 500;

const shape& answer_shape() {
  static const shape all = record_shape(
      "admission",
      {{"admit", flag_shape(), "whether it may be disturbed now"},
       maybe("reason", text_shape("a sentence"), "why not: a sentence for people; needed for a no"),
       maybe("code", text_shape(), "one word of letters and digits, for scripts and alerts"),
       maybe("halt", flag_shape(),
             "with a no: the rollout halts, and its nodes go back to the image before where "
             "spec.rollout.onFailure is Return; left out: the unit waits"),
       maybe("drain",
             record_shape(
                 "drain",
                 {{"timeout",
                   number_shape("seconds, 1 or more", 1),
                   "the drain is given up after that long and another unit has its turn; the "
                   "object's own limit stays where it is shorter; at most a day",
                   "seconds",
                   true,
                   {}}},
                 "a table of options of the drain"),
             "how its workload makes way, with a yes; of several packs the shortest time counts"),
       {"look_again",
        number_shape("seconds, 0 or more", 0),
        "ask again after that long although nothing changed; kept between a second and a day",
        "seconds",
        true,
        {}}},
      "a table with admit and reason");
  return all;
}

std::vector<argument> question_about(std::shared_ptr<const rollout_input> input, std::size_t unit,
                                     reactor::wall_time now) {
  std::vector<argument> out;
  out.emplace_back(view_of(std::shared_ptr<const rollout_unit>(input, &input->units[unit])));
  out.emplace_back(view_of(std::shared_ptr<const std::vector<rollout_unit>>(input, &input->units)));
  out.emplace_back(view_of(std::shared_ptr<const rollout_fleet>(input, &input->fleet)));
  out.push_back(now_argument(now));
  return out;
}

std::vector<std::vector<argument>> typical_questions(const pack& of) {
  std::vector<std::vector<argument>> questions;
  for (const auto& input : typical_rollouts(of.about().signals))
    questions.push_back(
        question_about(input, 2, reactor::wall_time(std::chrono::seconds(1'795'428'000))));
  return questions;
}

}  // namespace

std::vector<std::shared_ptr<const pack>> disruption_chain(const host& packs, const subject& s,
                                                          bool is_watched) {
  auto all = packs.applying("disruption.admit", s);
  if (is_watched || s.api == "tenants")
    std::erase_if(all, [](const auto& one) { return one->about().signals.empty(); });
  return all;
}

std::int64_t disruption_instructions(std::size_t peers) {
  return unit_instructions + instructions_per_peer * static_cast<std::int64_t>(peers);
}

result<disruption_answer> read_disruption_answer(const value& answer) {
  if (auto fine = check(answer, answer_shape()); !fine) return fine.error();
  disruption_answer out;
  out.admit = *answer.find("admit")->if_bool();
  if (const value* reason = answer.find("reason")) out.reason = one_line(*reason->if_string());
  if (const value* code = answer.find("code")) {
    out.code = *code->if_string();
    if (!is_code(out.code))
      return make_fault(errc::malformed, {}, "code: expected one word of letters and digits");
  }
  if (const value* halt = answer.find("halt")) out.halt = !out.admit && *halt->if_bool();
  if (const value* seconds = answer.find("look_again"))
    out.look_again = bounded_wait(*seconds->if_number());
  if (const value* drain = answer.find("drain"))
    if (const value* seconds = drain->find("timeout"))
      out.drain.timeout = bounded_wait(*seconds->if_number());
  if (!out.admit && out.reason.empty())
    return make_fault(errc::malformed, {},
                      "reason: expected a sentence, as it may not be disturbed");
  return out;
}

reactor::awaitable<disruption_answer> admit_disruption(host& packs, subject s,
                                                       std::shared_ptr<const rollout_input> input,
                                                       std::size_t unit, reactor::wall_time now) {
  disruption_answer out;
  out.admit = true;
  const auto chain = disruption_chain(packs, s, input->fleet.watched);
  question_note n;
  const bool noted = packs.takes_notes() && !chain.empty();
  if (noted) {
    n.hook = "disruption.admit";
    n.about = std::move(s);
    n.arguments = question_about(input, unit, now);
    n.instructions = disruption_instructions(input->units.size());
  }
  for (const std::shared_ptr<const pack>& one : chain) {
    const auto read = std::make_shared<disruption_answer>();
    judge accept = [read](const value& proposed) -> result<void> {
      auto taken = read_disruption_answer(proposed);
      if (!taken) return taken.error();
      *read = std::move(*taken);
      return {};
    };
    auto said = co_await packs.ask(one, "disruption.admit", question_about(input, unit, now),
                                   disruption_instructions(input->units.size()), std::move(accept));
    n.pack = one->about().name;
    n.version = one->about().version;
    n.digest = one->digest();
    if (said)
      n.answer = said->answer;
    else
      n.failed = said.error();
    if (!said) {
      out.admit = false;
      out.code = "PolicyFault";
      out.is_fault = true;
      out.reason = one_line(said.error().message());
      out.pack = one->about().name;
      out.version = one->about().version;
      break;
    }
    out.pack = one->about().name;
    out.version = one->about().version;
    if (read->look_again.count() > 0 &&
        (out.look_again.count() == 0 || read->look_again < out.look_again))
      out.look_again = read->look_again;
    if (read->drain.timeout.count() > 0 &&
        (out.drain.timeout.count() == 0 || read->drain.timeout < out.drain.timeout))
      out.drain.timeout = read->drain.timeout;
    if (read->admit) continue;
    out.admit = false;
    out.halt = read->halt;
    out.code = std::move(read->code);
    out.reason = std::move(read->reason);
    break;
  }
  if (noted) co_await packs.note(std::move(n));
  co_return out;
}

hook disruption_hook() {
  hook h;
  h.name = "disruption.admit";
  h.question = "may the workload of this unit be disturbed now?";
  h.asked =
      "for each unit that `rollout.plan` lets start, before it gets its slot. Every pack that "
      "applies is asked, by `order`; "
      "the first no is the answer, so a pack can only narrow. Packs that declare `signals` are "
      "also asked about Tenants, and, while `fleet.watched`, about the unit that moved last";
  h.failure = "no: the unit waits with the error as its reason; what is under way is finished";
  h.budget = "200,000 instructions and 500 a peer";
  h.arguments = {
      {"unit", shape_of<rollout_unit>(), "who would be disturbed"},
      {"peers", shape_of<std::vector<rollout_unit>>(),
       "every unit of the pool, this one too, by name ascending; who was admitted before it in "
       "this pass is slotted"},
      {"fleet", shape_of<rollout_fleet>(), "the pool and its surroundings"},
      now_described()};
  h.answer = answer_shape();
  h.typical = typical_questions;
  h.takes = [](const value& answer, const hook::asking&) {
    return outcome_of(read_disruption_answer(answer));
  };
  h.instructions = disruption_instructions(10);
  return h;
}

}  // namespace policies
