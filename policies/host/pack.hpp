#pragma once

#include "policies/host/coverage.hpp"
#include "policies/host/hook.hpp"
#include "policies/host/sandbox.hpp"
#include "policies/host/signals/declaration.hpp"
#include "policies/host/slips.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace policies {

/// What one unit may cost; a hook asked about many gets a multiple.
inline constexpr std::int64_t unit_instructions = 200'000;

using labels = std::map<std::string, std::string>;

/// Label requirements that must all hold: one of the values, any value (`true`), or absent
/// (`false`).
struct label_requirement {
  std::vector<std::string> values;  // empty: only presence matters
  bool present = true;
  friend bool operator==(const label_requirement&, const label_requirement&) = default;
};
using label_selector = std::map<std::string, label_requirement>;
bool matches(const label_selector& selector, const labels& of);

/// What a hook is asked for.
struct subject {
  std::string api;  // "bootc"
  labels cluster_labels, object_labels;
  std::string pack;  // annotation windlass.dev/policy: this pack and no other
};

/// What policy.lua says about itself.
struct manifest {
  std::string name, version;
  int api = 0;  // the version of the hooks that it says it is for (hook_version.hpp); 0: none
  double order = 100;
  std::vector<std::string> apis;  // empty: all
  label_selector clusters, objects;
  std::vector<std::string> hooks;  // "rollout.plan"
  value composes;  // what `composes` says (compose/rules/declaration.hpp); null: nothing
  std::vector<signal_declaration> signals;
};

/// A folder with policy.lua, its other files, and its tests.
/// Shape    load() runs policy.lua once; call() asks one hook. Many calls may be under way.
/// Errors   as sandbox; `doing` names pack and hook, the detail begins with file:line where there
///          is one.
class pack {
public:
  /// `folder` is for people ("rollout/default"), it begins the file names in messages.
  static reactor::awaitable<reactor::result<std::shared_ptr<pack>>> load(
      reactor::loop& l, std::string folder, pack_files files, sandbox_limits limits = {},
      author by = author::stranger);
  const manifest& about() const { return about_; }
  const std::string& folder() const { return folder_; }
  /// Of its files' names and bytes, "sha256:…": two packs with the same one decide alike. What
  /// `sha256sum` says of the lines that it says of the files, by name.
  const std::string& digest() const;
  const pack_files& files() const { return sandbox_->files(); }
  bool has(std::string_view hook) const;
  bool applies_to(const subject& s) const;

  /// `self` keeps the pack alive when a reload replaces it meanwhile.
  static reactor::awaitable<reactor::result<call_answer>> call(std::shared_ptr<const pack> self,
                                                               std::string hook,
                                                               std::vector<argument> arguments,
                                                               std::int64_t instructions,
                                                               judge accept = {});

private:
  pack() = default;
  std::string folder_;
  mutable std::string digest_;  // from when it is first asked for
  manifest about_;
  std::shared_ptr<sandbox> sandbox_;
};

/// "sha256:…" of files by their names and bytes.
std::string digest_of(const pack_files& files);

/// Loaded packs that may be taken again on the same loop by who finds the same files: a simulation
/// starts the program thousands of times.
class pack_shelf {
public:
  std::shared_ptr<pack> find(const std::string& folder, const pack_files& files, author by) const;
  void keep(const std::shared_ptr<pack>& loaded, author by);

private:
  std::map<std::string, std::shared_ptr<pack>> packs_;  // by folder, author and digest
};

struct test_outcome {
  std::string file, name;
  bool passed = false;
  std::string message;  // why not: "default/policy_test.lua:12: expected 1, got 2"
};

enum class run_tests : std::uint8_t { all, until_one_fails };

/// Runs each `*_test.lua` of the pack in a sandbox of its own. A test file that does not load is a
/// fault. A test has its limit, and so have all of them together: what comes after that fails.
reactor::awaitable<reactor::result<std::vector<test_outcome>>> run_pack_tests(
    reactor::loop& l, std::string folder, pack_files files, sandbox_limits limits = {},
    run_tests which = run_tests::all);

/// "default/policy.lua:3: unexpected symbol" taken apart.
struct placed_reason {
  std::string file;
  int line = 0;
  std::string reason;
};
placed_reason take_apart(const std::string& text);

/// The same as one answer: what a service asks of a pack before it takes it.
/// Errors   errc::refused: the first test that fails, with file and line, and how many more do.
reactor::awaitable<reactor::result<void>> pass_tests(reactor::loop& l, std::string folder,
                                                     pack_files files, sandbox_limits limits);

/// Why the pack in `folder` is not taken: in the same folder of packs one of its name is.
reactor::fault name_is_taken_by(const std::string& other_folder, const std::string& folder,
                                const std::string& name);

/// One pack as found on disk, or why it cannot be read.
struct pack_source {
  // relative to the folder of packs; its own name for a folder that is itself a pack
  std::string folder;
  pack_files files;
  std::optional<reactor::fault> unreadable;
};

/// Reads the packs below `root`: the folder itself, its subfolders, or theirs. Blocks: call it
/// through offload.
/// Limits   64 packs; per pack 192 files, 64 KiB a Lua file, 256 KiB another, 1 MiB together. Links
///          may point anywhere inside `root` (a mounted ConfigMap is made of links), not out of it.
/// Errors   errc::not_found: no such folder, or no pack in it.
reactor::result<std::vector<pack_source>> read_packs(std::string root);

/// Whether the files of a pack that comes from elsewhere are as few and small as those of a folder
/// may be.
/// Errors   errc::refused names the file, or what there is too much of.
reactor::result<void> within_limits(const pack_files& files);

/// The files of a folder that a pack's hooks are given, by their path in it. Blocks: call it
/// through offload.
/// Limits   128 files, 256 KiB each, 4 MiB together; links point anywhere inside, not out of it.
reactor::result<pack_files> read_data_folder(std::string root);

/// The packs that are built into the program.
std::vector<pack_source> stock_packs();

/// A hook tried on a question as it comes up: real views, so that a field that does not exist is
/// noticed.
struct hook_trial {
  std::string hook;
  std::optional<reactor::fault> fault;  // it raised, took too long, or its answer is none
  call_cost cost;                       // of the dearest question
  std::int64_t budget = 0;
};

/// Asks each hook of the pack that is described its typical questions.
reactor::awaitable<std::vector<hook_trial>> try_hooks(std::shared_ptr<const pack> of,
                                                      shared_hooks hooks);

/// What `windlass policy test DIR` and `policy check DIR` report on one pack.
struct pack_report {
  std::string folder, name, version;
  std::vector<std::string> hooks;
  std::vector<test_outcome> tests;
  std::vector<hook_trial> trials;
  std::vector<file_coverage> coverage;  // by its own tests
  std::vector<source_slip> slips;       // policy check
  std::optional<reactor::fault> fault;  // it does not load
  bool passed() const;
};

/// Loads every pack below `root`, runs its tests and tries its hooks.
/// Until one fails: lines are not counted, which takes most of the time, and neither that pack's
///           hooks are tried nor the packs after it.
reactor::awaitable<reactor::result<std::vector<pack_report>>> test_packs(
    reactor::loop& l, std::string root, shared_hooks hooks = {}, run_tests which = run_tests::all);
/// The same without the lines that tests reach and with no more of them than a service runs before
/// it takes a pack, but with the names in its source that nothing has.
reactor::awaitable<reactor::result<std::vector<pack_report>>> check_packs(reactor::loop& l,
                                                                          std::string root,
                                                                          shared_hooks hooks);

}  // namespace policies
