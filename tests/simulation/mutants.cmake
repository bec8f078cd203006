# The mutants: which words of which source a broken rule changes. Run with -P as SCRIPT, it writes OUT, the copy of SOURCE (a path
# from ROOT) with all its mutations, each asked for at run time; a text that is not there exactly once ends the build.
#   windlass_mutants(<program> <source>...): the program has the copies in place of its libraries' objects, so the sources are
#   windlass_alone in their libraries.
function(windlass_mutants program)
  foreach(source IN LISTS ARGN)
    set(out ${CMAKE_CURRENT_BINARY_DIR}/mutants/${source})
    add_custom_command(OUTPUT ${out}
      COMMAND ${CMAKE_COMMAND} -D ROOT=${PROJECT_SOURCE_DIR} -D SOURCE=${source} -D OUT=${out}
              -P ${PROJECT_SOURCE_DIR}/tests/simulation/mutants.cmake
      DEPENDS ${PROJECT_SOURCE_DIR}/${source} ${PROJECT_SOURCE_DIR}/tests/simulation/mutants.cmake
      COMMENT "Mutating ${source}" VERBATIM)
    target_sources(${program} PRIVATE ${out})
    windlass_alone(${out})
  endforeach()
endfunction()
if(NOT CMAKE_SCRIPT_MODE_FILE)
  return()
endif()

file(READ ${ROOT}/${SOURCE} text)
# mutate(<source> <text> <mutated text>); in the latter, @rule@ asks whether that rule is kept.
function(mutate source from to)
  if(NOT source STREQUAL SOURCE)
    return()
  endif()
  string(FIND "${text}" "${from}" first)
  string(FIND "${text}" "${from}" last REVERSE)
  if(first EQUAL -1 OR NOT first EQUAL last)
    message(FATAL_ERROR "${source} must have this text once, for the mutants of tests/simulation/mutants.cmake:\n${from}")
  endif()
  string(REGEX REPLACE "@([a-z_]+)@" "mutants::keeps(mutants::rule::\\1)" to "${to}")
  string(REPLACE "${from}" "${to}" text "${text}")
  set(text "${text}" PARENT_SCOPE)
endfunction()

set(steps bootc/pool/planning/member_steps.cpp)
set(slots bootc/pool/planning/slots.cpp)
mutate(bootc/pool/drains.cpp
  [[co_return co_await api_.evict(std::move(key), std::move(uid));]]
  [[if (@budget@) co_return co_await api_.evict(std::move(key), std::move(uid));
  k8s::delete_options options;
  options.uid = std::move(uid);
  co_return co_await api_.remove(k8s::resources::pods(), std::move(key), std::move(options));]])
mutate(bootc/pool/drains.cpp
  [[while (d->ending.contains(uid))]] [[while (@gone@ && d->ending.contains(uid))]])
mutate(bootc/pool/reconciler/pool_writer.cpp
  [[pool_writer::sees_own_writes(std::string pool) {]]
  [[pool_writer::sees_own_writes(std::string pool) {
  if (!@own_writes@) co_return true;]])
mutate(${steps}
  [[const bool drained = m.drain->state == phase::succeeded;]]
  [[const bool drained = m.drain->state == phase::succeeded || !@drain@;]])
mutate(${steps}
  [[if (!m.node->unschedulable) {  // another]] [[if (!m.node->unschedulable && @cordon@) {  // another]])
mutate(${steps}
  [[m.state != unit_state::up_to_date && !m.node->unschedulable)]]
  [[m.state != unit_state::up_to_date && !m.node->unschedulable && @cordon@)]])
mutate(${steps}
  [[!is_ready(*m.node)) return;
  if (m.was_schedulable() && m.node->unschedulable)]]
  [[!is_ready(*m.node)) return;
  if (m.was_schedulable() && m.node->unschedulable && @cordon_restore@)]])
mutate(${slots} [[if (m.approved()) return true;]] [[if (m.approved() && @failed_reboot@) return true;]])
mutate(${slots} [[m.trouble == not_back_text)]] [[m.trouble == not_back_text && @lost_reboot@)]])
mutate(${slots}
  [[d.plan.halted = found_.size() >= halt_threshold;]]
  [[d.plan.halted = found_.size() >= halt_threshold && @halt@;]])
mutate(${slots}
  [[d.plan.capacity = capacity ? *capacity : 0;]]
  [[d.plan.capacity = !@slot@ ? members : capacity ? *capacity : 0;]])
mutate(${slots} [[if (m.skew) return;]] [[if (m.skew && @skew_slot@) return;]])
mutate(${slots} [[if (!beyond_.empty()) d.plan.halted = true;]] [[if (!@skew_halt@) beyond_.clear();
  if (!beyond_.empty()) d.plan.halted = true;]])
set(skew bootc/pool/planning/skew.cpp)
mutate(${skew} [[if (const auto* r = broken_rule(part::kubelet, target, part::api_server, server.is.minor))]]
  [[if (const auto* r = @skew_servers@ ? broken_rule(part::kubelet, target, part::api_server, server.is.minor) : nullptr)]])
