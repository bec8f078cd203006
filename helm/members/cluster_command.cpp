// `windlass cluster`: which clusters the fleet has, and how one gets into it and out again.
#include "helm/members/addition.hpp"
#include "helm/members/check.hpp"
#include "helm/members/cluster_arguments.hpp"
#include "helm/members/list.hpp"
#include "helm/members/removal.hpp"
#include "reactor/loop.hpp"
#include "reactor/system/signals.hpp"

#include <boost/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <functional>

namespace cli {
namespace {

using verb = cluster_arguments::command;

std::size_t columns_for(const cluster_arguments& a) {
  return a.list.output == output_format::wide ? any_width : output_columns();
}

void show(const cluster_arguments& a, const boost::json::object& document, const page& text) {
  if (a.list.output.is_machine())
    (void)write_document(document, a.list.output);
  else
    write_out(STDOUT_FILENO, text);
}

secret_place place_of(const cluster_arguments& a) {
  return {a.fleet.ns, a.fleet.kubeconfig_label, a.fleet.kubeconfig_key};
}

member_settings settings_of(const cluster_arguments& a) {
  return {a.member_ns,
          a.image,
          a.no_daemon ? member_settings::daemons::no : member_settings::daemons::yes,
          a.tenants ? member_settings::tenants::yes : member_settings::tenants::no,
          a.fleet_charts ? member_settings::fleet_charts::yes : member_settings::fleet_charts::no,
          a.pull_secrets};
}

/// The context of a person's kubeconfig: the file that --member-kubeconfig names, else home's.
reactor::result<k8s::connection> by_context(const cluster_arguments& a,
                                            const std::string& context) {
  const std::string file = a.member_kubeconfig.empty() ? a.fleet.kubeconfig : a.member_kubeconfig;
  return k8s::load_default(file, context, k8s::environment::of_process());
}

/// Runs one piece of work on the loop; false when a signal ended it.
bool run(reactor::loop& l, std::function<reactor::awaitable<void>()> work) {
  bool ended = false;
  reactor::task_group tasks(l);
  const reactor::signals signals(l, {.stop = [&] { tasks.cancel(); }, .reload = {}});
  // The group may learn of the end a turn after the coroutine.
  std::function<void()> stop_when_empty = [&] {
    if (tasks.empty())
      l.stop();
    else
      l.post(stop_when_empty);
  };
  tasks.start("cluster", [&]() -> reactor::awaitable<void> {
    struct at_end {
      reactor::loop& l;
      std::function<void()>& then;
      ~at_end() { l.post(then); }
    } const stops{l, stop_when_empty};
    co_await work();
    ended = true;
  });
  l.run();
  return ended;
}

/// Looks, shows, asks, does, shows. `Change` is an addition or a removal.
template <class Change>
int carry_out(reactor::loop& l, Change& change, const cluster_arguments& a, const char* question) {
  reactor::result<void> done;
  const auto close = [&](int code) {
    run(l, [&] { return change.stop(); });
    return code;
  };
  if (!run(l, [&]() -> reactor::awaitable<void> { done = co_await change.look(); }))
    return close(failure);
  if (!done) return close(complain(done.error().message()));
  const bool nothing = !change.has_work();
  const bool ask = !nothing && !a.yes && !a.dry_run && !a.list.output.is_machine() && can_ask();
  const bool shown_first = !a.yes || nothing;
  if (shown_first) show(a, change.document(), change.text(columns_for(a)));
  if (nothing) {
    if (!a.list.output.is_machine()) write_out(STDOUT_FILENO, "Everything is as it should be.\n");
    return close(success);
  }
  if (!a.yes && !(ask && is_confirmed(question))) {
    if (!a.list.output.is_machine())
      write_out(STDOUT_FILENO, "Nothing was written; --yes does it.\n");
    return close(success);
  }
  if (!run(l, [&]() -> reactor::awaitable<void> { done = co_await change.write(); }))
    return close(complain("stopped half-way; the same command goes on where it was"));
  show(a, change.document(), change.text(columns_for(a)));
  if (done) return close(success);
  return close(complain(done.error().message() +
                        "\n  What was written stays; the same command goes on where it was."));
}

int add(reactor::loop& l, const cluster_arguments& a, k8s::connection home) {
  auto member = by_context(a, a.subject);
  if (!member) return complain(member.error().message());
  addition_request wanted;
  wanted.name = a.name.empty() ? a.subject : a.name;
  const bool fits =
      wanted.name.size() <= 253 && !wanted.name.empty() && wanted.name.front() != '-' &&
      wanted.name.front() != '.' && wanted.name.back() != '-' && wanted.name.back() != '.' &&
      std::ranges::all_of(wanted.name, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
      });
  if (!fits)
    return complain("\"" + wanted.name +
                        "\" cannot be the name of a Secret (lower-case letters, digits, dashes and "
                        "dots); --name gives another",
                    wrong_usage);
  for (const std::string& label : a.labels) {
    const std::size_t equals = label.find('=');
    if (equals == label.npos || equals == 0)
      return complain("--labels " + label + ": expected KEY=VALUE,…", wrong_usage);
    wanted.labels.emplace_back(label.substr(0, equals), label.substr(equals + 1));
  }
  wanted.member = std::move(*member);
  wanted.server = a.server;
  wanted.install = settings_of(a);
  wanted.token_life = std::chrono::duration_cast<std::chrono::seconds>(a.token_life);
  wanted.at = place_of(a);
  if (a.take_over) wanted.original = addition_request::predecessor::take_over;
  addition change(l, std::move(home), std::move(wanted));
  return carry_out(l, change, a, "Write this?");
}

int remove(reactor::loop& l, const cluster_arguments& a, k8s::connection home) {
  removal_request wanted;
  wanted.name = a.subject;
  if (!a.member_context.empty()) {
    auto member = by_context(a, a.member_context);
    if (!member) return complain(member.error().message());
    wanted.member = std::move(*member);
  }
  wanted.install = settings_of(a);
  // What it may have been given.
  wanted.install.of_tenants = member_settings::tenants::yes;
  wanted.install.of_fleet_charts = member_settings::fleet_charts::yes;
  wanted.crds = a.delete_crds ? removal_request::kinds::remove : removal_request::kinds::keep;
  wanted.at = place_of(a);
  removal change(l, std::move(home), std::move(wanted));
  return carry_out(l, change, a, "Remove this?");
}

/// A member by its name, else a context that might become one.
reactor::awaitable<reactor::result<cluster_check>> checked(reactor::loop& l,  // borrowed
                                                           const cluster_arguments& a,
                                                           k8s::connection home) {
  k8s::client at_home(l, std::move(home));
  std::string name = a.subject;
  secret_place at = place_of(a);
  auto found = co_await find_member(at_home, std::move(at), std::move(name));
  co_await at_home.stop();
  if (found && *found && ((*found)->in_fleet || !(*found)->kubeconfig.empty())) {
    auto to = connection_of(**found, place_of(a), a.fleet.programs);
    if (!to) co_return to.error();
    const auto& token = (*found)->member;
    k8s::object_key account = token ? token->account : member_account(settings_of(a));
    std::optional<k8s::member_token> noted = token;
    k8s::connection as = std::move(*to);
    name = a.subject;
    auto said = co_await check_cluster(l, std::move(name), std::move(as), check_as::service,
                                       std::move(account), std::move(noted));
    co_return said;
  }
  auto to = by_context(a, a.subject);
  if (!to) {
    std::string why = to.error().message();
    if (!found) why += "\n  Nor could the Secrets at home be asked: " + found.error().message();
    co_return sentence("no cluster of the fleet has that name, and " + why);
  }
  k8s::object_key account = member_account(settings_of(a));
  k8s::connection as = std::move(*to);
  name = a.subject;
  auto said = co_await check_cluster(l, std::move(name), std::move(as), check_as::member_admin,
                                     std::move(account), std::nullopt);
  co_return said;
}

int check(reactor::loop& l, const cluster_arguments& a, k8s::connection home) {
  reactor::result<cluster_check> said = sentence("stopped");
  if (!run(l, [&]() -> reactor::awaitable<void> { said = co_await checked(l, a, home); }))
    return failure;
  if (!said) return complain(said.error().message());
  show(a, check_document(*said), check_text(*said, columns_for(a)));
  return said->passed() ? success : failure;
}

int show_list(const cluster_arguments& a, const std::vector<listed_cluster>& all) {
  if (!a.list.output.is_machine())
    return write_out(STDOUT_FILENO, list_text(all, columns_for(a), a.list)) ? success : failure;
  const boost::json::object document = list_document(all);
  const boost::json::array& items = document.at("items").as_array();
  const bool one = a.list.names.size() == 1 && items.size() == 1;
  return write_document(one ? items.front().as_object() : document, a.list.output);
}

int list(reactor::loop& l, const cluster_arguments& a, service_options options,
         const reactor::logger& log) {
  options.does = units::mode::look;
  service windlass(l, std::move(options), log);
  int code = failure;
  const bool ended = run(l, [&]() -> reactor::awaitable<void> {
    auto started = co_await windlass.start();
    if (!started) {
      code = complain(started.error().message());
    } else {
      std::string label = a.fleet.kubeconfig_label;
      auto all = co_await list_clusters(windlass, l, std::move(label), l.now() + a.timeout);
      if (auto kept = choose_clusters(all, a.list); !kept)
        code = complain(kept.error());
      else
        code = show_list(a, all);
    }
    co_await windlass.stop();
  });
  if (!ended) run(l, [&] { return windlass.stop(); });
  return ended ? code : failure;
}

int cluster_command(const cluster_arguments& a, const invocation& i) {
  reactor::loop loop;
  int code = success;
  auto prepared =
      prepare_service(loop, a.fleet, i, code, "Name home with --kubeconfig FILE [--context NAME].");
  if (!prepared) return code;
  if (a.what == verb::list) return list(loop, a, std::move(prepared->options), prepared->log);
  k8s::connection home = std::move(prepared->options.home);
  if (home.server.empty())
    return complain("a fleet of contexts has no home where a Secret could be", wrong_usage);
  switch (a.what) {
    case verb::add: return add(loop, a, std::move(home));
    case verb::remove: return remove(loop, a, std::move(home));
    default: return check(loop, a, std::move(home));
  }
}

/// "720h", "30d": at least ten minutes, at most a year.
std::string read_token_life(const std::string& text, reactor::nanoseconds& to) {
  const bool days = text.size() > 1 && text.size() < 5 && text.ends_with('d') &&
                    text.find_first_not_of("0123456789") == text.size() - 1;
  if (days) {
    to = std::chrono::hours(24 * std::stoi(text.substr(0, text.size() - 1)));
  } else if (const auto read = reactor::parse_duration(text)) {
    to = *read;
  } else {
    return "expected a time as in 30d, 720h or 90m";
  }
  if (to < std::chrono::minutes(10) || to > std::chrono::hours(24 * 366))
    return "a token lives ten minutes at least and 366 days at most";
  return {};
}

void add_fleet(flags& f, cluster_arguments& to) {
  declare_fleet(f, to.fleet);
}
void add_member(flags& f, cluster_arguments& to) {
  f.value("--member-kubeconfig", to.member_kubeconfig,
          "kubeconfig that has its context (default: home's)")
      .takes("FILE");
  f.value("--member-namespace", to.member_ns, "namespace of the account and the daemons there")
      .shows_default();
}
void add_writing(flags& f, cluster_arguments& to) {
  f.on("--dry-run", to.dry_run, "only show what would be written, and ask nothing");
  f.on("-y,--yes", to.yes, "do it without asking");
  f.output(to.list.output, output_format::wide);
}

void declare_add(flags& f, cluster_arguments& to) {
  f.value("CONTEXT", to.subject, "context of an administrator of that cluster").required();
  add_member(f, to);
  f.value("--name", to.name, "name in the fleet (default: the context's)");
  f.value("--labels", to.labels, "labels that policies and -l choose by")
      .separated(',')
      .repeated()
      .takes("KEY=VALUE,…");
  f.value("--server", to.server, "address that the service reaches it at (default: the context's)")
      .takes("URL");
  f.value("--image", to.image,
          "image of the daemons, as `./dev image` makes it (default: the one that is there)")
      .takes("REF");
  f.on("--tenants", to.tenants,
       "also the rights that releases of Tenants take there (docs/tenants.md)");
  f.on("--fleet-charts", to.fleet_charts,
       "also the rights that releases of FleetCharts take there (docs/fleet-charts.md)");
  f.value(
       "--pull-secret", to.pull_secrets,
       "a Secret in the member's namespace that pools may name as pull secret; may be given more "
       "than once (default: those that are allowed already)")
      .repeated()
      .takes("NAME …");
  f.on("--no-daemon", to.no_daemon, "without the DaemonSet: the nodes run windlass-daemon.service");
  f.on("--take-over", to.take_over,
       "take the place of the original bootc-operator there (docs/migrating/bootc-operator.md), or "
       "the member from another home's fleet");
  f.read(
       "--token-ttl",
       [&to](const std::string& text) { return read_token_life(text, to.token_life); },
       "life of the token; the service renews it before it ends")
      .takes("30d");
  add_writing(f, to);
  f.footer(
      "Example:\n  windlass cluster add prod-eu-1 --labels env=prod --image "
      "registry.example.com/windlass:" WINDLASS_VERSION);
}
void declare_list(flags& f, cluster_arguments& to) {
  f.seconds("--timeout", to.timeout, "seconds to wait for the clusters' answers").shows_default();
  declare_listing(
      f, to.list,
      {.names = "names; none = all", .argument = "CLUSTER", .follows = list_flags::watch::none});
  f.footer(
      "Examples:\n  windlass cluster list\n  windlass cluster list -l env=prod -o wide\n  "
      "windlass cluster list --field-selector state!=Live -o name");
}
void declare_remove(flags& f, cluster_arguments& to) {
  f.value("NAME", to.subject, "its name in the fleet").required();
  f.value("CONTEXT", to.member_context,
          "context of an administrator there; without one the cluster itself stays as it is");
  add_member(f, to);
  f.on("--delete-crds,!--keep-crds", to.delete_crds,
       "the kinds as well, once no pool is left; they are kept otherwise");
  add_writing(f, to);
  f.footer("Example:\n  windlass cluster remove prod-eu-1 prod-eu-1");
}
void declare_check_of_cluster(flags& f, cluster_arguments& to) {
  f.value("NAME", to.subject, "a cluster of the fleet, else a context that may become one")
      .required();
  add_member(f, to);
  f.output(to.list.output, output_format::wide);
  f.footer("Example:\n  windlass cluster check prod-eu-1");
}

}  // namespace

std::vector<app::command> cluster_commands() {
  std::vector<app::command> all = family<cluster_arguments>(
      {"cluster", "Take clusters into the fleet, see them, let them go"},
      {{"add",
        "Prepare a cluster (kinds, rights, daemons) and put a token of it into a Secret at home",
        verb::add, declare_add},
       {"list", "The clusters of the fleet: state, version, labels, token", verb::list,
        declare_list},
       {"remove", "Take a cluster out of the fleet, and off it what `cluster add` installed",
        verb::remove, declare_remove},
       {"check", "What a cluster lacks: version, kinds, daemon, clock, token, and each right",
        verb::check, declare_check_of_cluster}},
      add_fleet, cluster_command);
  for (app::command& c : all)
    if (c.declare && c.path != "cluster add") c.takes = completed_command::argument::cluster;
  return all;
}

}  // namespace cli
