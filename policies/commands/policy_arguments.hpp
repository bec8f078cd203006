#pragma once

#include "app/listing.hpp"
#include "service/connect.hpp"

#include <string>

namespace cli {

using namespace app;

struct policy_arguments {
  enum class command {
    test,
    check,
    make,
    list,
    show,
    types,
    reference,
    replay,
    explain
  } what = command::test;
  // test, check: of a pack or several; list, show: packs that come before the stock ones, may be
  // empty
  std::string dir;
  std::string name;                   // make: of the new pack, also its folder; show: of the pack
  std::string hook = "rollout.plan";  // make: the answer it begins with
  std::string record;                 // replay: a file of `run --record`
  policies::shared_hooks hooks = {};  // of the APIs of the program
  fleet_arguments fleet;              // explain; `name` is [cluster/]unit there
  bool allow_none = false;            // test: no test is no failure
  bool fail_fast = false;             // test: the first that fails ends it
  bool junit = false;                 // test: the report of JUnit, which `output` does not know
  output_choice output;
  list_request list;  // list: which packs, and how
};

std::vector<app::command> policy_commands();

}  // namespace cli
