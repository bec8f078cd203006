// Rules that the compiler cannot hold, looked for in the text of everything that ships.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace fs = std::filesystem;

struct rule {
  std::string name, forbidden, why;
  std::map<std::string, std::string> except;  // file → reason
};

/// Every folder of the root that is built and ships.
const std::vector<std::string> shipped = [] {
  std::vector<std::string> out;
  for (const auto& entry : fs::directory_iterator(WINDLASS_SOURCE_DIR)) {
    const std::string name = entry.path().filename().string();
    const bool is_built = fs::exists(entry.path() / "CMakeLists.txt");
    if (is_built && name != "tests" && name != "bench") out.push_back(name);
  }
  std::ranges::sort(out);
  return out;
}();

using each_line = std::function<void(const std::string& path, int number, const std::string& line)>;

/// The number of files of ours below these folders.
std::size_t read_all(const std::vector<std::string>& folders, const each_line& see) {
  const fs::path root = WINDLASS_SOURCE_DIR;
  std::size_t files = 0;
  for (const std::string& folder : folders) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const auto extension = entry.path().extension();
      if (extension != ".cpp" && extension != ".hpp") continue;
      ++files;
      const std::string path = fs::relative(entry.path(), root).generic_string();
      std::ifstream text(entry.path());
      std::string line;
      for (int number = 1; std::getline(text, line); ++number) see(path, number, line);
    }
  }
  return files;
}

const std::vector<rule> rules = {
    {"OnlyKeyedTables",
     "std::unordered_",
     "its hash can be predicted and its order depends on it: reactor::keyed_map has a key and no "
     "order",
     {{"reactor/plain/keyed_map.hpp", "the table itself"}}},
    {"CitesTheProjectItself",
     "contracts/",
     "who reads the code has its docs/, ARCHITECTURE.md and CONTRIBUTING.md, and nothing else",
     {}},
    {"NamesNoStyleGuideOfOthers", "STYLE.md", "CONTRIBUTING.md says it", {}},
    {"OnlyKeyedHashes", "std::hash<", "it has no key: reactor::keyed_hash has one", {}},
    {"NoCredentialAmongTheFields",
     "\"Authorization\"",
     "fields are copied and never overwritten: http::request::authorization is a secret",
     {}},
    {"CredentialsAreReadByTheirOrigin",
     ".authorization = ",
     "registry::credentials shows it to the origin that it was given for; a request is filled in "
     "one "
     "place for each client",
     {{"registry/web.cpp", "reads it by the request's URL"},
      {"k8s/client/client.cpp", "a client of one server, which follows no redirect"},
      {"signals/login.cpp", "of a Secret at home, for the origin that it names"},
      {"reactor/http/origin.cpp", "of a proxy, from the proxy's own URL"}}},
    {"BearerTokensAreMadeOnce",
     "\"Bearer ",
     "a text that is put together leaves copies: http::bearer_authorization does not",
     {{"reactor/http/authorization.cpp", "makes it"},
      {"k8s/sim/routes.cpp", "the embedded server reads it"}}},
    {"BasicProofsAreMadeOnce",
     "\"Basic ",
     "a text that is put together leaves copies: http::basic_authorization does not",
     {{"reactor/http/authorization.cpp", "makes it"}}},
};

/// An informer without a log cannot say that a server's history went back. Most options are made by
/// all_of() and only(), which ask for a log.
TEST(Rules, EveryInformerHasALog) {
  const std::regex made(R"(^ *(?:k8s::)?informer_options (\w+);)");
  std::map<std::string, std::string> waiting;  // file → the options that have no log yet
  std::size_t found = 0;
  const auto settle = [&](const std::string& path) {
    if (const auto left = waiting.find(path); left != waiting.end())
      ADD_FAILURE() << path << ": " << left->second << ".log is not set";
    waiting.erase(path);
  };
  std::string last;
  read_all(shipped, [&](const std::string& path, int, const std::string& line) {
    if (path != last) settle(std::exchange(last, path));
    std::smatch options;
    if (std::regex_search(line, options, made)) {
      settle(path);
      waiting[path] = options[1];
      ++found;
    } else if (const auto one = waiting.find(path);
               one != waiting.end() && line.find(one->second + ".log = ") != std::string::npos) {
      waiting.erase(one);
    }
  });
  settle(last);
  EXPECT_GT(found, 4u);
}

