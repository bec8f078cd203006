#include "bootc/daemon/node_daemon.hpp"

#include "bootc/daemon/host_status.hpp"
#include "bootc/kinds/names.hpp"
#include "bootc/pool/secrets/secret_state.hpp"
#include "formats/base64.hpp"
#include "k8s/client/client.hpp"
#include "k8s/informer/currency.hpp"
#include "reactor/deadline.hpp"
#include "reactor/loop.hpp"
#include "reactor/plain/reason.hpp"
#include "registry/image_ref.hpp"

#include <boost/asio/error.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

namespace bootc {
namespace {

/// What else reboots the host is installed and started long after the daemon.
constexpr reactor::nanoseconds inspect_every = std::chrono::hours(1);

/// What is read of the host, as the log names it.
constexpr const char *inspection = "what the host can", *bootc_status = "bootc status";

/// Told to boot what it does not run yet: it acts as soon as it can, and must hear soon when that
/// is taken back. Else a bookmark a minute does: thousands of nodes would ask their API server
/// every ten seconds whether there is something new.
k8s::freshness freshness_for(const std::optional<bootc_node>& object) {
  if (!object || object->spec.desired_state != image_state::booted) return k8s::freshness::none;
  const auto& booted = object->status.booted;
  const bool arrived =
      booted && is_image(*booted, std::string(registry::digest_in(object->spec.desired_image)));
  return arrived ? k8s::freshness::none : k8s::freshness::close;
}

/// Whether it is asked for something else. Most annotations are between the controller and people,
/// and each look at an object costs a `bootc status` on the host.
bool is_asked_again(const bootc_node& before, const bootc_node& now) {
  return !(before.meta.uid == now.meta.uid) || before.spec != now.spec ||
         before.meta.generation != now.meta.generation ||
         before.annotation(names::stage) != now.annotation(names::stage) ||
         before.annotation(names::reboot_policy) != now.annotation(names::reboot_policy);
}

/// An upgrade asks for a new field soon after the kind has it.
k8s::informer_options its_object(const std::string& node, const reactor::logger& log) {
  k8s::informer_options o = k8s::only(bootc_nodes(), {{}, node}, {}, log);
  o.lists_after_end = true;
  return o;
}

}  // namespace

/// Tells the agent how a command ended, whichever way its coroutine is left: a cancelled one
/// unwinds by exception.
struct node_daemon::ended_command {
  node_daemon& daemon;
  host_command command;
  reactor::result<void> outcome = reactor::make_fault(boost::asio::error::operation_aborted,
                                                      "run on the host", "stopped before its end");
  ~ended_command() {
    daemon.command_ = 0;
    if (outcome)
      daemon.log_.info("done on the host",
                       {{"action", name_of(command.action)}, {"image", command.image}});
    else if (!reactor::is_cancelled(outcome.error()))
      daemon.log_.warning("failed on the host", {{"action", name_of(command.action)},
                                                 {"image", command.image},
                                                 {"why", reactor::reason_of(outcome.error())}});
    daemon.agent_.on_ended(command, outcome, daemon.loop_.now());
    daemon.wake_.set();
  }
};

node_daemon::node_daemon(reactor::loop& l, k8s::client& api, host& machine,
                         node_daemon_options options, reactor::logger log)
    : loop_(l),
      api_(api),
      machine_(machine),
      options_(std::move(options)),
      log_(std::move(log)),
      informer_(l, api, its_object(options_.node, log_)),
      wake_(l),
      tasks_(l) {
  // Our own status writes come back here too; reacting to them would bypass every backoff.
  informer_.on_change([this](const bootc_node* before, const bootc_node* now) {
    const bool ours = (before ? before : now)->meta.name == options_.node;
    if (ours && (!before || !now || is_asked_again(*before, *now))) wake_.set();
  });
}

node_daemon::~node_daemon() = default;

void node_daemon::start() {
  if (std::exchange(started_, true)) return;
  informer_.start();
  tasks_.start("node daemon", run());
  tasks_.start("watch host", watch_host());
}

awaitable<void> node_daemon::stop() {
  machine_.leave();
  co_await tasks_.cancel_and_join();
  co_await informer_.stop();
}

std::optional<bootc_node> node_daemon::current() {
  const bootc_node* seen = informer_.find({"", options_.node});
  if (!seen) {
    written_.reset();
    return std::nullopt;
  }
  const bool ours_is_newer = written_ && written_->meta.uid == seen->meta.uid &&
                             seen->meta.resource_version < written_->meta.resource_version;
  if (!ours_is_newer) {
    written_.reset();
    return *seen;
  }
  return written_;
}

awaitable<void> node_daemon::run() {
  (void)co_await informer_.synced();
  for (;;) {
    wake_.reset();
    const bool again = loop_.now() >= inspect_again_ && !agent_.busy() && !agent_.reboot_issued();
    if (!agent_.knows_host() || again) co_await inspect();
    auto object = current();
    informer_.set_freshness(freshness_for(object));
    agent_.on_object(object);
    if (object && agent_.knows_host() && !agent_.busy() && !agent_.reboot_issued()) {
      bootc_node_spec asked = object->spec;
      co_await bring_auth(std::move(asked));
      co_await read_host();
      object = current();  // it may have changed meanwhile
      agent_.on_object(object);
    }
    agent_step step = agent_.decide(loop_.now(), loop_.wall());
    log_fault(step.status);
    const bool reboots = step.command && (step.command->action == host_action::reboot ||
                                          step.command->action == host_action::roll_back);
    bool may_go_on = true;
    if (step.publish)
      may_go_on =
          co_await publish(*object, step.status, reboots ? consent::of_now : consent::as_seen);
    else if (reboots)
      may_go_on = co_await is_still_asked(*object);
    if (!may_go_on) {
      if (step.command) agent_.withdrawn();
      (void)co_await wake_.wait(loop_.now() + api_backoff_.next(loop_.random()));
      continue;
    }
    if (step.publish) api_backoff_.reset();
    if (step.cancel_stage && command_ != 0) tasks_.cancel(command_);
    if (step.command && step.command->adopted)
      log_.info("a stage goes on that was begun before", {{"image", step.command->image}});
    else if (step.command)
      log_.info("run on the host",
                {{"action", name_of(step.command->action)}, {"image", step.command->image}});
    if (step.command) {
      host_command command = *step.command;
      const auto task = tasks_.start("host command", run_command(std::move(command)));
      if (agent_.busy()) command_ = task;  // else it has ended by now
      // adopted, and for another image
      if (step.cancel_stage && command_ == task) tasks_.cancel(task);
      if (agent_.follows_progress() && !std::exchange(following_, true))
        tasks_.start("follow progress", follow_progress());
    }
    (void)co_await wake_.wait(std::min(step.look_again, loop_.now() + options_.poll_interval));
  }
}

/// What the object shows as wrong is in the log as well, each change of it once.
void node_daemon::log_fault(const bootc_node_status& decided) {
  const condition* degraded = find_condition(decided.conditions, node_condition::degraded);
  if (!degraded) return;
  std::string fault = degraded->status == "True" ? degraded->message : std::string();
  const bool is_in_the_log = !fault.empty() && fault == agent_.host_problem();  // tell_unread()
  if (is_in_the_log || fault == logged_fault_) return;
  if (fault.empty())
    log_.info("the node is healthy again");
  else
    log_.warning("the node is degraded", {{"why", fault}});
  logged_fault_ = std::move(fault);
}

/// Logs that a part of the host cannot be read, once for each reason, and that it can be
/// read again.
void node_daemon::tell_unread(const std::string& what, const std::string& why) {
  const auto told = unread_.find(what);
  if (why.empty() ? told == unread_.end() : told != unread_.end() && told->second == why) return;
  if (why.empty()) {
    unread_.erase(told);
    log_.info("the host can be read again", {{"what", what}});
  } else {
    unread_.insert_or_assign(what, why);
    log_.warning("the host cannot be read", {{"what", what}, {"why", why}});
  }
}

std::string node_daemon::host_problem() const {
  return agent_.knows_host() ? std::string() : agent_.host_problem();
}

awaitable<void> node_daemon::inspect() {
  auto traits = co_await reactor::with_deadline(
      loop_, machine_.inspect(), loop_.now() + options_.status_timeout, "inspect the host");
  if (traits) {
    tell_unread(inspection, {});
    for (const auto& [what, why] : traits->unread) tell_unread(what, why);
    agent_.on_traits(std::move(*traits));
    inspect_again_ = loop_.now() + inspect_every;
    co_return;
  }
  if (reactor::is_cancelled(traits.error())) co_return;
  const std::string why = reactor::reason_of(traits.error());
  tell_unread(inspection, why);
  if (agent_.knows_host())  // what was found out before still holds
    inspect_again_ = loop_.now() + inspect_every;
  else
    agent_.on_uninspected(why, loop_.now());
}

awaitable<void> node_daemon::read_host() {
  auto text = co_await reactor::with_deadline(
      loop_, machine_.status(), loop_.now() + options_.status_timeout, "bootc status");
  if (!text) {
    const auto& why = text.error();
    if (reactor::is_cancelled(why)) co_return;
    tell_unread(bootc_status, reactor::reason_of(why));
    if (why.code == reactor::errc::closed) {
      agent_.on_host_updated_by_others(why.detail, loop_.now());
      co_return;
    }
    agent_.on_host_unreadable("getting bootc status: " + reactor::reason_of(why), loop_.now());
    co_return;
  }
  auto status = parse_host_status(*text);
  tell_unread(bootc_status, status ? std::string() : status.error().detail);
  if (status)
    agent_.on_host(std::move(*status));
  else
    agent_.on_host_unreadable("parsing bootc status: " + status.error().detail, loop_.now());
}

/// The host gets the pull secret before anything is staged: when this process starts, since a
/// reboot may have taken it away, and when another one, or another content, is asked for.
awaitable<void> node_daemon::bring_auth(bootc_node_spec spec) {
  const auth wanted{spec.pull_secret, spec.pull_secret_hash};
  if (shown_ == wanted || !agent_.may_try_auth(loop_.now())) co_return;
  std::optional<reactor::secret> config;
  if (wanted.ref) {
    auto got = co_await pull_secret(*wanted.ref);
    if (!got) {
      agent_.on_auth("pull secret " + wanted.ref->ns + "/" + wanted.ref->name + ": " +
                         reactor::reason_of(got.error()),
                     loop_.now());
      co_return;
    }
    config = std::move(*got);
  }
  auto done = co_await machine_.show_registries(std::move(config));
  if (done) {
    shown_ = wanted;
    agent_.on_auth({}, loop_.now());
  } else {
    agent_.on_auth("pull secret: " + done.error().message(), loop_.now());
  }
}

awaitable<reactor::result<reactor::secret>> node_daemon::pull_secret(secret_ref of) {
  k8s::object_key key{of.ns, of.name};
  auto got = co_await api_.get(k8s::resources::secrets(), std::move(key));
  if (!got) co_return reactor::make_fault(reactor::errc::refused, "", got.error().message());
  const boost::json::value* data = got->if_contains("data");
  const boost::json::value* text =
      data && data->is_object() ? data->get_object().if_contains(docker_config_key) : nullptr;
  if (!text || !text->is_string())
    co_return reactor::make_fault(reactor::errc::refused, "",
                                  "it has no " + std::string(docker_config_key));
  auto bytes = formats::decode_base64(std::string_view(text->get_string()));
  if (!bytes || bytes->empty())
    co_return reactor::make_fault(reactor::errc::refused, "",
                                  std::string(docker_config_key) + " in it cannot be read");
  co_return reactor::secret(std::move(*bytes));
}

awaitable<bool> node_daemon::publish(bootc_node object, bootc_node_status status, consent needed) {
  boost::json::object patch = status_patch(object.status, status);
  if (needed == consent::of_now)
    patch["metadata"] =
        boost::json::object{{"resourceVersion", object.meta.resource_version.text()}};
  k8s::object_key key{"", options_.node};
  auto answer = co_await api_.merge_patch_text(bootc_nodes(), std::move(key), std::move(patch),
                                               k8s::request_options().at("status"));
  if (!answer) {
    if (needed == consent::of_now && answer.error().code == k8s::errc::conflict) {
      (void)co_await read_object();
      co_return false;
    }
    if (!answer.error().cancelled)
      log_.warning("the status could not be published", {{"why", answer.error().message()}});
    co_return false;
  }
  (void)take(*answer);
  co_return true;
}

awaitable<bool> node_daemon::read_object() {
  k8s::object_key key{"", options_.node};
  auto answer = co_await api_.get(bootc_nodes(), std::move(key));
  if (answer) co_return take(boost::json::serialize(*answer));
  if (!answer.error().cancelled)
    log_.warning("the node's object cannot be read before a reboot",
                 {{"why", answer.error().message()}});
  co_return false;
}

awaitable<bool> node_daemon::is_still_asked(bootc_node object) {
  const bool read = co_await read_object();
  co_return read && written_->meta.uid == object.meta.uid && written_->spec == object.spec;
}

bool node_daemon::take(std::string_view answer) {
  auto view = k8s::parse_view<bootc_node>(answer);
  if (!view) return false;
  written_ = std::move(*view);
  return true;
}

awaitable<void> node_daemon::run_command(host_command command) {
  ended_command end{*this, command};
  end.outcome = co_await machine_.run(std::move(command));
}

awaitable<void> node_daemon::follow_progress() {
  while (agent_.follows_progress()) {
    co_await loop_.sleep_for(stage_progress::pause);
    const std::string line = co_await machine_.progress();
    if (agent_.on_progress(line, loop_.now())) wake_.set();
  }
  following_ = false;
}

awaitable<void> node_daemon::watch_host() {
  for (;;) {
    co_await machine_.changed();
    wake_.set();
  }
}

}  // namespace bootc
