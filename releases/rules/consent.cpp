#include "releases/rules/consent.hpp"

#include "formats/plain/nearest.hpp"

#include <algorithm>
#include <optional>
#include <utility>

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

finding note_of(const waiver& w, std::string why) {
  finding note;
  note.id = "waiver.void";
  note.subject = w.subject;
  note.rule = w.rule;
  note.why = std::move(why);
  note.evidence = w.place;
  return note;
}

/// A warning: there is no `kind` of this name.
finding unknown(const waiver& w, const std::string& kind, const std::string& name,
                const std::vector<std::string>& known) {
  const std::string_view near = formats::nearest(known, name);
  std::string why = "it counts for nothing: there is no " + kind + " '" + name + "'";
  if (!near.empty()) why += "; is it '" + std::string(near) + "'?";
  finding note = note_of(w, std::move(why));
  note.how = severity::warn;
  note.from = name;
  note.to = near;
  return note;
}

bool has(const std::vector<std::string>& all, const std::string& name) {
  return std::find(all.begin(), all.end(), name) != all.end();
}

}  // namespace

std::vector<finding> lost_waivers(const std::vector<waiver>& waivers,
                                  const std::vector<std::string>& releases,
                                  const std::vector<std::string>& rules) {
  std::vector<finding> lost;
  for (const waiver& w : waivers) {
    if (w.about != waiver::subject_kind::release) continue;
    if (!has(releases, w.of)) {
      lost.push_back(unknown(w, "Release", w.of, releases));
    } else if (!rules.empty() && !has(rules, w.rule)) {
      lost.push_back(unknown(w, "rule", w.rule, rules));
    }
  }
  put_in_order(lost);
  return lost;
}

std::vector<finding> unused_waivers(const std::vector<waiver>& waivers, const std::string& train,
                                    const std::vector<std::string>& rules,
                                    const std::vector<finding>& found) {
  std::vector<finding> unused;
  std::string others, first_place;
  for (const waiver& w : waivers) {
    if (w.of != train) {
      if (w.about != waiver::subject_kind::train) continue;  // consent to a Release
      others += (others.empty() ? "" : ", ") + w.of;
      if (first_place.empty()) first_place = w.place;
    } else if (!has(rules, w.rule)) {
      unused.push_back(unknown(w, "rule", w.rule, rules));
    } else if (std::none_of(found.begin(), found.end(), [&](const finding& f) {
                 return f.id == w.rule && f.subject == w.subject;
               })) {
      unused.push_back(note_of(w, "it waives " + w.rule + ", which is not found of this"));
    }
  }
  if (!others.empty()) {
    finding note;
    note.id = "waiver.void";
    note.subject = "train/" + train;
    note.why = "consent to other trains counts for nothing here: " + others;
    note.evidence = first_place;
    unused.push_back(std::move(note));
  }
  return unused;
}

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
        finding note = note_of(w, "a waiver of " + w.rule + " does not count: " + why);
        note.from = w.hash;
        note.to = about.hash;
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
