#pragma once

#include "policies/host/host.hpp"
#include "releases/rules/document.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace policies::releases {

/// Nodes of one form: what a name depends on beside the Release. Empty: the provider's own default.
struct pool_facts {
  std::string name, kind, architecture, channel, suffix;
  std::string image;    // names the image itself: no rule is asked
  std::string running;  // what a machine of it reports, to be compared
};

/// A tool that is baked into an image, for names that carry a hash of all of them.
struct baked_tool {
  std::string name, version;
};

/// The tools of another image, and what it is called.
struct image_tools {
  std::string image;
  std::vector<baked_tool> tools;
};

/// `release.map`: what is the OS image of these pools called?
/// Asked    by `windlass release map`, and where an image follows from a Release.
/// Failure  no image: a pool that waits for one keeps what it has.
struct map_question {
  std::shared_ptr<const document> release;
  std::vector<pool_facts> pools;  // none: one of the provider's default form
  // the images that were built, where that is known
  std::optional<std::vector<std::string>> catalogue;
  // providerIntegration's, where a rule reads no Release
  std::map<std::string, std::string> values;
  std::vector<baked_tool> tools;
  std::vector<image_tools> known_tools;  // so that no two lists get one name
};

struct image_segment {
  // "kubernetes", "1.34.10", "capa/v34.5.0.yaml: spec.components[kubernetes]"
  std::string name, text, source;
};

/// The image of one pool: a name, or tags that must all match, or neither where the provider brings
/// its own.
struct pool_image {
  std::string pool, image, rule;
  std::vector<image_segment> segments;
  std::string image_version;      // of a gallery
  std::vector<std::string> tags;  // of a template
  std::string ref;                // where the rule says how an image of that name is fetched
  double length = 0, limit = 0;   // in characters
};

struct map_answer {
  std::string pack;
  std::string provider, chart;     // "aws", "7.7.3"
  std::string explained;           // "cluster-aws 7.7.3 in [1.3.3, 8.5.0)"
  std::vector<pool_image> images;  // one a pool, in their order; empty with an error
  std::vector<baked_tool> inside;  // of the toolbox, where the tables know it for the provider
  std::vector<finding> findings;
  decision verdict = decision::allow;
  call_cost cost;
};

/// Asks the pack that applies.
/// Errors   as host::call; errc::malformed names the place in the answer.
reactor::awaitable<reactor::result<map_answer>> map_release(
    host& packs, subject s, std::shared_ptr<const map_question> question);

/// The part of it that looks at the answer; for tests and replays.
reactor::result<map_answer> read_map_answer(const value& answer, const map_question& question);

/// The budget of a question about so many components and apps.
std::int64_t release_instructions(std::size_t entries);

}  // namespace policies::releases
