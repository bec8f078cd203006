#pragma once

#include "app/api/brake.hpp"
#include "reactor/task_group.hpp"
#include "service/overview/overview.hpp"
#include "service/page/board.hpp"
#include "service/page/history.hpp"
#include "service/page/site.hpp"
#include "service/ui/fleet_timeline.hpp"

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cli {

/// The page that a browser opens.
struct ui_arguments {
  std::string at;  // empty = off
  std::string token_file;
  std::vector<std::string> hosts;
};
void declare_ui(app::flags& f, ui_arguments& to);

/// What the page shows of a service: a line for each cluster, the fleet and the policies on a
/// board, the rest when it is opened. All of it comes from the overview that `status` prints.
/// Cost      a cluster is looked at when something of it changed, others are compared by a few
///           numbers; seldom while there is no follower, so that the plots of rollouts have their
///           beginnings. One that takes long delays no other.
/// Lifetime  service and board outlive it; nothing of it runs but follow() and document().
class fleet_page {
public:
  /// Clusters, rows, units and holds walked over without letting anybody else run.
  static constexpr std::size_t walked_a_turn = 128;
  static constexpr reactor::nanoseconds look_followed = std::chrono::milliseconds(500),
                                        look_alone = std::chrono::seconds(10);

  fleet_page(reactor::loop& l, service& of, web::board& on);

  /// For ever.
  reactor::awaitable<void> follow();
  reactor::awaitable<void> stop();
  /// There is a follower from now on.
  void wake() { wanted_.wake_all(); }
  std::function<bool()> is_followed;
  /// Whether a reader had to log in, so that it can log out.
  enum class door { open, asks_token } entered_by = door::open;
  /// "cluster" of ?name=, "fleet", "timeline", and "place" of a path below /cluster: where it is
  /// shown.
  reactor::awaitable<reactor::result<web::site::text>> document(std::string name,
                                                                reactor::http::target_parts asked);
  std::uint64_t overviews() const noexcept { return overviews_; }
  /// The most that was walked over in one turn of the loop so far.
  std::size_t most_walked() const noexcept { return most_walked_; }
  const web::timeline& happened() const noexcept { return timeline_.all(); }

private:
  struct held_since {
    std::string code;
    reactor::wall_time at{};
    bool at_least = false;  // it was so when the cluster was first looked at
    std::uint64_t look = 0;
  };
  struct row_memory {
    web::progress_history history;
    std::map<std::string, held_since> held;
    std::uint64_t look = 0;
    std::string target;
    bool is_known = false, is_paused = false;
  };
  struct counts {
    std::size_t units = 0, updated = 0, updating = 0, degraded = 0;
  };
  struct memory {
    std::uint64_t stamp = 0, content = 0, version = 0, round = 0, looks = 0;
    bool busy = false;  // a look is under way
    std::string state;
    std::map<std::string, counts> apis;
    std::size_t held = 0;
    std::map<std::string, row_memory> rows;  // by "api/row"
  };

  using shared_memory = std::shared_ptr<memory>;
  /// For as long as it lives no other look at the cluster begins.
  class look_guard {
  public:
    look_guard(fleet_page& page, shared_memory m) : page_(page), of_(std::move(m)) {
      of_->busy = true;
      ++page_.looking_;
    }
    ~look_guard() {
      of_->busy = false;
      --page_.looking_;
      page_.free_.wake_all();
    }
    look_guard(const look_guard&) = delete;
    look_guard& operator=(const look_guard&) = delete;

  private:
    fleet_page& page_;
    shared_memory of_;
  };

  /// Counts what is walked over since others ran last.
  class walk {
  public:
    explicit walk(fleet_page& of) : of_(of) {}
    /// After a step: true where others must run before the next one.
    bool is_due(std::size_t steps = 1);

  private:
    fleet_page& of_;
    std::size_t since_ = 0;
  };

  reactor::awaitable<void> look_around();
  reactor::awaitable<void> look_at_one(std::string name);
  /// Puts the cluster on the board.
  reactor::awaitable<void> show(const cluster_overview& c, shared_memory m);  // borrowed
  reactor::awaitable<void> remember(memory& m, const api_overview& a, const units::plan_row& r,
                                    std::map<std::string, std::size_t>& codes,
                                    walk& at_work);  // borrowed
  reactor::awaitable<reactor::result<web::site::text>> cluster_document(std::string name);
  reactor::awaitable<reactor::result<web::site::text>> place_document(std::string path);
  void note_state(memory& m, const cluster_overview& c);
  void note_row(row_memory& of, fleet_timeline::row_change now,
                const std::map<std::string, std::size_t>& codes);
  void show_timeline();
  reactor::awaitable<void> show_fleet();
  void show_policies();
  std::uint64_t stamp_of(const k8s::cluster& c) const;
  void note_stamp(const std::string& name, std::uint64_t stamp, std::vector<std::string>& changed);

  reactor::loop& loop_;
  service& service_;
  web::board& board_;
  std::map<std::string, shared_memory, std::less<>> clusters_;
  web::progress_history history_;  // of the fleet
  fleet_timeline timeline_;
  std::uint64_t round_ = 0, overviews_ = 0;
  std::size_t most_walked_ = 0;
  std::uint64_t policies_seen_ = ~std::uint64_t{0};
  const std::string started_at_;
  struct made_document {
    std::string cluster;
    std::uint64_t version = 0;
    web::site::text text;
  };
  const web::site::text* made_before(const std::string& name) const;
  void keep(made_document made);
  std::list<made_document> made_;  // the newest first
  std::size_t looking_ = 0;
  bool totals_are_old_ = true;
  units::brake_order brake_seen_;
  std::string memory_seen_;
  reactor::waiters free_, wanted_;
  reactor::task_group tasks_;  // looks that are under way
};

/// `--ui`: the page of a service, on a listener of its own.
/// Lifetime: the service outlives it; co_await stop() before the service stops.
class ui {
public:
  ui(reactor::loop& l, service& of, web::site_options options, reactor::logger log);

  /// Errors: the token's file, the address in use.
  reactor::awaitable<reactor::result<void>> start();
  reactor::awaitable<void> stop();
  reactor::endpoint local() const { return site_.local(); }
  std::size_t readers() const noexcept { return site_.readers(); }
  const fleet_page& shows() const noexcept { return page_; }

private:
  web::site_options options_;
  reactor::logger log_;
  web::board board_;
  fleet_page page_;
  web::site site_;
  reactor::task_group tasks_;
};

/// Nothing while it is off. ":8090" is on loopback. Errors: what is wrong with the flag.
reactor::result<std::optional<web::site_options>> site_options_of(const ui_arguments& a);
/// What is told at the start of a page that others may reach or overhear; empty: nothing.
std::string warning_of(const web::site_options& o);
/// "http://127.0.0.1:8090/"
std::string url_of(const reactor::endpoint& at);

}  // namespace cli
