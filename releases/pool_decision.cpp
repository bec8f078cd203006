#include "releases/pool_decision.hpp"

#include "formats/plain/listed.hpp"
#include "releases/hold.hpp"
#include "releases/names.hpp"

#include <algorithm>

namespace releases {

namespace docs = policies::releases;

namespace {

constexpr std::size_t most_ids = 20;

std::vector<std::string> names_of(const std::vector<docs::finding>& findings,
                                  docs::severity least) {
  std::vector<std::string> ids;
  for (const docs::finding& f : findings)
    if (f.how >= least && std::ranges::find(ids, f.id) == ids.end()) ids.push_back(f.id);
  return ids;
}

bool blocks(const docs::finding& f, docs::decision d) {
  return d == docs::decision::deny ? f.how == docs::severity::error : !f.blocking.empty();
}

/// "component.missing, depends.cycle: rule T1 … needs it": the ids of what blocks, and what the
/// first of them says.
std::string told(const std::vector<docs::finding>& findings, docs::decision d) {
  std::vector<docs::finding> blocking;
  for (const docs::finding& f : findings)
    if (blocks(f, d)) blocking.push_back(f);
  std::string text = formats::listed(names_of(blocking, docs::severity::info), most_ids);
  if (!blocking.empty()) text += ": " + blocking.front().subject + " " + blocking.front().why;
  return text;
}

units::hold held(const followed_pool& e, const units::hold_kind& why, std::string sentence) {
  std::string released(why.released);
  // Consent is bound to the content, and its hash is written nowhere in the Release.
  const bool waivable = why == hold_code::denied.code || why == hold_code::approval.code;
  if (waivable && !e.content.empty())
    released += "; a waiver names release: " + e.release + ", hash: " + e.content;
  if (waivable && !e.consent_problem.empty())
    released += "; in the ConfigMap " + std::string(names::consent) + ": " + e.consent_problem;
  return {e.pool, std::string(why.code), std::move(sentence), std::move(released), {}};
}

/// Why a pool stays at the digest that it has.
units::hold held_for_moved_image(const followed_pool& e) {
  return {e.pool,
          std::string(hold_code::image_moved.code),
          e.pool + ": \"" + e.ref + "\" was pushed again and is " + e.moved_to +
              " by now; the pool stays at " + (e.digest.empty() ? "the former image" : e.digest) +
              ", which it was when " + (e.at.empty() ? e.release : e.at) + " was allowed",
          "`windlass rollout approve " + e.pool + " --digest " + e.moved_to +
              "` consents to it, or the name is the former image again",
          {}};
}

/// Why the image of the Release is not written; none when it may be.
std::optional<units::hold> obstacle(const followed_pool& e) {
  for (const docs::decision d : {docs::decision::deny, docs::decision::needs_approval}) {
    const bool deny = d == docs::decision::deny;
    const units::hold_kind& why = deny ? hold_code::denied : hold_code::approval;
    if (std::ranges::any_of(e.own, [&](const docs::finding& f) { return blocks(f, d); }))
      return held(e, why,
                  e.release + (deny ? " is denied: " : " waits for consent: ") + told(e.own, d));
    for (const followed_pool::step& s : e.steps)
      if (std::ranges::any_of(s.answer.findings,
                              [&](const docs::finding& f) { return blocks(f, d); }))
        return held(e, why,
                    "the step from " + s.from + " to " + e.release +
                        (deny ? " is denied here: " : " waits for consent: ") +
                        told(s.answer.findings, d));
  }
  return std::nullopt;
}

}  // namespace

std::string_view text(pool_decision::standing s) noexcept {
  switch (s) {
    case pool_decision::standing::arrived: return "Arrived";
    case pool_decision::standing::moving: return "Moving";
    case pool_decision::standing::due: return "Due";
    case pool_decision::standing::held: break;
  }
  return "Held";
}

std::string ids_of(const std::vector<docs::finding>& findings, docs::severity least) {
  return formats::listed(names_of(findings, least), most_ids);
}

pool_decision decide(const followed_pool& e) {
  pool_decision o;
  o.pool = e.pool;
  o.at = e.at;
  o.release = e.release;
  o.content = e.content;
  o.ref = e.ref;
  const auto hold = [&](const units::hold_kind& why, std::string sentence) {
    o.hold = held(e, why, std::move(sentence));
    return o;
  };
  if (!e.fault.empty()) return hold(units::hold_code::policy_fault, e.fault);
  if (e.release.empty() || !e.why_none.empty()) return hold(hold_code::unknown, e.why_none);
  o.findings = names_of(e.own, docs::severity::info);
  if (!e.image || e.image->verdict == docs::decision::deny)
    return hold(hold_code::denied,
                e.release + " names no image: " +
                    (e.image ? told(e.image->findings, docs::decision::deny) : std::string()));
  const docs::pool_image none;
  const docs::pool_image& to = e.image->images.empty() ? none : e.image->images.front();
  o.target_image = to.image;
  o.target_ref = to.ref;
  if (to.ref.empty())
    return hold(hold_code::unknown, "rule " + to.rule + " for " + e.release +
                                        " does not say where its image is fetched (`ref`)");
  // Of what nodes run the most distant is the first: what that step means, the pool has before it.
  for (const followed_pool::step& s : e.steps) {
    o.image = s.answer.image_from;
    if (o.rolls == "-" || s.answer.rolls == "yes") o.rolls = s.answer.rolls;
    if (s.from == e.at || o.level == "none") o.level = s.answer.level;
    for (std::string& id : names_of(s.answer.findings, docs::severity::info))
      if (std::ranges::find(o.findings, id) == o.findings.end())
        o.findings.push_back(std::move(id));
  }
  if (o.target_ref == e.ref) {
    o.is = e.settled ? pool_decision::standing::arrived : pool_decision::standing::moving;
    if (!e.moved_to.empty()) {
      o.is = pool_decision::standing::held;
      o.hold = held_for_moved_image(e);
    }
    return o;
  }
  o.hold = obstacle(e);
  o.is = o.hold ? pool_decision::standing::held : pool_decision::standing::due;
  return o;
}

}  // namespace releases
