#include "fleetwide/charts/chart_plan.hpp"

#include "fleetwide/charts/chart_words.hpp"
#include "fleetwide/plan/holds.hpp"

namespace fleetwide {
namespace {

using helm::placed::nanoseconds;
using helm::placed::step;
using helm::placed::waits_for;
using helm::release::status;
using workspace_state = helm::placed::workspace_facts::state;

const helm::placed::placement_planner_words& words_of_charts() {
  static const helm::placed::placement_planner_words words{
      chart_event::begun,
      chart_event::let_go,
      chart_event::let_go,  // its namespace is never deleted
      chart_event::recovered,
      {},
      [](const helm::placed::names::owner_reference&) { return false; }};
  return words;
}

const units::hold_kind& hold_kind_of(waits_for why) noexcept {
  switch (why) {
    case waits_for::operating: return hold_code::operating;
    case waits_for::conflict: return hold_code::managed_by_other;
    case waits_for::namespace_reserved: return hold_code::namespace_reserved;
    case waits_for::namespace_terminating: return hold_code::namespace_terminating;
    case waits_for::namespace_failed: return hold_code::namespace_failed;
    case waits_for::release_pending: return hold_code::release_pending;
    case waits_for::backoff: return hold_code::backoff;
    case waits_for::chart_loading: return hold_code::chart_loading;
    case waits_for::braked: return units::hold_code::braked;
    case waits_for::speed_limit: return units::hold_code::speed_limit;
  }
  return hold_code::backoff;
}

class chart_planning final : helm::placed::placement_planner {
public:
  chart_planning(const chart_world& w, chart_plan& out)
      : placement_planner(w, named(w, out), w.object->meta, {},
                          {std::string(names::fleet_chart), w.object->meta.key()},
                          words_of_charts()),
        w_(w),
        o_(*w.object),
        out_(out) {}

  void make() {
    if (o_.uninstalls) return clean_up();
    if (!is_idle() || !name_is_free()) return;
    if (o_.noted && !o_.is_mine(o_.noted) && !o_.adopts)
      return hold(hold_code::managed_by_other, "the release comes from " + o_.noted->object,
                  std::nullopt);
    if (!o_.is_mine(o_.noted) && is_there() && !o_.adopts)
      return hold(hold_code::managed_by_other,
                  "a release " + out_.release + " is there that no FleetChart made", std::nullopt);
    if (!o_.is_begun()) return go(step::add_finalizer, "what it is to have is noted first");
    // What was done and is otherwise now is another writer's doing.
    if (o_.noted->is == chart_note::state::done && o_.drift != chart_spec::on_drift::repair)
      return keep();
    if (o_.noted->is == chart_note::state::failed && o_.atomic && !has_pending())
      return hold(hold_code::backoff, taken_back(), std::nullopt);
    if (!has_namespace()) return;
    follow_release();
  }

private:
  static chart_plan& named(const chart_world& w, chart_plan& out) {
    out.workspace = w.object->ns;
    out.release = w.object->release;
    return out;
  }

  void hold(const units::hold_kind& why, std::string sentence, std::optional<nanoseconds> again) {
    out_.hold = units::held(why, out_.release, std::move(sentence));
    out_.reason = out_.hold->sentence;
    out_.again_in = again;
  }
  void wait(waits_for why, std::string sentence, std::optional<nanoseconds> again) override {
    hold(hold_kind_of(why), std::move(sentence), again);
    if (why == waits_for::braked || why == waits_for::speed_limit)
      out_.hold->asked_again = w_.braked->asked_again;
  }
  bool has_pending() const { return w_.release && helm::release::is_pending(w_.release->state); }
  std::string taken_back() const {
    const bool is_back = !is_there() || w_.release->state == status::deployed;
    return is_back ? "the operation failed and was taken back"
                   : "the operation failed and could not be taken back";
  }
  bool is_there() const { return w_.release && w_.release->state != status::uninstalled; }

  nanoseconds operation_timeout() const override { return o_.timeout; }
  void reserved(const std::string&) override {}
  void lost(const std::string&) override {}
  void terminating() override {}

