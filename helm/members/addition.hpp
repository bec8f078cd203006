#pragma once

#include "app/output.hpp"
#include "helm/members/ends.hpp"
#include "helm/members/member_objects.hpp"
#include "helm/members/predecessor.hpp"
#include "helm/members/rights.hpp"
#include "k8s/client/discovery.hpp"

#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace reactor {
class loop;
}

namespace cli {

using namespace app;

struct addition_request {
  std::string name;        // of the cluster and its Secret
  k8s::connection member;  // as an account that may install there
  std::string server;      // how the service reaches it; empty = as we do
  member_settings install;
  std::vector<std::pair<std::string, std::string>> labels;
  std::chrono::seconds token_life = std::chrono::hours(24 * 30);
  secret_place at;
  /// What becomes of the original bootc-operator, where it is installed there, and of a member of
  /// another home.
  enum class predecessor { refuse, take_over } original = predecessor::refuse;
};

/// One object, and what becomes of it.
struct planned_change {
  std::string kind;
  k8s::object_key key;
  enum class kind_of { none, create, update, remove } does = kind_of::none;
  bool done = false;
  std::string error = {};
  bool at_home = false;
};
/// "create", "same", "created": as people and machines read it.
std::string_view words_for(const planned_change& c);

/// What is to be done, or was, to a member and at home.
class cluster_change {
public:
  bool has_work() const noexcept;
  const std::vector<planned_change>& changes() const noexcept { return changes_; }
  /// What should be known before it is done, a sentence each.
  const std::vector<std::string>& notes() const noexcept { return notes_; }

protected:
  /// The table of the changes and the notes.
  page text_of(const std::string& cluster, std::size_t columns) const;
  /// ClusterChange, before what only one of both has to say.
  boost::json::object document_of(const std::string& cluster, const std::string& server) const;

  std::vector<planned_change> changes_;
  std::vector<std::string> notes_;
  bool wrote_ = false;
};

/// `cluster add`: what a member needs, on the member; a token, its kubeconfig and its labels, in a
/// Secret at home.
/// Repeatable  everything is applied; what is as it should be is not written, and a token lives on
///             until half of its life is over.
/// Half-way    what was written stays; the next run goes on.
/// Lifetime    the loop outlives it; co_await stop() before destruction.
class addition : public cluster_change {
public:
  addition(reactor::loop& l, k8s::connection home, addition_request wanted);

  /// Looks at both ends and writes nothing. Errors: a sentence that names the end, and the right
  /// that is missing.
  reactor::awaitable<reactor::result<void>> look();
  /// After look(). Stops at the first failure.
  reactor::awaitable<reactor::result<void>> write();
  reactor::awaitable<void> stop();

  page text(std::size_t columns) const;
  /// ClusterChange: the changes of predecessors_, then of objects_, and the Secret.
  boost::json::object document() const;

private:
  reactor::awaitable<reactor::result<void>> look_at_member();
  /// Errors: a sentence that ends with "to see whether <who_is> there". `who_is` is a literal.
  reactor::awaitable<reactor::result<std::optional<boost::json::object>>> find_on_member(
      k8s::resource what, k8s::object_key key, std::string_view who_is);
  reactor::awaitable<reactor::result<void>> look_at_predecessor();
  reactor::awaitable<reactor::result<void>> look_at_earlier_daemons();
  reactor::awaitable<reactor::result<void>> look_at_object(std::size_t i);
  reactor::awaitable<reactor::result<void>> mark_home();
  bool takes_away(const member_object& o) const;
  void note_changed_images(const std::map<std::string, std::string>& there,
                           const std::map<std::string, std::string>& then);
  reactor::awaitable<reactor::result<void>> take_predecessor_away();
  reactor::awaitable<reactor::result<void>> look_at_home();
  bool keeps_token(const noted_member& there) const;
  reactor::awaitable<void> wait_for_kinds();
  reactor::awaitable<reactor::result<void>> write_secret();
  reactor::awaitable<reactor::result<void>> try_token(k8s::connection as, k8s::issued_token token);
  reactor::fault at_member(const k8s::fault& f) const;

  reactor::loop& loop_;
  addition_request wanted_;
  k8s::client home_, member_;
  k8s::discovery discovery_;
  std::vector<member_object> objects_;
  std::vector<predecessor_object> predecessors_;       // and daemons of an earlier version
  std::map<std::string, std::string> earlier_images_;  // of those daemons, by container
  std::vector<right> missing_;                         // of the account, once it was tried
  std::string uid_, home_mark_;                        // of the member; what names this home there
  std::optional<k8s::member_token> token_;             // as noted in the Secret
};

}  // namespace cli
