#pragma once

#include "policies/host/host.hpp"
#include "policies/host/value.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/plain/result.hpp"
#include "registry/client.hpp"

#include <boost/json/object.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace reactor {
class loop;
}

namespace cli {

/// What is asked of the world for a train.
struct fact_settings {
  std::string registry;                       // "ghcr.io/example"
  std::vector<std::string> images;            // repositories below it
  std::string filter = "*";                   // of tags: formats::fits_glob()
  std::size_t most_tags = 1'000;              // of one repository
  std::map<std::string, std::string> clones;  // folder by project
  struct range {
    std::string project, from, to;
  };
  std::vector<range> ranges;
  std::map<std::string, std::string> revisions;  // by project, where its clone is read
  /// Who is told how many of a repository's tags were asked for, before each; `of` them in all.
  /// Empty: none.
  using told = std::function<void(std::size_t done, std::size_t of)>;
  std::function<told(const std::string& repository)> asks = {};
  /// What was known before: the digest of an image by "name:tag", the commit of a tag by "PROJECT
  /// TAG".
  std::map<std::string, std::string> known;
  /// What pins were known before, by holder, project and field ("Kata/Trustee.version").
  struct pin {
    std::string value, was;
  };
  std::map<std::string, pin> pins;
  std::set<std::string> own;  // the projects that the document has, whatever they are called
};

/// What a document says already of what is asked for: images and tags, pins, and at which commit
/// each project is read where no --at says it (its candidate, else its release).
void add_known(const policies::value& document, fact_settings& settings);

/// What a file of facts says of images and tags. A name that moved is known by what it was at
/// first.
std::map<std::string, std::string> known_by(const policies::value& facts);

/// The images of a file of facts that there are: their tags, each once, in order. Nothing when the
/// file is none of facts.
std::optional<std::vector<std::string>> images_in(const policies::value& facts);

/// "PROJECT=FROM..TO". Nothing when it is not.
std::optional<fact_settings::range> read_fact_range(std::string_view text);

/// Whether git may be asked about it: no option, no range.
bool is_revision(std::string_view text);

/// Asks registries and clones, and the policy where a project's files say what it pins. Each fact
/// says where it is from and when it was seen.
/// Shape    {images: [{ref, digest, was, source, at}], tags: [{project, tag, commit, …}], ancestry:
///          [{project, from, to, ahead, behind, …}], pins: [{holder, project, field, value, …}],
///          projects: [{name, protocol}]}, as a train document has them. `ref` is
///          without the registry; `was`, where it is another one by now.
/// Cost     one request a page of tags, and one a tag whose digest is the one that is known;
///          another one for its manifest else.
/// Bounds   git gets 30 seconds a question and 4 MiB of answer.
/// Errors   errc::limit: more tags than asked for. What a registry or git says. Nothing is left out
///          in silence: `notes` say what was not looked at, and what no file has.
reactor::awaitable<reactor::result<boost::json::object>> collect_facts(
    reactor::loop& l, registry::client& images, policies::host& packs, fact_settings settings,
    std::vector<std::string>& notes);

}  // namespace cli
