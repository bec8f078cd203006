#pragma once

#include "app/api/api.hpp"
#include "k8s/client/condition.hpp"
#include "k8s/fleet/engagement.hpp"
#include "k8s/informer/controller.hpp"
#include "k8s/informer/informer.hpp"
#include "releases/library.hpp"
#include "releases/release.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace k8s {
class client;
class event_recorder;
}  // namespace k8s

namespace releases {

using reactor::awaitable;

/// What a Release says of itself: its conditions, from what policies say of it alone.
struct verdict {
  std::optional<library::image_answer> image;
  std::optional<library::step_answer> alone;
  std::string unreadable;            // why there are no answers
  std::string content;               // the hash of its content, which a waiver quotes
  std::string consent_problem = {};  // what is wrong with the waivers
};
/// Puts Mapped and Allowed among the conditions. Returns whether anything but a time is different.
bool put_conditions(std::vector<k8s::condition>& all, const verdict& v, std::int64_t generation,
                    reactor::wall_time now);

/// The Releases at home: the library is kept like them, and each says by its conditions and events
/// what is found about it. Status is written when it changes, and never by commands that only look.
/// Lifetime: the engagement and the library outlive it; co_await stop() before destruction.
class home_releases final : public units::cluster_controller, private k8s::reconciler<std::string> {
public:
  struct options {
    units::mode does = units::mode::act;
    std::string ns;  // of the ConfigMap with consent
    k8s::watch_limits limits;
    reactor::metrics* metrics = nullptr;
    /// Whether a cluster has it, where that is known.
    std::function<std::optional<bool>(const std::string& release)> in_use;
    std::function<void()> on_stop;  // before anything of it ends
  };
  home_releases(k8s::engagement& on, std::shared_ptr<library> books, options o);

  awaitable<void> stop() override;
  awaitable<bool> synced(reactor::steady_time deadline) override;
  std::string sync_problem() const override { return releases_.sync_problem(); }
  void reconsider() override { books_->reconsider(); }
  /// What is in the library changed, or what is said of it.
  void judge_again();
  void describe(boost::json::object& entry) const override;
  /// A row without units for each Release whose conditions are not as they should be.
  awaitable<std::vector<units::plan_row>> overview() override;
  bool is_live() const noexcept { return on_.is_live() && releases_.is_synced(); }
  bool idle() const noexcept { return controller_.idle(); }

private:
  awaitable<k8s::result<k8s::next>> reconcile(std::string name) override;
  awaitable<k8s::result<void>> publish(release now);
  void tell(const release& of, const std::vector<k8s::condition>& before,
            const std::vector<k8s::condition>& after);

  k8s::engagement& on_;
  std::shared_ptr<library> books_;
  options options_;
  k8s::informer<release> releases_;
  k8s::informer<consent> consent_;
  k8s::controller<std::string> controller_;
  /// The server's kind has no status.conditions; not known before the first write.
  std::optional<bool> drops_conditions_;
  reactor::task_group tasks_;
};

}  // namespace releases
