#pragma once

#include "app/output.hpp"
#include "reactor/plain/time.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <typeindex>
#include <utility>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI
namespace units {
struct api;
}

namespace app {

using environment_reader = std::function<std::string(std::string_view)>;  // "" = not set

/// A value with its origin: "default", "flag", "file settings.yaml", "env WATCH_NAMESPACE".
template <class T>
struct sourced {
  T value{};
  std::string origin = "default";
  sourced() = default;
  sourced(T v) : value(std::move(v)) {}  // NOLINT(google-explicit-constructor): a default
  operator const T&() const noexcept { return value; }  // NOLINT(google-explicit-constructor)
  const T* operator->() const noexcept { return &value; }
  bool is_default() const noexcept { return origin == "default"; }
  friend bool operator==(const sourced& a, const sourced& b) { return a.value == b.value; }
};

/// A setting for the line that the service logs at its start.
struct setting {
  std::string name, value, origin;
};

class flags;

/// A declared flag or positional argument; each function returns the flag, so that calls chain.
class flag {
public:
  flag& required(bool yes = true);
  /// What --help shows for its value: "FILE".
  flag& takes(const std::string& text);
  /// Another value is wrong usage. --help shows the values unless takes() says otherwise.
  flag& one_of(std::vector<std::string> values);
  flag& from_to(int least, int most);
  flag& from_to(unsigned least, unsigned most);
  flag& from_to(double least, double most);
  /// `problem` returns what is wrong with a value, "" for nothing.
  flag& check(std::function<std::string(const std::string& value)> problem);
  /// --help shows the value that the variable has now, or this text.
  flag& shows_default();
  flag& shows_default(const std::string& text);
  /// Each value counts, one an occurrence. Of a flag that is not repeated() the last one counts, as
  /// in kubectl and Helm.
  flag& repeated();
  /// A list: also several values between these.
  flag& separated(char between);
  /// The heading below which --help shows it; "" hides it.
  flag& group(const std::string& name);
  /// Environment variables that win over the flag: the first that is not empty.
  flag& variables(std::vector<std::string> names);
  /// The variable switches it on with true, 1 or yes, and never off.
  flag& switched_on_by(std::string variable);
  /// An environment variable that counts where the flag is not given.
  flag& else_variable(const std::string& name);
  flag& needs(flag other);
  /// One of the few that the first screen of --help has.
  flag& matters();
  flag& each(std::function<void()> told);
  /// Settings of these APIs: given as a flag where --apis names none of them it is wrong usage.
  flag& of(std::vector<std::string> apis);
  /// Where the log line and origins find it.
  flag& noted_in(std::string* origin, std::function<std::string()> shown);

private:
  friend class flags;
  flag(flags& all, std::size_t at) : all_(&all), at_(at) {}
  CLI::Option& option() const;
  flags* all_;
  std::size_t at_;
};

/// The flags of one command, while they are declared. References that it is given must live until
/// the command has run; a command's options do (app/command.hpp).
class flags {
public:
  /// `names` as CLI11 has them: "-o,--output", or "NAME" for a positional argument.
  /// T: std::string, std::vector<std::string>, std::size_t, std::optional<std::size_t>, double,
  /// std::uint16_t, unsigned.
  template <class T>
  flag value(const std::string& names, T& to, const std::string& about);
  template <class T>
  flag value(const std::string& names, sourced<T>& to, const std::string& about) {
    return value(names, to.value, about).noted_in(&to.origin, [&to] { return shown(to.value); });
  }
  /// A flag without a value.
  flag on(const std::string& names, bool& to, const std::string& about);
  flag on(const std::string& names, sourced<bool>& to, const std::string& about) {
    return on(names, to.value, about).noted_in(&to.origin, [&to] { return shown(to.value); });
  }
  /// The same with a second name that switches it off, "--x,!--no-x"; none: neither was given.
  flag on(const std::string& names, std::optional<bool>& to, const std::string& about);
  /// `read` takes the value and returns what is wrong with it, "" for nothing.
  flag read(const std::string& names, std::function<std::string(const std::string&)> read,
            const std::string& about);
  /// -o text|json|yaml, `also`, and kubectl's forms; and --color.
  flag output(output_choice& to, std::optional<output_format> also = {});
  /// -o with formats that output_choice does not know: `other` is called with one of them.
  flag output(output_choice& to, const std::vector<std::string>& more, const std::string& about,
              std::function<void(const std::string&)> other);
  /// What --help-all puts over the flags that are declared from here on; "" for the command's own.
  void section(std::string heading) { section_ = std::move(heading); }
  /// A duration of zero or more as Go writes it, or a number of seconds.
  flag seconds(const std::string& names, reactor::nanoseconds& to, const std::string& about);
  /// A duration as Go writes it, or a number of seconds; --help shows `standard` as the default.
  flag interval(const std::string& names, sourced<reactor::nanoseconds>& to,
                const std::string& standard, const std::string& about);
  /// A setting of `apis` that has no flag: an environment variable.
  void variable(const std::string& name, sourced<std::string>& to, std::vector<std::string> apis);
  /// --config: a file with the same settings.
  void config();