/// One of each: where there is a second one it says why.
const std::vector<rule> ones = {
    {"Sha256",
     "EVP_sha256()",
     "formats/digest makes digests",
     {{"formats/digest.cpp", "makes them"},
      {"reactor/net/certificates.cpp", "signs"},
      {"reactor/net/tls_context.cpp", "a key over several texts, below formats"},
      {"helm/functions/crypto.cpp", "HMAC, and signs"}}},
    {"Base64",
     "abcdefghijklmnopqrstuvwxyz0123456789+/",
     "formats/base64 reads and writes it",
     {{"reactor/plain/base64.cpp", "writes it, for proofs of identity too"},
      {"formats/base64.cpp", "reads it"}}},
    {"Inflate",
     "inflateInit",
     "reactor/plain/inflate undoes gzip",
     {{"reactor/plain/inflate.cpp", "does it"}}},
    {"Deflate", "deflateInit", "formats/gzip makes it", {{"formats/gzip.cpp", "makes it"}}},
    {"Tar", "ustar", "formats/tar reads and writes it", {{"formats/tar.cpp", "does it"}}},
    {"Spawn", "posix_spawn(", "reactor/plain/spawn starts programs", {}},
    {"SpawnInPath",
     "posix_spawnp(",
     "reactor/plain/spawn starts programs",
     {{"reactor/plain/spawn.cpp", "starts them"}}},
    {"Reason",
     "detail.empty() ?",
     "reactor::reason_of says it",
     {{"reactor/plain/reason.hpp", "says it"},
      {"reactor/plain/result.cpp", "the whole message"},
      {"k8s/client/fault.cpp", "the whole message"},
      {"policies/host/host.cpp", "where in a pack it stands"},
      {"helm/objects/waits.cpp", "only what a server said"},
      {"k8s/sim/objects/failure.cpp", "the embedded server's own words"}}},
    {"OpensslHandles",
     "template <auto Free>",
     "reactor/plain/openssl frees them",
     {{"reactor/plain/openssl.hpp", "frees them"}}},
    {"Metrics",
     "to_array<reactor::metric_kind>",
     "metrics are rows of tables that service/metrics/own_metrics.cpp knows, so that the "
     "reference, "
     "the "
     "dashboard and the alerts are checked against them",
     {{"k8s/fleet/metric_table.hpp", "the fleet's"},
      {"k8s/informer/metric_table.hpp", "the controllers'"},
      {"app/api/metric_table.hpp", "those of every API"},
      {"bootc/pool/metric_table.hpp", "the nodes'"},
      {"helm/tenants/kinds/metric_table.hpp", "the tenants'"},
      {"fleetwide/charts/chart_words.hpp", "the FleetCharts'"},
      {"signals/metric_table.hpp", "the signals'"},
      {"compose/metric_table.hpp", "those of compositions"},
      {"service/metrics/metric_table.hpp", "the service's own"}}},
    {"MetricKinds",
     "metric_kind{",
     "a metric that stands in no table is in no reference and cannot be alerted on",
     {}},
    {"Events",
     "event_note e;",
     "k8s::tell_of() makes them from a row of a table, which the reference is made from",
     {{"k8s/client/events.cpp", "makes them"}}},
    {"TemporaryFolder",
     "mkdtemp(",
     "reactor/system/private_folder makes them and takes them away",
     {{"reactor/system/private_folder.cpp", "makes them"}}},
    {"RetryAfter",
     "\"Retry-After\"",
     "reactor/http/retry_after reads it",
     {{"reactor/http/retry_after.cpp", "reads it"},
      {"registry/session.cpp", "makes a date the seconds until then, which need a clock"},
      {"k8s/sim/routes.cpp", "the embedded server sends it"},
      {"simulation/commands/simulate/disturbances.cpp",
       "an embedded server that is told to fail sends it"}}},
};

class Rules : public testing::TestWithParam<rule> {};

