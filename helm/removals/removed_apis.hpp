#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What Kubernetes stops serving from one minor version to the next.
namespace helm::removals {

/// Where a row of the table has its facts from.
enum class origin : std::uint8_t {
  types,       // lifecycle annotations of k8s.io/api v0.36
  extensions,  // lifecycle annotations of k8s.io/apiextensions-apiserver v0.36
  guide,       // the Deprecated API Migration Guide of Kubernetes
};
/// "k8s.io/api v0.36"
std::string_view text(origin o) noexcept;

/// The last minor whose removals are all known; of later ones only those that are announced.
inline constexpr int known_until = 36;

/// A kind of a group version, and when it goes. Minors are the N of 1.N.
struct removed_api {
  std::string api_version, kind;
  int deprecated = 0;
  int removed = 0;        // 0: not planned
  std::string announced;  // what the annotation names instead, "policy/v1"; empty: nothing
  std::string announced_kind;
  std::string successor;  // what serves the same objects: `announced`, else what the guide says
  origin from = origin::types;
  bool is_gone_in(int minor) const noexcept { return removed != 0 && removed <= minor; }
};
/// None for what no row has. A list is found by its elements' kind: "PodDisruptionBudgetList".
std::optional<removed_api> find(std::string_view api_version, std::string_view kind);
/// Every row that `minor` no longer serves, lists left out.
std::vector<removed_api> removed_by(int minor);
/// The group version that `minor` serves in place of this one: "flowcontrol…/v1" of v1beta1, which
/// its row replaces by v1beta3. Empty: nothing does.
std::string replacement(const removed_api& of, int minor);

/// "poddisruptionbudgets": the collection of a built-in kind.
/// Source  meta.UnsafeGuessKindToResource of k8s.io/apimachinery.
std::string resource_of(std::string_view kind);
/// Whether objects of this kind of the table are in namespaces.
bool is_namespaced(std::string_view kind);
/// Whether an API server keeps objects of this kind for longer than an hour, so that a list says
/// who uses it. Reviews, subresources and Events are asked for and gone.
bool is_kept(std::string_view kind);

/// The 25 of "1.25", "v1.25" and "v1.25.3". None for anything else.
std::optional<int> minor_of(std::string_view version);

}  // namespace helm::removals
