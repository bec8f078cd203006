#pragma once

#include "cli/apis.hpp"
#include "fleetwide/commands/fleet_kinds.hpp"
#include "fleetwide/commands/object_command.hpp"
#include "service/service.hpp"
#include "tests/cli/schema.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace fleetwide::testing {

struct said_of_objects {
  int code = -1;
  std::string text, bytes, complaint;
};

/// The commands of a kind beside a running service, on the fleet of a fixture.
template <class Fixture>
class ObjectCommand : public Fixture {
protected:
  using verb = cli::object_arguments::command;
  ObjectCommand(const cli::fleet_kind& kind, std::string name)
      : kind_(kind), name_(std::move(name)) {}

  cli::object_arguments ask(verb what) { return ask(what, name_); }
  cli::object_arguments ask(verb what, std::string name) {
    cli::object_arguments a;
    a.kind = &kind_;
    a.what = what;
    a.name = std::move(name);
    a.timeout = std::chrono::seconds(15);
    return a;
  }
  reactor::awaitable<said_of_objects> say(cli::object_arguments a) {
    cli::service_options o = cli::with_all_apis();
    o.home = this->world_->home();
    o.does = units::mode::look;
    std::vector<fleet_object> assumed;
    if (!a.file.empty()) {
      auto read = cli::objects_in(*a.kind, a.file, "objects.yaml", "default");
      EXPECT_TRUE(read) << (read ? "" : read.error());
      if (read) assumed = std::move(*read);
    }
    cli::service looking(this->loop_, std::move(o), reactor::logger());
    auto started = co_await looking.start();
    EXPECT_TRUE(started);
    said_of_objects out;
    cli::command_output into;
    into.columns = 200;
    into.text = [&](const cli::page& p) { out.text += p.text(); };
    into.bytes = [&](const std::string& b) { out.bytes += b; };
    into.complaint = [&](const std::string& c) { out.complaint += c; };
    out.code =
        co_await cli::work_on_objects(this->loop_, looking, std::move(a), std::move(assumed), into);
    co_await looking.stop();
    co_return out;
  }
  reactor::awaitable<said_of_objects> say(verb what) {
    cli::object_arguments a = ask(what);
    said_of_objects out = co_await say(std::move(a));
    co_return out;
  }
  /// The document of a command, which is as its schema says.
  reactor::awaitable<boost::json::value> document(cli::object_arguments a) {
    a.list.output.format = cli::output_format::json;
    said_of_objects out = co_await say(std::move(a));
    EXPECT_EQ(out.code, 0) << out.complaint;
    boost::json::value v = boost::json::parse(out.bytes.empty() ? "{}" : out.bytes);
    EXPECT_EQ(cli::breaks_schema(v.as_object()), "") << out.bytes;
    co_return v;
  }

  const cli::fleet_kind& kind_;
  std::string name_;
};

}  // namespace fleetwide::testing