  /// Several charts may share a namespace, so it is no one's.
  bool has_namespace() {
    if (w_.workspace.is == workspace_state::present) return true;
    if (w_.workspace.is == workspace_state::terminating)
      wait(waits_for::namespace_terminating, "namespace " + out_.workspace + " is terminating",
           helm::placed::pause_after(helm::placed::retry_cause::terminating, 1));
    else if (w_.retry_in > nanoseconds(0))
      wait(waits_for::namespace_failed, "namespace " + out_.workspace + " could not be made",
           w_.retry_in);
    else
      go(step::create_namespace, "namespace " + out_.workspace + " is not there");
    return false;
  }

  void absent() override { apply(step::install, "there is no release"); }
  void upgrade(std::string why) override { apply(step::upgrade, std::move(why)); }

  void deployed() override {
    const chart_note& noted = *o_.noted;
    if (noted.is == chart_note::state::done) return keep();
    const bool is_same =
        helm::placed::moved_away(*w_.release, w_.wanted.chart, w_.wanted.values).empty();
    const bool is_ours = w_.applied == w_.wanted.fingerprint;
    // A process that ended after its last write to the release and before it noted that.
    const auto began = reactor::parse_rfc3339(noted.since);
    const bool was_done = noted.is == chart_note::state::begun && !o_.tests && is_same && began &&
                          w_.release->last_deployed >= *began;
    if (is_ours || was_done)
      go(step::note_fingerprint, "the release is as wanted and not noted as that");
    else
      apply(step::upgrade, "another chart, version or values are asked for");
  }

  std::string moved() const {
    if (!w_.release || w_.release->state == status::uninstalled)
      return "the release was uninstalled";
    if (w_.release->state != status::deployed)
      return "revision " + std::to_string(w_.release->revision) + " is " +
             std::string(helm::release::to_string(w_.release->state));
    return helm::placed::moved_away(*w_.release, w_.wanted.chart, w_.wanted.values);
  }

  void keep() {
    helm::placed::drift_findings found = w_.drift;
    found.moved = moved();
    const bool is_noted = o_.noted->record == w_.record && o_.noted->version == w_.record_version &&
                          o_.noted->hold.empty();
    if (!found.any() && !is_noted)
      return go(step::note_fingerprint, "another writer made the same of it");
    if (!found.any() || o_.drift == chart_spec::on_drift::ignore)
      out_.is_settled = true;
    else if (o_.drift == chart_spec::on_drift::repair)
      apply(step::upgrade, found.text());
    else
      hold(hold_code::drifted, found.text(), std::nullopt);
  }

  void after_failure() override {
    using chart = helm::placed::chart_facts::state;
    if (w_.chart.is == chart::not_loaded)
      hold(hold_code::chart_not_loaded, w_.chart.problem, waits_);
    else if (w_.chart.is == chart::version_not_found)
      hold(hold_code::version_not_found, w_.chart.problem, waits_);
    else
      wait(waits_for::backoff, "the last operation on " + out_.release + " failed", waits_);
  }

  void begin(step what, std::string why) override { go(what, std::move(why)); }

  void clean_up() {
    if (w_.running == helm::placed::operation::install ||
        w_.running == helm::placed::operation::upgrade)
      return go(step::stop_operation, "it goes while an operation is under way");
    if (w_.running == helm::placed::operation::uninstall)
      return wait(waits_for::operating, out_.release + " is being uninstalled", std::nullopt);
    if (!o_.is_mine(o_.noted)) {
      out_.is_settled = true;
      return;
    }
    if (w_.release && w_.release->state != status::uninstalled)
      return go_unless_waiting(step::uninstall, "it is not meant for this cluster any more");
    nothing_left();
  }
  void nothing_left() override { let_go("nothing of it is left"); }

  const chart_world& w_;
  const chart_order& o_;
  chart_plan& out_;
};

}  // namespace

chart_plan plan_chart(const chart_world& w) {
  chart_plan out;
  if (w.object) chart_planning(w, out).make();
  return out;
}

}  // namespace fleetwide
