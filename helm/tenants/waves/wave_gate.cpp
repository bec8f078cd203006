#include "helm/tenants/waves/wave_gate.hpp"

#include "reactor/loop.hpp"

#include <algorithm>
#include <utility>

namespace helm::tenants {
namespace {

using namespace std::chrono_literals;
using reactor::awaitable;
using reactor::nanoseconds;

/// How soon it is noticed that an earlier wave has settled.
constexpr nanoseconds look_often = 1s, look_seldom = 5s;

}  // namespace

wave_gate::wave_gate(reactor::loop& l, options o)
    : loop_(l), options_(std::move(o)), answered_(l), tasks_(l) {}

awaitable<std::optional<units::hold>> wave_gate::hold_for(k8s::object_key key,
                                                          std::string fingerprint) {
  for (;;) {
    if (is_.fingerprint != fingerprint) {
      is_ = {};
      is_.fingerprint = fingerprint;
    }
    is_.wanted.insert(key);
    if (is_.let_in.contains(key)) co_return std::nullopt;
    if (const auto held = is_.held.find(key); held != is_.held.end()) co_return held->second;
    if (asks_) {
      (void)co_await answered_.wait();
      continue;
    }
    co_await ask();
    // It has the new state since it was planned, or another state is asked about.
    if (is_.fingerprint == fingerprint && !is_.held.contains(key)) co_return std::nullopt;
  }
}

awaitable<void> wave_gate::ask() {
  struct asking {
    wave_gate& at;
    explicit asking(wave_gate& g) : at(g) { at.asks_ = true; }
    ~asking() {
      at.asks_ = false;
      at.answered_.wake_all();
    }
  };
  const asking now(*this);
  const std::string fingerprint = is_.fingerprint;
  turn_question q = options_.question(*this);
  turn_answer said = co_await options_.ask(std::move(q));
  if (is_.fingerprint != fingerprint) co_return;  // another state is asked about meanwhile
  const std::map<k8s::object_key, units::hold> before = std::exchange(is_.held, {});
  is_.look_again = said.look_again;
  for (const k8s::object_key& key : is_.wanted) {
    const std::string name = key.text();
    if (said.may.contains(name)) {
      is_.let_in.insert(key);
    } else if (const auto held = said.holds.find(name); held != said.holds.end()) {
      is_.held.emplace(key, held->second);
    }
  }
  for (const auto& [key, was] : before) {
    const auto is = is_.held.find(key);
    if (is == is_.held.end() || is->second.code != was.code) options_.wake(key);
  }
  if (is_.held.empty() || keeps_asking_ || options_.asks == options::repeats::never) co_return;
  keeps_asking_ = true;
  tasks_.start("waves", keep_asking());
}

awaitable<void> wave_gate::keep_asking() {
  while (!is_.held.empty()) {
    const nanoseconds asked_for = is_.look_again;
    const nanoseconds pause =
        asked_for.count() > 0 ? std::clamp(asked_for, look_often, look_seldom) : look_seldom;
    co_await loop_.sleep_for(pause);
    if (asks_ || !options_.is_live()) continue;
    co_await ask();
  }
  keeps_asking_ = false;
}

void wave_gate::forget(const k8s::object_key& key) {
  is_.wanted.erase(key);
  is_.let_in.erase(key);
  is_.held.erase(key);
}

}  // namespace helm::tenants
