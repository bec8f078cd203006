#pragma once

#include "helm/go.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace helm {

/// The flags of one command, in pflag's manner: --name value, --name=value, -n value, -nvalue, grouped short booleans.
/// Lifetime what flags write into outlives parse().
class command_flags {
public:
  void text(std::string name, char brief, std::string& into);
  /// Repeatable; every value is taken as it is.
  void list(std::string name, char brief, std::vector<std::string>& into);
  /// Repeatable, and split at commas.
  void split_list(std::string name, char brief, std::vector<std::string>& into);
  /// Repeatable "key=value,key=value".
  void pairs(std::string name, char brief, std::map<std::string, std::string>& into);
  void flag(std::string name, char brief, bool& into);
  void number(std::string name, char brief, int& into);
  void duration(std::string name, char brief, std::chrono::nanoseconds& into);
  /// Takes a value only after "="; alone it stands for `implied`.
  void optional_text(std::string name, std::string implied, std::string& into);
  /// A value that `read` refuses with the reason.
  void checked(std::string name, char brief,
               std::function<std::optional<std::string>(const std::string&)> read);
  /// Accepted for compatibility; they change nothing.
  void ignored(std::initializer_list<const char*> names);
  void ignored_with_value(std::initializer_list<const char*> names);
  /// Known to Helm and not to us.
  void unsupported(std::initializer_list<const char*> names);

  /// What is left besides flags.
  /// Errors   as pflag words them; a flag that is Helm's and not ours says so (see is_unsupported).
  outcome<std::vector<std::string>> parse(std::span<const std::string> arguments) const;

private:
  /// The reason why a value is refused, or nothing.
  using reader = std::function<std::optional<std::string>(const std::string&)>;
  struct one {
    std::string name;
    char brief;
    bool takes_value;
    std::optional<std::string> implied;
    reader read;
  };
  enum class takes : std::uint8_t { nothing, value };
  void add(std::string name, char brief, takes what, reader read,
           std::optional<std::string> implied = std::nullopt);
  template <class Matches>
  const one* find(Matches matches) const;
  static std::optional<problem> give(const one& f, const std::string& v);
  std::vector<one> all_;
  std::vector<std::string> unsupported_;
};

/// A flag that Helm has and we do not: the command ends with 2, so that scripts can tell it from a failure.
bool is_unsupported(const problem& p);

}  // namespace helm
