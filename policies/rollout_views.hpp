#pragma once

// Units, clusters and pools as a policy sees them.

#include "policies/label_views.hpp"
#include "policies/rollout.hpp"

namespace policies {

template <>
struct view_record<rollout_unit> {
  static constexpr const char* name = "unit";
  static constexpr field fields[] = {
      field_of<&rollout_unit::name>("name", "of the Node"),
      field_of<&rollout_unit::state>(
          "state",
          "the word of its API; bootc: Pending, Staging, Staged, Rebooting, UpToDate, Degraded"),
      field_of<&rollout_unit::zone>("zone", "its label topology.kubernetes.io/zone"),
      field_of<&rollout_unit::slotted>(
          "slotted", "it holds a slot: it may be disturbed, it is on its way or about to be"),
      field_of<&rollout_unit::degraded>("degraded", "it reported a failure"),
      field_of<&rollout_unit::ready>("ready", "its Node is Ready"),
      field_of<&rollout_unit::control_plane>("control_plane"),
      field_of<&rollout_unit::labels>("labels", "of its Node"),
      field_of<&rollout_unit::annotations>("annotations", "of its Node"),
      field_of<&rollout_unit::since>(
          "since", "when it became up to date or degraded, else when its update began; 0: unknown",
          "unix seconds"),
      field_of<&rollout_unit::image>("image", "what it runs"),
      field_of<&rollout_unit::target>("target", "what it should run"),
      field_of<&rollout_unit::pool>("pool"),
      field_of<&rollout_unit::cluster>("cluster"),
      field_of<&rollout_unit::conditions>(
          "conditions", "types of its Node's conditions that are True, Ready left out"),
  };
};

template <>
struct view_record<guarded_object> {
  static constexpr const char* name = "guard";
  static constexpr field fields[] = {
      field_of<&guarded_object::path>("path",
                                      "as the annotation windlass.dev/guard-objects has it"),
      field_of<&guarded_object::problem>("problem", "why it could not be read; else empty"),
      field_of<&guarded_object::exists>("exists"),
      field_of<&guarded_object::counts>("counts",
                                        "it is a Deployment, StatefulSet, ReplicaSet or DaemonSet"),
      field_of<&guarded_object::wanted>("wanted", "how many replicas it should have"),
      field_of<&guarded_object::available>("available", "how many are available"),
  };
};

template <>
struct view_record<rollout_cluster> {
  static constexpr const char* name = "cluster";
  static constexpr field fields[] = {
      field_of<&rollout_cluster::name>("name"),
      field_of<&rollout_cluster::cluster_labels>("labels", "of the cluster's Secret at home"),
      field_of<&rollout_cluster::target>("target", "what they should run, as a digest"),
      field_of<&rollout_cluster::units>("nodes", "how many units its pool of that name has"),
      field_of<&rollout_cluster::updated>("updated", "how many are up to date"),
      field_of<&rollout_cluster::degraded>("degraded", "how many are degraded"),
      field_of<&rollout_cluster::slotted>("slotted", "how many hold a slot"),
      field_of<&rollout_cluster::updated_at>(
          "updated_at", "since when all are up to date; 0: not all are, or unknown",
          "unix seconds"),
  };
};

template <>
struct view_record<image_facts> {
  static constexpr const char* name = "target image";
  static constexpr field fields[] = {
      field_of<&image_facts::kubernetes>(
          "kubernetes", "the version of Kubernetes in it, such as v1.33.1+k3s1; empty: unknown"),
  };
};

template <>
struct view_record<server_range> {
  static constexpr const char* name = "server versions";
  static constexpr field fields[] = {
      field_of<&server_range::oldest>("oldest", "version, such as v1.33.1; empty: unknown"),
      field_of<&server_range::newest>("newest", "version; empty: unknown"),
  };
};

template <>
struct view_record<rollout_fleet> {
  static constexpr const char* name = "fleet";
  static constexpr field fields[] = {
      field_of<&rollout_fleet::api>("api", "whose units these are: bootc, tenants"),
      field_of<&rollout_fleet::pool>("pool"),
      field_of<&rollout_fleet::cluster>("cluster"),
      field_of<&rollout_fleet::cluster_labels>("cluster_labels", "of the cluster's Secret at home"),
      field_of<&rollout_fleet::pool_labels>("pool_labels"),
      field_of<&rollout_fleet::pool_annotations>("pool_annotations",
                                                 "those of bootc.dev and windlass.dev"),
      field_of<&rollout_fleet::parameters>("parameters",
                                           "what flags of `run` say, texts by name; tenants: "
                                           "max_failures, soak_seconds, wave_label"),
      field_of<&rollout_fleet::startable>("startable", "the state in which a unit may start"),
      field_of<&rollout_fleet::capacity>("capacity", "maxUnavailable as a number"),
      field_of<&rollout_fleet::free>("free", "how many may start now"),
      field_of<&rollout_fleet::occupied>("occupied", "slots that are taken"),
      field_of<&rollout_fleet::unit_count>("node_count"),
      field_of<&rollout_fleet::updated>("updated", "how many are up to date"),
      field_of<&rollout_fleet::degraded>("degraded", "how many are degraded"),
      field_of<&rollout_fleet::halted>("halted", "two or more unhealthy units hold slots"),
      field_of<&rollout_fleet::paused>("paused"),
      field_of<&rollout_fleet::in_slots>("in_slots",
                                         "names of the units that hold a slot, ascending"),
      field_of<&rollout_fleet::clusters>(
          "clusters", "the pool of that name on every cluster that has one, this one too"),
      field_of<&rollout_fleet::guards>(
          "guards", "the objects that its annotation windlass.dev/guard-objects names"),
      field_of<&rollout_fleet::image>("image", "the one that the pool's nodes should run"),
      field_of<&rollout_fleet::kubernetes>(
          "kubernetes",
          "of the cluster's API servers; the version skew policy is kept whatever a pack answers"),
      field_of<&rollout_fleet::returning>(
          "returning", "its nodes go back to the image before, as spec.rollout.onFailure says"),
      field_of<&rollout_fleet::watched>(
          "watched",
          "every unit runs the image: the rollout is over once disruption.admit says yes of the "
          "one that moved last, and only packs with `signals` are asked"),
      field_of<&rollout_fleet::signals>(
          "signals", "those that `signals` of the packs which are asked declare"),
  };
};

}  // namespace policies
