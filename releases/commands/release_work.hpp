#pragma once

#include "policies/host/host.hpp"
#include "reactor/awaitable.hpp"
#include "releases/commands/checking.hpp"
#include "releases/commands/release_arguments.hpp"
#include "releases/commands/release_view.hpp"
#include "releases/rules/repository.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

inline constexpr std::size_t most_input_bytes = 16 * 1024 * 1024;  // of a file beside the Releases
/// An image, and the Releases that need it; `image` is empty where none can be named.
struct needed_image {
  std::string image, why_none;
  std::vector<std::string> releases;
  bool built = false;
};

/// The names on the lines of a text.
std::vector<std::string> names_in(const std::string& text);

/// One command of `release` while it runs: a folder of Releases, the packs that judge it, and a
/// step or two for each verb.
/// Lifetime  the loop and the arguments outlive it. It stops the loop when it is done.
class release_work {
public:
  release_work(reactor::loop& l, const release_arguments& a);
  int exit_code = 1;
  reactor::awaitable<void> run();

private:
  template <class T>
  using result = reactor::result<T>;
  using document = policies::releases::document;

  reactor::awaitable<result<void>> carry_out();
  result<std::shared_ptr<const document>> find(const std::string& version) const;
  std::vector<policies::releases::pool_facts> pools() const;
  std::map<std::string, std::string> values() const;
  reactor::awaitable<result<void>> map();
  /// Judges one of them; consent counts.
  reactor::awaitable<result<judged_release>> judge(std::shared_ptr<const document> base,
                                                   std::shared_ptr<const document> release);
  /// The one that was asked for, from the other that was.
  reactor::awaitable<result<judged_release>> judge_the_two();
  reactor::awaitable<result<void>> diff();
  check_settings what_to_check() const;
  bool show_check(const check_outcome& outcome);
  reactor::awaitable<result<void>> check();
  /// Until it is stopped, or its output is not read any more.
  reactor::awaitable<result<void>> follow();
  /// What a file beside the Releases says; nothing where there is none.
  template <class T>
  reactor::awaitable<result<std::optional<T>>> beside(std::string name,
                                                      result<T> (*read)(std::string_view text,
                                                                        std::string file));
  reactor::awaitable<result<void>> gate();
  /// The bump that was asked for, of `base`. Errors: an option cannot be read.
  reactor::awaitable<result<std::shared_ptr<const policies::releases::bump_question>>> what_to_bump(
      std::shared_ptr<const document> base, std::string kind);
  reactor::awaitable<result<void>> bump();
  /// Stores a draft below the folder that was asked for, in its place there. Returns the file.
  /// `base` is the folder of the Release that it was made from.
  reactor::awaitable<result<std::string>> store(document draft, std::string text, std::string base);
  /// What each offered Release needs, and what the next ones would, and whether it was built.
  reactor::awaitable<result<void>> images();
  listed_object row_of(const needed_image& one) const;
  reactor::awaitable<result<void>> add_image(std::shared_ptr<const document> release,
                                             std::string shown,               // its name there
                                             std::vector<needed_image>& to);  // borrowed
  /// The Releases of the provider that was asked about.
  result<std::vector<std::shared_ptr<const document>>> of_provider() const;
  reactor::awaitable<result<policies::releases::path_answer>> way_of(
      policies::releases::path_question question);
  reactor::awaitable<result<void>> path();
  reactor::awaitable<result<void>> lifecycle();
  reactor::awaitable<result<void>> notes();
  /// The newest Release of a folder that is offered, or the one of that version.
  static std::shared_ptr<const document> to_be_pinned(
      const policies::releases::provider_folder& folder, const std::string& version);
  reactor::awaitable<result<void>> pin();
  reactor::awaitable<result<void>> join();
  reactor::awaitable<result<void>> retag();
  reactor::awaitable<result<void>> show();
  bool written(const boost::json::object& o, const page& text) const;
  result<void> print(const boost::json::object& o, const page& text);
  /// show_list() of the ones that were asked for.
  result<void> print_list(listing rows, std::string_view key, boost::json::object document,
                          const around_list& around);

  reactor::loop& loop_;
  const release_arguments& arguments_;
  const colours tint_;
  const policies::subject subject_{"releases", {}, {}, {}};
  policies::host packs_;
  policies::releases::repository all_;
  std::optional<std::vector<std::string>> catalogue_;
};

}  // namespace cli
