#pragma once

#include "policies/host/host.hpp"
#include "releases/rules/difference.hpp"
#include "releases/rules/mapping.hpp"
#include "releases/rules/repository.hpp"
#include "tests/policies/host/run.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace policies::releases {

inline std::string data_folder() {
  return WINDLASS_SOURCE_DIR "/tests/data/releases";
}

inline std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  EXPECT_TRUE(in) << path;
  return text.str();
}

/// The rows of a table with a line of names: each a map from name to cell.
inline std::vector<std::map<std::string, std::string>> read_table(const std::string& name) {
  std::istringstream text(read_text(data_folder() + "/" + name));
  std::vector<std::map<std::string, std::string>> rows;
  std::vector<std::string> head;
  for (std::string line; std::getline(text, line);) {
    std::vector<std::string> cells;
    std::istringstream columns(line);
    for (std::string cell; std::getline(columns, cell, '\t');) cells.push_back(cell);
    if (head.empty()) {
      head = cells;
      continue;
    }
    auto& row = rows.emplace_back();
    for (std::size_t i = 0; i < head.size(); ++i) row[head[i]] = i < cells.size() ? cells[i] : "";
  }
  return rows;
}

/// The real Releases, read once.
inline const repository& real_releases() {
  static const repository all = [] {
    auto read = read_repository(data_folder());
    EXPECT_TRUE(read) << (read ? "" : read.error().message());
    return read ? std::move(*read) : repository();
  }();
  return all;
}

/// A host with the stock packs, or with those of a folder before them.
class asking {
public:
  explicit asking(std::vector<std::string> folders = {})
      : packs(loop, {.folders = std::move(folders), .stock = true, .limits = {}}) {
    run_task(loop, [&]() -> reactor::awaitable<void> {
      auto loaded = co_await packs.load();
      EXPECT_TRUE(loaded.has_value()) << (loaded ? "" : loaded.error().message());
    });
  }

  reactor::result<map_answer> map(map_question q) {
    reactor::result<map_answer> out = reactor::make_fault(reactor::errc::closed, {});
    run_task(loop, [&]() -> reactor::awaitable<void> {
      subject anyone;
      out = co_await map_release(packs, std::move(anyone),
                                 std::make_shared<const map_question>(std::move(q)));
    });
    return out;
  }
  map_answer map(std::shared_ptr<const document> d, std::vector<pool_facts> pools = {}) {
    map_question q;
    q.release = std::move(d);
    q.pools = std::move(pools);
    auto answer = map(std::move(q));
    EXPECT_TRUE(answer) << (answer ? "" : answer.error().message());
    return answer ? std::move(*answer) : map_answer();
  }

  reactor::result<diff_answer> diff(diff_question q) {
    reactor::result<diff_answer> out = reactor::make_fault(reactor::errc::closed, {});
    run_task(loop, [&]() -> reactor::awaitable<void> {
      subject anyone;
      out = co_await diff_releases(packs, std::move(anyone),
                                   std::make_shared<const diff_question>(std::move(q)));
    });
    return out;
  }
  /// Of two Releases that lie nowhere, without what nobody knows of them.
  diff_answer diff(std::shared_ptr<const document> from, std::shared_ptr<const document> to) {
    diff_question q;
    q.base = std::move(from);
    q.release = std::move(to);
    auto answer = diff(std::move(q));
    EXPECT_TRUE(answer) << (answer ? "" : answer.error().message());
    if (!answer) return {};
    std::erase_if(answer->findings, [](const finding& f) { return f.id == "check.not-evaluated"; });
    answer->verdict = decide(answer->findings);
    return std::move(*answer);
  }

  reactor::loop loop{reactor::loop::mode::simulated, 1};
  host packs;
};

inline std::string ids(const std::vector<finding>& findings) {
  std::string text;
  for (const finding& f : findings) text += (text.empty() ? "" : " ") + f.id;
  return text;
}

/// A Release of these components, "name version" each.
inline std::shared_ptr<document> release_of(const std::string& name,
                                            const std::vector<std::string>& components,
                                            const std::vector<std::string>& apps = {}) {
  std::string text =
      "apiVersion: release.giantswarm.io/v1alpha1\nkind: Release\nmetadata: {name: " + name +
      "}\nspec:\n  date: \"2026-01-01T00:00:00Z\"\n  state: active\n";
  const auto list = [&](const std::vector<std::string>& entries) {
    if (entries.empty()) text += " []";
    for (const std::string& e : entries) {
      const std::size_t blank = e.find(' ');
      text += "\n  - {name: " + e.substr(0, blank) + ", version: " + e.substr(blank + 1) + "}";
    }
    text += "\n";
  };
  text += "  apps:";
  list(apps);
  text += "  components:";
  list(components);
  auto read = read_document(text, name + ".yaml");
  EXPECT_TRUE(read) << (read ? "" : read.error().message());
  return std::make_shared<document>(read ? std::move(*read) : document());
}

/// A copy of a stock pack with one text in one of its files replaced; its own tests are left out.
struct edited_pack {
  edited_pack(const std::string& pack, const std::string& file, const std::string& from,
              const std::string& to) {
    for (pack_source& source : stock_packs()) {
      if (source.folder != pack) continue;
      for (auto& [name, content] : source.files) {
        if (name.ends_with("_test.lua")) continue;
        if (name == file) {
          const std::size_t at = content.find(from);
          EXPECT_NE(at, content.npos) << from;
          if (at != content.npos) content.replace(at, from.size(), to);
        }
        folder.write("mine/" + name, content);
      }
    }
  }
  reactor::temporary_folder folder;
};

/// What a policy answers; a fault fails the test.
template <class Answer, class Question>
Answer asked(asking& policy,
             reactor::awaitable<reactor::result<Answer>> (*how)(host&, subject,
                                                                std::shared_ptr<const Question>),
             Question q) {
  Answer out;
  run_task(policy.loop, [&]() -> reactor::awaitable<void> {
    subject anyone;
    auto a = co_await how(policy.packs, std::move(anyone),
                          std::make_shared<const Question>(std::move(q)));
    EXPECT_TRUE(a) << (a ? "" : a.error().message());
    if (a) out = std::move(*a);
  });
  return out;
}

}  // namespace policies::releases
