// The same question has the same answer, byte for byte, asked again and with every list turned
// whose order means nothing.
#include "asking.hpp"
#include "releases/rules/offering.hpp"
#include "releases/rules/planning.hpp"
#include "releases/trains/train.hpp"

#include <algorithm>
#include <random>

namespace policies::releases {
namespace {

/// Two machines that count alike: an order that is another one each time it is asked for.
struct shuffler {
  template <class T>
  void operator()(std::vector<T>& list) {
    std::shuffle(list.begin(), list.end(), engine);
  }
  std::mt19937 engine{20261122};
};

std::string text_of(const std::vector<finding>& findings) {
  std::string text;
  for (const finding& f : findings)
    text += f.id + "|" + std::string(to_string(f.how)) + "|" + f.blocking + "|" + f.subject + "|" +
            f.from + "|" + f.to + "|" + f.rule + "|" + f.why + "|" + f.evidence + "\n";
  return text;
}

std::string text_of(const diff_answer& a) {
  std::string text = a.level + a.rolls + a.image_from + a.image_to + "\n";
  for (const diff_change& c : a.changes)
    text += c.kind + c.name + c.what + c.from + c.to + c.level + c.direction + c.strict + c.rolls +
            "\n";
  for (const request_verdict& v : a.requests)
    text += v.range + v.item + v.version_range + v.actual + v.result + "\n";
  return text + text_of(a.findings);
}

std::string text_of(const map_answer& a) {
  std::string text = a.provider + a.chart + a.explained + "\n";
  for (const pool_image& i : a.images) {
    text += i.pool + i.image + i.rule + i.image_version + i.ref;
    for (const std::string& t : i.tags) text += t;
    std::vector<std::string> segments;
    for (const image_segment& s : i.segments) segments.push_back(s.name + s.text + s.source);
    for (const std::string& s : segments) text += s + ";";
    text += "\n";
  }
  return text + text_of(a.findings);
}

std::string text_of(const path_answer& a) {
  std::string text;
  for (const path_step& s : a.steps) {
    text += s.from + s.to + s.level;
    for (const path_downgrade& d : s.downgrades) text += d.subject + d.from + d.to;
  }
  return text + text_of(a.findings);
}

std::string text_of(const lifecycle_answer& a) {
  std::string text;
  for (const lifecycle_row& r : a.releases) text += r.name + r.state + r.action + r.why + "\n";
  return text + text_of(a.findings);
}

std::shared_ptr<const document> turned(const document& d, shuffler& turn) {
  auto other = std::make_shared<document>(d);
  turn(other->components);
  turn(other->apps);
  for (entry& e : other->apps) turn(e.depends_on);
  return other;
}

TEST(ReleaseOrder, MeansNothingToAnyAnswerAboutAnyRealRelease) {
  asking policy, another;
  shuffler turn;
  std::size_t compared = 0;
  for (const auto& [name, folder] : real_releases().folders) {
    for (std::size_t i = 0; i < folder.releases.size(); ++i) {
      const auto base = i > 0 ? folder.releases[i - 1] : nullptr;
      const auto question = question_about(real_releases(), base, folder.releases[i]);
      diff_question other = question;
      other.release = turned(*question.release, turn);
      if (base) other.base = turned(*base, turn);
      if (other.others) turn(*other.others);
      if (other.registered) turn(*other.registered);
      auto first = policy.diff(question), again = another.diff(question), last = policy.diff(other);
      ASSERT_TRUE(first && again && last);
      EXPECT_EQ(text_of(*again), text_of(*first)) << question.release->file;
      EXPECT_EQ(text_of(*last), text_of(*first)) << question.release->file;
      map_question mapped;
      mapped.release = question.release;
      auto image = policy.map(mapped);
      mapped.release = other.release;
      auto turned_image = policy.map(mapped);
      ASSERT_TRUE(image && turned_image);
      EXPECT_EQ(text_of(*turned_image), text_of(*image)) << question.release->file;
      ++compared;
    }
  }
  EXPECT_EQ(compared, 216u);
}

std::string text_of(const bump_answer& a) {
  std::string text = a.version + "\n";
  for (const bump_item& i : a.items) text += i.kind + i.name + i.from + i.to + i.why + "\n";
  return text + text_of(a.findings);
}

std::string text_of(const offering_answer& a) {
  return text_of(a.findings);
}

std::string text_of(const join_answer& a) {
  std::string text = a.target + "\n";
  for (const join_row& r : a.rows)
    text += r.provider + r.latest + (r.joins ? " joins " : " stays ") + r.why + "\n";
  return text + text_of(a.findings);
}

std::string text_of(const pin_answer& a) {
  std::string text;
  for (const pin_edit& e : a.pins)
    text += e.folder + e.file + e.range + e.edit + std::to_string(e.block) + e.why + "\n";
  return text + text_of(a.findings);
}

std::string text_of(const publish_answer& a) {
  std::string text;
  for (const published_chart& c : a.charts) text += c.from + c.to + c.value + c.text + "\n";
  return text + text_of(a.findings);
}

template <class Answer, class Question>
std::string asked_as_text(asking& policy,
                          reactor::awaitable<reactor::result<Answer>> (*how)(
                              host&, subject, std::shared_ptr<const Question>),
                          Question q) {
  return text_of(asked<Answer, Question>(policy, how, std::move(q)));
}

TEST(ReleaseOrder, MeansNothingToWaysAndLives) {
  asking policy;
  shuffler turn;
  for (const auto& [name, folder] : real_releases().folders) {
    if (folder.releases.empty()) continue;
    path_question way{folder.releases, folder.releases.front()->stored_as.substr(1),
                      folder.releases.back()->stored_as.substr(1)};
    lifecycle_question life{folder.releases, std::nullopt};
    const std::string was = asked_as_text<path_answer, path_question>(policy, find_path, way);
    const std::string lived =
        asked_as_text<lifecycle_answer, lifecycle_question>(policy, plan_lifecycle, life);
    for (auto& d : way.releases) d = turned(*d, turn);
    turn(way.releases);
    turn(life.releases);
    EXPECT_EQ((asked_as_text<path_answer, path_question>(policy, find_path, way)), was) << name;
    EXPECT_EQ((asked_as_text<lifecycle_answer, lifecycle_question>(policy, plan_lifecycle, life)),
              lived)
        << name;
  }
}

/// Of two programs and of one with its lists turned the answer is one.
struct three_times {
  asking once, again;
  std::size_t compared = 0;

