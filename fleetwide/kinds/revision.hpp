#pragma once

#include "k8s/client/resource.hpp"
#include "k8s/informer/meta.hpp"

#include <boost/json/fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace fleetwide {

/// apps/v1 ControllerRevisions: where Kubernetes keeps what an object was before.
const k8s::resource& controller_revisions();

/// What members got, or will get, by one revision of a fleet object.
struct revision_content {
  std::string template_json;  // as fleet_pool has it
  std::string ref;            // of the image
  std::string image_digest;   // that a tag is held at; empty: as the first cluster resolves it

  /// 16 hexadecimal digits; equal for equal content, whatever the order of members.
  std::string digest() const;
  /// A tag without a digest: what it names may change.
  bool is_by_tag() const;
  friend bool operator==(const revision_content&, const revision_content&) = default;
};

/// No revision is larger: what others write below our label is not read further.
inline constexpr std::size_t most_revision_bytes = 1'048'576;

/// A ControllerRevision of ours.
struct revision {
  k8s::object_meta meta;
  std::int64_t number = 0;
  revision_content content;  // without template_json unless is_whole
  bool is_whole = true;      // false: too large to be kept with all the others
  bool is_as_named = false;  // its name ends in the digest of its content

  static revision parse(k8s::wire_value object);
  std::size_t heap_bytes() const noexcept;
  friend bool operator==(const revision&, const revision&) = default;
};

/// The content of one that the server gave.
revision_content content_of(const boost::json::object& controller_revision);

/// Whose revision it is, at home.
struct revision_owner {
  std::string api_version, kind, name, uid;
};
boost::json::object to_json(const revision_owner& of, std::int64_t number,
                            const revision_content& c);
/// "workers-3f2a…": of that object and content.
std::string revision_name(std::string_view object, std::string_view digest);

/// What is written on the object of a member beside what its template says.
struct member_marks {
  std::string object, uid;  // names::object, names::uid
  std::int64_t revision = 0;
  std::string digest;
  std::string since;         // RFC 3339
  std::string image_digest;  // that a tag is held at; empty: nothing is known yet
};
/// The pool for a server-side apply.
boost::json::object pool_for_member(const revision_content& c, std::string_view pool,
                                    const member_marks& m);

}  // namespace fleetwide
