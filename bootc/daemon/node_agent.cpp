// One decision from what the host and the API server say: its cases exclude one another, so they
// stay together.
#include "bootc/daemon/node_agent.hpp"

#include "bootc/kinds/daemon_texts.hpp"
#include "bootc/kinds/names.hpp"
#include "reactor/plain/reason.hpp"
#include "registry/image_ref.hpp"

#include <algorithm>

namespace bootc {

using registry::digest_in;
using registry::parse_image_ref;

namespace {

constexpr reactor::nanoseconds first_delay = std::chrono::seconds(5);
constexpr unsigned most_doublings = 6;  // 5, 10, 20, 40, 80, 160, 320 s

/// Idle's message while the host reboots: "boot <id>/<soft reboots> into <image>".
constexpr std::string_view boot_prefix = "boot ", into = " into ", instead_of = " instead of ";
/// Between that and what else is to be said of the host.
constexpr std::string_view then = "; ";
constexpr std::string_view stage_failed = "bootc stage failed: ";
constexpr std::size_t most_value_shown = 64;

/// What stands behind the last `mark` of a text; empty without one.
std::string_view behind(std::string_view text, std::string_view mark) {
  const std::size_t at = text.rfind(mark);
  return at == text.npos ? std::string_view() : text.substr(at + mark.size());
}

/// What the object asks for in words of a newer controller; empty: this daemon knows them all. What
/// it does not know could change what the rest means.
std::string unknown_orders(const bootc_node& object) {
  std::string out = object.spec.unknown;
  const auto add = [&](std::string_view annotation, std::string_view value) {
    out += (out.empty() ? "" : ", ") + std::string(annotation) + ": " +
           std::string(value.substr(0, most_value_shown));
  };
  const std::string_view stages = object.annotation(names::stage).value_or("");
  if (!stages.empty() && !parse_staging_mode(stages)) add(names::stage, stages);
  const std::string_view reboots = object.annotation(names::reboot_policy).value_or("");
  if (!reboots.empty() && !parse_reboot_policy(reboots)) add(names::reboot_policy, reboots);
  return out;
}

}  // namespace

/// One row of the state machine: conditions, and what to run.
struct node_agent::verdict {
  std::string_view idle_reason = node_reason::idle;
  std::string idle_message;
  std::string error;  // empty = healthy
  std::optional<host_command> command;
  bool cancel_stage = false;
  reactor::steady_time look_again = reactor::never;
};

void node_agent::backoff::failed(reactor::steady_time now) {
  until = now + first_delay * (1u << std::min(failures, most_doublings));
  ++failures;
}

void node_agent::on_traits(host_traits traits) {
  traits_ = std::move(traits);
  knows_host_ = true;
  host_problem_.clear();
  host_backoff_ = {};
  if (staged_for_pool_.empty()) staged_for_pool_ = traits_.staged;
  if (traits_.staging.empty()) return;
  adopt_.emplace();
  adopt_->action = host_action::stage;
  adopt_->image = traits_.staging;
  adopt_->adopted = true;
}

void node_agent::on_uninspected(std::string why, reactor::steady_time now) {
  host_problem_ = "inspecting the host: " + std::move(why);
  host_backoff_.failed(now);
}

void node_agent::on_auth(std::string problem, reactor::steady_time now) {
  auth_error_ = std::move(problem);
  if (auth_error_.empty())
    auth_backoff_ = {};
  else
    auth_backoff_.failed(now);
}

void node_agent::on_object(std::optional<bootc_node> object) {
  if (object && knows_host_ && !recalled_) {
    recall(*object);
    recalled_ = true;
  }
  object_ = std::move(object);
  if (!object_) return;
  if (object_->spec.desired_image != last_image_) {
    stage_error_.clear();
    stage_claimed_.clear();
    stage_backoff_ = {};
    lock_error_.clear();
    lock_backoff_ = {};
    reboot_error_.clear();
    reboot_backoff_ = {};
    last_image_ = object_->spec.desired_image;
  }
  if (failed_image_ != object_->spec.desired_image ||
      object_->spec.desired_state != image_state::booted)
    failed_image_.clear();
}

/// What this process cannot remember because it was not there: which image was last put first in
/// the host's boot order, and whether the host has rebooted for it. A new generation alone, a
/// rotated secret's say, is no reason to reboot again.
void node_agent::recall(const bootc_node& object) {
  std::string failed;
  const condition* degraded = find_condition(object.status.conditions, node_condition::degraded);
  if (degraded && degraded->status == "True" && degraded->message.starts_with(not_on_target_text))
    queued_for_pool_ = failed = behind(degraded->message, instead_of);
  const condition* idle = find_condition(object.status.conditions, node_condition::idle);
  if (idle && idle->status == "False" && idle->reason == node_reason::rebooting &&
      idle->message.starts_with(boot_prefix)) {
    const std::string said = idle->message.substr(0, idle->message.find(then));
    const std::string before =
        said.substr(boot_prefix.size(), said.rfind(into) - boot_prefix.size());
    const std::string now = traits_.boot.text();
    queued_for_pool_ = behind(said, into);
    if (!before.empty() && !now.empty() && before != now) failed = queued_for_pool_;
  }
  if (object.spec.desired_state == image_state::booted && failed == object.spec.desired_image)
    failed_image_ = failed;
}

void node_agent::on_host(host_status status) {
  host_ = std::move(status);
  host_problem_.clear();
  others_update_.clear();
  host_backoff_ = {};
}

void node_agent::on_host_unreadable(std::string why, reactor::steady_time now) {
  host_problem_ = "populating bootc fields: " + std::move(why);
  others_update_.clear();
  host_backoff_.failed(now);
}

void node_agent::on_host_updated_by_others(std::string why, reactor::steady_time now) {
  others_update_ = std::move(why);
  host_problem_.clear();
  host_backoff_.failed(now);
}

bool node_agent::on_progress(std::string_view line, reactor::steady_time now) {
  return follows_progress() && progress_.heard(line, now);
}

void node_agent::on_ended(const host_command& command, const reactor::result<void>& outcome,
                          reactor::steady_time now) {
  running_.reset();
  progress_.forget();
  std::string why;
  if (!outcome) why = reactor::reason_of(outcome.error());
  switch (command.action) {
    case host_action::stage:
      if (command.adopted) return;  // how it ended is not known: the host's status says
      // superseded: its end says nothing about the present image
      if (command.image != last_image_) return;
      if (outcome) {
        stage_claimed_ = command.image;
        return;
      }
      stage_error_ = why;
      stage_backoff_.failed(now);
      return;
    case host_action::lock:
    case host_action::stay:
      lock_error_ = why;
      if (outcome)
        lock_backoff_ = {};
      else
        lock_backoff_.failed(now);
      return;
    case host_action::reboot:
    case host_action::roll_back:
      if (outcome) return;  // the host goes down any moment
      reboot_issued_ = false;
      reboot_error_ = why;
      reboot_backoff_.failed(now);
      return;
  }
}

void node_agent::withdrawn() {
  if (running_ && running_->adopted) adopt_ = running_;  // it goes on all the same
  running_.reset();
  reboot_issued_ = false;
}

std::string node_agent::idle_note(std::string_view reason) const {
  std::string out = reason == node_reason::idle ? next_boot_note() : std::string(), others;
  for (const auto& what : traits_.uncoordinated) others += (others.empty() ? "" : ", ") + what;
  if (!others.empty())
    out += (out.empty() ? "" : std::string(then)) + std::string(uncoordinated_text) + others;
  return out;
}

/// What the next reboot boots that no pool asked for.
std::string node_agent::next_boot_note() const {
  if (!host_ || !host_problem_.empty()) return {};
  const std::string desired(digest_in(object_->spec.desired_image));
  const auto staged = published(host_->staged), rollback = published(host_->rollback);
  if (staged) {
    const bool ours =
        is_image(*staged, desired) || is_image(*staged, std::string(digest_in(staged_for_pool_)));
    return ours || host_->staged->download_only ? std::string()
                                                : staged->image + std::string(staged_by_hand_text);
  }
  if (!rollback || !host_->rollback_queued || is_image(*rollback, desired)) return {};
  return "a rollback to " + rollback->image + " is queued: the next reboot boots it";
}

/// With composefs an image that is already deployed cannot be staged again; going back to the
/// previous one is bootc's own rollback, which is armed only together with the reboot.
bool node_agent::is_restored_rollback(const std::string& digest) const {
  if (!host_->composefs()) return false;
  const auto entry = published(host_->rollback);
  return entry && is_image(*entry, digest);
}

std::optional<image_info> node_agent::published_staged(const std::string& digest) const {
  auto entry = published(host_->staged);
  if (!digest.empty() && is_restored_rollback(digest) && !(entry && is_image(*entry, digest)))
    return published(host_->rollback);
  return entry;
}

staging_mode node_agent::staging() const {
  return parse_staging_mode(object_->annotation(names::stage).value_or("locked"))
      .value_or(staging_mode::locked);
}

node_agent::verdict node_agent::on_target(reactor::steady_time now) {
  stage_error_.clear();
  stage_claimed_.clear();
  stage_backoff_ = {};
  reboot_error_.clear();
  reboot_backoff_ = {};
  verdict v;
  if (running_) {
    v.cancel_stage = running_->action == host_action::stage;
    return v;
  }
  // An image that a pool had staged and no longer wants would boot at the next reboot, whatever
  // causes it. What an administrator staged is his: next_boot_note tells of it.
  const auto left = published(host_->staged);
  if (!left || host_->staged->download_only ||
      !is_image(*left, std::string(digest_in(staged_for_pool_))) ||
      is_image(*left, std::string(digest_in(object_->spec.desired_image))))
    return v;
  const bool can_lock = traits_.upgrade_download_only && !host_->composefs();
  if (!can_lock) {
    v.error = "staged image " + left->image +
              " is armed: it boots at the next reboot and this host cannot lock it";
    return v;
  }
  if (!lock_error_.empty()) v.error = "staged image " + left->image + " is armed: " + lock_error_;
  if (lock_backoff_.waits(now)) {
    v.look_again = lock_backoff_.until;
    return v;
  }
  host_command c;
  c.action = host_action::lock;
  c.image = left->image;
  v.command = std::move(c);
  return v;
}

node_agent::verdict node_agent::stage(reactor::steady_time now) {
  // bootc also ends well when it thinks that there is nothing to do; asking again at once would
  // never end.
  if (!running_ && stage_claimed_ == object_->spec.desired_image) {
    stage_claimed_.clear();
    stage_error_ = "the command succeeded, but the image is not staged";
    stage_backoff_.failed(now);
  }
  verdict v;
  // until a stage works, also while retrying
  if (!stage_error_.empty()) v.error = std::string(stage_failed) + stage_error_;
  if (running_) {
    v.idle_reason = node_reason::staging;
    v.cancel_stage =
        running_->action == host_action::stage && running_->image != object_->spec.desired_image;
    if (!v.cancel_stage) v.idle_message = progress_.words();
    return v;
  }
  if (host_->read_only) {
    v.error = "the host is read-only: bootc cannot update it";
    return v;
  }
  if (!auth_error_.empty()) {
    v.error = auth_error_;
    v.look_again = auth_backoff_.until;
    return v;
  }
  if (stage_backoff_.waits(now)) {
    v.look_again = stage_backoff_.until;
    return v;
  }
  const bool can_lock =
      traits_.switch_download_only || (traits_.upgrade_download_only && !host_->composefs());
  if (staging() == staging_mode::in_slot && !can_lock &&
      object_->spec.desired_state != image_state::booted) {
    v.idle_message = stages_in_slot_text;
    return v;
  }
  v.idle_reason = node_reason::staging;
  host_command c;
  c.unlocked = staging() == staging_mode::unlocked;
  c.action = host_action::stage;
  c.image = object_->spec.desired_image;
  c.composefs = host_->composefs();
  v.command = std::move(c);
  return v;
}

node_agent::verdict node_agent::staged(reactor::steady_time now) {
  verdict v;
  v.idle_reason = node_reason::staged;
  stage_error_.clear();
  stage_claimed_.clear();
  stage_backoff_ = {};
  const std::string digest(digest_in(object_->spec.desired_image));
  const auto entry = published(host_->staged);
  const bool by_rollback = !(entry && is_image(*entry, digest));
  const bool locked = by_rollback || host_->staged->download_only;
  if (running_) {
    v.cancel_stage =
        running_->action == host_action::stage && running_->image != object_->spec.desired_image;
    return v;
  }
  if (object_->spec.desired_state != image_state::booted) {
    const bool can_lock =
        traits_.upgrade_download_only && !host_->composefs() && staging() != staging_mode::unlocked;
    v.idle_message =
        locked ? "Image staged, awaiting desiredImageState: Booted" : std::string(unlocked_text);
    if (locked || !can_lock) return v;
    if (lock_backoff_.waits(now)) {
      v.look_again = lock_backoff_.until;
      return v;
    }
    host_command c;
    c.action = host_action::lock;
    c.image = object_->spec.desired_image;
    v.command = std::move(c);
    return v;
  }
  if (!reboot_error_.empty()) v.error = "reboot failed: " + reboot_error_;
  if (reboot_backoff_.waits(now)) {
    v.look_again = reboot_backoff_.until;
    return v;
  }
  v.idle_reason = node_reason::rebooting;
  v.error.clear();
  if (const std::string mark = traits_.boot.text(); !mark.empty())
    v.idle_message =
        std::string(boot_prefix) + mark + std::string(into) + object_->spec.desired_image;
  host_command c;
  c.action = by_rollback ? host_action::roll_back : host_action::reboot;
  c.image = object_->spec.desired_image;
  c.locked = locked && !by_rollback;
  c.queued = by_rollback && host_->rollback_queued;
  c.soft = !by_rollback && host_->staged->soft_reboot_capable &&
           parse_reboot_policy(object_->annotation(names::reboot_policy).value_or("")) ==
               reboot_policy::allow_soft_reboot;
  c.composefs = host_->composefs();
  v.command = std::move(c);
  return v;
}

/// The host is staging since before this process: bootc's status would not answer before that ends,
/// so what stands in the object goes on.
node_agent::verdict node_agent::staging_since_before() const {
  verdict v;
  v.idle_reason = node_reason::staging;
  const condition* before = find_condition(object_->status.conditions, node_condition::degraded);
  if (before && before->status == "True" && before->message.starts_with(stage_failed))
    v.error = before->message;
  v.cancel_stage = running_ && running_->image != object_->spec.desired_image;
  if (!v.cancel_stage) v.idle_message = progress_.words();
  return v;
}

/// An image that a pool had booted and that did not come up is the first in the host's boot order
/// all the same, and so is one that a pool has a host go back to and no longer wants: the next
/// reboot would boot it, whatever causes it. What an administrator queued stays.
void node_agent::keep_booted(verdict& v, reactor::steady_time now) {
  if (queued_for_pool_.empty() || !host_ || !host_problem_.empty() || !others_update_.empty() ||
      running_ || v.command)
    return;
  const auto first = published(host_->rollback);
  if (!first || !host_->rollback_queued ||
      !is_image(*first, std::string(digest_in(queued_for_pool_)))) {
    queued_for_pool_.clear();
    return;
  }
  const bool wanted = queued_for_pool_ == object_->spec.desired_image && failed_image_.empty();
  if (wanted || host_->staged) return;  // what is staged boots before it, and would be dropped
  if (!lock_error_.empty() && v.error.empty())
    v.error = first->image + " is the next to boot and cannot be taken back: " + lock_error_;
  if (lock_backoff_.waits(now)) {
    v.look_again = std::min(v.look_again, lock_backoff_.until);
    return;
  }
  host_command c;
  c.action = host_action::stay;
  c.image = queued_for_pool_;
  v.command = std::move(c);
}

node_agent::verdict node_agent::judge(reactor::steady_time now) {
  verdict v;
  if (!host_problem_.empty()) {
    v.error = host_problem_;
    v.look_again = host_backoff_.until;
    return v;
  }
  if (!host_) return staging_since_before();
  if (const std::string unknown = unknown_orders(*object_); !unknown.empty()) {
    if (running_) v.idle_reason = node_reason::staging;
    v.error = std::string(unknown_order_text) + unknown;
    return v;
  }
  if (!others_update_.empty()) {
    v.idle_reason = node_reason::staging;
    v.idle_message = others_update_;
    v.look_again = host_backoff_.until;
    return v;
  }
  if (!host_->booted) {
    v.error = "bootc status has no booted entry";
    return v;
  }
  if (!host_->booted->image) {
    v.error =
        host_->booted->incompatible
            ? "the booted deployment has local changes (layered packages) that bootc cannot update"
            : "the booted deployment has no container image: this host was not installed from one";
    return v;
  }
  const auto desired = parse_image_ref(object_->spec.desired_image);
  if (!desired) {
    v.error =
        "invalid image ref \"" + object_->spec.desired_image + "\": " + desired.error().detail;
    return v;
  }
  if (desired->digest.empty()) {
    v.error = "image ref \"" + object_->spec.desired_image + "\" has no digest";
    return v;
  }
  if (is_image(*published(host_->booted), desired->digest)) {
    failed_image_.clear();
    v = on_target(now);
    if (host_->booted->incompatible && v.error.empty())
      v.error =
          "the booted deployment has local changes (layered packages) that bootc cannot update";
    return v;
  }
  if (!failed_image_.empty()) {
    v.error = std::string(not_on_target_text) + ": " + published(host_->booted)->image + " runs" +
              std::string(instead_of) + failed_image_;
    return v;
  }
  const auto entry = published_staged(desired->digest);
  if (entry && is_image(*entry, desired->digest)) return staged(now);
  return stage(now);
}

agent_step node_agent::decide(reactor::steady_time now, reactor::wall_time wall) {
  agent_step step;
  if (!object_ || reboot_issued_ || (!host_ && host_problem_.empty() && !busy())) return step;
  const bool adopts = adopt_.has_value();
  if (adopts) running_ = std::exchange(adopt_, std::nullopt);
  verdict v = judge(now);
  if (adopts) v.command = running_;
  keep_booted(v, now);
  step.status = object_->status;
  step.status.observed_generation = object_->meta.generation;
  if (host_ && host_problem_.empty()) {
    step.status.booted = published(host_->booted);
    step.status.staged = published_staged(std::string(digest_in(object_->spec.desired_image)));
    step.status.rollback = published(host_->rollback);
  }
  condition idle;
  idle.type = node_condition::idle;
  idle.status = v.idle_reason == node_reason::idle ? "True" : "False";
  idle.reason = v.idle_reason;
  idle.message = v.idle_message;
  if (const std::string others = idle_note(v.idle_reason); !others.empty())
    idle.message += (idle.message.empty() ? "" : std::string(then)) + others;
  idle.observed_generation = object_->meta.generation;
  set_condition(step.status.conditions, std::move(idle), wall);
  condition degraded;
  degraded.type = node_condition::degraded;
  degraded.status = v.error.empty() ? "False" : "True";
  degraded.reason = v.error.empty() ? node_reason::healthy : node_reason::error;
  degraded.message = v.error;
  degraded.observed_generation = object_->meta.generation;
  set_condition(step.status.conditions, std::move(degraded), wall);
  step.publish = step.status != object_->status;
  step.cancel_stage = v.cancel_stage;
  step.look_again = v.look_again;
  step.command = std::move(v.command);
  if (step.command) {
    running_ = step.command;
    if (step.command->action == host_action::stage) staged_for_pool_ = step.command->image;
    if (step.command->action == host_action::roll_back) queued_for_pool_ = step.command->image;
    reboot_issued_ = step.command->action == host_action::reboot ||
                     step.command->action == host_action::roll_back;
  }
  return step;
}

}  // namespace bootc
