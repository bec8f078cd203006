#pragma once

#include <unistd.h>

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace fake {

namespace fs = std::filesystem;
using arguments = std::vector<std::string>;

/// Where the state is on a host of its own, whose environment has no FAKE_HOST.
inline constexpr const char* default_folder = "/fake_host";

/// A command line in parts: each option that was given, and the words. A flag has an empty value.
struct parsed {
  std::map<std::string, std::string> options;
  arguments words;
  std::string unknown;  // the first option that the program does not have
  std::string lacking;  // or that has no value
  bool has(const std::string& option) const { return options.contains(option); }
};

enum class takes { nothing, value, maybe_value };  // maybe: only behind "="
enum class ends { never, at_first_word };
using option_table = std::map<std::string, takes>;

/// As getopt_long and clap read it, without abbreviations. A short option stands in the table by
/// its own name.
inline parsed parse(const arguments& args, const option_table& known, ends where = ends::never) {
  parsed out;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::string& a = args[i];
    if (a == "--" || (where == ends::at_first_word && !a.starts_with("-"))) {
      out.words.assign(args.begin() + static_cast<std::ptrdiff_t>(i + (a == "--" ? 1 : 0)),
                       args.end());
      return out;
    }
    if (!a.starts_with("-") || a == "-") {
      out.words.push_back(a);
      continue;
    }
    const std::size_t equals = a.starts_with("--") ? a.find('=') : std::string::npos;
    const std::string name = a.substr(0, equals);
    const auto option = known.find(name);
    const bool valued = equals != std::string::npos;
    const bool missing =
        option != known.end() && option->second == takes::value && !valued && i + 1 == args.size();
    if (option == known.end() || missing || (valued && option->second == takes::nothing)) {
      if (out.unknown.empty() && out.lacking.empty()) (missing ? out.lacking : out.unknown) = name;
      continue;
    }
    std::string value = valued ? a.substr(equals + 1) : std::string();
    if (option->second == takes::value && !valued) value = args[++i];
    out.options[name] = value;
  }
  return out;
}

inline int fail(std::string_view why, int code = 1) {
  std::cerr << why << '\n';
  return code;
}

class host_state {
public:
  host_state() {
    const char* folder = std::getenv("FAKE_HOST");
    root_ = folder && *folder ? folder : default_folder;
    if (root_ == default_folder && !fs::exists(root_)) {
      std::cerr << "FAKE_HOST names no folder\n";
      std::exit(2);
    }
    fs::create_directories(root_ / "run");
    if (!has("boot_id")) new_boot();
  }

  bool has(const std::string& name) const { return fs::exists(root_ / name); }
  std::string read(const std::string& name) const {
    std::ifstream in(root_ / name);
    std::string text((std::istreambuf_iterator<char>(in)), {});
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.pop_back();
    return text;
  }
  arguments lines(const std::string& name) const {
    std::istringstream in(read(name));
    arguments out;
    for (std::string line; std::getline(in, line);)
      if (!line.empty()) out.push_back(line);
    return out;
  }
  /// Whole or not at all, as a reader in another process expects.
  void write(const std::string& name, const std::string& text) const {
    const fs::path temporary = root_ / (name + "." + std::to_string(getpid()));
    std::ofstream(temporary) << text << '\n';
    fs::rename(temporary, root_ / name);
  }
  void append(const std::string& name, const std::string& line) const {
    std::ofstream(root_ / name, std::ios::app) << line << '\n';
  }
  void remove(const std::string& name) const { fs::remove_all(root_ / name); }
  void new_boot() const {
    std::random_device rng;
    std::ostringstream id;
    id << std::hex << rng() << '-' << rng();
    write("boot_id", id.str());
    write("soft_reboots", "0");
  }
  bool marked(const std::string& list, const std::string& image) const {
    for (const auto& part : lines(list))
      if (image.find(part) != std::string::npos) return true;
    return false;
  }
  fs::path path(const std::string& name) const { return root_ / name; }

private:
  fs::path root_;
};

/// What getopt_long says of a wrong option; empty when none is.
inline std::string wrong_option(const std::string& program, const parsed& p) {
  if (!p.unknown.empty()) return program + ": unrecognized option '" + p.unknown + "'";
  if (!p.lacking.empty()) return program + ": option '" + p.lacking + "' requires an argument";
  return {};
}

/// A bootc holds the sysroot lock at this moment.
bool is_sysroot_locked(const host_state& h);
int bootc(const host_state& h, arguments args);
int systemctl(const host_state& h, const arguments& args);
int systemd_run(const host_state& h, const arguments& args);
int journalctl(const host_state& h, const arguments& args);

}  // namespace fake
