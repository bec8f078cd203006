// The dashboard and the alerts against what the program emits: every metric, label and code in a
// PromQL expression exists, every runbook leads to its place in the troubleshooting, and every
// alert has tests.
#include "cli/apis.hpp"
#include "formats/yaml/yaml.hpp"
#include "service/metrics/own_metrics.hpp"
#include "tests/deploy/files.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using deploy_files::bytes_of;
using deploy_files::root;
namespace json = boost::json;

json::value yaml_of(const fs::path& file) {
  const auto read = formats::parse_kubernetes_yaml(bytes_of(file), file.filename().string());
  if (!read) throw std::runtime_error(read.error().message());
  return *read;
}

using labels = std::set<std::string>;
/// What each series of a name has; a histogram's are those of its three names.
const std::map<std::string, labels>& known() {
  static const std::map<std::string, labels> all = [] {
    std::map<std::string, labels> out;
    for (const reactor::metric_kind& k : cli::metric_tables(cli::apis())) {
      labels of{"instance", "job"};  // Prometheus' own
      for (const std::string_view l : k.labels)
        if (!l.empty()) of.emplace(l);
      const std::string name(k.name);
      if (k.type != reactor::metric_type::histogram) {
        out[name] = of;
        continue;
      }
      out[name + "_sum"] = out[name + "_count"] = of;
      of.insert("le");
      out[name + "_bucket"] = of;
    }
    return out;
  }();
  return all;
}

std::set<std::string> codes() {
  std::set<std::string> all;
  for (const auto& k : units::hold_code::of_every_api) all.emplace(k.code);
  for (const units::api& a : cli::apis())
    for (const auto& k : a.holds) all.emplace(k.code);
  return all;
}

/// A reader of PromQL that knows enough to tell metrics, labels, functions and keywords apart.
class expression {
public:
  explicit expression(std::string text) : text_(std::move(text)) { read(); }
  std::vector<std::string> complaints;
  std::size_t metrics = 0;

private:
  void complain(const std::string& what) { complaints.push_back(what + " in " + text_); }
  void blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  std::string word() {
    const std::size_t begin = at_;
    const auto fits = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == ':';
    };
    while (at_ < text_.size() && fits(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }
  std::string quoted() {
    const char end = text_[at_++];
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != end) ++at_;
    return text_.substr(begin, at_++ - begin);
  }
  void read() {
    std::set<std::string> grouped;  // labels that by() and on() name
    labels available;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '[') {
        at_ = std::min(text_.find(']', at_), text_.size());
      } else if (c == '"' || c == '\'') {
        (void)quoted();
      } else if (std::isdigit(static_cast<unsigned char>(c))) {
        (void)word();
      } else if (std::isalpha(static_cast<unsigned char>(c)) || c == '_') {
        one(word(), grouped, available);
      } else {
        ++at_;
      }
    }
    for (const std::string& l : grouped)
      if (!available.contains(l)) complain("no metric has the label " + l);
  }
  void one(const std::string& name, std::set<std::string>& grouped, labels& available) {
    static const std::set<std::string> operators{"and", "or", "unless", "bool", "offset"},
        groups{"by", "without", "on", "ignoring", "group_left", "group_right"};
    blanks();
    const char next = at_ < text_.size() ? text_[at_] : ' ';
    if (operators.contains(name)) return;
    if (groups.contains(name)) {
      while (at_ < text_.size() && text_[at_] != ')') {
        ++at_;
        blanks();
        if (const std::string l = word(); !l.empty()) grouped.insert(l);
      }
      return;
    }
    if (name == "label_values") {  // Grafana's: the last argument is a label
      const std::size_t comma = text_.rfind(',');
      const std::size_t begin = text_.find_first_not_of(' ', comma + 1);
      grouped.insert(text_.substr(begin, text_.rfind(')') - begin));
      text_.resize(comma);
      return;
    }
    if (next == '(') return;  // a function
    // An aggregation has its labels before what it is about.
    if (text_.compare(at_, 2, "by") == 0 || text_.compare(at_, 7, "without") == 0) return;
    ++metrics;
    const auto found = known().find(name);
    if (found == known().end()) return complain("no metric " + name);
    available.insert(found->second.begin(), found->second.end());
    if (next != '{') return;
    for (++at_; at_ < text_.size() && text_[at_] != '}';) {
      blanks();
      const std::string label = word();
      if (!found->second.contains(label)) complain(name + " has no label " + label);
      while (at_ < text_.size() && text_[at_] != '"') ++at_;
      const std::string value = quoted();
      if (label == "code") each_code(value);
      if (at_ < text_.size() && text_[at_] == ',') ++at_;
    }
    ++at_;
  }
  void each_code(const std::string& value) {
    static const std::set<std::string> all = codes();
    std::istringstream in(value);
    for (std::string one; std::getline(in, one, '|');)
      if (!all.contains(one)) complain("no hold has the code " + one);
  }

  std::string text_;
  std::size_t at_ = 0;
};

