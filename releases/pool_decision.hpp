#pragma once

#include "app/api/hold.hpp"
#include "releases/rules/difference.hpp"
#include "releases/rules/mapping.hpp"

#include <optional>
#include <string>
#include <vector>

namespace releases {

/// What is known of a pool that follows the Release of its cluster.
struct followed_pool {
  std::string pool, ref;
  bool settled = false;  // every node runs `ref`
  std::string at;        // the Release whose image `ref` is; empty: of none that is at home
  std::string release;   // that it is to have; empty: not known
  std::string content;   // the hash of that Release's content, which a waiver quotes
  std::string consent_problem = {};  // what is wrong with the waivers at home
  // What `ref` was resolved to, and what it names by now where that is something else.
  std::string digest, moved_to;
  std::string why_none;  // as a sentence, when it is not known, or when it cannot be read
  std::string fault;     // of a policy that was asked; empty: none
  std::optional<policies::releases::map_answer> image;  // of `release`, for this pool
  /// What is found about the Release alone, after consent.
  std::vector<policies::releases::finding> own;
  /// The same of the step from what nodes of the pool run, each of them.
  struct step {
    std::string from;
    policies::releases::diff_answer answer;
  };
  std::vector<step> steps;
};

/// What becomes of a pool.
struct pool_decision {
  enum class standing { arrived, moving, due, held };
  std::string pool;
  standing is = standing::held;
  std::string at, release;      // as in the facts
  std::string content;          // as in the facts
  std::string ref, target_ref;  // now, and what is written
  std::string image, target_image;
  std::string rolls = "-", level = "none";  // of the step, as in policies::releases::diff_answer
  std::vector<std::string> findings;        // their ids, each once, the worst first
  std::optional<units::hold> hold;          // of one that waits
  friend bool operator==(const pool_decision&, const pool_decision&) = default;
};
std::string_view text(pool_decision::standing s) noexcept;

/// Decides. A pool that asks for the image already is not judged again: what moves is finished.
pool_decision decide(const followed_pool& e);

/// "k8s.minor-skip, nodes.roll" of the findings for which `counts`, each once and 20 of them at
/// most.
std::string ids_of(const std::vector<policies::releases::finding>& findings,
                   policies::releases::severity least);

}  // namespace releases
