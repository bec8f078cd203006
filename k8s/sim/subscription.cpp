#include "k8s/sim/subscription.hpp"

#include <algorithm>

namespace k8s::sim {

namespace {

// a last one before the timeout
constexpr reactor::nanoseconds kBookmarkBeforeEnd = std::chrono::seconds(2);

std::shared_ptr<const std::string> line(std::string_view type, std::string_view object) {
  auto s = std::make_shared<std::string>();
  s->reserve(type.size() + object.size() + 24);
  *s += "{\"type\":\"";
  *s += type;
  *s += "\",\"object\":";
  *s += object;
  *s += "}\n";
  return s;
}

std::string_view name_of(change::what type) {
  switch (type) {
    case change::what::added: return "ADDED";
    case change::what::modified: return "MODIFIED";
    case change::what::deleted: return "DELETED";
  }
  return "MODIFIED";
}

}  // namespace

subscription::subscription(watch_filter filter, std::uint64_t from, reactor::steady_time opened,
                           reactor::nanoseconds timeout, reactor::nanoseconds bookmark_every,
                           std::size_t pending_limit)
    : filter_(std::move(filter)),
      from_(from),
      revision_(from),
      ends_at_(opened + timeout),
      bookmark_at_(std::max(
          opened, std::min(opened + bookmark_every, opened + timeout - kBookmarkBeforeEnd))),
      bookmark_every_(bookmark_every),
      pending_limit_(pending_limit),
      selective_(!filter_.labels.empty() || !filter_.fields.empty()) {}

std::string subscription::take() {
  if (held_) return {};
  std::string all;
  if (pending_.size() == 1) {
    all = *pending_.front();
  } else {
    for (const auto& l : pending_) all += *l;
  }
  pending_.clear();
  return all;
}

reactor::steady_time subscription::next_due() const noexcept {
  if (ended_ || held_) return reactor::never;  // poll() does nothing then
  return filter_.bookmarks ? std::min(bookmark_at_, ends_at_) : ends_at_;
}

void subscription::poll(reactor::steady_time now, std::uint64_t revision) {
  if (ended_ || held_) return;
  if (filter_.bookmarks && now >= bookmark_at_) {
    // One that says nothing new is left out, as the real server does.
    if (revision > from_) send_bookmark(revision, false);
    bookmark_at_ = now + bookmark_every_;
    if (bookmark_at_ > ends_at_ - kBookmarkBeforeEnd && now < ends_at_ - kBookmarkBeforeEnd) {
      bookmark_at_ = ends_at_ - kBookmarkBeforeEnd;
    }
  }
  if (now >= ends_at_) end();
}

bool subscription::selects(const json::object& stored) const {
  if (!filter_.as.kind->storage_elsewhere) {
    return filter_.labels.matches_object(stored) && filter_.fields.matches(stored);
  }
  const json::object seen = from_storage(*filter_.as.kind, stored);
  return filter_.labels.matches_object(seen) && filter_.fields.matches(seen);
}

/// False when the fields that are asked for name another object than that of `key`.
bool subscription::is_named(std::string_view key) const {
  const std::string* name = filter_.fields.required("metadata.name");
  return !name || key.substr(key.rfind('/') + 1) == *name;
}

void subscription::offer(const change& c, shared_lines& shared) {
  if (ended_ || c.revision <= revision_ || c.collection != filter_.collection) return;
  if (!filter_.key_prefix.empty() && !c.key.starts_with(filter_.key_prefix)) return;
  revision_ = c.revision;
  const bool plain = filter_.as.raw();
  std::string_view type = name_of(c.type);
  if (!selective_) {
    if (plain) {
      auto& same = filter_.as.drops_managers ? shared.without_managers : shared.plain;
      if (!same) same = line(type, filter_.as.as_stored(*c.object));
      push(same);
    } else {
      push(line(type, filter_.as.render(*c.object)));
    }
    return;
  }
  if (!is_named(c.key)) return;  // most select one object, and labels need not be read for them
  if (!shared.now) shared.now = c.object->look();
  if (c.before && !shared.before) shared.before = c.before->look();
  const json::object& now = *shared.now;
  const bool was = c.before && selects(*shared.before);
  const bool is = c.type != change::what::deleted && selects(now);
  if (!was && !is) return;
  if (is) {
    push(line(was ? "MODIFIED" : "ADDED",
              plain ? filter_.as.as_stored(*c.object) : filter_.as.render(now)));
  } else {
    // The client knows the object as it was; it is shown that once more, under the version of the
    // change.
    json::object last = c.before->parsed();
    last["metadata"].as_object()["resourceVersion"] = std::to_string(c.revision);
    push(line("DELETED", filter_.as.render(last)));
  }
}

void subscription::add_initial(const version& v) {
  if (selective_ && !selects(*v.look())) return;
  push(line("ADDED", filter_.as.render(v)));
}

void subscription::send_bookmark(std::uint64_t revision, bool initial_events_end) {
  revision_ = std::max(revision_, revision);
  push(line("BOOKMARK", filter_.as.bookmark(revision, initial_events_end)));
}

void subscription::fail(const failure& f) {
  push(line("ERROR", json::serialize(to_status(f))));
  end();
}

void subscription::end() {
  ended_ = true;
  if (on_ready && !held_) on_ready();
}

void subscription::hold(bool held) {
  held_ = held;
  if (!held && on_ready) on_ready();  // what is due has to be looked at again
}

void subscription::push(std::shared_ptr<const std::string> l) {
  if (ended_) return;
  pending_.push_back(std::move(l));
  if (pending_limit_ != 0 && pending_.size() > pending_limit_ && on_ready) {
    // A reader this slow is cut off; it will come back with the version it has.
    pending_.clear();
    end();
    return;
  }
  if (on_ready && !held_) on_ready();
}

}  // namespace k8s::sim
