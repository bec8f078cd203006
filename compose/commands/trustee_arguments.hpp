#pragma once

#include "app/command.hpp"
#include "app/listing.hpp"

#include <string>

namespace cli {

using namespace app;

struct trustee_arguments {
  enum class command { list, versions, render, diff, verify } what = command::list;
  std::string name, ns;             // of an instance
  std::string to;                   // diff, render: the version; empty: what the instance says
  std::string kubeconfig, context;  // where the instance is
  std::string file;                 // objects of a file in place of a cluster's
  std::string templates;            // a folder with versions.json; empty = TRUSTEE_TEMPLATES_DIR
  std::string policies;             // a folder of packs that comes before the stock ones
  bool dedupe = false;              // verify
  output_choice output;
  list_request list;  // list: which instances, and how
};

std::vector<app::command> trustee_commands();

}  // namespace cli
