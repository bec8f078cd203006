#pragma once

#include "fleetwide/charts/chart_content.hpp"
#include "fleetwide/charts/chart_members.hpp"
#include "fleetwide/charts/needs.hpp"
#include "fleetwide/charts/values_objects.hpp"
#include "fleetwide/fleet_home.hpp"
#include "fleetwide/kinds/fleet_chart.hpp"
#include "reactor/task_group.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace helm::tenants {
class chart_supply;
}

namespace fleetwide {

/// The FleetCharts at home.
class chart_home final : public fleet_home_of<fleet_chart> {
public:
  struct chart_options {
    options common;
    helm::tenants::chart_supply* charts = nullptr;
    std::size_t operations = 16;  // that run at once
  };
  chart_home(k8s::engagement& on, chart_options o);
  void describe(boost::json::object& entry) const override;
  awaitable<void> stop() override;
  /// The cluster's values by the revision that is asked for, without what Secrets add.
  shown_values values_before_secrets(const fleet_look& at, const std::string& cluster);

  /// Whether it is still what its object asks for, or went back to.
  bool asks_for(const chart_order& o, const std::string& cluster);
  /// How much is kept of objects at home, and how many charts of a namespace are being fetched.
  std::size_t known() const noexcept { return known_.size() + said_.size() + sources_.watched(); }
  std::size_t fetching(const std::string& ns) const {
    const auto found = fetching_.find(ns);
    return found == fetching_.end() ? 0 : found->second;
  }
  /// Of what was done on a cluster something may be gone: it is looked at.
  void doubt(chart_members& on, const std::string& claim);

private:
  /// What is known of one object's chart, and of what policies said of its values.
  struct known_chart {
    std::string asked;      // chart_spec::reference(), pinned digest and keys
    found_version is;       // empty: not yet; its keys: those that it has to be signed with
    std::string signed_by;  // chart_supply::signer()
    std::string problem;    // why it cannot be had
    reactor::steady_time again{};
    bool is_asked = false;       // it is being fetched
    bool is_waited_for = false;  // by a look, as long as it deserves
  };
  /// For one cluster: what its values come to. They are made again where they are needed, since
  /// there may be as many as clusters.
  struct effective {
    std::string digest, problem;
    std::optional<units::hold> hold;  // of the policy
  };
  struct said_values {
    std::string asked;  // of what
    helm::value values;
    std::string problem;
    std::optional<units::hold> hold;
  };

  awaitable<not_known> prepare(fleet_object p) override;
  void forget(const k8s::object_key& key) override;
  revision_content content_wanted(const fleet_object& p) const override;
  member_sight sight_on(fleet_look& at, member m, member_part* part) override;
  std::string digest_on(member_part& part, const fleet_object& p) const override;
  void see_tags(fleet_look& at) const override;
  void keep(const fleet_look& at) override;
  awaitable<void> carry_out(deed_order d) override;
  std::size_t room() const override;
  bool grant_reaches(const fleet_grant& g, const fleet_object& p) const override;
  bool concerns(const fleet_object& p, const std::string& claim) const override;

  chart_members* charts_on(const std::string& cluster) const;
  std::set<values_objects::key> sources_of(const fleet_object& p) const;
  /// The same with the ConfigMap that has its keys.
  std::set<values_objects::key> objects_of(const fleet_object& p) const;
  /// The keys that must have signed its chart, empty where it asks for none, or why there are none.
  helm::outcome<std::string> keys_of(const fleet_object& p) const;
  enum class source { config_maps, secrets };
  object_texts texts_of(const fleet_object& p, source which) const;
  /// What its ConfigMaps or Secrets have beyond what is allowed, for people; empty: nothing.
  std::string too_large(const fleet_object& p) const;
  void ask_for_chart(const fleet_object& p, std::string keys);
  bool may_fetch(const std::string& ns) const;
  awaitable<void> fetch(fleet_object p, std::string asked, std::string keys);
  awaitable<void> ask_values(fleet_object p);
  awaitable<void> load_and_doubt(fleet_object p, std::string digest, std::string cluster);
  const chart_content& content(const revision_content& c, const std::string& digest) const;
  cluster_values values_for(const fleet_object& p, const revision_content& c,
                            const std::string& digest, const std::string& cluster);
  const effective& effective_on(const fleet_object& p, const revision_content& c,
                                const std::string& digest, const std::string& cluster);
  needs_verdict needs_on(const fleet_object& p, const std::string& cluster);
  needed_chart::state state_of_needed(const fleet_object& other, const chart_members::seen& is,
                                      const std::string& cluster);
  chart_order order_for(const fleet_object& p, const revision_content& c, const std::string& digest,
                        std::int64_t number, const std::string& cluster);

  helm::tenants::chart_supply* supply_;
  std::size_t operations_;
  values_objects sources_;
  std::map<k8s::object_key, known_chart> known_;
  mutable std::map<std::string, chart_content> contents_;  // by digest of the revision
  mutable std::size_t contents_bytes_ = 0;
  std::map<std::string, effective> effective_;                           // by what they are made of
  std::map<std::pair<k8s::object_key, std::string>, said_values> said_;  // by object and cluster
  std::map<std::string, std::size_t> fetching_;  // charts that are being fetched, by namespace
  reactor::task_group fetches_;
};

}  // namespace fleetwide
