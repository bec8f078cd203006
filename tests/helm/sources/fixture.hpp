#pragma once

#include "helm/commands/source_commands.hpp"
#include "helm/sources/settings.hpp"
#include "tests/registry/fixture.hpp"

namespace helm::sources {

using reactor::result;

using ::registry::respond;
using ::registry::told_server;
using ::registry::web_answer;
using ::registry::web_request;

/// With the places that stock helm would use below the folder.
class SourcesTest : public ::registry::WebFixture {
protected:
  settings where() { return settings_from(env()); }
};

}  // namespace helm::sources
