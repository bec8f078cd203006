#include "cli/completion.hpp"

#include "cli/helm/helm_verbs.hpp"

#include <algorithm>

namespace cli {
namespace {

using flag = completed_command::flag;

std::vector<std::string> parts_of(std::string_view text, char between) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(between, at), text.size());
    if (end > at) out.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

std::string join(const std::vector<std::string>& words, const char* between = " ") {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

completed_command words_of_verb(const helm::verb& v) {
  completed_command one;
  one.name = "helm " + std::string(v.name);
  one.about = v.about;
  for (const helm::verb* below : helm::verbs_in(v))
    one.words.push_back(parts_of(below->name, ' ').back());
  if (v.argument == helm::verb_argument::release_name)
    one.takes = completed_command::argument::release;
  if (v.argument == helm::verb_argument::repository_name)
    one.takes = completed_command::argument::repository;
  if (v.takes.find('|') != v.takes.npos) one.words = parts_of(v.takes, '|');
  if (helm::is_group(v)) return one;
  for (const helm::flag_info& f : helm_flags(v)) {
    if (f.is != helm::flag_info::use::works) continue;
    flag to{f.name, f.about, f.brief, !f.type.empty() && !f.type.starts_with("string["), {}};
    if (f.type.find('|') != f.type.npos) to.values = parts_of(f.type, '|');
    one.flags.push_back(std::move(to));
  }
  return one;
}

std::vector<std::string> spellings(const flag& f) {
  std::vector<std::string> out = {"--" + f.name};
  if (f.brief) out.push_back("-" + std::string(1, f.brief));
  return out;
}

/// zsh reads bash's form through bashcompinit.
std::string bash_script() {
  std::string cases;
  for (const completed_command& c : all_commands()) {
    std::vector<std::string> flags, taking, given;
    for (const flag& f : c.flags) {
      flags.push_back("--" + f.name);
      for (const std::string& spelled : spellings(f)) {
        if (f.takes_value) taking.push_back(spelled);
        if (!f.values.empty()) given.push_back(spelled + "=" + join(f.values, "|"));
      }
    }
    const char* argument = c.takes == completed_command::argument::release      ? "release"
                           : c.takes == completed_command::argument::repository ? "repository"
                                                                                : "";
    cases += "    '" + c.name + "') words='" + join(c.words) + "' flags='" + join(flags) +
             "' taking='" + join(taking) + "' given='" + join(given) + "' argument='" + argument +
             "' ;;\n";
  }
  return "_windlass_command() {\n  words='' flags='' taking='' given='' argument=''\n  case \"$1\" "
         "in\n" +
         cases + R"(    *) return 1 ;;
  esac
}
_windlass() {
  local cur=${COMP_WORDS[COMP_CWORD]} name='' words flags taking given argument reach=() i w prev=''
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    w=${COMP_WORDS[i]}
    case "$w" in
      --kubeconfig | --kube-context | -n | --namespace) reach+=("$w" "${COMP_WORDS[i+1]}") ;;
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
  case " $taking " in *" $prev "*) return ;; esac
  case "$cur" in
    -*) COMPREPLY=($(compgen -W "$flags" -- "$cur")); return ;;
  esac
  case "$argument" in
    release) words=$("${COMP_WORDS[0]}" helm list --short "${reach[@]}" 2>/dev/null) ;;
    repository) words=$("${COMP_WORDS[0]}" helm repo list 2>/dev/null | tail -n +2 | cut -f1) ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _windlass windlass
)";
}

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "\\'" : c == '\\' ? "\\\\" : std::string(1, c);
  return out + "'";
}

std::string fish_script() {
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
  const std::vector<completed_command> all = all_commands();
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

std::vector<completed_command> all_commands() {
  std::vector<completed_command> all = own_commands();
  for (completed_command& c : all)
    if (c.name == "helm") {
      c.words.clear();
      for (const helm::verb& v : helm::verbs())
        if (helm::words_of(v) == 1 && v.family != helm::verb_family::refused)
          c.words.emplace_back(v.name);
    }
  for (const helm::verb& v : helm::verbs())
    if (v.family != helm::verb_family::refused) all.push_back(words_of_verb(v));
  return all;
}

std::string completion_script(std::string_view shell) {
  if (shell == "fish") return fish_script();
  if (shell == "zsh") return "autoload -U +X bashcompinit && bashcompinit\n" + bash_script();
  return bash_script();
}

}  // namespace cli
