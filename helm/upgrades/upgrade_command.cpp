// `windlass check upgrade`: which objects, releases and webhooks of the fleet a newer Kubernetes
// would break.
#include "app/progress.hpp"
#include "app/run_to_end.hpp"
#include "helm/members/list.hpp"
#include "helm/removals/waivers.hpp"
#include "helm/tenants/chart_children.hpp"
#include "helm/upgrades/upgrade_arguments.hpp"
#include "helm/upgrades/upgrade_gate.hpp"
#include "helm/upgrades/upgrade_report.hpp"
#include "reactor/loop.hpp"
#include "reactor/side_by_side.hpp"

#include <boost/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace cli {
namespace {

using helm::upgrades::cluster_reading;
using helm::upgrades::unseen;
using helm::upgrades::upgrade_report;

/// A page of each is in memory.
constexpr std::size_t clusters_at_once = 4;

class upgrade_check {
public:
  upgrade_check(reactor::loop& l, service& fleet, const upgrade_arguments& a)
      : loop_(l), fleet_(fleet), asked_(a), found_(a.to) {}

  /// Errors: why the fleet cannot be known, or what is wrong with the choice of clusters.
  reactor::awaitable<reactor::result<upgrade_report, std::string>> look() {
    using outcome = reactor::result<upgrade_report, std::string>;
    auto started = co_await fleet_.start();
    if (!started) co_return outcome(boost::system::in_place_error, started.error().message());
    std::string label = asked_.fleet.kubeconfig_label;
    auto all =
        co_await list_clusters(fleet_, loop_, std::move(label), loop_.now() + asked_.timeout);
    list_request which;
    which.clusters = asked_.list.clusters;
    which.selector = asked_.list.selector;
    if (auto kept = choose_clusters(all, which); !kept)
      co_return outcome(boost::system::in_place_error, kept.error());
    if (all.empty())
      co_return outcome(boost::system::in_place_error, "no cluster of the fleet is chosen");
    app::progress shown(app::progress::standard_error(app::progress::reader::person), "looking",
                        "clusters", all.size());
    upgrade_report out;
    out.to = asked_.to;
    out.clusters.resize(all.size());
    std::function<reactor::awaitable<void>(std::size_t)> look =
        [&](std::size_t i) -> reactor::awaitable<void> {
      out.clusters[i].labels.assign(all[i].labels.begin(), all[i].labels.end());
      out.clusters[i].read = co_await look_at(all, i, shown);
      shown.next();
    };
    co_await reactor::side_by_side(all.size(), std::move(look), clusters_at_once);
    out.rows = found_.rows();
    out.left_out = found_.left_out();
    co_return outcome(std::move(out));
  }

private:
  reactor::awaitable<cluster_reading> look_at(const std::vector<listed_cluster>& all,  // borrowed
                                              std::size_t at, app::progress& shown) {
    const listed_cluster& c = all[at];
    cluster_reading nothing{.cluster = c.seen.name};
    k8s::cluster* const running = fleet_.cluster_named(c.seen.name);
    if (!running || !running->is_connected()) {
      nothing.not_seen.push_back(
          {"the cluster",
           c.seen.state + (c.seen.last_error.empty() ? "" : ": ") + c.seen.last_error});
      co_return nothing;
    }
    // Two names of one server are looked at once.
    const std::string primary = fleet_.fleet().names_of(*running, k8s::sameness::same).primary;
    const bool is_twin = primary != c.seen.name && std::ranges::any_of(all, [&](const auto& o) {
                           return o.seen.name == primary;
                         });
    if (is_twin) {
      nothing.not_seen.push_back(
          {"this name", "it is the same API server as " + primary, unseen::weight::extra});
      co_return nothing;
    }
    helm::upgrades::reading_options how;
    how.notes_ns = asked_.notes_ns;
    how.tell = [&shown](const std::string& line) { shown.tell(page(line)); };
    std::string name = c.seen.name;
    cluster_reading read = co_await helm::upgrades::read_cluster(
        loop_, running->api(), running->discovery(), std::move(name), found_, std::move(how));
    co_return read;
  }