  /// Below the flags in --help.
  void footer(const std::string& text);
  /// Called once everything is read; returns what is wrong with it, "" for nothing.
  void finally(std::function<std::string()> check);
  /// The APIs that the command may name, and where those stand that it names (--apis).
  const std::vector<units::api>& apis() const noexcept { return *apis_; }
  void choice_of_apis(std::vector<std::string>& chosen, bool& named);
  /// APIs that the command runs where --apis names none, as another flag says; empty: as usual.
  void default_apis(std::function<std::vector<std::string>()> which);
  /// The one object of this type that those share who declare flags of this command: APIs of one
  /// domain have one struct of settings. `declare` is called by the first.
  template <class T>
  std::shared_ptr<T> shared(const std::function<void(T&)>& declare) {
    std::shared_ptr<void>& kept = shared_[std::type_index(typeid(T))];
    if (!kept) {
      const auto made = std::make_shared<T>();
      kept = made;
      declare(*made);
    }
    return std::static_pointer_cast<T>(kept);
  }

private:
  friend class flag;
  friend class parsing;
  struct declared {
    CLI::Option* option = nullptr;
    std::vector<std::string> variables, apis, values;
    std::string section;
    bool matters = false;
    std::string switched_on_by;
    std::string* text = nullptr;               // where a variable's value goes
    std::vector<std::string>* list = nullptr;  // the same
    bool* on = nullptr;
    std::string* origin = nullptr;
    std::function<std::string()> shown = {};
    std::string variable_value = {}, from = "default";  // once it is read
  };
  struct plain_variable {
    std::string name;
    sourced<std::string>* to;
    std::vector<std::string> apis;
  };
  flags(CLI::App& command, const std::vector<units::api>* apis, template_engine engine)
      : command_(&command), apis_(apis), engine_(std::move(engine)) {}
  bool names_one_of(const std::vector<std::string>& apis) const;
  void read_variables(const environment_reader& environment);
  void note_origins(const std::set<std::string>* from_file);
  std::string problem() const;
  std::vector<setting> settings() const;
  flag note(CLI::Option* option);
  static std::string shown(const std::string& v) { return v; }
  static std::string shown(const std::vector<std::string>& v);
  static std::string shown(bool v) { return v ? "true" : "false"; }
  static std::string shown(std::size_t v) { return std::to_string(v); }

  CLI::App* command_;
  std::vector<declared> all_;
  std::vector<plain_variable> plain_;
  std::vector<std::function<std::string()>> checks_;
  const std::vector<units::api>* apis_;  // null in a program that has none
  std::vector<std::string>* chosen_ = nullptr;
  bool* named_ = nullptr;
  std::string config_, section_;
  template_engine engine_;
  std::map<std::type_index, std::shared_ptr<void>> shared_;
  std::vector<std::shared_ptr<void>> kept_;  // what values are read into before they are converted
};

}  // namespace app
