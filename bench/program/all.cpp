#include "bench/program/all.hpp"

#include "bench/child.hpp"
#include "bench/measure.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <cstdio>
#include <map>

namespace bench {
namespace {

namespace json = boost::json;

constexpr auto longest = std::chrono::hours(2);  // of one bench

struct outcome_of_a_bench {
  std::vector<json::object> results;
  double seconds = 0;
  std::string failed;
};

void run_once(const listed_bench& b, const all_order& order, outcome_of_a_bench& to) {
  std::vector<std::string> words{b.name, "-o", "json"};
  words.insert(words.end(), b.arguments.begin(), b.arguments.end());
  if (b.repeats_itself) words.insert(words.end(), {"--runs", std::to_string(order.runs)});
  std::string line = "+ windlass-bench";
  for (const std::string& w : words) line += " " + w;
  std::fprintf(stderr, "%s\n", line.c_str());
  const auto began = monotonic();
  auto process = child::start(words);
  if (!process) {
    to.failed = process.error().message();
    return;
  }
  boost::system::error_code bad;
  json::value said = json::parse(process->read_all(longest), bad);
  const int code = process->wait();
  to.seconds += seconds_of(monotonic() - began);
  if (code != 0 || bad || !said.is_object())
    to.failed = b.name + " ended with " + std::to_string(code) + "; its words are above";
  else
    to.results.push_back(std::move(said.get_object()));
}

/// Of the numbers in the heads of the results.
json::object figures_of(const std::vector<json::object>& results) {
  std::map<std::string, std::vector<double>> seen;
  for (const json::object& r : results)
    for (const auto& [key, value] : r)
      if (value.is_number()) seen[key].push_back(value.to_number<double>());
  json::object out;
  for (auto& [name, values] : seen) {
    std::ranges::sort(values);
    out[name] = json::object{{"min", values.front()},
                             {"median", values[values.size() / 2]},
                             {"max", values.back()},
                             {"runs", values.size()}};
  }
  return out;
}

/// "ratio", "ratios" and "cold_ratio" of a result's head: what it says of others beside us.
void take_ratios(const std::string& bench, const json::object& result, json::object& to) {
  json::object found;
  for (const auto& [key, value] : result)
    if ((key == "ratios" && value.is_object()) || (key == "ratio" && value.is_number()))
      found[key] = value;
  if (const json::value* charts = result.if_contains("charts"); charts && charts->is_array())
    for (const json::value& c : charts->get_array())
      if (const json::value* r = c.as_object().if_contains("ratio"); r && r->is_number())
        found[c.as_object().at("chart").as_string()] = *r;
  if (!found.empty()) to[bench] = std::move(found);
}

}  // namespace

json::object run_all(const all_order& order) {
  const auto began = monotonic();
  std::map<std::string, outcome_of_a_bench> outcomes;
  for (unsigned run = 0; run < order.runs; ++run)
    for (const listed_bench& b : order.benches) {
      outcome_of_a_bench& o = outcomes[b.name];
      if (!b.missing.empty() || !o.failed.empty() || (run > 0 && b.repeats_itself)) continue;
      run_once(b, order, o);
    }
  json::object ratios, benches;
  for (const listed_bench& b : order.benches) {
    const outcome_of_a_bench& o = outcomes[b.name];
    json::object told;
    if (!b.missing.empty()) {
      told["skipped"] = b.missing;
    } else if (!o.failed.empty()) {
      told["failed"] = o.failed;
    } else {
      told["seconds"] = rounded(o.seconds, 1);
      told["figures"] = figures_of(o.results);
      told["result"] = o.results.back();
      take_ratios(b.name, o.results.back(), ratios);
    }
    benches[b.name] = std::move(told);
  }
  json::object out = environment();
  out["form"] = order.quick ? "quick" : "full";
  out["runs"] = order.runs;
  out["seconds"] = rounded(seconds_of(monotonic() - began), 0);
  out["ratios"] = std::move(ratios);
  out["benches"] = std::move(benches);
  return out;
}

bool has_failed(const json::object& result) {
  for (const auto& member : result.at("benches").as_object())
    if (member.value().as_object().contains("failed")) return true;
  return false;
}

}  // namespace bench