  reactor::loop& loop_;
  service& fleet_;
  const upgrade_arguments& asked_;
  helm::removals::findings found_;
};

int show(const upgrade_report& r, const upgrade_arguments& a) {
  listing rows = helm::upgrades::rows_of(r, a.list.output);
  if (auto chosen = rows.choose(a.list); !chosen) return complain(chosen.error());
  const int verdict = helm::upgrades::counted(rows) == 0 && !r.is_partial() ? success : failure;
  if (a.form == upgrade_arguments::report_form::github)
    return write_bytes(STDOUT_FILENO, helm::upgrades::report_github(r, rows)) ? verdict : failure;
  around_list around = helm::upgrades::around(r, rows);
  boost::json::object document = helm::upgrades::report_document(r, rows);
  const int shown = show_list(std::move(rows), a.list, "findings", std::move(document), around);
  return shown == success ? verdict : shown;
}

int upgrade_command(const upgrade_arguments& a, const invocation& i) {
  const auto waivers = helm::upgrades::load_waivers(a.waivers);
  if (!waivers) return complain(waivers.error().message());
  reactor::loop loop;
  int code = success;
  auto prepared = prepare_service(loop, a.fleet, i, code);
  if (!prepared) return code;
  prepared->options.does = units::mode::look;
  reactor::metrics counted;
  const auto children = helm::tenants::start_chart_children(loop, counted, prepared->log);
  service fleet(loop, std::move(prepared->options), prepared->log);
  upgrade_check check(loop, fleet, a);
  reactor::result<upgrade_report, std::string> report(boost::system::in_place_error, "stopped");
  const auto work = [&]() -> reactor::awaitable<void> {
    report = co_await check.look();
    co_await fleet.stop();
    co_await children->stop();
    loop.stop();
  };
  run_to_end(loop, "check upgrade", work());
  if (!report) return complain(report.error());
  report->unused_waivers = helm::removals::waive(report->rows, *waivers, loop.wall());
  return show(*report, a);
}

void declare_upgrade(flags& f, upgrade_arguments& to) {
  declare_fleet(f, to.fleet);
  f.read(
       "--to",
       [&to](const std::string& text) -> std::string {
         const auto minor = helm::removals::minor_of(text);
         if (!minor) return "expected a version of Kubernetes as in 1.25";
         to.to = *minor;
         return {};
       },
       "the version of Kubernetes that the clusters are to have")
      .required()
      .takes("1.N")
      .matters();
  f.value("--waivers", to.waivers,
          "YAML file of findings that do not count until a day, each with a reason")
      .takes("FILE")
      .matters();
  f.value("--notes-namespace", to.notes_ns,
          "namespace on each cluster in which the service notes what it placed")
      .shows_default();
  f.seconds("--timeout", to.timeout, "seconds to wait for the clusters' answers").shows_default();
  list_flags has{.follows = list_flags::watch::none};
  has.own = {{"github"},
             "text, wide, json, yaml or github (lines for a workflow)",
             [&to](const std::string&) { to.form = upgrade_arguments::report_form::github; }};
  declare_listing(f, to.list, has);
  f.footer(
      "Examples:\n  windlass check upgrade --to 1.25\n  windlass check upgrade --to 1.34 -l "
      "env=prod --waivers waivers.yaml -o github\n\nEnds with 0 where nothing was found and all "
      "was looked at; with 1 where something was found that no waiver covers, or a cluster or a "
      "source that is needed could not be looked at.");
}

}  // namespace

std::vector<app::command> upgrade_commands() {
  upgrade_arguments begin;
  begin.fleet.apis_named = true;  // none: only the clusters themselves are asked
  return {command_of<upgrade_arguments>(
      "check upgrade", "What a newer Kubernetes would stop serving on the clusters of the fleet",
      declare_upgrade, upgrade_command, begin)};
}

}  // namespace cli
