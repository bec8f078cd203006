#include "releases/commands/release_arguments.hpp"

#include <algorithm>

namespace cli {
namespace {

using verb = release_arguments::command;
using options = release_arguments;

/// NAME=TEXT: both sides of the first '=' are there.
std::string problem_with_pair(const std::string& text, const char* form) {
  const auto equals = text.find('=');
  const bool whole = equals != text.npos && equals > 0 && equals + 1 < text.size();
  return whole ? std::string() : "\"" + text + "\" is not " + form;
}

void add_rendered(flags& f, options& to) {
  f.value("--rendered", to.rendered,
          "folder of what `helm template` prints of the charts, cluster-aws-7.7.3.yaml: whether "
          "another chart replaces machines")
      .takes("DIR");
}
void add_catalogue(flags& f, options& to) {
  f.value("--catalogue", to.catalogue,
          "file with the name of an image that was built on each line, or of `train facts`")
      .takes("FILE");
}
void add_available(flags& f, options& to) {
  f.value("--available", to.available, "YAML file: versions by component and app").takes("FILE");
}
void add_pool(flags& f, options& to) {
  add_catalogue(f, to);
  f.value("--channel", to.channel, "the pool's channel of the OS");
  f.value("--architecture", to.architecture, "the pool's architecture");
  f.value("--suffix", to.suffix, "the pool's suffix of a template");
  f.value("--kind", to.kind, "the pool's kind, such as karpenter");
  f.value("--value", to.values,
          "a value of the chart below providerIntegration, where a rule reads no Release")
      .takes("NAME=TEXT")
      .repeated()
      .check([](const std::string& text) { return problem_with_pair(text, "NAME=TEXT"); });
}
void add_provider(flags& f, options& to) {
  f.value("PROVIDER", to.provider, "such as aws").required();
}

void map(flags& f, options& to) {
  add_provider(f, to);
  f.value("VERSION", to.from, "such as 34.5.0").required();
  add_pool(f, to);
  f.value("--tool", to.tools,
          "a tool that is baked in, for names that carry a hash of all of them; else those of the "
          "tables")
      .takes("NAME=VERSION")
      .repeated()
      .check([](const std::string& text) { return problem_with_pair(text, "NAME=VERSION"); });
  f.value("--image", to.image, "the image that the pool names itself");
  f.value("--running", to.running, "the image that a machine reports, to be compared");
  f.footer("Example:\n  windlass release map aws 34.5.0 --dir releases");
}

void diff(flags& f, options& to) {
  add_provider(f, to);
  f.value("FROM", to.from, "the version before").required();
  f.value("TO", to.to, "the version after").required();
  add_pool(f, to);
  add_rendered(f, to);
  f.footer("Example:\n  windlass release diff aws 34.4.1 34.5.0 --dir releases -o json");
}

void check(flags& f, options& to) {
  f.value("DIR", to.words[0], "the folder, where --dir does not name it");
  f.value("PROVIDER", to.words[1], "only of this provider");
  f.value("VERSION", to.words[2], "only this one");
  f.finally([&to]() -> std::string {
    std::array<std::string, 3> words = to.words;
    if (to.dir.empty()) {
      if (words[0].empty()) return "a folder of Releases is required";
      to.dir = words[0];
      std::rotate(words.begin(), words.begin() + 1, words.end());
      words[2].clear();
    }
    if (!words[2].empty()) return "The following argument was not expected: " + words[2];
    to.provider = words[0];
    to.from = words[1];
    return {};
  });
  f.footer(
      "Example:\n  windlass release check releases aws\n\nEach Release is judged against the one "
      "before it.");
  add_catalogue(f, to);
  add_rendered(f, to);
  f.on("-w,--watch", to.watch, "again whenever a Release or a table changes");
  list_flags has = of_files();
  has.own = {{"junit", "github"},
             "text, wide, json, yaml, junit (a report of tests) or github (lines for a workflow)",
             [&to](const std::string& name) {
               using form = options::report_form;
               to.report = name == "junit" ? form::junit : form::github;
             }};
  declare_listing(f, to.list, has);
  f.on("--archived", to.archived, "those that are no longer offered, too");
}

void show(flags& f, options& to) {
  f.value("PROVIDER", to.provider, "such as aws, or the whole name: aws-34.5.0").required();
  f.value("VERSION", to.from, "such as 34.5.0");
}

void gate(flags& f, options& to) {
  add_provider(f, to);
  f.value("FROM", to.from, "the version before").required();
  f.value("TO", to.to, "the version after").required();
  f.value("--stage", to.stage, "the stage that the draft is in");
  f.value("--to-stage", to.to_stage, "the stage that it should reach");
  add_pool(f, to);
  add_rendered(f, to);
  f.footer(
      "Results of suites are read from suites.yaml in the folder: a list of {suite, hash, result}; "
      "what a major has to wait for, from readiness.yaml: a list of {item, state: open|closed}.");
}

void bump(flags& f, options& to) {
  add_provider(f, to);
  f.value("BASE", to.from, "the version that it is made from").required();
  f.value("--release", to.release_kind,
          "major, minor or patch; test: a Release to be tried out, of --pick alone")
      .one_of({"major", "minor", "patch", "test"})
      .shows_default();
  add_available(f, to);
  add_catalogue(f, to);
  f.value("--pick", to.picks, "NAME@VERSION, or NAME@VERSION@@DEP#DEP; nothing else moves then");
  f.value("--stage", to.stage, "the stage that the draft is in");
  f.value("--action", to.action, "what is wanted there: version, pin or refresh");
  f.value("--actor", to.actor, "who wants it, such as release-team");
  f.value("--age-hours", to.age_hours, "how old the draft is that is refreshed");
  f.value("--prefix", to.prefix, "test: what its pre-release begins with, such as e2e");
  f.on("--prerelease", to.asked, "test: a pre-release whatever is picked");
  f.value(
       "--write", to.into,
       "folder of Releases that the draft is written to: FOLDER/v1.2.3/release.yaml; a file that "
       "is there stays")
      .takes("DIR");
}

void images(flags& f, options& to) {
  f.value("PROVIDER", to.provider, "only of this provider");
  add_pool(f, to);
  add_available(f, to);
  f.on("--missing", to.missing, "only those that were not built");
}

void path(flags& f, options& to) {
  add_provider(f, to);
  f.value("FROM", to.from, "the version that it has").required();
  f.value("TO", to.to, "the version that it should have").required();
}

void lifecycle(flags& f, options& to) {
  add_provider(f, to);
  f.value(
       "--in-use", to.in_use,
       "file with the name of a Release that a cluster has on each line; without it more is kept")
      .takes("FILE");
}

void notes(flags& f, options& to) {
  add_provider(f, to);
  f.value("FROM", to.from, "the version before").required();
  f.value("TO", to.to, "the version that they are about").required();
}

void pin(flags& f, options& to) {
  f.value("ITEM", to.item, "NAME@VERSION").required();
  f.value("--release", to.from, "the version of the Release that is pinned").required();
  f.value("--until", to.up_to,
          "the first Release that is free again; without it only the one is held");
  f.value("--provider", to.provider, "only of this provider");
  f.on("--write", to.write, "make the edit");
}

void join(flags& f, options& to) {
  f.value("--release", to.release_kind, "major or minor")
      .one_of({"major", "minor"})
      .shows_default();
  f.value("--target", to.to, "such as 35.0, instead of what follows");
}

void retag(flags& f, options& to) {
  add_provider(f, to);
  f.value("VERSION", to.from, "such as 34.5.0").required();
  f.value("--commit", to.commit, "of a preview");
}

void add_common(flags& f, options& to) {
  f.value("--dir", to.dir,
          "folder of the Releases: PROVIDER/v1.2.3/release.yaml or PROVIDER/v1.2.3.yaml")
      .required(to.what != verb::check)
      .takes("DIR");
  f.value("--policies", to.policies, "folder of policy packs that come before the stock ones")
      .takes("DIR");
  switch (to.what) {
    case verb::check: break;  // with formats of its own
    case verb::images:
    case verb::path:
    case verb::lifecycle:
    case verb::pin:
    case verb::join:
    case verb::retag: declare_listing(f, to.list, of_files()); break;
    default: f.output(to.list.output);
  }
}

}  // namespace

std::vector<app::command> release_commands() {
  return family<options>(
      {"release",
       "What a Release of versions means: images, steps, rules",
       {},
       "Exit codes: 0 allowed, 3 needs approval, 4 denied; 1 failure, 2 wrong usage."},
      {{"map", "What the OS image of a Release is called, and where each part comes from",
        verb::map, map},
       {"diff", "What a step from one Release to another changes, and whether it may be done",
        verb::diff, diff},
       {"check", "Judge each Release against the one before it and what is asked of it",
        verb::check, check},
       {"show", "A Release as it was read, with the hash that a waiver quotes", verb::show, show},
       {"gate", "Whether a Release may become active: diff, suites that passed, stage", verb::gate,
        gate},
       {"bump", "What the next Release would be, from the versions and images that there are",
        verb::bump, bump},
       {"images", "The images that Releases need, offered ones and those to come", verb::images,
        images},
       {"path", "The steps of a cluster from one version to another", verb::path, path},
       {"lifecycle", "Which Releases are kept, deprecated or archived", verb::lifecycle, lifecycle},
       {"notes", "What a Release brings, for those who take it: as Markdown", verb::notes, notes},
       {"pin", "Hold an item at a version: the edit that it takes in each requests.yaml", verb::pin,
        pin},
       {"join", "Whether the providers go on together to the next major or minor", verb::join,
        join},
       {"retag", "Under which name the chart of a Release is published", verb::retag, retag}},
      add_common, [](const options& a, const invocation&) { return release_command(a); });
}

}  // namespace cli
