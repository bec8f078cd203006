#include "releases/commands/promotion.hpp"

#include "formats/digest.hpp"
#include "registry/manifest.hpp"
#include "registry/retag.hpp"

namespace cli {
namespace {

using policies::trains::train_answer;
using reactor::errc;
using reactor::make_fault;
using reactor::result;
using registry::oci_reference;

struct pair_of_names {
  oci_reference from, to;  // `from` with its digest
};
struct index_to_be {
  oci_reference to;
  std::string text, digest;
};

/// One run; the members are what every part of it needs.
class promotion {
public:
  promotion(registry::client& c, std::string place) : client_(c), place_(std::move(place)) {}

  reactor::awaitable<result<std::vector<named_image>>> run(train_answer plan) {
    auto ready = co_await look(std::move(plan));
    if (!ready) co_return ready.error();
    for (const pair_of_names& one : images_) {
      auto done = co_await name_image(one);
      if (!done) co_return stopped(done.error());
    }
    for (const index_to_be& one : indexes_) {
      auto done = co_await name_index(one);
      if (!done) co_return stopped(done.error());
    }
    // A registry takes no name under a condition: another promotion may have overwritten one.
    for (const named_image& one : named_) {
      auto done = co_await still_is(one);
      if (!done) co_return stopped(done.error());
    }
    co_return std::move(named_);
  }

private:
  result<oci_reference> read(const std::string& name, std::string digest) const {
    auto ref = registry::parse_oci_reference(place_ + "/" + name);
    if (!ref || ref->tag.empty())
      return make_fault(errc::malformed, "promote " + place_ + "/" + name,
                        ref ? "expected a tag" : ref.error().text);
    ref->digest = std::move(digest);
    return *ref;
  }
  static reactor::fault refused(const registry::fault& f) {
    return make_fault(errc::refused, "promote", f.text);
  }
  reactor::fault stopped(const reactor::fault& f) const {
    return make_fault(f.code, f.doing,
                      f.detail + " (" + std::to_string(named_.size()) + " of " +
                          std::to_string(images_.size() + indexes_.size()) + " are named)");
  }

  /// Nothing is written before all of it may be.
  reactor::awaitable<result<void>> look(train_answer plan) {
    for (const policies::trains::retag& r : plan.retags) {
      auto from = read(r.from, r.digest);
      if (!from) co_return from.error();
      auto to = read(r.to, std::string());
      if (!to) co_return to.error();
      auto free = co_await registry::can_retag(client_, *from, *to);
      if (!free) co_return refused(free.error());
      images_.push_back({std::move(*from), std::move(*to)});
    }
    for (const policies::trains::index_row& r : plan.indexes) {
      auto to = read(r.to, std::string());
      if (!to) co_return to.error();
      std::vector<registry::index_part> parts;
      for (const policies::trains::index_part& p : r.parts) {
        auto at = read(p.from, p.digest);
        if (!at) co_return at.error();
        parts.push_back({std::move(*at), p.architecture});
      }
      auto text = co_await registry::index_of(client_, std::move(parts));
      if (!text) co_return refused(text.error());
      index_to_be one{std::move(*to), *text, formats::digest_of(*text)};
      auto free = co_await registry::can_name(client_, one.to, one.digest);
      if (!free) co_return refused(free.error());
      indexes_.push_back(std::move(one));
    }
    co_return result<void>();
  }

  reactor::awaitable<result<void>> still_is(named_image one) {
    auto to = registry::parse_oci_reference(one.ref);
    if (!to) co_return make_fault(errc::malformed, "promote " + one.ref, to.error().text);
    oci_reference name = *to;
    auto now = co_await client_.current_digest(std::move(name), one.digest);
    if (!now) co_return refused(now.error());
    if (*now != one.digest)
      co_return make_fault(errc::refused, "promote " + one.ref,
                           "it is " + *now + " by now, and " + one.digest + " was stored");
    co_return result<void>();
  }
  /// What is written is asked for: that is what counts.
  reactor::awaitable<result<void>> prove(oci_reference to, std::string digest,
                                         registry::retagged how) {
    named_image one{to.text(), std::move(digest),
                    how == registry::retagged::made ? named_image::naming::given
                                                    : named_image::naming::there_already};
    auto done = co_await still_is(one);
    if (done) named_.push_back(std::move(one));
    co_return done;
  }
  reactor::awaitable<result<void>> name_image(pair_of_names one) {
    auto done = co_await registry::retag(client_, one.from, one.to);
    if (!done) co_return refused(done.error());
    co_return co_await prove(one.to, one.from.digest, *done);
  }
  reactor::awaitable<result<void>> name_index(index_to_be one) {
    auto how = co_await registry::can_name(client_, one.to, one.digest);
    if (!how) co_return refused(how.error());
    if (*how == registry::retagged::made) {
      std::string type = registry::media_type::image_index;
      auto stored = co_await client_.put_manifest(one.to, one.text, std::move(type));
      if (!stored) co_return refused(stored.error());
    }
    co_return co_await prove(one.to, one.digest, *how);
  }

  registry::client& client_;
  const std::string place_;
  std::vector<pair_of_names> images_;
  std::vector<index_to_be> indexes_;
  std::vector<named_image> named_;
};

}  // namespace

reactor::awaitable<result<std::vector<named_image>>> give_names(
    registry::client& c, std::string place, policies::trains::train_answer plan) {
  promotion work(c, std::move(place));
  co_return co_await work.run(std::move(plan));
}

}  // namespace cli
