#include "helm/placed/noted_release.hpp"

#include "formats/digest.hpp"
#include "k8s/client/client.hpp"
#include "reactor/loop.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace helm::placed {
namespace {

namespace json = boost::json;
using reactor::awaitable;

std::string text_member_of(const json::object& o, std::string_view name) {
  const json::value* v = o.if_contains(name);
  return v && v->is_string() ? std::string(v->get_string()) : std::string();
}

}  // namespace

noted_facts read_noted(std::string_view text) {
  noted_facts out;
  boost::system::error_code wrong;
  const json::value read = json::parse(text, wrong);
  if (wrong || !read.is_object()) return out;
  out.owner = text_member_of(read.get_object(), "owner");
  const json::value* all = read.get_object().if_contains("records");
  if (!all || !all->is_array()) return out;
  for (const json::value& one : all->get_array()) {
    if (!one.is_object()) continue;
    const json::object& o = one.get_object();
    noted_record r;
    if (const json::value* n = o.if_contains("revision"); n && n->is_int64())
      r.revision = static_cast<int>(n->get_int64());
    r.uid = text_member_of(o, "uid");
    r.digest = text_member_of(o, "digest");
    out.records.push_back(std::move(r));
  }
  return out;
}

std::string write_noted(const noted_facts& facts) {
  json::array all;
  for (const noted_record& r : facts.records) {
    json::object one;
    one["revision"] = r.revision;
    one["uid"] = r.uid;
    one["digest"] = r.digest;
    all.emplace_back(std::move(one));
  }
  json::object o;
  o["owner"] = facts.owner;
  o["records"] = std::move(all);
  return json::serialize(o);
}

std::string noted_key(std::string_view ns, std::string_view release) {
  return std::string(ns) + "." + std::string(release);
}

noted_facts noted_after(noted_facts now, noted_record next,
                        const std::optional<noted_record>& base) {
  std::erase_if(now.records, [&](const noted_record& r) {
    return r.revision <= next.revision && (!base || !(r == *base));
  });
  now.records.push_back(std::move(next));
  return now;
}

noted_release::noted_release(reactor::loop& l, k8s::client& api, std::string notes_ns,
                             std::string ns, std::string release, std::string owner)
    : loop_(l),
      in_(api, notes_ns),
      notes_ns_(std::move(notes_ns)),
      key_(noted_key(ns, release)),
      owner_(std::move(owner)) {}

void noted_release::tell(std::string sentence) {
  if (told_.find(sentence) != told_.npos) return;
  told_ += (told_.empty() ? "" : "; ") + sentence;
}

awaitable<void> noted_release::read() {
  if (facts_) co_return;
  auto text = co_await in_.read(key_);
  facts_.emplace();
  if (!text)
    tell("the notes in namespace " + notes_ns_ + " cannot be read: " + text.error().message());
  else if (*text)
    facts_ = read_noted(**text);
}

awaitable<noted_record> noted_release::as_noted(release::record r) {
  noted_record out;
  out.revision = r.revision;
  out.uid = r.uid;
  const auto digest = [](const std::string& text) { return formats::sha256_hex(text); };
  std::string content = release::content_of(r);
  out.digest = co_await loop_.offload(digest, std::move(content));
  co_return out;
}

awaitable<bool> noted_release::knows(release::record r) {
  co_await read();
  if (facts_->records.empty()) co_return false;
  const noted_record is = co_await as_noted(std::move(r));
  co_return std::ranges::find(facts_->records, is) != facts_->records.end();
}

awaitable<void> noted_release::note(release::record r, std::optional<release::record> base) {
  std::optional<noted_record> after;
  if (base) after = co_await as_noted(std::move(*base));
  noted_record next = co_await as_noted(std::move(r));
  ledger::edit how = [next = std::move(next), after = std::move(after),
                      owner = owner_](const ledger::text& now) {
    noted_facts all = noted_after(now ? read_noted(*now) : noted_facts(), next, after);
    all.owner = owner;
    return ledger::text(write_noted(all));
  };
  auto written = co_await in_.change(key_, std::move(how));
  if (written)
    facts_ = read_noted(**written);
  else
    tell("the release cannot be noted in namespace " + notes_ns_ + ": " +
         written.error().message());
}

awaitable<void> noted_release::forget() {
  co_await read();
  // What another writer has noted since is of a release that is there.
  ledger::edit how = [known = *facts_](const ledger::text& now) {
    return now && read_noted(*now) == known ? ledger::text() : now;
  };
  auto written = co_await in_.change(key_, std::move(how));
  if (!written)
    tell("what is noted of it in namespace " + notes_ns_ +
         " cannot be forgotten: " + written.error().message());
}

awaitable<std::string> noted_release::owner() {
  co_await read();
  co_return facts_->owner;
}

}  // namespace helm::placed
