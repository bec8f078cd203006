#pragma once

#include "helm/members/addition.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cli {

struct removal_request {
  std::string name;
  /// As an account that may delete what `cluster add` installed; none: the member stays as it is.
  std::optional<k8s::connection> member;
  member_settings install;
  enum class kinds { keep, remove } crds = kinds::keep;
  secret_place at;
};

/// `cluster remove`: the Secret at home first, so that the service lets go, then what was installed
/// on the member.
/// Kept      the namespace; the kinds with their pools unless asked; what the nodes run, their
///           labels and cordons.
/// Half-way  the next run goes on, also when the Secret is gone already.
class removal : public cluster_change {
public:
  removal(reactor::loop& l, k8s::connection home, removal_request wanted);
  /// Errors: a sentence; the Secret is a person's, or the member is another cluster than the Secret
  /// says.
  reactor::awaitable<reactor::result<void>> look();
  reactor::awaitable<reactor::result<void>> write();
  reactor::awaitable<void> stop();
  page text(std::size_t columns) const { return text_of(wanted_.name, columns); }
  boost::json::object document() const;

private:
  reactor::awaitable<reactor::result<void>> look_at_member();
  reactor::loop& loop_;
  removal_request wanted_;
  k8s::client home_;
  std::optional<k8s::client> member_;
  std::vector<k8s::resource> kinds_;  // of changes_
  std::string uid_;                   // as the Secret says
};

}  // namespace cli
