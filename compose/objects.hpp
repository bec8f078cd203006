#pragma once

#include "compose/rules/question.hpp"
#include "k8s/client/resource.hpp"
#include "k8s/informer/informer.hpp"
#include "k8s/informer/own_writes.hpp"
#include "k8s/informer/view.hpp"

#include <boost/json/fwd.hpp>
#include <boost/json/storage_ptr.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace compose {

using policies::value;
using policies::compose::kind_name;
using policies::compose::object;
using policies::compose::object_name;

inline k8s::object_key key_for(const object_name& id) {
  return {id.ns, id.name};
}
inline object_name secret_of(const std::string& ns, const std::string& name) {
  return {{"v1", "Secret"}, ns, name};
}

/// A whole object as it is kept: its text without managedFields and versions, so that equal content
/// wakes no parent. Of a Secret there are digests in place of its data; the bytes are gone when it
/// was read.
enum class content { plain, secret };
template <content What>
struct content_view {
  k8s::object_meta meta;
  std::string text;
  static content_view parse(k8s::wire_value object);
  std::size_t heap_bytes() const { return meta.heap_bytes() + text.capacity(); }
  friend bool operator==(const content_view&, const content_view&) = default;
};

value from_json(const boost::json::value& v);
/// Whole numbers become integers. What goes to a server about a Secret is made in `storage` that is
/// wiped.
boost::json::value to_json(const value& v, boost::json::storage_ptr storage = {});

/// Makes a list of each empty table in a field of a built-in kind that is a list: Lua has one empty
/// table for both.
void settle_lists(const kind_name& kind, value& body);

/// What a server has sent, with no byte of a Secret: digests in place of its data, and for no kind
/// the copy of the whole that kubectl keeps in an annotation.
value plain_answer(const kind_name& kind, const boost::json::object& sent);
/// The object in a server's answer, a Secret as above.
object read_answer_object(const kind_name& kind, const boost::json::object& sent);

/// From the text of a view, which takes its time: a megabyte some ten milliseconds.
std::shared_ptr<const object> object_from(const kind_name& kind, const std::string& text,
                                          std::string resource_version);

/// One collection of a cluster, whole, for all packs that name it.
class watched_kind {
public:
  /// Called for each change, with what was and what is; one of them may be null. Says whether it
  /// concerns anybody.
  using change = std::function<bool(const k8s::object_meta* before, const k8s::object_meta* now)>;

  static std::unique_ptr<watched_kind> make(reactor::loop& l, k8s::client& api, kind_name kind,
                                            k8s::informer_options o, change on_change);
  virtual ~watched_kind() = default;
  watched_kind(const watched_kind&) = delete;
  watched_kind& operator=(const watched_kind&) = delete;

  virtual k8s::informer_base& informer() noexcept = 0;
  /// Of its store.
  virtual std::uint64_t history() const = 0;
  /// The server says that there is no such kind, or that it may not be listed.
  bool is_refused() noexcept;
  virtual const k8s::object_meta* meta(const k8s::object_key& key) const = 0;
  /// Whether the last write of this process to that object is not seen yet.
  virtual bool is_behind(const k8s::object_key& key) = 0;
  /// As it is kept; null when it is not there. Until the next change.
  virtual const std::string* text(const k8s::object_key& key) const = 0;
  /// Null when it is not there.
  std::shared_ptr<const object> find(const k8s::object_key& key) const;
  virtual std::vector<k8s::object_key> owned_by(const k8s::uid& owner) const = 0;
  virtual void each(const std::function<void(const k8s::object_meta&)>& f) const = 0;

  const kind_name kind;
  const k8s::resource resource;
  k8s::own_writes writes;
  bool followed = false;

protected:
  watched_kind(reactor::loop& l, kind_name k, k8s::resource r)
      : kind(std::move(k)), resource(std::move(r)), writes(l, [this] { return history(); }) {}
};

}  // namespace compose
