#pragma once

#include "policies/host/pack.hpp"
#include "policies/host/pack_feed.hpp"
#include "policies/host/record/record.hpp"
#include "reactor/plain/time.hpp"
#include "reactor/system/file_watch.hpp"
#include "reactor/task_group.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace policies {

/// Something happened to a pack; what the command line prints and metrics count.
struct pack_event {
  enum class kind { loaded, reloaded, refused, removed };
  kind what;
  std::string folder, name, version, digest;
  std::string file;    // of the error, where known: "default/policy.lua"
  int line = 0;        // of the error, where known
  std::string reason;  // why it was refused, without file and line
  std::string message() const;
};
std::string_view to_string(pack_event::kind k);

/// Why a pack's answers are not trusted at the moment.
struct policy_fault {
  reactor::fault last;
  std::string hook;
  reactor::wall_time since{};  // the first failure after the last success
  std::uint64_t count = 0;     // failures since then
};

struct pack_status {
  std::string folder, name, version;
  // of its files' names and contents, "sha256:…"; empty while nothing is loaded
  std::string digest;
  bool stock = false;
  double order = 0;
  std::vector<std::string> hooks;
  std::map<std::string, std::uint64_t> asked;  // how often, by hook; one that is missing: never
  std::string from;     // the folder of packs that it is in, as it was given; empty: the program
  bool hidden = false;  // one of its name comes before it
  reactor::wall_time loaded_at{};
  std::optional<policy_fault> fault;
  std::string refused;  // why newer content, or the folder of packs as it is now, was not taken
};

/// An answer with its author.
struct decision {
  std::string pack, version, digest;
  answer_value answer;  // null when there was a judge and no recorder is active
  call_cost cost;
};

/// Holds the packs of some folders and of the program, asks the one that applies, and follows
/// edits.
/// Choice    folders in the order given, stock packs last; in each by `order`, then name; first
///           applying pack that has the hook. subject::pack names one explicitly. A pack hides
///           those of its name that come later.
/// Reload    a changed pack is loaded and tested aside and takes over between two turns; one that
///           fails stays out and the old one goes on. Calls under way finish on what they began
///           with. A pack whose folder vanishes stays in force and says so, until the folder is
///           back, its name stands in another one, or reload() is called: a mount that
///           breaks takes no rules away. What a feed no longer brings is gone at once.
/// Errors    load(): a folder is missing or empty, or a pack in it is broken (a person is watching
///           then). call(): errc::not_found when no pack answers, else what pack::call says.
/// Lifetime  stop() before destruction when start() was called.
class host {
public:
  struct options {
    std::vector<std::string> folders;  // --policies
    /// Those of `folders` that are none, by their name there: who brings their packs.
    std::map<std::string, std::shared_ptr<pack_feed>> feeds = {};
    bool stock = true;
    bool run_tests = true;  // of a pack before it is taken
    sandbox_limits limits;
    std::shared_ptr<pack_shelf> shelf;  // of the hosts before this one on this loop; null: none
    std::string record;                 // a file for every question and answer; empty: none is kept
    reactor::file_watch_settings watch = {};  // of `folders`
  };
  host(reactor::loop& l, options o);
  ~host();

  std::function<void(const pack_event&)> on_event;
  std::function<void(const std::string& pack, const std::string& line)> on_log;

  /// A folder or feed of packs, as it was given, was looked at: status() has what came of it.
  std::function<void(const std::string& from)> on_looked;

  /// Sees every question with its answer, before the caller.
  std::function<void(const question_note&)> on_question;

  reactor::awaitable<reactor::result<void>> load();
  /// Follows the folders from now on.
  void start();
  reactor::awaitable<void> stop();
  /// Looks at the folders now, as on SIGHUP, and forgets the packs that have left them.
  reactor::awaitable<void> reload();

  reactor::result<std::shared_ptr<const pack>> select(const std::string& hook,
                                                      const subject& s) const;
  /// Every pack that applies and has the hook, in order: for hooks whose packs each narrow what the
  /// former allowed. The subject's own choice of a pack counts when that pack has the hook; else it
  /// is about another hook.
  std::vector<std::shared_ptr<const pack>> applying(const std::string& hook,
                                                    const subject& s) const;
  /// What `accept` refuses counts as a fault of the policy.
  reactor::awaitable<reactor::result<decision>> ask(std::shared_ptr<const pack> asked,
                                                    std::string hook,
                                                    std::vector<argument> arguments,
                                                    std::int64_t instructions = unit_instructions,
                                                    judge accept = {});
  /// Asks the one that is selected.
  reactor::awaitable<reactor::result<decision>> call(std::string hook, subject s,
                                                     std::vector<argument> arguments,
                                                     std::int64_t instructions = unit_instructions,
                                                     judge accept = {});

  /// Whether a recorder is active. call() tells of its own; who asks several packs
  /// tells once, of what came of it. The question is not answered before it is written down.
  bool takes_notes() const noexcept { return on_question || recorder_; }
  reactor::awaitable<void> note(question_note n);

  /// As they are asked; those that were never loaded come last in their folder.
  std::vector<pack_status> status() const;
  std::uint64_t reloads() const { return reloads_; }
  std::uint64_t refusals() const { return refusals_; }
  std::uint64_t faults() const { return faults_; }

private:
  struct entry;
  struct root;
  reactor::awaitable<void> follow(std::size_t root_index);
  enum class reason { it_changed, it_was_asked };
  reactor::awaitable<reactor::result<void>> look(std::size_t root_index, reason why);
  reactor::awaitable<reactor::result<void>> take(std::size_t root_index, reason why,
                                                 std::vector<pack_source> sources);
  void forget_those_that_left(std::size_t root_index, reason why,
                              const std::set<std::string>& folders);
  reactor::awaitable<reactor::result<std::shared_ptr<pack>>> examine(std::string folder,
                                                                     pack_files files, author by);
  void report(pack_event::kind what, const std::string& folder, const pack* p,
              const std::optional<reactor::fault>& why = {});
  void tell(const pack& p, const std::vector<std::string>& lines);
  void note(const std::shared_ptr<const pack>& p, const std::string& hook,
            const std::optional<reactor::fault>& failed);

  /// What a pack may still log, by its name: 20 lines, one more each second.
  struct log_allowance {
    double left = 20;
    reactor::steady_time at{};
    std::uint64_t kept_back = 0;
  };

  reactor::loop& loop_;
  options options_;
  std::map<std::string, log_allowance> logs_;
  std::unique_ptr<recorder> recorder_;
  bool record_failed_ = false;
  std::vector<std::unique_ptr<root>> roots_;
  std::uint64_t reloads_ = 0, refusals_ = 0, faults_ = 0;
  reactor::task_group tasks_;
};

}  // namespace policies
