#include "bootc/pool/coexistence/published_policy.hpp"

#include <algorithm>

namespace bootc {
namespace {

policy_hold hold_of(const policy_wait& w) {
  policy_hold out;
  out.reason = w.reason;
  out.by = w.by;
  if (w.code == hold_code::policy_fault.code) {
    out.is_fault = true;
    if (out.reason.starts_with(policy_failed_text)) out.reason.erase(0, policy_failed_text.size());
  } else if (hold_code::of_policy_word(w.code) == w.code && w.code != hold_code::policy.code) {
    out.code = w.code;
  } else if (const auto colon = w.code.find(':'); colon != std::string::npos) {
    out.code = w.code.substr(colon + 1);
  }
  return out;
}

}  // namespace

policy_answer answer_published(const policy_question& question) {
  policy_answer out;
  out.is = policy_answer::kind::given;
  policy_hold others;  // of who is named nowhere
  std::string one_of;
  for (const policy_wait& w : question.published) {
    if (const auto at = reactor::parse_rfc3339(w.asked_again); at && *at > question.now)
      out.look_again = earlier(out.look_again, *at);
    const bool names_all = static_cast<std::int64_t>(w.names.size()) == w.nodes;
    if (w.names.empty()) others = hold_of(w);
    if (!names_all) one_of += (one_of.empty() ? "" : "; or: ") + w.reason;
    // Who is halted for unhealthy nodes waits for no policy.
    if (question.published_halt && !out.halt) out.halt = hold_of(w);
    for (const std::string& name : w.names) out.holds.insert_or_assign(name, hold_of(w));
  }
  const auto incomplete = std::ranges::count_if(question.published, [](const policy_wait& w) {
    return static_cast<std::int64_t>(w.names.size()) != w.nodes;
  });
  if (incomplete > 1) {
    others.code.clear();
    others.is_fault = false;
    others.reason = std::move(one_of);
  }
  out.by = others.by;
  for (const unit& u : question.units)
    if (!u.slotted) out.holds.try_emplace(u.name, others);
  if (question.watched) out.watched = last_moved(question.units).name;
  return out;
}

reactor::awaitable<policy_answer> published_policy::ask(policy_question question) {
  if (!question.published.empty()) co_return answer_published(question);
  policy_answer asked = co_await at_hand_.ask(std::move(question));
  co_return asked;
}

}  // namespace bootc