mutate(${skew} [[const bool is_newer = target > plane.is.minor;]]
  [[const bool is_newer = target > plane.is.minor;
    if (is_newer && !@skew_planes_first@) continue;]])
mutate(${skew} [[if (const auto* r = broken_rule(part::control_plane, target, part::former, former->minor))]]
  [[if (const auto* r = @skew_step@ ? broken_rule(part::control_plane, target, part::former, former->minor) : nullptr)]])
mutate(${skew} [[if (node.meta.name != plane.by)]] [[if (node.meta.name != plane.by && @skew_beside@)]])
mutate(${skew} [[if (one)
        if (const]] [[if (one && @skew_workers@)
        if (const]])
mutate(${skew} [[if (is_asking_)]] [[if (is_asking_ && @skew_asking@)]])
mutate(${skew} [[if (const auto coming = on_its_way(d.world, object)) {]]
  [[if (const auto coming = on_its_way(d.world, object); coming && @skew_way@) {]])
mutate(bootc/pool/reconciler/pool_writer.cpp [[if (begins(a))]] [[if (begins(a) && @brake_pools@)]])
mutate(bootc/pool/reconciler/pool_reader.cpp
  [[world.braked = units::ask(settings_.brake, pool);]]
  [[if (@brake_pools@) world.braked = units::ask(settings_.brake, pool);]])
mutate(compose/compose_pass.cpp [[if (!held) co_return out;]] [[if (!held || !@brake_compositions@) co_return out;]])
mutate(compose/compose_writes.cpp [[(begins ? units::begin]] [[(@brake_compositions@ && begins ? units::begin]])
mutate(compose/compose_writes.cpp [[: units::ask(brake_, id.text()))) {]] [[: @brake_compositions@ ? units::ask(brake_, id.text()) : std::nullopt)) {]])
mutate(app/api/api.cpp [[if (speed) wait =]] [[if (speed && @speed@) wait =]])
mutate(app/api/speed_limit.cpp [[steady_time of_cluster =
      opens_at(had == clusters_.end() ? times()]] [[steady_time of_cluster =
      opens_at(had == clusters_.end() || !@speed_cluster@ ? times()]])
mutate(app/api/speed_limit.cpp [[return std::max({of_fleet, of_cluster, closed_until_});]]
  [[return @speed_start@ ? std::max({of_fleet, of_cluster, closed_until_}) : std::max(of_fleet, of_cluster);]])
mutate(helm/placed/plan/plan.cpp
  [[bool begins(step s) noexcept {]] [[bool begins(step s) noexcept {
  if (!@brake_charts@) return false;]])
mutate(helm/placed/operation_task.cpp
  [[if (!release || telling) co_return]] [[if (!release || telling || !@settle@) co_return]])
mutate(helm/placed/plan/plan.cpp
  [[if (left > nanoseconds(0)) {]] [[if (left > nanoseconds(0) || !@recovery@) {]])
mutate(helm/placed/plan/operation_steps.cpp
  [[return go(facts_.asks_owner ? request::ask_owner : request::run);]]
  [[if (!@fingerprint_last@ && facts_.what != operation::uninstall) return go(request::note_fingerprint);
  return go(facts_.asks_owner ? request::ask_owner : request::run);]])
mutate(helm/placed/plan/operation_steps.cpp
  [[case request::note_fingerprint: return go(]]
  [[case request::note_fingerprint: if (!is_over_) return go(request::run); return go(]])
mutate(helm/tenants/plan/tenant_plan.cpp
  [[!ref.secret_name.empty() && !is_orphan(t, w))]] [[!ref.secret_name.empty() && !is_orphan(t, w) && @target_filter@)]])
mutate(helm/tenants/waves/wave_state.cpp
  [[out.is = judge(before, is_same, noted == wanted, p);]]
  [[out.is = judge(before, is_same, noted == wanted, p);
  if (!@new_fingerprint@ && !noted.empty()) out.is = wave_state::kind::ready;]])
set(fleet fleetwide/plan/rollout_plan.cpp)
mutate(${fleet} [[} else if (p.wave >= open.waves) {]] [[} else if (p.wave >= open.waves && @fleet_wave@) {]])
mutate(${fleet} [[(meant > 0 && ready == 0)) {]] [[(meant > 0 && ready == 0 && @fleet_proof@)) {]])
mutate(${fleet} [[if (wave + 1 < w_.settings.wave_count() &&]] [[if (@fleet_soak@ && wave + 1 < w_.settings.wave_count() &&]])
mutate(${fleet} [[const std::size_t most = w_.settings.max_clusters.up(all);]] [[const std::size_t most = @fleet_slot@ ? w_.settings.max_clusters.up(all) : clusters_;]])
mutate(${fleet} [[if (!out_.halt.empty()) return std::pair(&hold_code::rollout_halted, out_.halt);]]
  [[if (!out_.halt.empty() && @fleet_halt@) return std::pair(&hold_code::rollout_halted, out_.halt);]])
mutate(${fleet} [[out_.notes_failure = true;]] [[out_.notes_failure = @fleet_noted@;]])
mutate(${fleet} [[if (w_.has_failed) return go_back();]] [[if (w_.has_failed && @fleet_back@) return go_back();]])
mutate(${fleet} [[    if (w_.is_paused)
      return std::pair(&units::hold_code::paused,]] [[    if (w_.is_paused && @fleet_pause@)
      return std::pair(&units::hold_code::paused,]])
mutate(${fleet} [[return of(i).is_selected && of(i).is_granted && !w_.is_leaving;]] [[return of(i).is_selected && (of(i).is_granted || !@fleet_grant@) && !w_.is_leaving;]])
mutate(${fleet} [[(of(i).has != member::owner::other || of(i).is_adopted);]] [[(of(i).has != member::owner::other || of(i).is_adopted || !@fleet_owner@);]])
mutate(${fleet} [[if ((s != member_state::ready && s != member_state::failed) || is_tried_again(i))]]
  [[if (s == member_state::away && !@fleet_lost@) continue;
        if ((s != member_state::ready && s != member_state::failed) || is_tried_again(i))]])
mutate(${fleet} [[} else if (out_.members[i].wave != *first) {]] [[} else if (out_.members[i].wave != *first && @fleet_leave@) {]])
mutate(${fleet} [[if (!takes_part(i) || of(i).seen != member::sight::seen) continue;
      if (!is_due(i)]]
  [[if (!takes_part(i) || (of(i).seen != member::sight::seen && @fleet_unseen@)) continue;
      if (!is_due(i)]])
mutate(${fleet} [[of(i).since < *w_.retry;]] [[(of(i).since < *w_.retry || !@fleet_retry@);]])
mutate(${fleet} [[if (of(i).needs) {]] [[if (of(i).needs && @fleet_needs@) {]])
mutate(${fleet} [[if (of(i).stuck && !has_wanted(i)) return false;]] [[if (of(i).stuck && !has_wanted(i) && @fleet_stuck@) return false;]])
set(needs fleetwide/charts/needs.cpp)
mutate(${needs} [[return n.is != state::ready;]] [[return n.is != state::ready && (n.is != state::not_ready || @needs_ready@);]])
mutate(${needs} [[if (n.is != state::not_ready)]] [[if (n.is != state::not_ready && @needs_person@)]])
set(chart fleetwide/charts/chart_plan.cpp)
mutate(${chart} [[if (!o_.is_begun()) return]] [[if (!o_.noted || (!o_.is_begun() && @chart_note@)) return]])
mutate(${chart} [[if (o_.noted && !o_.is_mine(o_.noted) && !o_.adopts)]] [[if (o_.noted && !o_.is_mine(o_.noted) && !o_.adopts && @chart_claim@)]])
mutate(${chart} [[if (!o_.is_mine(o_.noted) && is_there() && !o_.adopts)]] [[if (!o_.is_mine(o_.noted) && is_there() && !o_.adopts && @chart_person@)]])
mutate(${chart} [[chart_note::state::done && o_.drift != chart_spec::on_drift::repair)]] [[chart_note::state::done && o_.drift != chart_spec::on_drift::repair && @chart_drift@)]])
mutate(${chart} [[else if (o_.drift == chart_spec::on_drift::repair)]] [[else if (o_.drift == chart_spec::on_drift::repair && @chart_repair@)]])
mutate(${chart} [[!o_.tests && is_same]] [[(!o_.tests || !@chart_tests@) && is_same]])
mutate(${chart} [[w_.release->last_deployed >= *began;]] [[(w_.release->last_deployed >= *began || !@chart_since@);]])
mutate(${chart} [[if (is_ours || was_done)]] [[if (is_ours || was_done || !@chart_done@)]])
mutate(${chart} [[if (!is_idle() || !name_is_free()) return;]] [[if ((@chart_idle@ && !is_idle()) || !name_is_free()) return;]])
mutate(${chart} [[if (!o_.is_mine(o_.noted)) {]] [[if (!o_.is_mine(o_.noted) && @chart_foreign@) {]])
mutate(${chart} [[return go(step::stop_operation, "it goes while an operation is under way");]]
  [[if (@chart_stop@) return go(step::stop_operation, "it goes while an operation is under way");]])
mutate(${chart} [[if (w_.release && w_.release->state != status::uninstalled)]] [[if (@chart_forget@ && w_.release && w_.release->state != status::uninstalled)]])
mutate(${chart} [[if (!found.any() && !is_noted)]] [[if (!found.any() && !is_noted && @chart_settle@)]])
mutate(${chart} [[return o_.timeout;]] [[return @chart_timeout@ ? o_.timeout : helm::placed::operation_timeout;]])
mutate(${chart} [[if (!has_namespace()) return;]] [[if (@chart_space@ && !has_namespace()) return;]])

file(WRITE ${OUT} "#include \"tests/simulation/safety_rules.hpp\"\n#line 1 \"${SOURCE}\"\n${text}")
