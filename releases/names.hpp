#pragma once

#include <string_view>

/// Every name that is left on objects, or looked for on them. Those of the kind itself are its own
/// and stay verbatim.
namespace releases::names {

inline constexpr std::string_view group = "release.giantswarm.io", version = "v1alpha1",
                                  api_version = "release.giantswarm.io/v1alpha1";
inline constexpr std::string_view field_manager = "windlass-releases";

/// Annotations on a pool that follows its cluster, written with its image: the Release that the
/// image is of, and the one that it had before, for as long as nodes may still run that.
inline constexpr std::string_view at = "windlass.dev/release-at",
                                  from = "windlass.dev/release-from";
/// Annotations on such a pool, by a person: what its image is called by beside the Release.
inline constexpr std::string_view kind = "windlass.dev/release-pool-kind",
                                  architecture = "windlass.dev/release-architecture",
                                  channel = "windlass.dev/release-channel",
                                  suffix = "windlass.dev/release-suffix";

/// Annotation on a Release: its conditions, where the server's kind of a Release has no
/// status.conditions and would drop them.
inline constexpr std::string_view conditions = "windlass.dev/release-conditions";

/// Labels of a cluster's kubeconfig Secret: which Release it has ("34.5.0", "aws-34.5.0"), and of
/// which provider it is.
inline constexpr std::string_view release_label = "release.giantswarm.io/version",
                                  provider_label = "windlass.dev/provider";

/// The ConfigMap at home with what people consented to, and its key.
inline constexpr std::string_view consent = "windlass-releases", waivers = "waivers.yaml";

}  // namespace releases::names