  template <class Answer, class Question>
  void compare(reactor::awaitable<reactor::result<Answer>> (*how)(host&, subject,
                                                                  std::shared_ptr<const Question>),
               const Question& q, const Question& turned_q, const std::string& about) {
    const std::string said = asked_as_text<Answer, Question>(once, how, q);
    EXPECT_EQ((asked_as_text<Answer, Question>(again, how, q)), said) << about;
    EXPECT_EQ((asked_as_text<Answer, Question>(once, how, turned_q)), said) << about;
    ++compared;
  }
};

TEST(ReleaseOrder, MeansNothingToWhatIsAskedOfDraftsAndFolders) {
  three_times ask;
  shuffler turn;
  for (const auto& [name, folder] : real_releases().folders) {
    if (folder.releases.size() < 2) continue;
    const auto base = folder.releases[folder.releases.size() - 2], last = folder.releases.back();
    gate_question gate;
    gate.step = question_about(real_releases(), base, last);
    gate.suites.emplace();
    for (const char* suite : {"upgrade", "standard", "private", "china"})
      for (const char* result : {"passed", "failed"})
        gate.suites->push_back({suite, *suite == 'u' ? last->hash : "old", result});
    gate.readiness.emplace();
    for (const char* item : {"a", "b", "c"}) gate.readiness->push_back({item, *item == 'b'});
    gate_question other_gate = gate;
    other_gate.step.release = turned(*last, turn);
    other_gate.step.base = turned(*base, turn);
    if (other_gate.step.others) turn(*other_gate.step.others);
    turn(*other_gate.suites);
    turn(*other_gate.readiness);
    ask.compare<diff_answer, gate_question>(may_pass, gate, other_gate, name);

    bump_question bump;
    bump.base = last;
    bump.kind = "minor";
    for (const entry& e : last->components)
      bump.available[e.name] = {e.version, e.version + "-rc1", "9999.0.1", "9999.0.2", "1.2.3"};
    bump.catalogue = {"flatcar-stable-4593.2.4-kube-1.34.10-tooling-1.33.1-gs", "another"};
    bump.requests = gate.step.requests;
    bump.others = gate.step.others;
    bump_question other_bump = bump;
    other_bump.base = other_gate.step.release;
    for (auto& [item, versions] : other_bump.available) turn(versions);
    turn(*other_bump.catalogue);
    if (other_bump.others) turn(*other_bump.others);
    ask.compare<bump_answer, bump_question>(next_release, bump, other_bump, name);

    const folder_question whole = question_about(real_releases(), folder);
    folder_question other_whole = whole;
    turn(other_whole.releases);
    if (other_whole.registered) turn(*other_whole.registered);
    ask.compare<folder_answer, folder_question>(judge_folder, whole, other_whole, name);

    publish_question publish{last, {}};
    publish_question other_publish{other_gate.step.release, {}};
    ask.compare<publish_answer, publish_question>(plan_publishing, publish, other_publish, name);

    // What is answered row by row has the order of what was asked: it is asked twice.
    pin_question pin{last->stored_as.substr(1), "kubernetes", "1.34.10", {}, {}};
    pin.folders.push_back({name, "requests.yaml", {}, true});
    ask.compare<pin_answer, pin_question>(plan_pin, pin, pin, name);
    join_question join{"minor", {}, {{name, {}}}};
    for (const auto& d : folder.releases)
      join.providers[0].versions.push_back(d->stored_as.substr(1));
    join_question other_join = join;
    turn(other_join.providers[0].versions);
    ask.compare<join_answer, join_question>(plan_join, join, other_join, name);
  }
  EXPECT_GE(ask.compared, 6u * 6);
}

std::string text_of(const trains::train_answer& a) {
  std::string text = a.next + a.retest + a.hash + "\n";
  for (const trains::check_row& c : a.checks) text += c.name + c.result + "\n";
  for (const trains::step_row& s : a.steps) text += s.id + s.state + s.why + "\n";
  for (const trains::retag& r : a.retags) text += r.from + r.to + r.digest + "\n";
  for (const trains::index_row& r : a.indexes) {
    text += r.to;
    for (const trains::index_part& p : r.parts) text += p.from + p.digest + p.architecture + ";";
  }
  for (const trains::match_row& r : a.matches)
    text += r.train + r.bundle + r.client + r.server + r.how + "\n";
  for (const std::string& p : a.order) text += p + " ";
  std::vector<std::string> voided = a.void_suites;
  for (const std::string& s : voided) text += s + " ";
  return text + text_of(a.findings);
}

/// A train of trains.tsv, as lines that can be put in any order.
std::string train_of(const std::map<std::string, std::string>& row, shuffler* turn) {
  const auto cell = [&](const char* name) {
    const std::string& text = row.at(name);
    return text == "-" ? std::string() : text;
  };
  std::vector<std::string> projects = {"{name: Kata, release: " + cell("kata") + "}"}, pins, tags;
  // What the table does not have, so that every list of a document has something to be turned.
  std::vector<std::string> edges, steps, suites, images, ancestry;
  for (const char* edge : {"a, to: b", "b, to: c", "a, to: c", "d, to: b"})
    edges.push_back(std::string("{kind: strong, from: ") + edge + "}");
  for (const char* step : {"kata-pick", "nydus-check", "peerpods", "gc-tag"})
    steps.push_back(std::string("{state: done, evidence: 3.23.0, id: ") + step + "}");
  for (const char* suite : {"one, result: passed", "two, result: failed", "three, result: lost"})
    suites.push_back(std::string("{id: ") + suite + "}");
  for (const char* image : {"kbs:", "kbs-grpc-as:", "rvps:"})
    for (const char* arch : {"-x86_64", "-s390x"})
      images.push_back(std::string("{digest: 'sha256:1', was: 'sha256:2', ref: 'staged-images/") +
                       image + row.at("trustee_commit") + arch + "'}");
  for (const char* far : {"Kata, ahead: 1", "Trustee, ahead: 2", "guest-components, ahead: 3"})
    ancestry.push_back(std::string("{from: x, to: y, behind: 0, project: ") + far + "}");
  for (const auto& [name, prefix] : {std::pair{"guest-components", "gc"}, {"Trustee", "trustee"}}) {
    const std::string p = prefix;
    projects.push_back(std::string("{name: ") + name + ", candidate: " + row.at(p + "_commit") +
                       ", protocol: " + row.at(p + "_protocol") + "}");
    tags.push_back(std::string("{project: ") + name + ", tag: " + row.at(p + "_nearest_tag") +
                   ", commit: " + row.at(p + "_commit") + "}");
  }
  const auto pin = [&](const char* holder, const char* project, const char* field,
                       const std::string& value) {
    if (!value.empty())
      pins.push_back(std::string("{holder: ") + holder + ", project: " + project +
                     ", field: " + field + ", value: '" + value + "'}");
  };
  pin("Kata", "guest-components", "version", cell("gc_pin"));
  pin("Kata", "Trustee", "version", cell("trustee_pin"));
  pin("Kata", "Trustee", "image_tag", cell("trustee_image_tag"));
  pin("Kata", "nydus-snapshotter", "version", cell("nydus_kata"));
  pin("operator", "nydus-snapshotter", "NYDUS_SNAPSHOTTER_VERSION", cell("nydus_operator"));
  pin("operator", "Kata", "default", cell("op_kata_default"));
  pin("operator", "Kata", "s390x", cell("op_kata_s390x"));
  pin("cloud-api-adaptor", "guest-components", "reference", cell("caa_gc"));
  pin("cloud-api-adaptor", "Trustee", "reference", cell("caa_kbs"));
  pin("cloud-api-adaptor", "Kata", "reference", cell("caa_kata"));
  std::string text = "train: " + row.at("train") + "\nphase: released\n";
  for (auto [name, list] : {std::pair{"projects", &projects},
                            {"pins", &pins},
                            {"tags", &tags},
                            {"edges", &edges},
                            {"steps", &steps},
                            {"suites", &suites},
                            {"images", &images},
                            {"ancestry", &ancestry}}) {
    if (turn != nullptr) (*turn)(*list);
    text += std::string(name) + ":\n";
    for (const std::string& line : *list) text += "- " + line + "\n";
  }
  return text +
         "promote: {project: Trustee, tag: v9.9.9}\nmatch: {client: v0.1.0}\ntrains:\n- {train: "
         "v0, client: v0.1.0, server: v0.1.0}\n- {train: v1, client: v0.1.0, server: v0.2.0}\n";
}

TEST(ReleaseOrder, MeansNothingToAnyAnswerAboutAnyRealTrain) {
  asking once, again;
  shuffler turn;
  std::size_t compared = 0;
  for (const auto& row : read_table("../trains/trains.tsv")) {
    for (const trains::hook which :
         {trains::hook::check, trains::hook::plan, trains::hook::promote, trains::hook::match}) {
      const auto ask = [&](asking& policy, const std::string& text) {
        std::string said;
        run_task(policy.loop, [&]() -> reactor::awaitable<void> {
          subject anyone;
          auto document = trains::read_train(text, "t.yaml");
          EXPECT_TRUE(document) << (document ? "" : document.error().message());
          if (!document) co_return;
          auto a = co_await trains::ask_train(policy.packs, std::move(anyone), which, *document);
          EXPECT_TRUE(a) << (a ? "" : a.error().message());
          if (a) said = text_of(*a);
        });
        return said;
      };
      const std::string first = ask(once, train_of(row, nullptr));
      EXPECT_EQ(ask(again, train_of(row, nullptr)), first);
      EXPECT_EQ(ask(once, train_of(row, &turn)), first) << row.at("train");
      ++compared;
    }
  }
  EXPECT_EQ(compared, 60u);
}

}  // namespace
}  // namespace policies::releases
