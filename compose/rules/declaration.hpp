#pragma once

#include "formats/dns_name.hpp"
#include "policies/host/pack.hpp"
#include "policies/host/shape.hpp"

#include <compare>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace policies::compose {

/// A kind as a pack names it.
struct kind_name {
  std::string api_version, kind;  // "apps/v1", "Deployment"
  friend auto operator<=>(const kind_name&, const kind_name&) = default;
};

/// What a pack that composes objects says of itself beside its hooks, as `composes` in policy.lua.
/// What it does not name it neither sees nor touches.
struct declaration {
  std::string pack, version;
  std::vector<kind_name> parents, children, related;
  std::set<kind_name> optional;  // of related: nothing of it is there where it is not served
  std::string manager;           // of fields, and the mark of what it made
  std::string finalizer;         // of parents whose kind has none of its own; empty: none
  std::map<kind_name, std::string> own_finalizers;  // by kind of parent
  std::map<kind_name, std::string> reporters;       // of events, by kind of parent
  std::string data;       // folder of the pack whose files every call gets; empty: none
  std::string data_from;  // variable of the environment that names another folder; empty: none
  /// Variable of the environment, a list of the namespaces where it works; empty: in all.
  std::string namespaces_from;
  std::string lease;  // held by the process that acts for it; empty: that of the API is enough
  /// Variables of which every call gets the value where they name images, else `true` or `false`.
  std::vector<std::string> environment;

  bool is_child(const kind_name& k) const;
  bool may_see(const kind_name& k) const;  // a related kind or a child
  /// What keeps a parent of that kind while it is deleted; empty: nothing does.
  const std::string& finalizer_of(const kind_name& parent) const;
};

/// Errors   errc::malformed names the place: "composes.children[2].kind: …".
reactor::result<declaration> read_declaration(const manifest& m);

/// What `composes` may say, for packs that are loaded, for the reference and for editors.
const shape& declaration_shape();

using formats::is_dns_subdomain;
/// "example.com/name": of labels, annotations and finalizers.
bool is_qualified_name(std::string_view text) noexcept;

}  // namespace policies::compose
