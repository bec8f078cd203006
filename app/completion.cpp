#include "app/command.hpp"

#include <algorithm>
#include <array>

namespace app {
namespace {

using flag = completed_command::flag;

std::string join(const std::vector<std::string>& words, const char* between = " ") {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

std::vector<std::string> spellings(const flag& f) {
  std::vector<std::string> out = {"--" + f.name};
  if (f.brief) out.push_back("-" + std::string(1, f.brief));
  return out;
}

std::string argument_of(const completed_command& c) {
  constexpr std::array names = {"", "release", "repository", "row", "unit", "cluster"};
  return names[static_cast<std::size_t>(c.takes)];
}

/// Names of the fleet, asked of the program itself with what the line says of home, and for two
/// seconds at most.
constexpr const char* names_of_fleet = R"(_windlass_names() {
  local program=$1 what=$2
  shift 2
  case "$what" in
    context) kubectl config get-contexts -o name 2>/dev/null ;;
    cluster) "$program" cluster list -o custom-columns=N:.metadata.name --no-headers --timeout 2 "$@" 2>/dev/null ;;
    row) "$program" status -o custom-columns=N:.metadata.name --no-headers --timeout 2 "$@" 2>/dev/null | sort -u ;;
    unit) "$program" status -o jsonpath='{.clusters[*]..units[*].name}' --timeout 2 "$@" 2>/dev/null ;;
  esac
}
)";

/// What follows the table of commands.
constexpr const char* completing_function = R"(    *) return 1 ;;
  esac
}
_windlass() {
  local cur=${COMP_WORDS[COMP_CWORD]} name='' words flags taking given argument reach=() home=() i w prev=''
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    w=${COMP_WORDS[i]}
    case "$w" in
      --kubeconfig) home+=("$w" "${COMP_WORDS[i+1]}"); reach+=("$w" "${COMP_WORDS[i+1]}") ;;
      --context | --fleet) home+=("$w" "${COMP_WORDS[i+1]}") ;;
      --kube-context | -n | --namespace) reach+=("$w" "${COMP_WORDS[i+1]}") ;;
      -*) ;;
      *) if _windlass_command "${name:+$name }$w"; then name=${name:+$name }$w; fi ;;
    esac
  done
  _windlass_command "$name"
  prev=${COMP_WORDS[COMP_CWORD-1]}
  if [ "$cur" = '=' ]; then cur=''; elif [ "$prev" = '=' ]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi
  for w in $given; do
    if [ "${w%%=*}" = "$prev" ]; then
      w=${w#*=}
      COMPREPLY=($(compgen -W "${w//|/ }" -- "$cur"))
      return
    fi
  done
  case "$prev" in
    --context | --watch-context) given=context ;;
    --cluster) given=cluster ;;
    *) given='' ;;
  esac
  if [ -n "$given" ]; then
    words=$(_windlass_names "${COMP_WORDS[0]}" "$given" "${home[@]}")
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
    return
  fi
  case " $taking " in *" $prev "*) return ;; esac
  case "$cur" in
    -*) COMPREPLY=($(compgen -W "$flags" -- "$cur")); return ;;
  esac
  case "$argument" in
    release) words=$("${COMP_WORDS[0]}" helm list --short "${reach[@]}" 2>/dev/null) ;;
    repository) words=$("${COMP_WORDS[0]}" helm repo list 2>/dev/null | tail -n +2 | cut -f1) ;;
    row | unit | cluster) words=$(_windlass_names "${COMP_WORDS[0]}" "$argument" "${home[@]}") ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _windlass windlass
)";

/// zsh reads bash's form through bashcompinit.
std::string bash_script(const std::vector<completed_command>& all) {
  std::string cases;
  for (const completed_command& c : all) {
    std::vector<std::string> flags, taking, given;
    for (const flag& f : c.flags) {
      flags.push_back("--" + f.name);
      for (const std::string& spelled : spellings(f)) {
        if (f.takes_value) taking.push_back(spelled);
        if (!f.values.empty()) given.push_back(spelled + "=" + join(f.values, "|"));
      }
    }
    cases += "    '" + c.name + "') words='" + join(c.words) + "' flags='" + join(flags) +
             "' taking='" + join(taking) + "' given='" + join(given) + "' argument='" +
             argument_of(c) + "' ;;\n";
  }
  return names_of_fleet +
         std::string(
             "_windlass_command() {\n  words='' flags='' taking='' given='' argument=''\n  case "
             "\"$1\" "
             "in\n") +
         cases + completing_function;
}

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "\\'" : c == '\\' ? "\\\\" : std::string(1, c);
  return out + "'";
}

std::string fish_script(const std::vector<completed_command>& all) {
  std::string text = R"(complete -c windlass -e
function __windlass_at
  set -l name
  for word in (commandline -opc)[2..-1]
    string match -q -- '-*' $word; and continue
    set -l longer (string trim -- "$name $word")
    contains -- $longer $__windlass_commands; and set name $longer
  end
  test "$name" = "$argv"
end
)";
  std::vector<std::string> names;
  for (const completed_command& c : all)
    if (!c.name.empty()) names.push_back(quoted(c.name));
  text += "set -g __windlass_commands " + join(names) + "\n";
  for (const completed_command& c : all) {
    const std::string line = "complete -c windlass -n \"__windlass_at " + c.name + "\"";
    for (const std::string& word : c.words) {
      const std::string below = (c.name.empty() ? "" : c.name + " ") + word;
      const auto found = std::ranges::find(all, below, &completed_command::name);
      text += line + " -f -a " + quoted(word) +
              (found == all.end() ? "" : " -d " + quoted(found->about)) + "\n";
    }
    if (c.takes == completed_command::argument::release)
      text += line + " -f -a '(windlass helm list --short 2>/dev/null)'\n";
    if (c.takes == completed_command::argument::row)
      text +=
          line +
          " -f -a '(windlass status -o custom-columns=N:.metadata.name --no-headers --timeout 2 "
          "2>/dev/null)'\n";
    if (c.takes == completed_command::argument::cluster)
      text += line +
              " -f -a '(windlass cluster list -o custom-columns=N:.metadata.name --no-headers "
              "--timeout 2 2>/dev/null)'\n";
    if (c.takes == completed_command::argument::repository)
      text += line + " -f -a '(windlass helm repo list 2>/dev/null | tail -n +2 | cut -f1)'\n";
    for (const flag& f : c.flags)
      text += line + (f.brief ? " -s " + std::string(1, f.brief) : "") + " -l " + f.name +
              (f.takes_value ? " -r" : "") +
              (f.values.empty() ? "" : " -f -a " + quoted(join(f.values))) + " -d " +
              quoted(f.about) + "\n";
  }
  return text;
}

}  // namespace

std::string completion_script(const std::vector<completed_command>& all, std::string_view shell) {
  if (shell == "fish") return fish_script(all);
  if (shell == "zsh") return "autoload -U +X bashcompinit && bashcompinit\n" + bash_script(all);
  return bash_script(all);
}

}  // namespace app
