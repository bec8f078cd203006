// The same question has the same answer, byte for byte, asked again and with every list turned
// whose order means nothing.
#include "asking.hpp"
#include "policies/releases/offering.hpp"
#include "policies/releases/planning.hpp"
#include "policies/trains/train.hpp"

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
  asking policy;
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
      auto first = policy.diff(question), again = policy.diff(question), last = policy.diff(other);
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

std::string text_of(const trains::train_answer& a) {
  std::string text = a.next + a.retest + a.hash + "\n";
  for (const trains::check_row& c : a.checks) text += c.name + c.result + "\n";
  for (const trains::step_row& s : a.steps) text += s.id + s.state + s.why + "\n";
  for (const trains::retag& r : a.retags) text += r.from + r.to + r.digest + "\n";
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
  for (auto [name, list] : {std::pair{"projects", &projects}, {"pins", &pins}, {"tags", &tags}}) {
    if (turn != nullptr) (*turn)(*list);
    text += std::string(name) + ":\n";
    for (const std::string& line : *list) text += "- " + line + "\n";
  }
  return text + "promote: {project: Trustee, tag: v9.9.9}\n";
}

TEST(ReleaseOrder, MeansNothingToAnyAnswerAboutAnyRealTrain) {
  asking policy;
  shuffler turn;
  std::size_t compared = 0;
  for (const auto& row : read_table("../trains/trains.tsv")) {
    for (const trains::hook which :
         {trains::hook::check, trains::hook::plan, trains::hook::promote}) {
      const auto ask = [&](const std::string& text) {
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
      const std::string first = ask(train_of(row, nullptr));
      EXPECT_EQ(ask(train_of(row, nullptr)), first);
      EXPECT_EQ(ask(train_of(row, &turn)), first) << row.at("train");
      ++compared;
    }
  }
  EXPECT_EQ(compared, 45u);
}

}  // namespace
}  // namespace policies::releases
