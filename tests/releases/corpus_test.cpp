// Two promises about every real Release: a gate judges a draft as what it becomes, and a bump
// proposes nothing that a check denies.
#include "asking.hpp"
#include "releases/rules/planning.hpp"

#include <gmock/gmock.h>

#include <set>

namespace policies::releases {
namespace {

std::shared_ptr<const document> in_state(const document& d, const std::string& state) {
  auto copy = std::make_shared<document>(d);
  copy->state = state;
  return copy;
}

/// Without what only a gate looks at.
std::vector<finding> of_the_content(std::vector<finding> findings) {
  const std::set<std::string> of_the_gate = {"coverage.missing", "coverage.rerun-failed",
                                             "readiness.open", "stage.denied", "suite.unknown"};
  std::erase_if(findings, [&](const finding& f) {
    return of_the_gate.contains(f.id) ||
           (f.id == "check.not-evaluated" &&
            (f.rule == "image.not-built" || f.rule == "readiness.open"));
  });
  return findings;
}

TEST(ReleaseCorpus, AGateJudgesADraftAsTheCheckOfAnActiveOne) {
  asking policy;
  std::size_t compared = 0, denied = 0, differ = 0;
  for (const auto& [name, folder] : real_releases().folders) {
    for (std::size_t i = 1; i < folder.releases.size(); ++i) {
      for (const char* state : {"active", "wip", "deprecated"}) {
        diff_question check = question_about(real_releases(), folder.releases[i - 1],
                                             in_state(*folder.releases[i], "active"));
        check.catalogue = std::vector<std::string>();  // nothing was built
        gate_question gate;
        gate.step = check;
        gate.step.release = in_state(*folder.releases[i], state);
        gate.stage.is = "development";
        gate.stage.to = "active";
        diff_question as_it_is = gate.step;
        const auto expected = policy.diff(check);
        ASSERT_TRUE(expected) << expected.error().message();
        const diff_answer answer = asked(policy, may_pass, std::move(gate));
        EXPECT_EQ(of_the_content(answer.findings), of_the_content(expected->findings))
            << check.release->name << " " << state;
        ++compared;
        denied += answer.verdict == decision::deny;
        if (std::string_view(state) == "wip") {
          const auto draft = policy.diff(as_it_is);
          differ +=
              draft && draft->verdict != decision::deny && expected->verdict == decision::deny;
        }
      }
    }
  }
  EXPECT_GE(compared, 600u);
  EXPECT_GE(denied, 300u) << "an image that was not built denies";
  EXPECT_GE(differ, 60u) << "drafts that are allowed as drafts and denied as what they become";
}

/// Every version of an item that a Release of the folder has, and what a list of tags has beside.
std::map<std::string, std::vector<std::string>> versions_in(const provider_folder& folder) {
  std::map<std::string, std::set<std::string>> found;
  for (const auto& d : folder.releases)
    for (const auto* list : {&d->components, &d->apps})
      for (const entry& e : *list) found[e.name].insert(e.version);
  std::map<std::string, std::vector<std::string>> all;
  for (const auto& [name, versions] : found) {
    std::vector<std::string>& list = all[name];
    for (const std::string& v : versions) {
      list.push_back(v);
      list.push_back("v" + v);
      list.push_back(v + "+build.1");
      list.push_back(v + "-2");
      list.push_back(v + "-rc.1");
      list.push_back(v + "-25383e1");
    }
    list.push_back("latest");
  }
  all["flatcar"].push_back("9999.0.0");
  all["flatcar"].push_back("9999.1.0");
  all["os-tooling"].push_back("99.0.0");
  return all;
}

TEST(ReleaseCorpus, WhatABumpProposesPassesItsCheck) {
  asking policy;
  std::size_t proposed = 0, denied = 0, moved = 0;
  for (const auto& [name, folder] : real_releases().folders) {
    const auto available = versions_in(folder);
    for (const auto& base : folder.releases) {
      const diff_question known = question_about(real_releases(), nullptr, base);
      for (const char* kind : {"minor", "major"}) {
        bump_question q;
        q.base = base;
        q.kind = kind;
        q.available = available;
        q.requests = known.requests;
        q.others = known.others;
        const bump_answer answer = asked(policy, next_release, q);
        if (answer.verdict == decision::deny) {
          ++denied;
          continue;
        }
        ++proposed;
        moved += answer.items.size();
        const std::string text = write_document(draft_of(q, answer, "2026-11-27T00:00:00Z"));
        auto draft = read_document(text, "draft.yaml");
        ASSERT_TRUE(draft) << draft.error().message();
        EXPECT_TRUE(draft->problems.empty()) << base->name << "\n" << text;
        draft->folder = base->folder;
        draft->stored_as = "v" + answer.version;
        diff_question check = known;
        check.base = base;
        check.registered.reset();
        check.release = std::make_shared<const document>(std::move(*draft));
        const auto judged = policy.diff(std::move(check));
        ASSERT_TRUE(judged) << judged.error().message();
        EXPECT_NE(judged->verdict, decision::deny)
            << base->name << " " << kind << ": " << ids(judged->findings) << "\n"
            << text;
        for (const bump_item& item : answer.items) {
          EXPECT_EQ(item.to.find('+'), std::string::npos) << item.name << " " << item.to;
          EXPECT_FALSE(item.to.starts_with('v')) << item.name << " " << item.to;
          EXPECT_TRUE(item.from.empty() || item.from != item.to) << item.name;
        }
      }
    }
  }
  EXPECT_GE(proposed, 150u) << denied << " were denied";
  EXPECT_GE(moved, 500u);
}

}  // namespace
}  // namespace policies::releases
