#pragma once

#include "helm/go.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace helm {

/// A flag as `--help`, the completion and the table in docs/helm.md tell of it.
struct flag_info {
  enum class use : std::uint8_t { works, ignored, refused };
  std::string name;
  char brief = 0;
  std::string type;      // "string", "int", …; empty: it takes no value
  std::string fallback;  // what holds where it is not given
  std::string about;     // of a refused one: why
  use is = use::works;
  bool general = false;  // of every command
};

/// The flags of one command, in pflag's manner: --name value, --name=value, -n value, -nvalue,
/// grouped short booleans.
/// Shape    what is declared here is what is parsed, told by --help and completed: there is no
///          other list of flags. What they are for is in flag_words.
/// Lifetime what flags write into outlives parse().
class command_flags {
public:
  void text(std::string name, char brief, std::string& into);
  /// Repeatable; every value is taken as it is.
  void list(std::string name, char brief, std::vector<std::string>& into);
  /// Repeatable, and split at commas as a line of CSV; an empty value adds nothing.
  void split_list(std::string name, char brief, std::vector<std::string>& into);
  /// Repeatable "key=value,key=value".
  void pairs(std::string name, char brief, std::map<std::string, std::string>& into);
  void flag(std::string name, char brief, bool& into);
  void number(std::string name, char brief, int& into);
  void duration(std::string name, char brief, std::chrono::nanoseconds& into);
  /// Takes a value only after "="; alone it stands for `implied`.
  void optional_text(std::string name, std::string implied, std::string& into);
  /// A value that `read` refuses with the reason. `type` is what a person reads: "table|json|yaml".
  void checked(std::string name, char brief, std::string type, std::string fallback,
               std::function<std::optional<std::string>(const std::string&)> read);
  /// Accepted for compatibility; they change nothing. A value that Helm would refuse is refused.
  void ignored(std::initializer_list<const char*> names);
  void ignored_with_value(std::initializer_list<const char*> names);
  /// The flag that was declared last is read, so that a wrong value is refused, and changes
  /// nothing.
  void changes_nothing();
  /// Known to Helm and not to us; `why` ends the sentence "flag --x is not supported by windlass:
  /// …". A boolean that is given as false is what we do, and is taken.
  void unsupported(std::string name, std::string why);
  void unsupported_with_value(std::string name, std::string why);
  /// What the flag that was declared last is for, where it is not what flag_words says of its name.
  void about(std::string words);
  /// From here on, or no longer, what is declared belongs to every command.
  void general(bool on) { general_ = on; }
  /// Keeps values that flags write and the command does not read.
  void hold(std::shared_ptr<void> kept) { held_.push_back(std::move(kept)); }

  /// What is left besides flags.
  /// Errors   as pflag words them; a flag that is Helm's and not ours says so
  ///          (problem_code::unsupported). With --help among the arguments the flags themselves,
  ///          for read_flags (problem_code::described).
  outcome<std::vector<std::string>> parse(std::span<const std::string> arguments) const;
  /// Whether an argument is one of these flags and its value comes as the argument after it.
  bool wants_another(const std::string& argument) const;
  /// By name.
  std::vector<flag_info> all() const;

private:
  /// The reason why a value is refused, or nothing.
  using reader = std::function<std::optional<std::string>(const std::string&)>;
  struct one {
    flag_info info;
    bool takes_value;
    std::optional<std::string> implied;
    reader read;
    std::shared_ptr<const bool> wanted = {};  // of a boolean that is unsupported
  };
  enum class takes : std::uint8_t { nothing, value };
  one& add(std::string name, char brief, takes what, std::string type, std::string fallback,
           reader read);
  template <class Matches>
  const one* find(Matches matches) const;
  static std::optional<problem> give(const one& f, const std::string& v);
  std::vector<one> all_;
  std::vector<std::shared_ptr<void>> held_;
  bool general_ = false;
};

/// The flags that the text of a described problem holds.
std::vector<flag_info> read_flags(std::string_view described);

/// A flag that Helm has and we do not: the command ends with 2, so that scripts can tell it from a
/// failure.
bool is_unsupported(const problem& p);

}  // namespace helm
