#include "bootc/daemon/simulated_host.hpp"

#include "reactor/loop.hpp"
#include "registry/image_ref.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

namespace bootc {

using registry::digest_in;

namespace {

namespace json = boost::json;

reactor::fault failed(std::string why) {
  return reactor::make_fault(reactor::errc::refused, "", why);
}

}  // namespace

simulated_host::simulated_host(reactor::loop& l, std::string image,
                               simulated_host_settings settings)
    : loop_(l),
      settings_(std::move(settings)),
      booted_(std::move(image)),
      going_down_(l),
      changed_(l),
      off_(l) {
  new_boot();
}

void simulated_host::new_boot() {
  boot_id_ = loop_.random().uuid();
  shown_.clear();  // it is below /run
}

bool simulated_host::has(const std::set<std::string>& marks, const std::string& image) const {
  for (const auto& mark : marks)
    if (image.find(mark) != std::string::npos) return true;
  return false;
}

awaitable<reactor::result<host_traits>> simulated_host::inspect() {
  host_traits out;
  out.switch_download_only = settings_.download_only;
  out.upgrade_download_only = settings_.can_lock && !settings_.composefs;
  out.boot.id = boot_id_;
  out.boot.soft_reboots = soft_reboots_;
  if (staged_) out.staged = *staged_;
  co_return out;
}

std::string simulated_host::entry(const std::string& image, bool locked) const {
  // Asked for by every daemon at each look, hence put together as text.
  const auto truth = [](bool b) { return b ? "true" : "false"; };
  const std::string digest(digest_in(image));
  std::string out = R"({"image":{"image":{"image":)" + json::serialize(json::string(image)) +
                    R"(,"transport":"registry"},"imageDigest":")" + digest +
                    R"(","architecture":"amd64"},"incompatible":false,"pinned":false)";
  out.append(R"(,"softRebootCapable":)").append(truth(settings_.soft_reboot_capable));
  out.append(R"(,"downloadOnly":)").append(truth(locked));
  if (settings_.composefs)
    out += R"(,"composefs":{"verity":")" + digest +
           R"(","bootType":"Bls","bootloader":"grub","missingVerityAllowed":false}})";
  else
    out += R"(,"ostree":{"stateroot":"default","checksum":")" + digest + R"(","deploySerial":0}})";
  return out;
}

awaitable<reactor::result<std::string>> simulated_host::status() {
  const auto slot = [&](const std::optional<std::string>& image, bool locked) {
    return image ? entry(*image, locked) : std::string("null");
  };
  co_return R"({"apiVersion":"org.containers.bootc/v1","kind":"BootcHost","metadata":{"name":"host"},"spec":{"image":null,"bootOrder":"default"},"status":{"staged":)" +
      slot(staged_, locked_) + R"(,"booted":)" + slot(booted_, false) + R"(,"rollback":)" +
      slot(rollback_, false) + R"(,"rollbackQueued":)" + (queued_ ? "true" : "false") +
      R"(,"type":"bootcHost"}})";
}

awaitable<reactor::result<void>> simulated_host::run(host_command command) {
  switch (command.action) {
    case host_action::stage:
      co_await loop_.sleep_for(settings_.stage_time);
      if (has(settings_.unpullable, command.image))
        co_return failed("manifest unknown: " + command.image);
      if (has(settings_.too_large, command.image))
        co_return failed("Writing content object: write: No space left on device");
      if (has(settings_.closed, command.image) && shown_ != settings_.login)
        co_return failed("unauthorized: " + command.image);
      staged_ = command.image;
      locked_ = !command.unlocked &&
                (settings_.download_only || (settings_.can_lock && !settings_.composefs));
      changed_.wake_all();
      co_return reactor::result<void>();
    case host_action::lock:
      if (!staged_) co_return failed("No staged deployment found");
      locked_ = settings_.can_lock;
      co_return reactor::result<void>();
    case host_action::reboot:
      if (!staged_) co_return failed("No staged deployment found");
      locked_ = false;
      soft_ = command.soft;
      going_down_.set();
      break;
    case host_action::roll_back:
      if (!rollback_) co_return failed("No rollback deployment found");
      if (!command.queued) {  // what is staged is dropped, and a second one takes the first back
        queued_ = !queued_;
        staged_.reset();
        locked_ = false;
      }
      going_down_.set();
      break;
    case host_action::stay:
      if (!queued_) co_return failed("no rollback is queued: bootc would queue one");
      queued_ = false;
      co_return reactor::result<void>();
  }
  // As the command does: it does not return.
  (void)co_await off_.wait();
  co_return reactor::result<void>();
}

awaitable<reactor::result<void>> simulated_host::show_registries(
    std::optional<reactor::secret> docker_config) {
  shown_ = docker_config ? std::string(docker_config->reveal()) : std::string();
  co_return reactor::result<void>();
}

awaitable<void> simulated_host::changed() {
  (void)co_await changed_.wait();
}

simulated_host::boot simulated_host::come_up() {
  going_down_.reset();
  ++reboots_;
  if (std::exchange(soft_, false))
    ++soft_reboots_;
  else
    new_boot();
  std::optional<std::string> next;
  if (staged_ && !locked_)
    next = staged_;
  else if (queued_ && !std::exchange(lost_, false))
    next = rollback_;
  staged_.reset();
  locked_ = false;
  if (!next) return boot::reached;
  queued_ = has(settings_.never_returns, *next) || has(settings_.unbootable, *next);
  rollback_ = queued_ ? *next : std::exchange(booted_, *next);
  lost_ = queued_ && has(settings_.never_returns, *next);
  return lost_ ? boot::lost : queued_ ? boot::fell_back : boot::reached;
}

}  // namespace bootc
