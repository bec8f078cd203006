#pragma once

#include "releases/rules/document.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace policies::releases {

/// What a Release named here is excused from, in the rule that names it.
struct request_exception {
  std::string release, reason;
};

/// One thing a Release must have: an app or component in a range of versions.
struct request {
  std::string name, version, issue;
  std::vector<request_exception> except;
};

/// The requests to Releases of a range of versions.
struct request_block {
  std::string range;
  std::vector<request> requests;
};

/// requests.yaml of a provider. Ranges are texts: what they mean is the policy's.
struct request_file {
  std::string file;
  std::vector<request_block> blocks;
  std::vector<problem> problems;
};

/// Consent of a person to one finding about one Release, or one train, as it is: void with another
/// `hash`.
struct waiver {
  std::string rule, subject;
  std::string of;  // the name of the Release or train
  std::string hash, reason, by, until;
  enum class subject_kind { release, train } about = subject_kind::release;  // what `of` names
  std::string place = {};  // of the entry: "waivers.yaml: waivers[2]"
};

/// Limits   1 MiB, 1,000 blocks and as many requests in each.
reactor::result<request_file> read_requests(std::string_view text, std::string file);
/// waivers.yaml: a list of {rule, subject, release, hash, reason, by, until}, or with `train` in
/// place of `release`.
reactor::result<std::vector<waiver>> read_waivers(std::string_view text, std::string file);

/// One folder of a repository of Releases, by their versions ascending.
struct provider_folder {
  std::string name;  // "capa"
  std::vector<std::shared_ptr<const document>> releases;
  std::optional<request_file> requests;
  std::optional<std::vector<std::string>> registered;  // `resources` of its kustomization.yaml
};

/// What the Release at `index` of a folder was made from, as far as versions and dates tell: the
/// one with the next lower version that was there by then, else the one with the next lower
/// version; null for the first. A minor of an old major that is published after a new major is no
/// base of that.
std::shared_ptr<const document> base_of(const provider_folder& folder, std::size_t index);

struct unreadable_file {
  std::string file;
  reactor::fault why;
  bool is_empty = false;  // not a byte: a shell has made it for what is about to be written
};

struct repository {
  std::map<std::string, provider_folder> folders;
  std::vector<waiver> waivers;
  /// kube-versions.yaml: the versions of Kubernetes that an app takes, by app.
  std::optional<std::map<std::string, std::string>> app_ranges;
  std::vector<unreadable_file> unreadable;  // reported, not an end to everything else

  /// The Release of that name, or of that version of a provider: "aws-34.5.0"; "aws" or "capa" and
  /// "34.5.0" or "v34.5.0".
  std::shared_ptr<const document> find(const std::string& name) const;
  std::shared_ptr<const document> find(const std::string& provider,
                                       const std::string& version) const;
  /// The first file that an answer about a provider (empty: any) would need and that cannot be
  /// read: of its folder, of one of which nothing says whose it is, or beside the folders. With a
  /// version: only the Release of that version. Null where there is none.
  const unreadable_file* unreadable_of(const std::string& provider,
                                       const std::string& version = {}) const;
  bool may_be_of(const std::string& file, const std::string& provider) const;
};

/// kube-versions.yaml: a mapping from an app to a range.
reactor::result<std::map<std::string, std::string>> read_app_ranges(std::string_view text,
                                                                    std::string file);

/// Reads the folders of `root`: FOLDER/v1.2.3/release.yaml and FOLDER/archived/v1.2.3/release.yaml,
/// or FOLDER/v1.2.3.yaml, where an index.tsv in `root` says what is archived. Blocks: call it
/// through offload.
/// Limits   100 folders, 20,000 Releases, 256 MiB in all.
/// Errors   errc::not_found: no such folder, or no Release in it. errc::limit. A document that
///          cannot be read is listed.
reactor::result<repository> read_repository(std::string root);

}  // namespace policies::releases
