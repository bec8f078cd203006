#include "helm/apart/kept_renders.hpp"

#include "reactor/loop.hpp"
#include "reactor/waiters.hpp"

#include <boost/asio/execution_context.hpp>

#include <iterator>
#include <optional>
#include <utility>

namespace helm::apart {
namespace {

class renders_of_a_loop final : public reactor::asio::execution_context::service {
public:
  using key_type = renders_of_a_loop;
  static inline reactor::asio::execution_context::id id;
  explicit renders_of_a_loop(reactor::asio::execution_context& c) : service(c) {}
  std::optional<kept_renders> all;

private:
  void shutdown() override {}
};

}  // namespace

kept_renders& kept_renders::of(reactor::loop& l) {
  auto& here = reactor::asio::use_service<renders_of_a_loop>(l.context());
  if (!here.all) here.all.emplace(l);
  return *here.all;
}

const kept_renders::entry* kept_renders::find(std::string_view key) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return nullptr;
  used_.splice(used_.begin(), used_, found->second);
  return &found->second->what;
}

void kept_renders::drop(order::iterator at) {
  bytes_ -= at->bytes();
  by_key_.erase(at->key);
  used_.erase(at);
}

void kept_renders::keep(std::string key, entry e) {
  if (const auto known = by_key_.find(key); known != by_key_.end()) drop(known->second);
  const bool is_too_large =
      e.unpacked_bytes > most_unpacked_bytes || (e.packed && e.packed->size() > most_bytes_of_one);
  if (is_too_large) e = {};
  used_.push_front({std::move(key), std::move(e)});
  by_key_.emplace(used_.front().key, used_.begin());
  bytes_ += used_.front().bytes();
  while (bytes_ > most_bytes) drop(std::prev(used_.end()));
}

kept_renders::lead::lead(kept_renders& from, std::string key) : from_(from), key_(std::move(key)) {
  from_.under_way_.emplace(key_, std::make_shared<reactor::waiters>(from_.loop_));
}

kept_renders::lead::~lead() {
  const auto node = from_.under_way_.extract(key_);
  node.mapped()->wake_all();
}

std::unique_ptr<kept_renders::lead> kept_renders::take_lead(const std::string& key) {
  if (under_way_.contains(key)) return nullptr;
  return std::make_unique<lead>(*this, key);
}

reactor::awaitable<void> kept_renders::wait_for(std::string key) {
  const auto found = under_way_.find(key);
  if (found == under_way_.end()) co_return;
  const std::shared_ptr<reactor::waiters> end = found->second;
  (void)co_await end->wait();
}

void kept_renders::count_in(reactor::counter made, reactor::counter saved) {
  made_counter_ = std::move(made);
  saved_counter_ = std::move(saved);
}

void kept_renders::count_made() {
  ++made_;
  made_counter_.add();
}

void kept_renders::count_saved() {
  ++saved_;
  saved_counter_.add();
}

}  // namespace helm::apart
