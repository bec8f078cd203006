#pragma once

#include "policies/host/host.hpp"
#include "releases/rules/difference.hpp"
#include "releases/rules/mapping.hpp"
#include "releases/rules/repository.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/task_group.hpp"
#include "reactor/waiters.hpp"

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace reactor {
class loop;
}

namespace releases {

/// One Release of home.
struct book {
  std::string name, provider, version;                          // "aws-34.5.0", "aws", "34.5.0"
  std::shared_ptr<const policies::releases::document> content;  // null: it cannot be read
  std::string problem;                                          // why not
};

/// The Releases of home as documents, and what policies say of them. Each question is asked once
/// for all clusters, until a Release, the consent or a policy changes.
/// Reading   one document at a time on the worker; what changed is not known before it was read.
/// Limits    4,096 answers are kept of either kind; beyond that all are asked again.
/// Lifetime  loop and packs outlive it; co_await stop() before destruction. Then questions are
///           faults.
class library {
public:
  library(reactor::loop& l, policies::host& packs);

  /// Called when everything is read again and answers may differ.
  std::function<void()> on_change;

  void start();
  reactor::awaitable<void> stop();

  void put(const std::string& name, std::string document);
  void remove(const std::string& name);
  void consent_to(std::string_view waivers_yaml);
  /// A policy changed.
  void reconsider();

  /// Every document was read. A change under way makes it false.
  bool is_read() const noexcept { return unread_.empty(); }
  reactor::awaitable<bool> read(reactor::steady_time deadline);
  /// Another number after each change.
  std::uint64_t revision() const noexcept { return revision_; }

  std::shared_ptr<const book> find(std::string_view name) const;
  /// By their versions, ascending.
  std::vector<std::shared_ptr<const book>> of(std::string_view provider) const;
  /// Those that have a Release of this version.
  std::vector<std::string> providers_of(std::string_view version) const;
  std::size_t size() const noexcept { return books_.size(); }
  /// What is wrong with the consent: it cannot be read and counts for nothing, or an entry names a
  /// Release that is not there. Empty when nothing is.
  std::string consent_problem() const;

  using image_answer = reactor::result<policies::releases::map_answer>;
  using step_answer = reactor::result<policies::releases::diff_answer>;
  /// What the image of a pool is called. Errors: the policy's; errc::not_found: no such Release, or
  /// it cannot be read.
  reactor::awaitable<image_answer> image(std::string release, policies::releases::pool_facts pool);
  /// What a step means; an empty `base`: the Release is judged alone. Consent counts. Errors as
  /// above.
  reactor::awaitable<step_answer> step(std::string base, std::string release,
                                       policies::releases::pool_facts pool);

private:
  template <class Answer>
  struct question {
    explicit question(reactor::loop& l) : answered(l) {}
    std::optional<reactor::result<Answer>> answer;
    reactor::event answered;
  };
  template <class Answer>
  using questions = std::map<std::string, std::shared_ptr<question<Answer>>>;
  template <class Answer>
  reactor::awaitable<reactor::result<Answer>> once(
      questions<Answer>& among, std::string key,  // borrowed
      std::function<reactor::awaitable<reactor::result<Answer>>()> ask);
  template <class Answer>
  reactor::awaitable<void> carry_out(
      questions<Answer>& among, std::string key, std::shared_ptr<question<Answer>> q,  // members
      std::function<reactor::awaitable<reactor::result<Answer>>()> ask);
  reactor::awaitable<void> read_all();
  void changed();

  reactor::loop& loop_;
  policies::host& packs_;
  std::map<std::string, std::shared_ptr<const book>, std::less<>> books_;
  std::map<std::string, std::string> unread_;  // documents by name
  std::vector<policies::releases::waiver> waivers_;
  std::string consent_, unreadable_consent_;  // why it counts as none
  questions<policies::releases::map_answer> images_;
  questions<policies::releases::diff_answer> steps_;
  std::uint64_t revision_ = 0;
  bool stopped_ = false;
  reactor::waiters moved_;
  reactor::task_group tasks_;
};

}  // namespace releases