TEST_P(Rules, AreKeptByEveryFile) {
  const rule& r = GetParam();
  const std::size_t files =
      read_all(shipped, [&](const std::string& path, int number, const std::string& line) {
        if (!r.except.contains(path) && line.find(r.forbidden) != std::string::npos)
          ADD_FAILURE() << path << ":" << number << ": " << r.forbidden << ": " << r.why;
      });
  EXPECT_GT(files, 300u);
  for (const auto& [path, reason] : r.except)
    EXPECT_TRUE(fs::exists(fs::path(WINDLASS_SOURCE_DIR) / path)) << path;
}

// A length beside a literal is one to get wrong, and what lies behind the literal is then read too:
// "a\0b"s knows its own.
TEST(Literals, NoLengthIsWrittenBesideALiteral) {
  const std::regex counted(R"re(string(_view)?\("([^"\\]|\\.)*", *[0-9]+\))re");
  std::vector<std::string> everything = shipped;
  everything.insert(everything.end(), {"bench", "tests"});
  read_all(everything, [&](const std::string& path, int number, const std::string& line) {
    if (line.find("\\0") != std::string::npos && std::regex_search(line, counted))
      ADD_FAILURE() << path << ":" << number << ": " << line;
  });
}

// GCC 12 destroys a temporary that one side of a choice makes twice when it is an argument of what
// is awaited: give it a name.
TEST(Awaiting, NothingIsMadeInAChoiceAmongTheArguments) {
  const std::regex made(
      R"re(co_await [^;{}]*\([^;{}]*\?[^;{}]*(nullptr|std::(string|move|make_shared)\b)[^;{}]*:|)re"
      R"re(co_await [^;{}]*\([^;{}]*\?[^;{}]*[^:]:[^:;{},][^;{},]*(nullptr|std::(string|move|make_shared)\b))re");
  ASSERT_TRUE(std::regex_search("co_await f(known ? std::move(p) : q);", made));
  ASSERT_TRUE(std::regex_search("x = co_await a.f(1, known ? p : nullptr);", made));
  // So it does with what is made in braces there and holds memory.
  const std::regex braced(R"re(co_await [^;{}\[]*\([^;{}\[]*[(,] *[a-z_:]+\{[^}]*["a-z])re");
  ASSERT_TRUE(std::regex_search("co_await fail(r, problem{\"cancelled\"});", braced));
  ASSERT_FALSE(std::regex_search("co_await f(loop, {}, [&] { g(problem{text}); });", braced));
  std::string statement;
  std::size_t looked_at = 0;
  read_all(shipped, [&](const std::string& path, int number, const std::string& line) {
    if (number == 1) statement.clear();
    if (statement.empty() && line.find("co_await ") == std::string::npos) return;
    statement += line.substr(0, line.find("//"));
    if (line.find(';') == std::string::npos && statement.size() < 2000) return;
    ++looked_at;
    if ((statement.find('?') != std::string::npos && std::regex_search(statement, made)) ||
        std::regex_search(statement, braced))
      ADD_FAILURE() << path << ":" << number << ": " << statement;
    statement.clear();
  });
  EXPECT_GT(looked_at, 500u);
}

