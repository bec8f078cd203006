#pragma once

#include "helm/placed/plan/names.hpp"
#include "helm/placed/plan/writes.hpp"
#include "k8s/client/client.hpp"
#include "k8s/client/fault.hpp"
#include "k8s/informer/view.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/loop.hpp"

#include <boost/json.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace helm::placed {

/// What a server said of a write, for those who decide what follows.
inline write_answer answer_of(const k8s::fault& f) {
  return {f.http_status, f.retry_after};
}

enum class write_end : std::uint8_t {
  written,
  unchanged,  // it was so already
  gone,       // the object is not there any more: it needs no write
  conflict,   // another client wrote meanwhile: read it and decide again
  failed,
};

/// How a write to an object ended.
template <class Kind>
struct written {
  using end = write_end;
  end is = end::unchanged;
  std::optional<Kind> now;  // as the server has it since, where it said
  std::string why;          // of failed
};

/// What is written to the objects of one kind that people make: each write names what it was
/// decided on, and touches nothing of anybody else's.
/// Lifetime  loop and client outlive it.
template <class Kind>
class object_writes {
public:
  object_writes(reactor::loop& l, k8s::client& api, k8s::resource of, std::string_view finalizer)
      : loop_(l), api_(api), of_(std::move(of)), finalizer_(finalizer) {}

  /// Our finalizer, put there or taken away; others stay. Guarded by the version that `t` has.
  enum class finalizer_is : std::uint8_t { wanted, done };
  reactor::awaitable<written<Kind>> set_finalizer(Kind t, finalizer_is how) {
    boost::json::array all;
    for (const k8s::interned& f : t.meta.finalizers)
      if (f.view() != finalizer_) all.emplace_back(f.view());
    if (how == finalizer_is::wanted) all.emplace_back(finalizer_);
    boost::json::object metadata;
    metadata["resourceVersion"] = t.meta.resource_version.text();
    metadata["finalizers"] = std::move(all);
    boost::json::object patch;
    patch["metadata"] = std::move(metadata);
    auto got = co_await send(t.meta.key(), std::move(patch), std::string());
    if (got) co_return wrote(*got);
    if (got.error().code == k8s::errc::not_found) co_return ended(write_end::gone);
    const bool raced = got.error().code == k8s::errc::conflict;
    co_return ended(raced ? write_end::conflict : write_end::failed, got.error().message());
  }

  /// What a patch makes of `t`, guarded by the version that it was made of; after a conflict
  /// `patch_of` is asked for the object as it is then. An empty patch: it is so already.
  /// Retries  as the contract says (10).
  using patch_maker = std::function<boost::json::object(const Kind& now)>;
  reactor::awaitable<written<Kind>> set_status(Kind t, patch_maker patch_of) {
    return write(std::move(t), std::move(patch_of), "status");
  }
  /// One annotation, or none of that name.
  reactor::awaitable<written<Kind>> annotate(Kind t, std::string name,
                                             std::optional<std::string> value) {
    patch_maker patch_of = [name = std::move(name), value = std::move(value)](const Kind& now) {
      boost::json::object annotations, metadata, patch;
      annotations[name] = value ? boost::json::value(*value) : boost::json::value();
      metadata["resourceVersion"] = now.meta.resource_version.text();
      metadata["annotations"] = std::move(annotations);
      patch["metadata"] = std::move(metadata);
      return patch;
    };
    return write(std::move(t), std::move(patch_of), std::string());
  }

  /// As the server has it now; none: it is gone.
  /// Errors   the request's, and of an object that cannot be read.
  reactor::awaitable<k8s::result<std::optional<Kind>>> current(k8s::object_key key) {
    k8s::resource r = of_;
    auto got = co_await api_.get(std::move(r), std::move(key));
    std::optional<Kind> out;
    if (!got && got.error().code == k8s::errc::not_found) co_return out;
    if (!got) co_return got.error();
    auto read = k8s::parse_view<Kind>(boost::json::serialize(*got));
    if (!read) co_return read.error();
    out = std::move(*read);
    co_return out;
  }

private:
  static constexpr double pause_jitter = 0.2;

  reactor::awaitable<written<Kind>> write(Kind t, patch_maker patch_of, std::string subresource) {
    for (int attempts = 1;; ++attempts) {
      boost::json::object patch = patch_of(t);
      if (patch.empty()) co_return ended(write_end::unchanged);
      auto got = co_await send(t.meta.key(), std::move(patch), subresource);
      if (got) co_return wrote(*got);
      const k8s::fault why = got.error();
      const write_next next = after_write(answer_of(why), attempts);
      if (next.what == write_next::is::gone) co_return ended(write_end::gone);
      if (next.what != write_next::is::again) co_return ended(write_end::failed, why.message());
      co_await loop_.sleep_for(loop_.random().jitter(next.pause, pause_jitter));
      if (why.code != k8s::errc::conflict) continue;
      auto fresh = co_await current(t.meta.key());
      if (!fresh) continue;
      if (!*fresh || !((*fresh)->meta.uid == t.meta.uid)) co_return ended(write_end::gone);
      t = std::move(**fresh);
    }
  }

  auto send(k8s::object_key key, boost::json::object patch, std::string subresource) {
    k8s::resource r = of_;
    return api_.merge_patch(
        std::move(r), std::move(key), std::move(patch),
        k8s::request_options().at(std::move(subresource)).by(std::string(names::field_manager)));
  }
  static written<Kind> wrote(const boost::json::object& answer) {
    written<Kind> out;
    out.is = write_end::written;
    auto read = k8s::parse_view<Kind>(boost::json::serialize(answer));
    if (read) out.now = std::move(*read);
    return out;
  }
  static written<Kind> ended(write_end is, std::string why = {}) {
    written<Kind> out;
    out.is = is;
    out.why = std::move(why);
    return out;
  }

  reactor::loop& loop_;
  k8s::client& api_;
  k8s::resource of_;
  std::string_view finalizer_;
};

}  // namespace helm::placed
