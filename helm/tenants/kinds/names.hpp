#pragma once

#include "helm/placed/plan/names.hpp"

#include <string>
#include <string_view>

/// Every name that is left on objects for Tenants and KryptonDeployments. They are shared with the
/// original operator and stay verbatim, so that a fleet changes over without touching an object.
namespace helm::tenants {
using namespace helm::placed;  // everything here speaks of placed releases
}

namespace helm::tenants::names {

using namespace helm::placed::names;

inline constexpr std::string_view group = "mesh.openkcm.io";
inline constexpr std::string_view version = "v1alpha1";
inline constexpr std::string_view api_version = "mesh.openkcm.io/v1alpha1";
inline constexpr std::string_view tenant_kind = "Tenant";
inline constexpr std::string_view deployment_kind = "KryptonDeployment";

/// Annotation on the object, with a cluster's name behind it: the fingerprint of what is installed
/// there.
inline constexpr std::string_view fingerprint_prefix = "mesh.openkcm.io/fingerprint-";
/// Annotation on a Tenant: "true" while it is being cleaned up.
inline constexpr std::string_view deleting = "mesh.openkcm.io/deleting";
/// Annotation on a Tenant, read only: "true" lets it go and leaves its release.
inline constexpr std::string_view skip_uninstall = "mesh.openkcm.io/skip-uninstall";
/// Label on a cluster's Secret at home: in which wave changes come to it, a number; absent = 0.
inline constexpr std::string_view wave = "mesh.openkcm.io/wave";
/// Annotation on a Tenant, read only: another text tries again at once what waits after a failure.
inline constexpr std::string_view retry = "windlass.dev/retry";
/// Annotation on a Tenant whose spec.workspace, of builds of the original operator that had it, is
/// another namespace than its name: the namespace that its release is in from now on, one of the
/// two. Read only.
inline constexpr std::string_view workspace = "windlass.dev/workspace";
/// Annotation on a Secret that leads to a region, read only: the namespaces whose
/// KryptonDeployments may go there, with commas, or "*".
inline constexpr std::string_view region_for = "windlass.dev/region-for";
/// Annotation on a CRD of ours: a lower one is replaced.
inline constexpr std::string_view crd_revision = "mesh.openkcm.io/crd-revision";
inline constexpr int our_crd_revision = 2;
inline constexpr std::string_view cleanup = "mesh.openkcm.io/cleanup";
inline constexpr std::string_view deployment_cleanup =
    "mesh.openkcm.io/kryptondeployment-finalizer";
/// Of each API its own, so that losing one stops that one only.
inline constexpr std::string_view lease = "krypton-operator";
inline constexpr std::string_view deployments_lease = "krypton-operator-kryptondeployments";
inline constexpr std::string_view self_cluster = "self-cluster";
/// Of Events: source.component and reportingController, of Tenants and of KryptonDeployments.
inline constexpr std::string_view tenant_component = "multicluster-tenants";
inline constexpr std::string_view tenant_reporter = "mesh.openkcm.io/multicluster-tenants";
inline constexpr std::string_view deployment_component = "krypton-operator";

/// What Helm allows a release's name, and Kubernetes the part of an annotation behind the slash.
inline constexpr std::size_t release_limit = 53, annotation_limit = 63;

/// "tenant-acme-demo-remote-1"; beyond 53 characters its first 42 and a digest, the same at every
/// start.
std::string release_name(std::string_view tenant, std::string_view cluster);
/// "mesh.openkcm.io/fingerprint-demo-remote-1"; a name of more than 51 characters is its first 40
/// and a digest.
std::string fingerprint_annotation(std::string_view cluster);
/// "ced-shop", as long as a release may be.
std::string deployment_release_name(std::string_view deployment);
/// "mesh.openkcm.io/fingerprint-default.eu-kubeconfig": of the Secret that a KryptonDeployment goes
/// to.
std::string deployment_fingerprint_annotation(std::string_view secret_ns,
                                              std::string_view secret_name);

}  // namespace helm::tenants::names
