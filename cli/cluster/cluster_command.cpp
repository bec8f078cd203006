// `windlass cluster`: which clusters the fleet has, and how one gets into it and out again.
#include "cli/cluster/addition.hpp"
#include "cli/cluster/check.hpp"
#include "cli/cluster/list.hpp"
#include "cli/cluster/removal.hpp"
#include "cli/commands.hpp"
#include "cli/connect.hpp"
#include "cli/output.hpp"
#include "reactor/loop.hpp"
#include "reactor/system/signals.hpp"

#include <boost/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <functional>

namespace cli {
namespace {

using verb = cluster_arguments::command;

bool is_machine(output_format f) {
  return f == output_format::json || f == output_format::yaml;
}

std::size_t columns_for(const cluster_arguments& a) {
  return a.output == output_format::wide ? any_width : size_of_terminal(STDOUT_FILENO).columns;
}

void show(const cluster_arguments& a, const boost::json::object& document, const page& text) {
  if (is_machine(a.output))
    write_bytes(STDOUT_FILENO, machine_text(document, a.output));
  else
    write_out(STDOUT_FILENO, text);
}

secret_place place_of(const cluster_arguments& a) {
  return {a.fleet.ns, a.fleet.kubeconfig_label, a.fleet.kubeconfig_key};
}

member_settings settings_of(const cluster_arguments& a) {
  return {a.member_ns, a.image,
          a.no_daemon ? member_settings::daemons::no : member_settings::daemons::yes,
          a.tenants ? member_settings::tenants::yes : member_settings::tenants::no,
          a.pull_secrets};
}

/// The context of a person's kubeconfig: the file that --member-kubeconfig names, else home's.
reactor::result<k8s::connection> by_context(const cluster_arguments& a,
                                            const std::string& context) {
  const std::string file = a.member_kubeconfig.empty() ? a.fleet.kubeconfig : a.member_kubeconfig;
  auto to = k8s::load_default(file, context, k8s::environment::of_process());
  if (to) return to;
  reactor::fault f = to.error();
  if (f.code == reactor::make_error_code(reactor::errc::refused))
    f.detail +=
        "\n  Windlass runs no programs to log in. A token of an administrator, for example of "
        "`kubectl --context " +
        context +
        " -n kube-system create token ACCOUNT`, is enough, in a kubeconfig of its own: "
        "--member-kubeconfig FILE";
  return f;
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
  const bool ask = !nothing && !a.yes && !a.dry_run && !is_machine(a.output) && can_ask();
  const bool shown_first = !a.yes || nothing;
  if (shown_first) show(a, change.document(), change.text(columns_for(a)));
  if (nothing) {
    if (!is_machine(a.output)) write_out(STDOUT_FILENO, "Everything is as it should be.\n");
    return close(success);
  }
  if (!a.yes && !(ask && is_confirmed(question))) {
    if (!is_machine(a.output)) write_out(STDOUT_FILENO, "Nothing was written; --yes does it.\n");
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
  wanted.install.of_tenants = member_settings::tenants::yes;  // what it may have been given
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
  if (found && *found && !(*found)->kubeconfig.empty()) {
    k8s::kubeconfig_options reading;
    reading.source = "Secret " + a.fleet.ns + "/" + a.subject + ", key " + a.fleet.kubeconfig_key;
    auto to = k8s::load_kubeconfig((*found)->kubeconfig.reveal(), std::move(reading));
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
  auto said = co_await check_cluster(l, std::move(name), std::move(as), check_as::furnisher,
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
      const auto all = co_await list_clusters(windlass, l, std::move(label), l.now() + a.timeout);
      show(a, list_document(all), list_text(all, columns_for(a)));
      code = success;
    }
    co_await windlass.stop();
  });
  if (!ended) run(l, [&] { return windlass.stop(); });
  return ended ? code : failure;
}

}  // namespace

int cluster_command(const cluster_arguments& a, const std::vector<units::api>& known) {
  reactor::loop loop;
  int code = success;
  auto prepared = prepare_service(loop, a.fleet, known, code, "home");
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

}  // namespace cli
