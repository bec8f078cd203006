#include "helm/placed/operation_slots.hpp"

#include <memory>
#include <utility>

namespace helm::placed {

struct operation_slots::slot::books {
  books(reactor::loop& l, std::size_t of_each, std::size_t of_all)
      : loop(l), per_cluster(of_each), in_all(of_all) {}

  /// A waiting caller; granted before it is woken, so that no later caller takes its
  /// place.
  struct ticket {
    explicit ticket(reactor::loop& l) : granted(l) {}
    reactor::event granted;
  };
  struct cluster {
    std::size_t taken = 0;
    std::list<ticket*> waiting;
  };

  bool has_room(const cluster& c) const noexcept { return c.taken < per_cluster; }

  /// Lets in as many as there is room for, one of each cluster in turn, after the one that was
  /// served last.
  void let_in() {
    while (taken < in_all) {
      auto next = clusters.upper_bound(served_last);
      bool found = false;
      for (std::size_t i = 0; i < clusters.size() && !found; ++i) {
        if (next == clusters.end()) next = clusters.begin();
        found = !next->second.waiting.empty() && has_room(next->second);
        if (!found) ++next;
      }
      if (!found) return;
      served_last = next->first;
      ++taken;
      ++next->second.taken;
      next->second.waiting.front()->granted.set();
      next->second.waiting.pop_front();
    }
  }
  void give_back(const std::string& name) {
    --taken;
    const auto c = clusters.find(name);
    if (--c->second.taken == 0 && c->second.waiting.empty()) clusters.erase(c);
    let_in();
  }
  void forget(const std::string& name, ticket* t) {
    const auto c = clusters.find(name);
    c->second.waiting.remove(t);
    if (c->second.taken == 0 && c->second.waiting.empty()) clusters.erase(c);
  }

  reactor::loop& loop;
  const std::size_t per_cluster, in_all;
  std::size_t taken = 0;
  std::map<std::string, cluster> clusters;
  std::string served_last;
};

operation_slots::operation_slots(reactor::loop& l, std::size_t per_cluster, std::size_t in_all)
    : books_(std::make_shared<slot::books>(l, per_cluster, in_all)) {}

operation_slots::slot& operation_slots::slot::operator=(slot&& other) noexcept {
  if (this == &other) return *this;
  give_back();
  of_ = std::move(other.of_);
  cluster_ = std::move(other.cluster_);
  return *this;
}

void operation_slots::slot::give_back() noexcept {
  const auto books = std::exchange(of_, {}).lock();
  if (books) books->give_back(cluster_);
}

reactor::awaitable<operation_slots::slot> operation_slots::take(std::string cluster) {
  const std::shared_ptr<slot::books> books = books_;
  /// Leaves the queue however the wait ends.
  struct place {
    slot::books& in;
    const std::string& name;
    slot::books::ticket ticket;
    place(slot::books& b, const std::string& n) : in(b), name(n), ticket(b.loop) {
      in.clusters[name].waiting.push_back(&ticket);
    }
    ~place() {
      if (!ticket.granted.is_set())
        in.forget(name, &ticket);
      else if (!kept)
        in.give_back(name);
    }
    bool kept = false;
  };
  place here(*books, cluster);
  books->let_in();
  (void)co_await here.ticket.granted.wait();
  slot out;
  out.of_ = books;
  out.cluster_ = cluster;
  here.kept = true;
  co_return out;
}

std::size_t operation_slots::taken() const noexcept {
  return books_->taken;
}

std::size_t operation_slots::waiting() const noexcept {
  std::size_t all = 0;
  for (const auto& [name, c] : books_->clusters) all += c.waiting.size();
  return all;
}

}  // namespace helm::placed
