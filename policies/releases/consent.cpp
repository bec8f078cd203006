#include "policies/releases/consent.hpp"

#include <optional>

namespace policies::releases {
namespace {

/// "2026-12-31" is good until that day is over.
std::optional<reactor::wall_time> end_of(const std::string& until) {
  auto at = reactor::parse_rfc3339(until);
  if (at) return *at;
  at = reactor::parse_rfc3339(until + "T00:00:00Z");
  if (!at) return std::nullopt;
  return *at + std::chrono::hours(24);
}

/// Why it does not count; empty when it does.
std::string void_because(const waiver& w, const consented& about, reactor::wall_time now) {
  if (w.reason.empty()) return "it gives no reason";
  if (w.hash != about.hash)
    return "it was given for other content, " +
           (w.hash.empty() ? "without a hash" : w.hash.substr(0, 12));
  if (w.until.empty()) return {};
  const auto end = end_of(w.until);
  if (!end) return "its until is no time";
  return now < *end ? std::string() : "it ended " + w.until;
}

void lower(finding& f, const waiver& w) {
  f.how = f.how == severity::error ? severity::warn : severity::info;
  f.blocking.clear();
  f.why += "; waived" + (w.by.empty() ? "" : " by " + w.by) + ": " + w.reason;
}

}  // namespace

std::vector<finding> with_consent(std::vector<finding> findings, const std::vector<waiver>& waivers,
                                  const document& release, reactor::wall_time now) {
  return with_consent(std::move(findings), waivers, consented{release.name, release.hash}, now);
}

std::vector<finding> with_consent(std::vector<finding> findings, const std::vector<waiver>& waivers,
                                  const consented& about, reactor::wall_time now) {
  std::vector<finding> about_waivers;
  std::vector<bool> lowered(findings.size(), false);  // by one step, however many agree
  for (const waiver& w : waivers) {
    if (w.of != about.name) continue;
    const std::string why = void_because(w, about, now);
    for (std::size_t i = 0; i < findings.size(); ++i) {
      finding& f = findings[i];
      if (f.id != w.rule || f.subject != w.subject || f.how == severity::info) continue;
      if (!why.empty()) {
        finding note;
        note.id = "waiver.void";
        note.subject = w.subject;
        note.rule = w.rule;
        note.from = w.hash;
        note.to = about.hash;
        note.why = "a waiver of " + w.rule + " does not count: " + why;
        note.evidence = "waivers.yaml";
        about_waivers.push_back(std::move(note));
      } else if (!lowered[i]) {
        lower(f, w);
        lowered[i] = true;
      }
    }
  }
  findings.insert(findings.end(), about_waivers.begin(), about_waivers.end());
  put_in_order(findings);
  return findings;
}

}  // namespace policies::releases
