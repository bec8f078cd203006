#include "bootc/pool/drain_words.hpp"

#include "bootc/pool/pool_status.hpp"
#include "k8s/client/events.hpp"

#include <algorithm>
#include <utility>

namespace bootc {
namespace {

using kind = pod_wait::kind;

/// What a cluster says can be megabytes long; people see its beginning.
constexpr std::size_t most_words_bytes = 512;
constexpr std::size_t most_budgets = 5;
constexpr std::string_view next_attempt_text = "the next attempt at ";

std::string cut(const std::string& said) {
  return said.size() <= most_words_bytes ? said : k8s::cut_utf8(said, most_words_bytes);
}

std::string namespace_of(const std::string& pod) {
  return pod.substr(0, pod.find('/'));
}

/// "the PodDisruptionBudget shop/db" of those whose answer does not name it too.
std::string name_of_budget(const pod_wait& w) {
  return w.object.empty() ? "a PodDisruptionBudget"
                          : "the PodDisruptionBudget " + namespace_of(w.pod) + "/" + w.object;
}

/// The pods that each budget refuses, in the order of `d.waits`.
std::vector<std::pair<const pod_wait*, std::vector<std::string>>> by_budget(
    const drain_progress& d) {
  std::vector<std::pair<const pod_wait*, std::vector<std::string>>> out;
  for (const pod_wait& w : d.waits) {
    if (w.why != kind::budget) continue;
    const auto known = std::ranges::find_if(
        out, [&](const auto& one) { return name_of_budget(*one.first) == name_of_budget(w); });
    if (known == out.end())
      out.push_back({&w, {w.pod}});
    else
      known->second.push_back(w.pod);
  }
  return out;
}

std::string and_more(std::size_t all) {
  return all > most_budgets ? " and " + std::to_string(all - most_budgets) + " more budgets" : "";
}

}  // namespace

std::string budgets_in(const drain_progress& d) {
  const auto budgets = by_budget(d);
  std::string out;
  for (std::size_t i = 0; i < std::min(budgets.size(), most_budgets); ++i) {
    const auto& [w, pods] = budgets[i];
    out += (i == 0 ? "" : "; ") + name_of_budget(*w) + " allows no eviction of " + joined(pods);
    if (!w->words.empty()) out += " (" + cut(w->words) + ")";
  }
  out += and_more(budgets.size());
  std::vector<std::string> unhealthy;
  for (const pod_wait& w : d.waits)
    if (w.why == kind::budget && w.is_unhealthy) unhealthy.push_back(w.pod);
  if (!unhealthy.empty()) {
    const bool one = unhealthy.size() == 1;
    out += "; " + joined(std::move(unhealthy)) + (one ? " is" : " are") +
           " not Ready, and a budget whose unhealthyPodEvictionPolicy is AlwaysAllow would let " +
           (one ? "it" : "them") + " go";
  }
  return out;
}

std::string release_of_budgets(const drain_progress& d) {
  const auto budgets = by_budget(d);
  std::string out;
  for (std::size_t i = 0; i < std::min(budgets.size(), most_budgets); ++i)
    out += (i == 0 ? "" : ", ") + name_of_budget(*budgets[i].first);
  return out + and_more(budgets.size()) +
         (budgets.size() == 1 ? " allows one more disruption" : " allow one more disruption");
}

std::string left_of(const drain_progress& d) {
  std::string out =
      d.pods_left == 1 ? "1 pod is left" : std::to_string(d.pods_left) + " pods are left";
  for (std::size_t i = 0; i < d.left.size(); ++i) out += (i == 0 ? ": " : ", ") + d.left[i];
  if (!d.left.empty() && d.left.size() < d.pods_left)
    out += " and " + std::to_string(d.pods_left - d.left.size()) + " more";
  for (const pod_wait& w : d.waits)
    if (w.why == kind::refused)
      out += "; the server does not take the eviction of " + w.pod + ": " + cut(w.words);
  const auto ends = std::ranges::find(d.waits, kind::ending, &pod_wait::why);
  if (ends != d.waits.end()) {
    out += "; " + ends->pod + " was told to end at " + reactor::format_rfc3339(ends->since) +
           " and has not ended";
    if (!ends->object.empty()) out += ": its finalizers keep it (" + cut(ends->object) + ")";
  }
  if (!d.unseen.empty()) out += "; which of them are gone is not seen: " + cut(d.unseen);
  return out;
}

std::string obstacle_of(const drain_progress& d) {
  std::string out = budgets_in(d);
  if (out.empty() && d.pods_left > 0) out = left_of(d);
  return out;
}

std::string next_attempt(reactor::wall_time at, reactor::wall_time now) {
  const std::string hour = reactor::format_rfc3339(at);
  return at > now ? std::string(next_attempt_text) + hour
                  : "the next attempt, which was due at " + hour;
}

std::string next_attempt_again(const std::string& said, reactor::wall_time now) {
  if (!said.starts_with(next_attempt_text)) return said;
  const auto at = reactor::parse_rfc3339(said.substr(next_attempt_text.size()));
  return at ? next_attempt(*at, now) : said;
}

budget_refusal read_budget_refusal(const k8s::fault& f) {
  constexpr std::string_view begins = "The disruption budget ", counts = "needs ";
  budget_refusal out;
  for (const k8s::cause& c : f.causes) {
    const std::string_view said = c.message;
    if (c.reason != "DisruptionBudget" || !said.starts_with(begins)) continue;
    const std::string_view rest = said.substr(begins.size());
    const std::size_t end = std::min(rest.find(' '), rest.size());
    out.budget = rest.substr(0, end);
    // How many pods it needs and has changes all the time, and changes nothing about what to do.
    if (end < rest.size() && !rest.substr(end + 1).starts_with(counts))
      out.words = rest.substr(end + 1);
    return out;
  }
  return out;
}

}  // namespace bootc
