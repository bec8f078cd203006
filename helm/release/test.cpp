#include "helm/release/test.hpp"

#include "helm/go.hpp"
#include "helm/render/installation.hpp"

#include <algorithm>

namespace helm::release {

awaitable<test_outcome> test_action::run(test_request r) {
  test_outcome out;
  auto reached = co_await bench_.reach();
  if (!reached) {
    out.failure = reached.error();
    co_return out;
  }
  if (!valid_release_name(r.name)) {
    out.failure = problem{"releaseTest: Release name is invalid: " + r.name};
    co_return out;
  }
  auto past = co_await bench_.records.all_of(r.name);
  if (!past) {
    out.failure = past.error();
    co_return out;
  }
  record rel = past->back();
  const auto listed = [](const std::vector<std::string>& all, const std::string& name) {
    return std::find(all.begin(), all.end(), name) != all.end();
  };
  // Tests that are left out keep what is known of them. In the record they come first, those that
  // were excluded before those that were not included, as Helm leaves it.
  std::vector<recorded_hook> skipped;
  const auto leave_out = [&](auto is_out) {
    std::vector<recorded_hook> run;
    for (auto& h : rel.hooks) (is_out(h) ? skipped : run).push_back(std::move(h));
    rel.hooks = std::move(run);
  };
  leave_out([&](const recorded_hook& h) { return listed(r.exclude, h.what.name); });
  leave_out([&](const recorded_hook& h) {
    return !r.include.empty() && !listed(r.include, h.what.name);
  });
  out.failure = co_await hooks_.run(rel, "test", r.timeout);
  skipped.insert(skipped.end(), rel.hooks.begin(), rel.hooks.end());
  rel.hooks = std::move(skipped);
  auto written = co_await keep_.store_or_fail(rel, r.timeout);
  if (!written && !out.failure) out.failure = written.error();
  out.tested = std::move(rel);
  co_return out;
}

awaitable<outcome<done>> test_action::logs(record tested, test_request r, std::string* into) {
  const auto listed = [](const std::vector<std::string>& all, const std::string& name) {
    return std::find(all.begin(), all.end(), name) != all.end();
  };
  std::stable_sort(tested.hooks.begin(), tested.hooks.end(), [](const auto& a, const auto& b) {
    return a.what.weight != b.what.weight ? a.what.weight < b.what.weight
                                          : a.what.name < b.what.name;
  });
  for (const auto& h : tested.hooks) {
    if (!listed(h.what.events, "test") || listed(r.exclude, h.what.name)) continue;
    if (!r.include.empty() && !listed(r.include, h.what.name)) continue;
    auto text = co_await bench_.on.pod_log(tested.ns, h.what.name);
    if (!text)
      co_return problem{"unable to get pod logs for " + h.what.name + ": " + text.error().text};
    *into += "POD LOGS: " + h.what.name + "\n" + *text + "\n";
  }
  co_return done{};
}

}  // namespace helm::release