// clang-tidy's use-after-move follows whole variables: it sees nothing wrong where `*w.object` was
// moved from and `w` is read afterwards.
TEST(Moves, NoVariableIsPassedOnAfterAPartOfItWasMovedFrom) {
  const std::map<std::string, std::string> except = {
      {"helm/commands/verify_command.cpp", "template_words does not read the origin"},
      {"registry/web.cpp", "too_big reads the limit, not the body"},
      {"k8s/informer/informer_silence.cpp", "the answer is taken, and the stream asks again"}};
  const std::regex moved(R"re(std::move\((\*?)(\w+)((?:(?:\.|->)\w+)*)\))re");
  struct part {
    std::string of, line;
    std::size_t indent;
  };
  std::vector<part> parts;
  std::size_t seen = 0;
  const auto look = [&](const std::string& path, int number, const std::string& line) {
    const std::size_t indent = line.find_first_not_of(' ');
    if (number == 1 || line.starts_with('}')) parts.clear();
    if (indent == line.npos) return std::string();
    std::erase_if(parts, [&](const part& p) { return line[indent] == '}' && indent < p.indent; });
    std::string found;
    std::erase_if(parts, [&](const part& p) {
      if (line.find(p.of) == line.npos) return false;
      if (std::regex_search(line, std::regex("\\b" + p.of + " *=|& " + p.of + "\\b"))) return true;
      if (!std::regex_search(line, std::regex("[(,] *\\*?" + p.of + " *[,)]")) ||
          std::regex_search(line, std::regex("std::move\\(\\*?" + p.of)) ||
          line.find("erase(") != line.npos)
        return false;
      if (!except.contains(path))
        found = path + ":" + std::to_string(number) + ": " + line + "\n  after" + p.line;
      return true;
    });
    std::smatch m;
    if (line.find("std::move(") != line.npos && std::regex_search(line, m, moved) &&
        (m.length(1) || m.length(3)) && m[2] != "this") {
      ++seen;
      const bool is_kept = m.prefix().str().find('[') != std::string::npos;  // by a lambda
      if (!is_kept && line.find("return ") == line.npos) parts.push_back({m[2], line, indent});
      std::string rest = m.prefix().str() + m.suffix().str();
      if (std::regex_search(rest, std::regex("[(,] *\\*?" + m[2].str() + " *[,)]")) &&
          rest.find("if (") == rest.npos && rest.find('[') == rest.npos)
        found = path + ":" + std::to_string(number) + ": " + line;
    }
    return found;
  };
  EXPECT_EQ(look("x", 1, "  const key at = key_of(w);"), "");
  EXPECT_EQ(look("x", 2, "  tenant about = std::move(*w.object);"), "");
  EXPECT_NE(look("x", 3, "  const key at = key_of(w);"), "");
  EXPECT_NE(look("x", 4, "  f(std::move(w.object), key_of(w));"), "");
  seen = 0;
  read_all(shipped, [&](const std::string& path, int number, const std::string& line) {
    const std::string wrong = look(path, number, line.substr(0, line.find("//")));
    if (!wrong.empty()) ADD_FAILURE() << wrong;
  });
  EXPECT_GT(seen, 300u);
}

// A sentence is for people and may change; what a caller decides by is the problem's or the fault's
// code.
TEST(Problems, AreToldApartByTheirCodes) {
  const std::regex by_text(
      R"re((error\(\)|\bf|why|failure|wrong|problem|fault)(\.|->)(text|message\(\)|what\(\)|detail)( *(==|!=)|\.(find|starts_with|ends_with|contains)\())re");
  ASSERT_TRUE(std::regex_search("if (past.error().text != not_found_text)", by_text));
  ASSERT_TRUE(std::regex_search("return why.text.starts_with(\"json\");", by_text));
  const std::map<std::string, std::string> except = {
      {"k8s/informer/watch_state.cpp", "API servers before 1.21 have no reason for it"}};
  read_all(shipped, [&](const std::string& path, int number, const std::string& line) {
    // A search for words is quick, one for a pattern is not.
    const auto has = [&](const char* word) { return line.find(word) != line.npos; };
    if (!has("text") && !has("message()") && !has("what()") && !has("detail")) return;
    if (!except.contains(path) && std::regex_search(line, by_text))
      ADD_FAILURE() << path << ":" << number << ": " << line;
  });
}

// What renders, and what works on a cluster, gets what it needs: only commands know the environment
// and start programs.
TEST(Helm, KnowsNoEnvironmentAndStartsNoProgramBelowItsCommands) {
  std::size_t files = 0;
  read_all({"helm", "formats", "registry"}, [&](const std::string& path, int number,
                                                const std::string& line) {
    if (path.starts_with("helm/commands/")) return;
    // Docker's helpers, which only commands that a person types hand in.
    if (path.starts_with("registry/credential_helper.")) return;
    files += number == 1;
    for (const char* word : {"getenv(", "setenv(", "environ", "plain/spawn.hpp",
                             "system/process.hpp", "popen(", "fork(", "std::system("})
      if (line.find(word) != std::string::npos && line.find("environment") == std::string::npos)
        ADD_FAILURE() << path << ":" << number << ": " << line;
  });
  EXPECT_GT(files, 100u);
}

