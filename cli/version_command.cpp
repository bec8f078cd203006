#include "cli/commands.hpp"
#include "service/metrics/own_metrics.hpp"

#include <boost/json.hpp>
#include <boost/version.hpp>
#include <openssl/crypto.h>
#include <unistd.h>

namespace cli {

using namespace app;

namespace {

struct version_arguments {
  output_choice output;
};

int version_command(const version_arguments& a, const invocation&) {
  boost::json::object o;
  o["version"] = WINDLASS_VERSION;
  o["commit"] = build_commit();
#ifdef __clang__
  o["compiler"] = "clang " __clang_version__;
#else
  o["compiler"] = "gcc " __VERSION__;
#endif
  o["boost"] = BOOST_LIB_VERSION;
  o["openssl"] = OpenSSL_version(OPENSSL_VERSION_STRING);
  if (a.output.is_machine()) return write_document(o, a.output);
  return write_bytes(STDOUT_FILENO, "windlass " WINDLASS_VERSION "\n") ? success : failure;
}

}  // namespace

std::vector<app::command> version_commands() {
  return {command_of<version_arguments>(
      "version", "Print the version", [](flags& f, version_arguments& to) { f.output(to.output); },
      version_command)};
}

}  // namespace cli
