#pragma once

#include "compose/rules/declaration.hpp"
#include "policies/host/hook.hpp"
#include "policies/host/sandbox.hpp"
#include "policies/host/shape.hpp"
#include "policies/host/value.hpp"
#include "reactor/plain/result.hpp"
#include "reactor/plain/time.hpp"

#include <compare>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace policies::compose {

/// Which object.
struct object_name {
  kind_name kind;
  std::string ns, name;
  /// "ConfigMap settings", "ConfigMap shop/settings" outside of `home`.
  std::string text(std::string_view home = {}) const;
  friend auto operator<=>(const object_name&, const object_name&) = default;
};

/// An object as it is on its cluster. Of a Secret there are names of keys and digests, nowhere its
/// bytes.
struct object {
  // What a hook sees.
  std::string api_version, kind, name, ns, uid;
  std::map<std::string, std::string> labels, annotations;
  double created = 0, generation = 0;
  bool deleting = false;
  bool ready = false;
  value spec, status, data;
  std::map<std::string, std::string> digests;
  std::vector<std::string> edited;
  value rest;  // every other field of its own, by name
  // What the core knows besides.
  std::string resource_version;
  std::string controller_uid, controller;  // who owns it: "Shop/blue"; empty: none
  std::vector<std::string> owner_uids, finalizers;

  kind_name what() const { return {api_version, kind}; }
  object_name id() const { return {what(), ns, name}; }
};

/// From the object as an API server sends it. A Secret comes as content_of leaves it: with
/// `digests` instead of data.
/// Shape    spec, status, data and rest are plain data; `ready` is judged, `edited` found.
object read_object(const kind_name& what, const value& sent);

/// By its own status: a Deployment has rolled out to its end, a volume is bound, a job is through;
/// what says nothing of itself is ready by being there.
bool is_ready(const object& o);

/// The files that a call gets.
struct data_files {
  std::map<std::string, std::string> text;  // by path in the folder
  std::string digest;
  std::string problem;  // why they are not the newest, or not good; empty: they are
  /// What the pack itself says against newer files that are there; then it is the problem.
  std::string refused;
  std::map<std::string, std::string> environment;  // of the variables that the pack names
};

/// Puts the digest of the files' names and texts beside them.
void seal(data_files& f);
struct declaration;
/// The files that came with a pack, below the folder that it names for data.
data_files own_files(const pack& p, const declaration& about);

struct question {
  std::shared_ptr<const object> parent;
  std::map<std::string, std::shared_ptr<const object>> related, children;  // "Secret/auth"
  std::shared_ptr<const data_files> files;
};

/// The key of an object among `related` and `children`: "Secret/auth", with the namespace where the
/// parent has none.
std::string key_of(const object_name& o, std::string_view parents_ns);

std::vector<argument> sync_arguments(std::shared_ptr<const question> q, reactor::wall_time now);
std::vector<argument> related_arguments(std::shared_ptr<const question> q);

std::int64_t sync_instructions(const question& q);

/// Of files that are mounted from outside, before they take the place of those in force.
std::vector<argument> data_arguments(std::shared_ptr<const data_files> files);
const shape& verdict_shape();
/// What a pack says of files: `problem` refuses them; warnings let them through.
struct data_verdict {
  std::string problem;  // empty: they are good
  std::vector<std::string> warnings;
};
reactor::result<data_verdict> read_verdict(const value& answer);

inline constexpr std::int64_t data_instructions = 2'000'000;
inline constexpr std::size_t longest_verdict = 900;  // bytes
inline constexpr std::size_t most_warnings = 20;

hook sync_hook();
hook related_hook();
hook data_hook();

/// What a fixture of a test, a bench or a trial is asked about.
std::shared_ptr<question> typical_question();

}  // namespace policies::compose
