#pragma once

#include "compose/rules/planner.hpp"
#include "policies/host/host.hpp"
#include "reactor/awaitable.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace reactor {
class loop;
}

namespace policies::compose {

/// Objects as they would become: what a pack asks for, carried out on copies. Nothing is written
/// anywhere, and no Secret's bytes are seen.
/// Shape    objects as an API server sends them; a Secret has `digests` of its data in place of it.
/// Limits   what a server adds by itself is not there: defaults, addresses, what pods do.
/// Lifetime the loop outlives it.
class preview {
public:
  preview(reactor::loop& l, std::shared_ptr<const pack> by,
          std::shared_ptr<const declaration> about, std::shared_ptr<const data_files> files);

  /// What the pack's manager owns by its managedFields goes when it is not asked for any more.
  void put(value o);
  /// RFC 7386, as `kubectl patch --type=merge` sends it.
  void edit(const object_name& id, const value& merge_patch);
  const std::map<object_name, value>& objects() const noexcept { return objects_; }

  struct end {
    std::size_t passes = 0;   // the last of which wrote nothing
    std::vector<hold> holds;  // of the last pass
    std::vector<stated_event> events;
  };
  /// Asks and carries out until a pass writes nothing.
  /// Errors   as the pack's; errc::limit: it never comes to rest.
  reactor::awaitable<reactor::result<end>> settle(object_name parent, reactor::wall_time now);

private:
  reactor::awaitable<reactor::result<sync_answer>> ask(object_name parent, reactor::wall_time now);
  reactor::awaitable<reactor::result<value>> call(std::string hook, std::vector<argument> arguments,
                                                  std::int64_t instructions);
  std::shared_ptr<const object> see(const object_name& id) const;
  sync_input look(const object_name& parent, reactor::wall_time now) const;
  void carry_out(const action& a);
  using objects_at = std::map<object_name, value>::const_iterator;
  void renew_generation(value& o, objects_at before) const;

  reactor::loop& loop_;
  std::shared_ptr<const pack> pack_;
  std::shared_ptr<const declaration> about_;
  std::shared_ptr<const data_files> files_;
  std::map<object_name, value> objects_;
  std::map<object_name, value> applied_;  // what was asked of each last: who asks less takes away
  std::map<object_name, settled_write> settled_;
  std::size_t made_ = 0;
};

}  // namespace policies::compose