void expect_known(const std::string& text, const std::string& where) {
  const expression e(text);
  for (const std::string& c : e.complaints) ADD_FAILURE() << where << ": " << c;
  EXPECT_GT(e.metrics, 0u) << where << ": " << text;
}

TEST(Monitoring, TheReaderOfExpressionsSeesWhatIsWrong) {
  const auto wrong = [](const char* text) {
    const expression e(text);
    return e.complaints.empty() ? std::string() : e.complaints.front();
  };
  EXPECT_EQ(wrong("sum by (state) (windlass_units{api=\"x\"}) > 0"), "");
  EXPECT_EQ(wrong("sum(windlass_unit)").substr(0, 23), "no metric windlass_unit");
  EXPECT_NE(wrong("sum by (node) (windlass_units)"), "");
  EXPECT_NE(wrong("windlass_units{node=\"x\"}"), "");
  EXPECT_NE(wrong("windlass_held_units{code=~\"pdb|nonsense\"}"), "");
  EXPECT_NE(wrong("rate(windlass_drain_duration_seconds[5m])"), "");
  EXPECT_EQ(wrong("rate(windlass_drain_duration_seconds_bucket[5m])"), "");
}

TEST(Monitoring, TheDashboardAsksForMetricsThatExist) {
  const json::value dashboard = json::parse(bytes_of(root / "deploy/monitoring/dashboard.json"));
  std::size_t asked = 0;
  std::set<std::int64_t> ids;
  for (const json::value& panel : dashboard.at("panels").as_array()) {
    const std::string title(panel.at("title").as_string());
    EXPECT_TRUE(ids.insert(panel.at("id").as_int64()).second) << title;
    for (const json::value& target : panel.at("targets").as_array()) {
      expect_known(std::string(target.at("expr").as_string()), title);
      ++asked;
    }
  }
  EXPECT_GT(asked, 25u);
  for (const json::value& v : dashboard.at("templating").at("list").as_array())
    if (v.at("type") == "query")
      expect_known(std::string(v.at("query").as_string()), std::string(v.at("name").as_string()));
}

TEST(Monitoring, EveryAlertSaysWhatToDoAndIsTested) {
  const json::value rules = yaml_of(root / "deploy/monitoring/alerts.yaml");
  const std::string manual = bytes_of(root / "docs/troubleshooting.md"),
                    tests = bytes_of(root / "deploy/monitoring/alerts_test.yaml");
  std::size_t alerts = 0;
  for (const json::value& rule : rules.at("groups").at(0).at("rules").as_array()) {
    const std::string name(rule.at("alert").as_string());
    ++alerts;
    expect_known(std::string(rule.at("expr").as_string()), name);
    const json::object& says = rule.at("annotations").as_object();
    EXPECT_FALSE(says.at("summary").as_string().empty()) << name;
    EXPECT_FALSE(says.at("description").as_string().empty()) << name;
    const std::string book(says.at("runbook_url").as_string());
    std::string anchor = name;
    for (char& c : anchor) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    EXPECT_EQ(book, "https://windlass.dev/docs/troubleshooting#" + anchor);
    EXPECT_NE(manual.find("\n### " + name + "\n"), std::string::npos) << name;
    EXPECT_NE(tests.find("name: " + name + " fires\n"), std::string::npos) << name;
    EXPECT_NE(tests.find("name: " + name + " stays quiet\n"), std::string::npos) << name;
  }
  EXPECT_GE(alerts, 12u);
}

}  // namespace
