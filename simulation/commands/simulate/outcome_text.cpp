#include "simulation/commands/simulate/outcome_text.hpp"

#include <cstring>
#include <stdexcept>

namespace cli::simulate {
namespace {

/// Every field, said once for both ways.
template <class Way>
void each_field(trial_outcome& o, Way& way) {
  for (std::uint64_t* n : {&o.seed, &o.trace, &o.writes}) way(*n);
  for (std::size_t* n :
       {&o.nodes, &o.updated, &o.settled_clusters, &o.tenants.all, &o.tenants.arrived,
        &o.trustees.all, &o.trustees.arrived, &o.releases.all, &o.releases.arrived, &o.plans_kept,
        &o.undone, &o.reboots, &o.moved_pods, &o.most_disrupted, &o.holds, &o.crashes,
        &o.disturbed_answers, &o.swaps, &o.left_alive})
    way(*n);
  for (reactor::nanoseconds* t : {&o.took, &o.simulated, &o.cpu}) way(*t);
  way(o.violations);
  way(o.divergent_caches);
  way(o.unfinished);
  way(o.asked);
  way(o.tail);
}

struct writer {
  std::string text;
  void operator()(std::uint64_t n) {
    char bytes[sizeof n];
    std::memcpy(bytes, &n, sizeof n);
    text.append(bytes, sizeof n);
  }
  void operator()(reactor::nanoseconds t) { (*this)(static_cast<std::uint64_t>(t.count())); }
  void operator()(const std::string& s) {
    (*this)(std::uint64_t{s.size()});
    text += s;
  }
  void operator()(const std::vector<std::string>& all) {
    (*this)(std::uint64_t{all.size()});
    for (const std::string& s : all) (*this)(s);
  }
  void operator()(const std::vector<asked_hook>& all) {
    (*this)(std::uint64_t{all.size()});
    for (const asked_hook& a : all) {
      (*this)(a.pack);
      (*this)(a.hook);
      (*this)(a.stock);
      (*this)(a.times);
    }
  }
};

struct reader {
  std::string_view left;
  std::string_view take(std::uint64_t n) {
    if (n > left.size()) throw std::runtime_error("an outcome is cut short");
    const std::string_view out = left.substr(0, n);
    left.remove_prefix(n);
    return out;
  }
  void operator()(std::uint64_t& n) { std::memcpy(&n, take(sizeof n).data(), sizeof n); }
  void operator()(reactor::nanoseconds& t) {
    std::uint64_t n = 0;
    (*this)(n);
    t = reactor::nanoseconds(static_cast<std::int64_t>(n));
  }
  void operator()(std::string& s) {
    std::uint64_t n = 0;
    (*this)(n);
    s = take(n);
  }
  void operator()(std::vector<std::string>& all) {
    std::uint64_t n = 0;
    (*this)(n);
    for (all.clear(); n > 0; --n) (*this)(all.emplace_back());
  }
  void operator()(std::vector<asked_hook>& all) {
    std::uint64_t n = 0;
    (*this)(n);
    for (all.clear(); n > 0; --n) {
      asked_hook& a = all.emplace_back();
      (*this)(a.pack);
      (*this)(a.hook);
      (*this)(a.stock);
      (*this)(a.times);
    }
  }
};

}  // namespace

std::string outcome_text(trial_outcome o) {
  writer out;
  each_field(o, out);
  return std::move(out.text);
}

trial_outcome outcome_in(std::string_view text) {
  trial_outcome o;
  reader in{text};
  each_field(o, in);
  if (!in.left.empty()) throw std::runtime_error("an outcome has more than is known");
  return o;
}

}  // namespace cli::simulate
