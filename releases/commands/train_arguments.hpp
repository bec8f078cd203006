#pragma once

#include "app/command.hpp"
#include "app/listing.hpp"

#include <string>
#include <vector>

namespace cli {

using namespace app;

struct train_arguments {
  enum class command {
    check,
    plan,
    promote,
    match,
    facts,
    diff,
    explain,
    notes
  } what = command::check;
  /// plan: the steps as a table, a list to tick off or a graph; as_output: what `output` says.
  enum class plan_form { as_output, dot, markdown } form = plan_form::as_output;
  std::string file;      // the train document, or the name of a train that comes with the program
  std::string former;    // the train before; what moved since is seen
  std::string about;     // explain: a check, step, finding or subject; empty: all
  std::string policies;  // a folder of packs that comes before the stock ones
  std::string project, tag;                             // promote
  bool write = false;                                   // promote: give the names, in `registry`
  std::string client, server, bundle, train, protocol;  // match
  std::vector<std::string> with_facts;  // files of facts that belong to the document
  // facts: what is looked at; FILE is what is written
  std::string registry, filter = "*";
  std::vector<std::string> images, clones, ranges;  // NAME; PROJECT=FOLDER; PROJECT=FROM..TO
  std::vector<std::string> revisions;               // PROJECT=REVISION at which a clone is read
  std::size_t most_tags = 1'000;
  bool plain_http = false;
  list_request list;  // of what is a list: which, and how they are shown
};

std::vector<app::command> train_commands();
int train_command(const train_arguments& a);

}  // namespace cli