// look(node, true): who reads the call does not know what is true. An enum says it, or two
// functions do.
/// Columns that a terminal shows: bytes that continue a character of UTF-8 are none.
std::size_t columns_of(const std::string& line) {
  return static_cast<std::size_t>(
      std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

TEST(Comments, WrapAtTheCodesHundredColumns) {
  const std::regex comment(R"re(^\s*//|[;,{}] +// )re");
  std::vector<std::string> everything = shipped;
  everything.insert(everything.end(), {"tests", "bench"});
  read_all(everything, [&](const std::string& path, int number, const std::string& line) {
    if (line.size() > 100 && columns_of(line) > 100 && line.find('"') == std::string::npos &&
        line.find("://") == std::string::npos && std::regex_search(line, comment))
      ADD_FAILURE() << path << ":" << number << ": " << columns_of(line) << " columns";
  });
}

// A name in a table is in the reference; that somebody counts under it only its use shows.
/// Every file that writes to an API server asks the brake and the speed limit right before it
/// begins something, or stands here with why its writes go on while the brake is on. A new writer
/// stands in neither.
TEST(Brake, IsAskedByEveryWriterOrNotForAReason) {
  const std::set<std::string> ask = {
      "bootc/daemons/daemon_waves.cpp", "bootc/pool/reconciler/pool_writer.cpp",
      "compose/compose_writes.cpp",     "fleetwide/fleet_writes.cpp",
      "helm/placed/keeper_steps.hpp",   "helm/tenants/cluster/tenant_crd.cpp",
      "releases/release_pools.cpp"};
  const std::map<std::string, std::string> go_on = {
      {"bootc/daemon/node_daemon.cpp", "a node reports what it does"},
      {"bootc/pool/drains.cpp", "a drain that pool_writer began ends"},
      {"fleetwide/charts/note_writes.cpp", "what keeper_steps began, and what is said of it"},
      {"fleetwide/commands/", "a person's command"},
      {"fleetwide/fleet_members.cpp", "a pool that fleet_writes began to write"},
      {"helm/members/", "a person's command"},
      {"helm/objects/", "an operation that keeper_steps began ends"},
      {"helm/placed/ledger.cpp", "where a release is, for who cleans up"},
      {"helm/placed/object_writes.hpp", "what keeper_steps began, and what is said of it"},
      {"helm/placed/workspace_writes.cpp", "what keeper_steps began"},
      {"helm/release/", "an operation that keeper_steps began ends"},
      {"helm/tenants/commands/", "a person's command"},
      {"k8s/client/", "Events, and tokens of accounts that are there"},
      {"k8s/fleet/", "Events, which server a cluster is, and the kubeconfig of our own"},
      {"k8s/lease/", "which process acts"},
      {"releases/home_releases.cpp", "the status of a Release"},
      {"service/commands/", "a person's command"}};
  const std::regex writes(
      R"((?:api_|api\(\)|api|home|home_|client_|member_|on)\.(?:create|create_text|)"
      R"(create_subresource|apply|merge_patch|merge_patch_text|patch|replace|remove|evict)\()");
  std::set<std::string> found, asking;
  read_all(shipped, [&](const std::string& path, int number, const std::string& line) {
    if (line.find("units::begin(") != line.npos) asking.insert(path);
    // A search for words is quick, one for a pattern is not.
    const bool has_verb = std::ranges::any_of(
        std::array{".create", ".apply(", "patch", ".replace(", ".remove(", ".evict("},
        [&](const char* verb) { return line.find(verb) != line.npos; });
    if (!has_verb || !std::regex_search(line, writes)) return;
    found.insert(path);
    const bool has_reason =
        std::ranges::any_of(go_on, [&](const auto& one) { return path.starts_with(one.first); });
    if (!has_reason && !ask.contains(path))
      ADD_FAILURE() << path << ":" << number << " writes, and the brake cannot stop it";
  });
  for (const auto& [writer, reason] : go_on)
    EXPECT_TRUE(std::ranges::any_of(found, [&](const auto& f) { return f.starts_with(writer); }))
        << writer << " writes nothing";
  for (const std::string& path : ask) EXPECT_TRUE(asking.contains(path)) << path;
}

TEST(Metrics, EachThatATableHasIsSetSomewhere) {
  const std::regex of_table(R"re(^namespace (?:\w+::)*(\w+) \{)re"),
      kind(R"re((\w+) = (?:reactor::)?metric_in\()re");
  std::map<std::string, std::string> unused;  // "table::name" → where it stands
  std::string table;
  read_all(shipped, [&](const std::string& path, int number, const std::string& line) {
    if (!path.ends_with("metric_table.hpp")) return;
    std::smatch found;
    if (std::regex_search(line, found, of_table)) table = found[1];
    if (std::regex_search(line, found, kind))
      unused.emplace(table + "::" + found[1].str(), path + ":" + std::to_string(number));
  });
  EXPECT_GT(unused.size(), 50u);
  const auto in_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  read_all(shipped, [&](const std::string& path, int, const std::string& line) {
    if (path.ends_with("metric_table.hpp")) return;
    for (std::size_t at = line.find("::"); at != line.npos; at = line.find("::", at + 2)) {
      std::size_t begin = at, end = at + 2;
      while (begin > 0 && in_word(line[begin - 1])) --begin;
      while (end < line.size() && in_word(line[end])) ++end;
      unused.erase(line.substr(begin, end - begin));
    }
  });
  for (const auto& [name, where] : unused) ADD_FAILURE() << where << ": nobody sets " << name;
}

// A page says what to look for: what nothing tells is looked for in vain.
TEST(Tenants, EachEventAndLineOfTheLogThatATableHasIsToldSomewhere) {
  const fs::path kinds = fs::path(WINDLASS_SOURCE_DIR) / "helm/tenants/kinds";
  std::set<std::string> untold;
  const auto take = [&](const char* file, const std::regex& named) {
    std::ifstream in(kinds / file);
    std::string scope;
    for (std::string line; std::getline(in, line);) {
      std::smatch m;
      if (std::regex_search(line, m, std::regex("^namespace .*?(\\w+) \\{$"))) scope = m[1];
      if (std::regex_search(line, m, named)) untold.insert(scope + "::" + m[1].str());
    }
  };
  take("events.hpp", std::regex("(\\w+) = ?(k8s::event_in|$)"));
  take("log_lines.hpp", std::regex("string_view (\\w+) ="));
  EXPECT_GT(untold.size(), 50u);
  read_all({"helm"}, [&](const std::string& path, int, const std::string& line) {
    if (path.starts_with("helm/tenants/kinds/")) return;
    std::erase_if(untold, [&](const std::string& name) {
      const auto at = line.find(name);
      return at != line.npos &&
             !std::isalnum(static_cast<unsigned char>((line + " ")[at + name.size()])) &&
             (line + " ")[at + name.size()] != '_';
    });
  });
  for (const std::string& name : untold) ADD_FAILURE() << name << " is told nowhere";
}

TEST(Parameters, NoBoolStandsBesideOthersInAHeader) {
  const std::set<std::string> known = {
      "bootc/daemon/simulated_host.hpp", "service/service.hpp",
      "helm/charts/chart_ignore.hpp",    "helm/objects/cluster_objects.hpp",
      "helm/objects/waits.hpp",          "helm/render/render_context.hpp",
      "helm/sources/search.hpp",         "helm/template/parser.hpp",
      "k8s/fleet/engagement.hpp",        "k8s/informer/watch_state.hpp",
      "k8s/sim/api_server.hpp",          "k8s/sim/objects/schema.hpp",
      "k8s/sim/representation.hpp",      "k8s/sim/subscription.hpp",
      "policies/host/matcher.hpp",       "reactor/log.hpp",
      "reactor/net/tls_context.hpp",     "simulation/cluster.hpp",
  };
  const std::string parameter = "(const )?bool [a-z_]+( = (true|false))?";
  const std::regex beside(R"re(\w\((.*, *)re" + parameter + "[,)]|" + parameter + ", )");
  std::set<std::string> seen;
  read_all(shipped, [&](const std::string& path, int number, const std::string& line) {
    if (!path.ends_with(".hpp") || line.find("bool ") == std::string::npos) return;
    if (!std::regex_search(line.substr(0, line.find("//")), beside)) return;
    seen.insert(path);
    EXPECT_TRUE(known.contains(path)) << path << ":" << number << ": " << line;
  });
  EXPECT_EQ(seen, known) << "who is mended leaves the list";
}

INSTANTIATE_TEST_SUITE_P(OneOfEach, Rules, testing::ValuesIn(ones),
                         [](const auto& info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(All, Rules, testing::ValuesIn(rules),
                         [](const auto& info) { return info.param.name; });

}  // namespace
