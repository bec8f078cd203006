#include "releases/commands/train_arguments.hpp"

namespace cli {
namespace {

using verb = train_arguments::command;
using options = train_arguments;

/// The document, the facts beside it, and the train before it.
void add_document(flags& f, options& to) {
  f.value("FILE", to.file,
          "the train document, or the name of a train that was released, such as v0.17.0")
      .required();
  f.value("--facts", to.with_facts, "file that `train facts` wrote, as part of FILE").takes("FILE");
  if (to.what != verb::diff)
    f.value("--former", to.former,
            "the train before, as a document or by its name: what moved since is seen")
        .takes("FILE");
}

void check(flags& f, options& to) {
  add_document(f, to);
  f.output(to.list.output);
}

void plan(flags& f, options& to) {
  add_document(f, to);
  list_flags has = of_files();
  has.own = {{"markdown", "dot"},
             "text, wide, json or yaml; markdown: a list to tick off; dot: the steps and projects "
             "as a graph",
             [&to](const std::string& name) {
               using form = options::plan_form;
               to.form = name == "dot" ? form::dot : form::markdown;
             }};
  declare_listing(f, to.list, has);
  f.footer("Example:\n  windlass train plan train.yaml -o dot | dot -Tsvg > train.svg");
}

void promote(flags& f, options& to) {
  add_document(f, to);
  declare_listing(f, to.list, of_files());
  f.value("--project", to.project, "the project that is released").required();
  f.value("--tag", to.tag, "its tag").required();
  const flag place =
      f.value("--registry", to.registry, "where the images are, such as ghcr.io/example")
          .takes("HOST/PATH");
  f.on("--write", to.write,
       "give the names there, when nothing is denied or has to be tested again")
      .needs(place);
  f.on("--plain-http", to.plain_http, "a registry without TLS");
}

void explain(flags& f, options& to) {
  add_document(f, to);
  f.value("WHAT", to.about, "only this check, step, finding or subject");
  f.output(to.list.output);
}

void diff(flags& f, options& to) {
  add_document(f, to);
  f.value("OTHER", to.former, "the train to compare with: FILE is the former one").required();
  f.output(to.list.output);
  f.footer("Example:\n  windlass train diff v0.16.0 v0.17.0");
}

void facts(flags& f, options& to) {
  f.value("FILE", to.file, "the train document, or a file of facts").required();
  f.value("--registry", to.registry, "where the images are, such as ghcr.io/example")
      .takes("HOST/PATH");
  f.value("--image", to.images, "repository below it: all of its tags").takes("NAME");
  f.value("--filter", to.filter, "only tags like this, such as v1.*; * and ? stand for any letters")
      .shows_default();
  f.value("--limit", to.most_tags, "tags of one repository at most").shows_default();
  f.on("--plain-http", to.plain_http, "a registry without TLS");
  f.value("--clone", to.clones,
          "a clone of a project: its tags, and at the train's commit of the project what it pins "
          "and which protocol it speaks")
      .takes("PROJECT=FOLDER");
  f.value("--at", to.revisions,
          "where to read that clone, if not at the candidate or release in FILE")
      .takes("PROJECT=REVISION");
  f.value("--range", to.ranges, "how far one is from the other, in that clone")
      .takes("PROJECT=FROM..TO");
}

void match(flags& f, options& to) {
  declare_listing(f, to.list, of_files());
  f.value("FILE", to.file,
          "a document with `trains`; without one the trains that come with the program");
  f.value("--client", to.client, "version or commit of the client (guest-components)");
  f.value("--server", to.server, "version or commit of the server (Trustee)");
  f.value("--bundle", to.bundle, "version of the bundle (Kata)");
  f.value("--train", to.train, "name of the train");
  f.value("--protocol", to.protocol, "the protocol that it speaks, where no train has it");
  f.finally([&to]() -> std::string {
    int asked = 0;
    for (const std::string* one : {&to.client, &to.server, &to.bundle, &to.train})
      asked += one->empty() ? 0 : 1;
    if (asked > 1) return "one of --client, --server, --bundle and --train is enough";
    return asked == 1 || !to.file.empty() ? ""
                                          : "--client, --server, --bundle or --train is required";
  });
  f.footer("Example:\n  windlass train match --client v0.16.0");
}

void add_policies(flags& f, options& to) {
  f.value("--policies", to.policies, "folder of policy packs that come before the stock ones")
      .takes("DIR");
}

}  // namespace

std::vector<app::command> train_commands() {
  return family<options>(
      {"train",
       "What is released together: does it fit, what comes next",
       {},
       "Exit codes: 0 allowed, 3 needs approval or a second test, 4 denied; 1 failure, 2 wrong "
       "usage."},
      {{"check", "Whether what is pinned fits together", verb::check, check},
       {"plan", "Which steps are done, ready and blocked", verb::plan, plan},
       {"promote", "Which images get which names, and whether they must be tested again",
        verb::promote, promote},
       {"explain", "What each check compared, what proves each step, which rule found what",
        verb::explain, explain},
       {"notes", "Release notes as Markdown: what is released together, and what changed",
        verb::notes, add_document},
       {"diff", "What changed from one train to another, and what is wrong with that", verb::diff,
        diff},
       {"facts",
        "Write what registries and clones say into FILE, each with its source; what is another one "
        "than FILE said is noted; the rest of FILE stays as it is",
        verb::facts, facts},
       {"match", "Which server fits a client, a bundle or a train, of what was released",
        verb::match, match}},
      add_policies, [](const options& a, const invocation&) { return train_command(a); });
}

}  // namespace cli
