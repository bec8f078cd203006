#pragma once

#include "app/command.hpp"
#include "app/listing.hpp"

#include <array>
#include <string>
#include <vector>

namespace cli {

using namespace app;

struct release_arguments {
  enum class command {
    map,
    diff,
    check,
    show,
    gate,
    path,
    lifecycle,
    bump,
    images,
    notes,
    pin,
    join,
    retag
  } what = command::map;
  std::string dir;                   // of the Releases
  std::string policies;              // a folder of packs that comes before the stock ones
  std::string provider, from;        // check: may be empty
  std::string to;                    // diff
  std::string catalogue;             // a file with the name of an image on each line
  std::string rendered;              // diff, gate, check: a folder of what charts render
  std::array<std::string, 3> words;  // check: DIR where `dir` is empty, PROVIDER, VERSION
  std::string kind, architecture, channel, suffix, image, running;  // of the pool
  std::vector<std::string> values, tools;                           // map, diff: NAME=TEXT
  bool archived = false;                                            // check: these too
  std::string in_use;           // lifecycle: a file with the name of a Release on each line
  std::string stage, to_stage;  // gate, bump: of the draft
  std::string release_kind = "minor", available, action, actor;  // bump
  std::vector<std::string> picks;                                // bump: NAME@VERSION[@@DEP#DEP]
  bool missing = false;                                          // images: only what was not built
  bool watch = false;                                            // check: again after each change
  enum class report_form { as_output, junit, github } report = report_form::as_output;  // check
  double age_hours = -1;       // bump: of the draft
  std::string prefix, commit;  // bump of a test Release; retag of a preview
  bool asked = false;          // bump: a test Release has a pre-release in any case
  std::string item, up_to;     // pin: NAME@VERSION, the first Release that is free again
  bool write = false;          // pin: into the files
  std::string into;            // bump: a folder of Releases that the draft is written to
  list_request list;           // of what is a list: which, and how they are shown
};

std::vector<app::command> release_commands();
int release_command(const release_arguments& a);

}  // namespace cli
