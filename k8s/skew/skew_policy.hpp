#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

/// Which versions of Kubernetes' parts may stand beside each other.
/// Source   kubernetes.io, "Version Skew Policy".
namespace k8s::skew {

/// A version of Kubernetes: the minor number, which every rule is about, and the text as it was
/// written, for people.
struct version {
  unsigned minor = 0;
  std::string text;  // "v1.33.1-eks-0a1b2c3", "v1.33.1+k3s1", "1.33"
  friend bool operator==(const version&, const version&) = default;
};

/// Reads 1.MINOR with what distributions append. Returns nothing for a text that is no version of
/// Kubernetes 1: such a version is unknown, and no rule is judged by it.
std::optional<version> parse_version(std::string_view text);

enum class part {
  api_server,
  control_plane,  // a node of the control plane, by the kubelet that it runs
  kubelet,
  kube_proxy,
  former  // what the same control-plane node ran before
};

/// One row: `of` may be so many minors newer and so many older than `beside`. Below 1.25 a part may
/// be fewer minors older.
struct rule {
  std::string_view name;
  part of, beside;
  unsigned newer, older, older_before_25;
  std::string_view says;
};

/// The first row on this pair that is broken; null when none is.
const rule* broken_rule(part of, unsigned minor, part beside, unsigned minor_beside) noexcept;

inline constexpr unsigned first_with_three_minors = 25;

inline constexpr auto rules = std::to_array<rule>({
    {"kubelet", part::kubelet, part::api_server, 0, 3, 2,
     "a kubelet is not newer than any API server of its cluster, and at most three minors older "
     "(two when it is below 1.25)"},
    {"kube-proxy", part::kube_proxy, part::api_server, 0, 3, 2,
     "a kube-proxy is not newer than any API server of its cluster, and at most three minors older "
     "(two when it is below 1.25)"},
    {"kube-proxy-beside-kubelet", part::kube_proxy, part::kubelet, 3, 3, 2,
     "a kube-proxy is at most three minors newer or older than the kubelet beside it (two when it "
     "is below 1.25)"},
    {"api-servers", part::api_server, part::api_server, 1, 1, 1,
     "the API servers of a cluster are within one minor of each other"},
    {"control-plane-first", part::kubelet, part::control_plane, 0, 3, 2,
     "the control planes of a cluster move to a newer minor before its workers"},
    {"one-minor", part::control_plane, part::former, 1, 1, 1,
     "a control plane moves by one minor at a time"},
});

}  // namespace k8s::skew
