// `windlass secret-converter`, which an image also calls `/secret-converter`: the init container of
// a Trustee server makes the keys of mounted Secrets into the flat files that it reads.
#include "compose/commands/secret_converter.hpp"

#include "app/output.hpp"
#include "reactor/system/files.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace cli {

using namespace app;

namespace {

namespace fs = std::filesystem;
using reactor::errc;
using reactor::make_fault;
using reactor::result;

// MaxSecretSize of the Kubernetes API: all the keys of a Secret together.
constexpr std::size_t most_key_bytes = 1024 * 1024;
constexpr std::size_t most_entries = 10'000;
/// For this process and its group: the server runs as another user with our group among its own
/// (supplementalGroups of the pod).
constexpr mode_t key_mode = 0640;
// NAME_MAX less what store_file adds for the moment of writing.
constexpr std::size_t longest_name = 255 - 7;

/// Kubernetes: keys of Secrets; names of Secrets are a subset.
bool is_key(std::string_view name) {
  return std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  });
}

mounted_entry::kind kind_of(const fs::file_status& status) {
  if (fs::is_directory(status)) return mounted_entry::kind::folder;
  return fs::is_regular_file(status) ? mounted_entry::kind::file : mounted_entry::kind::other;
}

/// The names in a folder with what each is; none in a folder that is not there.
result<std::vector<std::pair<std::string, mounted_entry::kind>>> entries_of(
    const std::string& path) {
  std::vector<std::pair<std::string, mounted_entry::kind>> out;
  const std::string doing = "list " + path;
  std::error_code ec;
  fs::directory_iterator at(path, ec);
  if (ec == std::errc::no_such_file_or_directory) return out;
  for (; !ec && at != fs::directory_iterator(); at.increment(ec)) {
    if (out.size() == most_entries)
      return make_fault(errc::limit, doing, "more than " + std::to_string(most_entries) + " names");
    // A link that leads nowhere has a status too, and is `other`.
    std::error_code unseen;
    out.emplace_back(at->path().filename().string(), kind_of(at->status(unseen)));
  }
  if (ec) return make_fault(reactor::error_code(ec), doing);
  return out;
}

result<std::vector<mounted_entry>> mounted(const std::string& secrets) {
  std::vector<mounted_entry> out;
  auto folders = entries_of(secrets);
  if (!folders) return folders.error();
  for (const auto& [folder, is] : *folders) {
    if (folder.starts_with('.') || is != mounted_entry::kind::folder) continue;
    auto keys = entries_of(secrets + "/" + folder);
    if (!keys) return keys.error();
    for (auto& [key, what] : *keys) out.push_back({what, folder, std::move(key)});
    if (out.size() > most_entries)
      return make_fault(errc::limit, "list " + secrets,
                        "more than " + std::to_string(most_entries) + " keys");
  }
  return out;
}

}  // namespace

result<std::vector<secret_copy>> plan_secret_copies(std::span<const mounted_entry> found) {
  std::vector<secret_copy> plan;
  for (const mounted_entry& e : found) {
    if (e.name.starts_with('.') || e.is == mounted_entry::kind::folder) continue;
    secret_copy copy{e.secret + "/" + e.name, "default\\x2F" + e.secret + "\\x2F" + e.name};
    const auto refused = [&](std::string_view why) {
      return make_fault(errc::refused, "convert " + copy.from, why);
    };
    if (!is_key(e.secret) || !is_key(e.name)) return refused("no key of a Secret has such a name");
    if (e.is == mounted_entry::kind::other) return refused("it is no file, or a link to none");
    if (copy.to.size() > longest_name)
      return refused("its name in the repository would have " + std::to_string(copy.to.size()) +
                     " bytes, and " + std::to_string(longest_name) + " are possible");
    plan.push_back(std::move(copy));
  }
  std::ranges::sort(plan, {}, &secret_copy::from);
  return plan;
}

result<std::size_t> convert_secrets(const std::string& secrets, const std::string& repository) {
  auto found = mounted(secrets);
  if (!found) return found.error();
  auto plan = plan_secret_copies(*found);
  if (!plan) return plan.error();
  for (const secret_copy& copy : *plan) {
    auto bytes = reactor::load_secret(secrets + "/" + copy.from, most_key_bytes);
    if (!bytes) return bytes.error();
    auto stored = reactor::store_file(repository + "/" + copy.to, bytes->reveal(), key_mode);
    if (!stored) return stored.error();
  }
  return plan->size();
}

namespace {

/// Where the pod of a Trustee server has its Secrets, and where it looks for them.
struct secret_converter_arguments {
  std::string secrets = "/tmp/kbs-secrets",
              repository = "/opt/confidential-containers/storage/repository";
};

void declare_converter(flags& f, secret_converter_arguments& to) {
  f.value("--secrets", to.secrets,
          "folder with one folder for each Secret, by its name; without it " + to.secrets)
      .takes("DIR");
  f.value("--repository", to.repository,
          "folder of the server's resources; without it " + to.repository)
      .takes("DIR");
}

int secret_converter_command(const secret_converter_arguments& a, const invocation&) {
  const auto copied = convert_secrets(a.secrets, a.repository);
  if (!copied) return complain(copied.error().message());
  const page text = page(std::to_string(*copied)) +
                    page(*copied == 1 ? std::string(" key") : std::string(" keys")) + " of " +
                    a.secrets + " in " + a.repository + "\n";
  return write_out(STDOUT_FILENO, text) ? success : failure;
}

}  // namespace

std::vector<app::command> secret_converter_commands() {
  return {command_of<secret_converter_arguments>(
      "secret-converter", "In the pod of a Trustee server: mounted Secrets become its flat files",
      declare_converter, secret_converter_command)};
}

}  // namespace cli
