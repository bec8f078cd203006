// Trains by the hundred: what `promote` may write, and that no rule can be taken away unseen.
#include "asking.hpp"
#include "releases/trains/train.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>

namespace policies::trains {
namespace {

using releases::asking;
using releases::decision;
using releases::edited_pack;
using testing::HasSubstr;

const std::string commit_a(40, 'a'), commit_b(40, 'b'), commit_d(40, 'd');

train_answer ask(asking& policy, hook which, const std::string& text) {
  train_answer out;
  run_task(policy.loop, [&]() -> reactor::awaitable<void> {
    auto document = read_train(text, "train.yaml");
    EXPECT_TRUE(document) << (document ? "" : document.error().message());
    if (!document) co_return;
    subject anyone;
    auto answer = co_await ask_train(policy.packs, std::move(anyone), which, *document);
    EXPECT_TRUE(answer) << (answer ? "" : answer.error().message());
    if (answer) out = std::move(*answer);
  });
  return out;
}

/// A candidate in which everything fits and can be promoted, with mistakes of a kind in it.
struct generated {
  std::string phase = "candidate";
  std::vector<std::string> projects, pins, images, tags, suites, more;
  std::shared_ptr<const generated> tested = {};  // as it was when the suites passed; null: as it is
  std::string text(const std::string& hash) const {
    std::string all = "train: v1.0.0\nphase: " + phase + "\n";
    const auto list = [&](const char* name, const std::vector<std::string>& lines) {
      if (lines.empty()) return;
      all += std::string(name) + ":\n";
      for (const std::string& line : lines) all += "- {" + line + "}\n";
    };
    list("projects", projects);
    list("pins", pins);
    list("images", images);
    list("tags", tags);
    std::vector<std::string> bound = suites;
    for (std::string& s : bound) s += ", contentHash: '" + hash + "'";
    list("suites", bound);
    for (const std::string& line : more) all += line + "\n";
    return all;
  }
};

std::string pin_line(const char* holder, const char* project, const char* field,
                     const std::string& v) {
  return std::string("holder: ") + holder + ", project: " + project + ", field: " + field +
         ", value: '" + v + "'";
}

generated fitting_train() {
  generated g;
  g.projects = {"name: Kata, release: 3.23.0, candidate: " + std::string(40, 'c'),
                "name: guest-components, candidate: " + commit_a + ", protocol: 0.4.0, evidence: e",
                "name: Trustee, candidate: " + commit_b + ", protocol: 0.4.0, evidence: e"};
  g.pins = {pin_line("Kata", "guest-components", "version", commit_a),
            pin_line("Kata", "Trustee", "version", commit_b),
            pin_line("Kata", "Trustee", "image_tag", commit_b),
            pin_line("Kata", "nydus-snapshotter", "version", "v0.15.2"),
            pin_line("operator", "nydus-snapshotter", "NYDUS_SNAPSHOTTER_VERSION", "v0.15.2"),
            pin_line("operator", "Kata", "default", "3.23.0"),
            pin_line("operator", "Kata", "peer-pods", "3.23.0"),
            pin_line("operator", "Kata", "s390x", "3.23.0")};
  for (const char* image : {"kbs:", "kbs-grpc-as:", "kbs-ita-as:", "kbs-client:sample_only-",
                            "rvps:", "coco-as-grpc:", "coco-as-restful:"})
    for (const char* arch : {"x86_64", "s390x"})
      if (std::string_view(image) != "kbs-ita-as:" || std::string_view(arch) == "x86_64")
        g.images.push_back(std::string("ref: 'staged-images/") + image + commit_b + "-" + arch +
                           "', digest: 'sha256:1'");
  g.tags = {"project: Trustee, tag: v0.17.0, commit: " + commit_b};
  g.suites = {"id: kata-ci, project: Kata, result: passed"};
  return g;
}

void replace(std::string& in, std::string_view from, const std::string& to) {
  if (const std::size_t at = in.find(from); at != in.npos) in.replace(at, from.size(), to);
}

/// The suites pass for the train as it is by now.
void pass(generated& g) {
  if (!g.tested) g.tested = std::make_shared<const generated>(g);
}

const std::string moved_commit = ", was: '" + commit_d + "'";

using mistake = void (*)(generated&);
/// Each breaks one rule; the rule that must find it.
const std::vector<std::pair<const char*, mistake>> mistakes = {
    {"train.skew", [](generated& g) { replace(g.projects[2], "0.4.0", "0.2.0"); }},
    {"train.evidence-skew",
     [](generated& g) { replace(g.projects[1], "evidence: e", "evidence: f"); }},
    {"train.candidate-mismatch", [](generated& g) { replace(g.pins[0], commit_a, commit_d); }},
    {"train.pin-in-sync", [](generated& g) { replace(g.pins[2], commit_b, commit_d); }},
    {"train.pin-missing", [](generated& g) { replace(g.pins[3], "version", "other"); }},
    {"train.same-version", [](generated& g) { replace(g.pins[4], "v0.15.2", "v0.13.14"); }},
    {"train.bundle-kind",
     [](generated& g) {
       for (std::string* line : {&g.projects[0], &g.pins[5], &g.pins[6], &g.pins[7]})
         replace(*line, "3.23.0", "3.23.0-rc1");
     }},
    {"train.pin-mismatch",
     [](generated& g) {
       g.pins.push_back(pin_line("cloud-api-adaptor", "Trustee", "reference", commit_d));
     }},
    {"train.digest-moved", [](generated& g) { g.images[0] += ", was: 'sha256:2'"; }},
    {"train.tag-exists", [](generated& g) { replace(g.tags[0], commit_b, commit_d); }},
    {"train.partial-promotion", [](generated& g) { g.images.pop_back(); }},
    {"train.candidate-moved",
     [](generated& g) { g.more = {"freeze: {project: Trustee, baseCommit: " + commit_d + "}"}; }},
    {"train.frozen",
     [](generated& g) {
       g.more = {"freeze: {project: guest-components, baseCommit: " + commit_a + "}",
                 "bump: guest-components"};
     }},
    {"train.unknown-name",
     [](generated& g) { g.more = {"freeze: {project: Katta, baseCommit: x}"}; }},
    {"train.schema",
     [](generated& g) {
       g.pins.push_back(g.pins[7]);
       replace(g.pins.back(), "3.23.0", "3.22.0");
     }},
    {"train.retest-required", [](generated& g) { g.suites.clear(); }},
    {"train.retest-required",
     [](generated& g) {
       for (std::string& suite : g.suites) replace(suite, "passed", "failed");
     }},
    {"train.candidate-moved",
     [](generated& g) {
       g.projects.push_back("name: operator, candidate: " + commit_a);
       g.more = {"freeze: {project: operator, baseCommit: " + commit_d + "}"};
     }},
    {"train.pair-moved-alone", [](generated& g) { g.pins[1] += moved_commit; }},
    {"train.unknown-name", [](generated& g) { g.projects.push_back("name: enclave-c"); }},
    {"train.floating-pin",
     [](generated& g) {
       for (std::string& pin : g.pins) replace(pin, "v0.15.2", "main");
       g.phase = "released";
     }},
    {"train.off-cadence",
     [](generated& g) { g.more = {"cadence: even", "releases: [{tag: 3.22.0}, {tag: 3.23.0}]"}; }},
    {"train.reqs-stale",
     [](generated& g) {
       g.pins.push_back(pin_line("operator", "reqs-payload", "default", commit_a));
       g.more = {"reqs_payload_commit: " + commit_d};
     }},
    {"train.retest-required",
     [](generated& g) {
       g.images.push_back("ref: 'kbs-client:v0.17.0-x86_64', digest: 'sha256:2'");
     }},
    {"train.retest-required", [](generated& g) { g.pins[4] += ", tested: v0.15.1"; }},
    // What changed after the suites passed.
    {"train.retest-required",
     [](generated& g) {
       pass(g);
       for (std::string& pin : g.pins) replace(pin, "v0.15.2", "v0.15.3");
     }},
    {"train.retest-required",
     [](generated& g) {
       for (std::string& pin : g.pins)
         replace(pin, "holder: operator, project: Kata", "holder: mine, project: Kata");
       pass(g);
       replace(g.projects[0], "3.23.0", "3.25.0");
     }},
};

/// A train, and what is wrong with it.
struct case_of_many {
  generated train;
  std::vector<std::string> made;
};

std::vector<case_of_many> many_trains() {
  std::mt19937 random(20261127);
  std::vector<case_of_many> all;
  for (int i = 0; i < 500; ++i) {
    case_of_many one{fitting_train(), {}};
    std::set<std::size_t> taken;  // each mistake once
    for (std::size_t n = random() % 3; n > 0; --n) {
      const std::size_t which = random() % mistakes.size();
      if (!taken.insert(which).second) continue;
      mistakes[which].second(one.train);
      one.made.push_back(mistakes[which].first);
    }
    std::shuffle(one.train.pins.begin(), one.train.pins.end(), random);
    all.push_back(std::move(one));
  }
  return all;
}

/// As `promote --write` decides it.
bool writes(const train_answer& promoted) {
  return promoted.verdict == decision::allow && promoted.retest == "skipped";
}

/// The hash that the suites of a train are bound to.
std::string tested_hash(asking& policy, const generated& g) {
  return ask(policy, hook::check, (g.tested ? *g.tested : g).text("")).hash;
}

train_answer promote(asking& policy, const generated& g, const std::string& hash) {
  return ask(policy, hook::promote, g.text(hash) + "promote: {project: Trustee, tag: v0.17.0}\n");
}

TEST(TrainRules, NothingIsPromotedThatACheckDenies) {
  asking policy;
  std::map<std::string, std::size_t> alone;  // trains that one rule holds up by itself
  std::size_t promoted = 0, denied = 0;
  for (const case_of_many& one : many_trains()) {
    const std::string hash = tested_hash(policy, one.train);
    const std::string text = one.train.text(hash);
    const train_answer check = ask(policy, hook::check, text);
    const train_answer answer = promote(policy, one.train, hash);
    if (!one.train.tested) {
      EXPECT_EQ(check.hash, hash) << text;
    }
    if (check.verdict != decision::allow) {
      EXPECT_GE(answer.verdict, check.verdict) << text;
    }
    denied += check.verdict == decision::deny;
    if (answer.verdict == decision::deny) {
      EXPECT_TRUE(answer.retags.empty() && answer.indexes.empty()) << text;
    }
    EXPECT_EQ(writes(answer), one.made.empty()) << text << releases::ids(answer.findings);
    promoted += writes(answer);
    if (one.made.size() == 1) {
      EXPECT_THAT(releases::ids(answer.findings), HasSubstr(one.made[0])) << text;
      ++alone[one.made[0]];
    }
  }
  EXPECT_GT(promoted, 50u);
  EXPECT_GT(denied, 50u);
  // Without any one of these rules a train would have been promoted.
  for (const auto& [id, make] : mistakes) EXPECT_GT(alone[id], 0u) << id;
}

struct mutant {
  std::string file, from, to;
};

/// Packs from which one rule is gone: by its condition, and by how much it matters.
std::vector<mutant> mutants() {
  std::vector<mutant> all = {
      {"consistency.lua", "if a.protocol ~= b.protocol then\n", "if false then\n"},
      {"consistency.lua", "if a.evidence ~= b.evidence then", "if false then"},
      {"consistency.lua", "if moved_a ~= moved_b and", "if false and"},
      {"consistency.lua", "elseif commit ~= is and pin.value ~= is then", "elseif false then"},
      {"consistency.lua", "if facts.takes_part(train, need.holder) and not", "if false and not"},
      {"consistency.lua", "      if why then\n        all = false",
       "      if false then\n        all = false"},
      {"consistency.lua", "for _, pin in ipairs(differs) do", "for _, pin in ipairs({}) do"},
      {"consistency.lua", "if theirs.value ~= ours.value and", "if false and"},
      {"consistency.lua", "if image.was and image.digest and", "if false and"},
      {"consistency.lua", "version ~= nil and version:match(\"^%d+%.%d+%.%d+$\") ~= nil", "true"},
      {"consistency.lua", "if pin.kind == \"floating\" or facts.floats(pin.value) then",
       "if false then"},
      {"consistency.lua", "if train.reqs_payload_commit and", "if false and"},
      {"freeze.lua", "return base ~= nil and", "return false and"},
      {"freeze.lua", "if train.bump == name then", "if false then"},
      {"freeze.lua", "elseif at and not fits(at) then", "elseif false then"},
      {"facts.lua", "if out.freeze then must(", "if false then must("},
      {"facts.lua", "if differs and not told[key] then", "if false then"},
      {"facts.lua", "if not stock[p.name] and not drawn[p.name] then", "if false then"},
      {"facts.lua", "if not facts.follows_any(pin) then", "if false then"},
      {"facts.lua", "(is == \"\" or p.name == tables.bundle)", "is == \"\""},
      {"suites.lua", "if run.contentHash and run.contentHash ~= train.hash then", "if false then"},
      {"suites.lua", "elseif run.result ~= \"passed\" then", "elseif false then"},
      {"promote.lua", "if taken and taken ~= about.candidate then", "if false then"},
      {"promote.lua", "missing[#missing + 1] = from", "local _ = from"},
      {"promote.lua", "there and there ~= \"\" and there ~= tested", "false"},
      {"promote.lua", "if pin.tested and", "if false and"},
      {"promote.lua", "if not passed then return", "if false then return"},
  };
  std::set<std::string> ids;
  for (const auto& [id, make] : mistakes) ids.insert(id);
  for (const std::string& id : ids) {
    // Of these the answer is `retest`, or the weight is the rule's own.
    if (id == "train.retest-required" || id == "train.partial-promotion" ||
        id == "train.evidence-skew" || id == "train.pin-mismatch")
      continue;
    const std::string key = "[\"" + id + "\"] = \"";
    const bool waits =
        id == "train.bundle-kind" || id == "train.off-cadence" || id == "train.pair-moved-alone";
    all.push_back({"tables.lua", key + (waits ? "approval" : "error"), key + "info"});
  }
  return all;
}

TEST(TrainRules, APackWithoutOneOfItsRulesIsFound) {
  const std::vector<case_of_many> trains = many_trains();
  const std::vector<mutant> all = mutants();
  EXPECT_GE(all.size(), 40u);
  for (const mutant& m : all) {
    const edited_pack pack("trains/default", m.file, m.from, m.to);
    asking policy({pack.folder.path()});
    // Others hold a train up where more than one thing is wrong with it.
    const bool found = std::any_of(trains.begin(), trains.end(), [&](const case_of_many& one) {
      return one.made.size() == 1 &&
             writes(promote(policy, one.train, tested_hash(policy, one.train)));
    });
    EXPECT_TRUE(found) << m.file << ": " << m.from;
  }
}

TEST(TrainRules, OfFiveHundredProjectsIsAnswered) {
  asking policy;
  generated g = fitting_train();
  for (int i = 0; i < 500; ++i) {
    const std::string name = "project-" + std::to_string(i);
    g.projects.push_back("name: " + name + ", candidate: " + commit_a);
    g.pins.push_back(pin_line("Kata", name.c_str(), "version", commit_a));
    g.pins.push_back(pin_line(name.c_str(), "Kata", "version", "3.23.0"));
    g.tags.push_back("project: " + name + ", tag: v1, commit: " + commit_a);
  }
  // Misspelt ones cost no more than the budget of the call either.
  generated misspelt = g;
  for (int i = 0; i < 500; ++i)
    misspelt.pins.push_back(
        pin_line(("projekt-" + std::to_string(i)).c_str(), "Kata", "version", "3.23.0"));
  EXPECT_EQ(ask(policy, hook::check, misspelt.text("")).verdict, decision::deny);
  // Nor do commits that are cut short, as many as there are whole ones.
  generated shortened = fitting_train();
  for (int i = 0; i < 500; ++i) {
    char digits[8];
    std::snprintf(digits, sizeof digits, "%07x", i + 1);
    const std::string field = "f" + std::to_string(i);
    shortened.pins.push_back(pin_line("Kata", "td-shim", field.c_str(), digits));
    shortened.tags.push_back("project: td-shim, tag: v" + field + ", commit: " + digits +
                             std::string(33, '0'));
  }
  EXPECT_EQ(ask(policy, hook::check, shortened.text("")).verdict, decision::allow);
  for (const hook which : {hook::check, hook::plan}) {
    const train_answer a = ask(policy, which, g.text(""));
    EXPECT_EQ(a.verdict, decision::allow) << releases::ids(a.findings);
    std::printf("## trains: 500 projects, %.1f ms of a processor\n",
                static_cast<double>(a.cost.processor_time.count()) / 1e6);
  }
}

}  // namespace
}  // namespace policies::trains
