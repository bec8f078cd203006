#pragma once

#include "compose/rules/preview.hpp"

#include <boost/json/object.hpp>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace cli {

/// One ConfigMap of an instance, from one state to another.
struct trustee_file {
  std::string name;
  std::string action;  // create, replace, edit, add-keys, keep, delete
  std::vector<std::string> keys;
  std::string why;  // keep: what it was made for
};

/// A workload whose pods are replaced, and what of them differs.
struct trustee_restart {
  std::string name;
  std::vector<std::string> lines;
};

/// What a change of an instance brings about.
struct trustee_change {
  std::string name, ns, from, to;                                     // releases in force
  std::map<std::string, std::pair<std::string, std::string>> images;  // in force, by container
  std::vector<trustee_file> files;                                    // those that change or stay
  std::vector<trustee_restart> restarts;
  std::vector<policies::compose::stated_condition> conditions;  // that will show
  std::vector<std::string> holds;                               // what stands in the way
};

/// A TrusteeConfig and all that belongs to it, as they would become.
/// Lifetime  the loop outlives it.
class instance_preview {
public:
  instance_preview(reactor::loop& l, std::shared_ptr<const policies::pack> by,
                   std::shared_ptr<const policies::compose::declaration> about,
                   std::shared_ptr<const policies::compose::data_files> files);

  /// As an API server sends it; of a Secret its digests are kept and its bytes wiped.
  void put(boost::json::object o);
  const std::map<policies::compose::object_name, policies::value>& objects() const noexcept {
    return world_.objects();
  }
  /// The instances there are, by namespace and name.
  std::vector<policies::compose::object_name> instances() const;

  /// The instance and its servers, until nothing is left to do.
  reactor::awaitable<reactor::result<std::vector<std::string>>> settle(
      policies::compose::object_name instance);
  /// Writes spec.version; empty removes it.
  void ask_for(const policies::compose::object_name& instance, const std::string& version);
  /// Settles the instance, asks for another version, settles again, and tells what that changed.
  /// Errors   as preview::settle.
  reactor::awaitable<reactor::result<trustee_change>> change(
      policies::compose::object_name instance, std::string version);

  /// What belongs to an instance: its own children and those of its KbsConfig.
  std::vector<policies::compose::object_name> belongings(
      const policies::compose::object_name& instance) const;

private:
  reactor::loop& loop_;
  policies::compose::preview world_;
};

/// Conditions of an object's status, in its order.
std::vector<policies::compose::stated_condition> conditions_in(const policies::value& o);
/// A text within an object; empty where there is none.
std::string text_at(const policies::value& o, std::initializer_list<const char*> path);

boost::json::object change_json(const trustee_change& c);

}  // namespace cli
