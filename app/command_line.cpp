// The one file that knows CLI11: flags are declared to it, and command lines are parsed by it.
#include "app/command.hpp"
#include "app/config_file.hpp"
#include "app/help.hpp"
#include "app/nearest.hpp"
#include "formats/plain/nearest.hpp"
#include "reactor/plain/secret.hpp"

#include <CLI/CLI.hpp>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>
#include <sstream>
#include <utility>

namespace app {
namespace {

const std::map<std::string, output_format>& output_formats() {
  static const std::map<std::string, output_format> names = {{"text", output_format::text},
                                                             {"wide", output_format::wide},
                                                             {"json", output_format::json},
                                                             {"yaml", output_format::yaml}};
  return names;
}

std::string joined(const std::vector<std::string>& texts, const char* between) {
  std::string out;
  for (const std::string& text : texts) out += (out.empty() ? "" : between) + text;
  return out;
}

/// A duration as Go writes it, or a number of seconds; from `least` to a year.
std::optional<reactor::nanoseconds> duration_of(const std::string& text,
                                                reactor::nanoseconds least) {
  constexpr std::chrono::seconds longest(366 * 24 * 3600);
  double number = 0;
  const auto [stopped, failed] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  std::optional<reactor::nanoseconds> read;
  if (failed != std::errc() || stopped != text.data() + text.size()) {
    if (const auto parsed = reactor::parse_duration(text)) read = *parsed;
  } else if (number >= 0 && number <= static_cast<double>(longest.count())) {
    read = reactor::nanoseconds(static_cast<std::int64_t>(number * 1e9));
  }
  return read && *read >= least && *read <= longest ? read : std::nullopt;
}

constexpr reactor::nanoseconds shortest_interval = std::chrono::milliseconds(1);

}  // namespace

CLI::Option& flag::option() const {
  return *all_->all_[at_].option;
}
flag& flag::required(bool yes) {
  option().required(yes);
  return *this;
}
flag& flag::takes(const std::string& text) {
  option().option_text(text);
  return *this;
}
flag& flag::one_of(std::vector<std::string> values) {
  option().check(CLI::IsMember(values));
  all_->all_[at_].values = std::move(values);
  return *this;
}
flag& flag::from_to(int least, int most) {
  option().check(CLI::Range(least, most));
  return *this;
}
flag& flag::from_to(unsigned least, unsigned most) {
  option().check(CLI::Range(least, most));
  return *this;
}
flag& flag::from_to(double least, double most) {
  option().check(CLI::Range(least, most));
  return *this;
}
flag& flag::check(std::function<std::string(const std::string&)> problem) {
  option().check(CLI::Validator(
      [problem = std::move(problem)](const std::string& text) { return problem(text); }, "",
      "check"));
  return *this;
}
flag& flag::shows_default() {
  option().capture_default_str();
  return *this;
}
flag& flag::shows_default(const std::string& text) {
  option().default_str(text);
  return *this;
}
flag& flag::repeated() {
  option().expected(1, -1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  option().allow_extra_args(false);
  return *this;
}
flag& flag::separated(char between) {
  option().delimiter(between);
  return *this;
}
flag& flag::group(const std::string& name) {
  option().group(name);
  return *this;
}
flag& flag::variables(std::vector<std::string> names) {
  option().description(option().get_description() + " [$" + joined(names, ", else $") + "]");
  all_->all_[at_].variables = std::move(names);
  return *this;
}
flag& flag::switched_on_by(std::string variable) {
  option().description(option().get_description() + " [$" + variable + "]");
  all_->all_[at_].switched_on_by = std::move(variable);
  return *this;
}
flag& flag::else_variable(const std::string& name) {
  option().envname(name);
  return *this;
}
flag& flag::needs(flag other) {
  option().needs(&other.option());
  return *this;
}
flag& flag::matters() {
  all_->all_[at_].matters = true;
  return *this;
}
flag& flag::each(std::function<void()> told) {
  option().each([told = std::move(told)](const std::string&) { told(); });
  return *this;
}
flag& flag::of(std::vector<std::string> apis) {
  all_->all_[at_].apis = std::move(apis);
  return *this;
}
flag& flag::noted_in(std::string* origin, std::function<std::string()> shown) {
  all_->all_[at_].origin = origin;
  all_->all_[at_].shown = std::move(shown);
  return *this;
}

flag flags::note(CLI::Option* option) {
  all_.push_back({});
  all_.back().option = option;
  all_.back().section = section_;
  return {*this, all_.size() - 1};
}

template <class T>
flag flags::value(const std::string& names, T& to, const std::string& about) {
  flag made = note(command_->add_option(names, to, about));
  if constexpr (!std::is_same_v<T, std::vector<std::string>>)
    if (names.starts_with('-')) made.option().take_last();
  if constexpr (std::is_same_v<T, std::string>) all_.back().text = &to;
  if constexpr (std::is_same_v<T, std::vector<std::string>>) all_.back().list = &to;
  return made;
}
template flag flags::value(const std::string&, std::string&, const std::string&);
template flag flags::value(const std::string&, std::vector<std::string>&, const std::string&);
template flag flags::value(const std::string&, std::size_t&, const std::string&);
template flag flags::value(const std::string&, std::optional<std::size_t>&, const std::string&);
template flag flags::value(const std::string&, double&, const std::string&);
template flag flags::value(const std::string&, std::uint16_t&, const std::string&);
template flag flags::value(const std::string&, unsigned&, const std::string&);

flag flags::on(const std::string& names, bool& to, const std::string& about) {
  flag made = note(command_->add_flag(names, to, about));
  all_.back().on = &to;
  return made;
}
flag flags::on(const std::string& names, std::optional<bool>& to, const std::string& about) {
  flag made = note(
      command_->add_flag_function(names, [&to](std::int64_t times) { to = times > 0; }, about));
  all_.back().shown = [&to] { return to ? shown(*to) : std::string(); };
  return made;
}
flag flags::read(const std::string& names, std::function<std::string(const std::string&)> read,
                 const std::string& about) {
  const std::string name = names.substr(names.rfind(',') + 1);
  flag made = note(command_->add_option_function<std::vector<std::string>>(
      names,
      [name, read = std::move(read)](const std::vector<std::string>& values) {
        for (const std::string& text : values)
          if (const std::string wrong = read(text); !wrong.empty())
            throw CLI::ValidationError(name + " " + text, wrong);
      },
      about));
  made.option().expected(1)->take_last();
  made.option().allow_extra_args(false);
  return made;
}
flag flags::output(output_choice& to, std::optional<output_format> also) {
  const bool wide = also == output_format::wide;
  std::vector<std::string> more;
  if (wide) more.emplace_back("wide");
  return output(to, more, wide ? "text, wide, json or yaml" : "text, json or yaml",
                [&to](const std::string&) { to.format = output_format::wide; });
}
flag flags::output(output_choice& to, const std::vector<std::string>& more,
                   const std::string& about, std::function<void(const std::string&)> other) {
  to.engine = engine_;
  std::vector<std::string> formats = {"text", "json", "yaml"};
  formats.insert(formats.end(), more.begin(), more.end());
  const auto read_form = [&to, more, formats, other = std::move(other)](const std::string& name) {
    const auto known = output_formats().find(name);
    if (std::ranges::find(more, name) != more.end()) {
      other(name);
    } else if (known != output_formats().end()) {
      to.format = known->second;
    } else if (const std::string wrong = to.read(name); !wrong.empty()) {
      return wrong + "; known are " + joined(formats, ", ") +
             ", name, jsonpath=, go-template= and custom-columns=, and the last three as a file";
    }
    return std::string();
  };
  read(
      "--color",
      [](const std::string& when) -> std::string {
        // As NO_COLOR and CLICOLOR_FORCE of the environment, which everything that draws reads.
        if (when == "always") ::unsetenv("NO_COLOR");
        if (when != "auto") ::setenv(when == "always" ? "CLICOLOR_FORCE" : "NO_COLOR", "1", 1);
        return {};
      },
      "whether texts have colours: auto (at a terminal), always or never")
      .one_of({"auto", "always", "never"})
      .takes("WHEN");
  flag made = read("-o,--output", read_form,
                   about + "; name, jsonpath=…, go-template=…, custom-columns=…, or …-file=FILE")
                  .takes("FORMAT")
                  .matters();
  formats.emplace_back("name");
  all_[made.at_].values = std::move(formats);
  return made;
}
flag flags::seconds(const std::string& names, reactor::nanoseconds& to, const std::string& about) {
  const auto text = std::make_shared<std::string>(reactor::format_duration(to));
  kept_.push_back(text);
  finally([&to, text] {
    to = duration_of(*text, {}).value();
    return std::string();
  });
  return value(names, *text, about)
      .check([](const std::string& given) {
        if (duration_of(given, {})) return std::string();
        return "\"" + given + "\" is no duration, such as 30s, 5m or a number of seconds";
      })
      .takes("DURATION");
}
flag flags::interval(const std::string& names, sourced<reactor::nanoseconds>& to,
                     const std::string& standard, const std::string& about) {
  const auto text = std::make_shared<std::string>(standard);
  kept_.push_back(text);
  finally([&to, text] {
    to.value = duration_of(*text, shortest_interval).value();
    return std::string();
  });
  return value(names, *text, about)
      .noted_in(&to.origin, [text] { return *text; })
      .check([](const std::string& given) {
        if (duration_of(given, shortest_interval)) return std::string();
        return "\"" + given + "\" is no duration above zero, such as 30s, 5m or 1h30m";
      })
      .shows_default();
}
void flags::variable(const std::string& name, sourced<std::string>& to,
                     std::vector<std::string> apis) {
  plain_.push_back({name, &to, std::move(apis)});
}
void flags::config() {
  value("--config", config_,
        "YAML file with the same settings by their long names; flags win over it")
      .takes("FILE");
}
void flags::footer(const std::string& text) {
  command_->footer(text);
}
void flags::finally(std::function<std::string()> check) {
  checks_.push_back(std::move(check));
}
void flags::choice_of_apis(std::vector<std::string>& chosen, bool& named) {
  chosen_ = &chosen;
  named_ = &named;
}
void flags::default_apis(std::function<std::vector<std::string>()> which) {
  finally([this, which = std::move(which)] {
    std::vector<std::string> apis = which();
    if (named_ && !*named_ && !apis.empty()) {
      *chosen_ = std::move(apis);
      *named_ = true;
    }
    return std::string();
  });
}
std::string flags::shown(const std::vector<std::string>& v) {
  return joined(v, ",");
}
bool flags::names_one_of(const std::vector<std::string>& apis) const {
  return named_ && *named_ && std::ranges::any_of(apis, [&](const std::string& api) {
           return std::ranges::find(*chosen_, api) != chosen_->end();
         });
}

void flags::read_variables(const environment_reader& environment) {
  for (declared& d : all_) {
    for (const std::string& name : d.variables) {
      std::string set = environment(name);
      if (set.empty()) continue;
      d.from = "env " + name;
      if (d.list) *d.list = {set};
      if (d.text) *d.text = set;
      d.variable_value = std::move(set);
      break;
    }
    if (d.switched_on_by.empty() || !d.on) continue;
    const std::string set = environment(d.switched_on_by);
    if (set != "true" && set != "1" && set != "yes") continue;
    *d.on = true;
    d.variable_value = "true";
    d.from = "env " + d.switched_on_by;
  }
  for (const plain_variable& v : plain_)
    if (std::string set = environment(v.name); !set.empty())
      *v.to = {std::move(set)}, v.to->origin = "env " + v.name;
}

void flags::note_origins(const std::set<std::string>* from_file) {
  for (declared& d : all_) {
    if (d.option->count() > 0 && d.variable_value.empty() && !d.option->get_lnames().empty())
      d.from = from_file && from_file->contains(d.option->get_lnames().front()) ? "file " + config_
                                                                                : "flag";
    if (d.origin) *d.origin = d.from;
  }
}

/// A flag whose API does not run is wrong usage: it would change nothing. A file or an environment
/// serves several commands.
std::string flags::problem() const {
  if (named_)
    for (const declared& d : all_) {
      if (d.from != "flag" || d.apis.empty() || names_one_of(d.apis)) continue;
      return "--" + d.option->get_lnames().front() + " is a setting of " + joined(d.apis, " or ") +
             ", and --apis does not name " + (d.apis.size() > 1 ? "either" : "it") +
             ": add --apis " + d.apis.front();
    }
  return {};
}

std::vector<setting> flags::settings() const {
  std::vector<setting> out;
  for (const declared& d : all_) {
    if (d.option->get_lnames().empty() || d.option->get_group().empty()) continue;
    setting one{d.option->get_lnames().front(), {}, d.origin ? *d.origin : d.from};
    if (d.shown) {
      one.value = d.shown();
    } else if (!d.variable_value.empty()) {
      one.value = d.variable_value;
    } else if (d.option->count() > 0) {
      one.value = joined(d.option->results(), ",");
    } else {
      one.value = d.option->get_default_str();
      if (d.option->get_items_expected_max() == 0) one.value = "false";
    }
    one.value = reactor::redact(one.value);
    out.push_back(std::move(one));
  }
  for (const plain_variable& v : plain_)
    if (names_one_of(v.apis)) out.push_back({v.name, reactor::redact(v.to->value), v.to->origin});
  return out;
}

/// The commands as CLI11 has them, with the flags of each.
class parsing {
public:
  parsing(const program& p, const std::vector<units::api>* apis) : app(p.about, p.name) {
    app.set_help_all_flag("--help-all", "every flag");
    if (p.is_one_command()) {
      app.set_version_flag("--version", p.name + " " + p.version);
    } else {
      app.require_subcommand(1);
    }
    for (const command& c : p.commands) {
      CLI::App* above = &app;
      std::string name = c.path;
      if (const auto space = c.path.rfind(' '); space != c.path.npos) {
        above = by_path.at(c.path.substr(0, space));
        name = c.path.substr(space + 1);
      }
      CLI::App* own = name.empty() ? &app : above->add_subcommand(name, c.about);
      by_path[c.path] = own;
      if (c.declare) {
        leaf& l = leaves[own];
        l.path = c.path;
        l.declared_flags.reset(new flags(*own, apis, p.engine));
        l.what = c.declare(*l.declared_flags);
      } else if (!c.raw) {
        own->require_subcommand(1);
      }
    }
    // Behind all others, which would inherit it.
    app.footer(p.footer);
    for (const command& c : p.commands)
      if (!c.footer.empty()) by_path.at(c.path)->footer(c.footer);
  }

  struct leaf {
    std::string path;
    std::unique_ptr<flags> declared_flags;
    declared_command what;
  };
  /// The command that was given.
  CLI::App& given() {
    CLI::App* at = &app;
    while (!at->get_subcommands().empty()) at = at->get_subcommands().front();
    return *at;
  }
  static std::vector<const CLI::App*> below(const CLI::App& at) {
    return at.get_subcommands([](const CLI::App*) { return true; });
  }

  CLI::App app;
  std::map<std::string, CLI::App*> by_path;
  std::map<const CLI::App*, leaf> leaves;

  // What parse() asks of the flags, which are private to others.
  static const std::string& config(const leaf& l) { return l.declared_flags->config_; }
  static std::vector<setting> settings(const leaf& l) { return l.declared_flags->settings(); }
  /// What is wrong with the whole of them; "" for nothing.
  static std::string finish(const leaf& l, const environment_reader& environment,
                            const std::set<std::string>* from_file) {
    flags& f = *l.declared_flags;
    f.read_variables(environment);
    f.note_origins(from_file);
    for (const auto& check : f.checks_)
      if (std::string wrong = check(); !wrong.empty()) return wrong;
    return {};
  }
  /// The values that a positional argument may have.
  static std::vector<std::string> first_words(const leaf& l) {
    for (const flags::declared& d : l.declared_flags->all_)
      if (d.option->get_lnames().empty() && d.option->get_snames().empty()) return d.values;
    return {};
  }
  static std::string problem(const leaf& l) { return l.declared_flags->problem(); }
  /// What --help shows of a command.
  help_page page_of(const CLI::App& at, const std::string& path) const;
  /// All values that a flag may have, where they are known.
  static std::vector<std::string> values_of(const leaf& l, const CLI::Option* option) {
    for (const flags::declared& d : l.declared_flags->all_)
      if (d.option == option) return d.values;
    return {};
  }
};

help_page parsing::page_of(const CLI::App& at, const std::string& path) const {
  help_page out{path, at.get_description(), at.get_footer(), {}, {}, {}};
  for (const CLI::App* c : below(at)) out.commands.push_back({c->get_name(), c->get_description()});
  const auto l = leaves.find(&at);
  if (l == leaves.end()) return out;
  for (const flags::declared& d : l->second.declared_flags->all_) {
    const CLI::Option& o = *d.option;
    if (o.get_group().empty()) continue;
    std::string value = o.get_option_text();
    const bool takes = o.get_items_expected_max() > 0;
    if (value.empty() && !d.values.empty()) value = joined(d.values, "|");
    std::string about = o.get_description();
    // "UINT:INT in [1 - 10000]", as the parser says it.
    const std::string type = o.get_type_name();
    const bool is_number = std::ranges::any_of(std::array{"UINT", "INT", "FLOAT"},
                                               [&](auto t) { return type.starts_with(t); });
    if (value.empty() && takes) value = is_number ? "NUMBER" : "VALUE";
    if (const auto range = type.find('['); takes && is_number && range != type.npos)
      about += " " + type.substr(range);
    if (const std::string standard = o.get_default_str(); !standard.empty() && takes)
      about += " (default: " + standard + ")";
    if (o.get_positional()) {
      out.arguments.push_back({o.get_name(), about, {}, o.get_required()});
      continue;
    }
    std::string spelled;
    for (const std::string& name : o.get_snames()) spelled += "-" + name + ", ";
    for (const std::string& name : o.get_lnames()) spelled += "--" + name + ", ";
    spelled.resize(spelled.size() - 2);
    if (takes) spelled += " " + value;
    out.flags.push_back({std::move(spelled), about, d.section, d.matters || o.get_required()});
  }
  return out;
}

std::vector<setting> parse_outcome::settings() const {
  if (!read) return {};
  return parsing::settings(read->leaves.at(read->by_path.at(path)));
}

namespace {

/// The one parse, with or without what the file of --config says.
struct command_line {
  const program& what;
  const environment_reader& environment;
  const std::vector<units::api>* apis;

  parse_outcome once(const std::vector<std::string>& words,
                     const std::set<std::string>* from_file) const;
  parse_outcome with_file(const std::vector<std::string>& words, const CLI::App& command,
                          const std::string& file) const;
  std::set<std::string> settings_in_files() const;
};

parse_outcome usage_error(const std::string& program, const std::string& sentence) {
  parse_outcome out;
  out.exit_code = wrong_usage;
  out.err = program + ": " + sentence + "\n";
  return out;
}

parse_outcome usage_error_of(const std::string& command, const std::string& why) {
  parse_outcome out;
  out.exit_code = wrong_usage;
  out.err = command + ": " + why + (why.ends_with('?') ? "" : ";") + " `" + command +
            " --help` shows what it takes\n";
  return out;
}

/// "windlass rollout pause"
std::string path_of(const CLI::App& command) {
  const CLI::App* above = command.get_parent();
  return (above ? path_of(*above) + " " : std::string()) + command.get_name();
}

/// The command that was meant, perhaps.
std::string nearest_command(const CLI::App& app, const std::string& typed) {
  std::vector<std::string> names;
  for (const CLI::App* c : parsing::below(app)) names.push_back(c->get_name());
  return std::string(formats::nearest(names, typed));
}

/// "--kubeconfig" of `windlass check --kubeconfig FILE upgrade`: the command below would not have
/// it. Empty where none was given.
std::string flag_given_to(const CLI::App& above, const parsing& all) {
  if (!all.leaves.contains(&above)) return {};
  for (const CLI::Option* option : above.get_options())
    if (option->count() > 0) return option->get_name();
  return {};
}

void add_flags(const CLI::App& command, std::vector<std::string>& to) {
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) to.push_back("--" + name);
}

/// "; did you mean "--kubeconfig"?" of a flag that the command does not have. The program itself
/// has next to none: there the flags of all commands are looked at.
std::string nearest_flag(const CLI::App& command, const std::string& typed) {
  std::vector<std::string> names;
  add_flags(command, names);
  const std::string word = typed.substr(0, typed.find('='));
  if (command.get_parent() != nullptr || parsing::below(command).empty())
    return did_you_mean(word, names);
  const std::string itself = "; the program itself has " + joined(names, ", ");
  const auto add_below = [&](auto&& self, const CLI::App& at) -> void {
    for (const CLI::App* below : parsing::below(at)) {
      add_flags(*below, names);
      self(self, *below);
    }
  };
  add_below(add_below, command);
  std::string meant = did_you_mean(word, names);
  if (!meant.empty()) meant += " It stands behind a command";
  return meant.empty() ? itself : meant;
}

/// `windlass frobnicate`, `windlass policy frobnicate`, `windlass --nonsense`: the word that names
/// no command, or no option of those that only group others; nothing when there is none.
std::optional<parse_outcome> unknown_word(const parsing& known,
                                          const std::vector<std::string>& words) {
  const CLI::App& app = known.app;
  const CLI::App* at = &app;
  std::string path = app.get_name();
  for (const std::string& word : words) {
    const auto all = parsing::below(*at);
    if (all.empty()) return std::nullopt;
    if (word.starts_with('-')) {
      if (known.leaves.contains(at)) return std::nullopt;  // the parser knows its flags
      if (at->get_option_no_throw(word.substr(0, word.find('='))) != nullptr) return std::nullopt;
      return usage_error_of(
          path, "The following argument was not expected: " + word + nearest_flag(*at, word));
    }
    const auto next = std::ranges::find(all, word, &CLI::App::get_name);
    if (next == all.end()) {
      const std::string meant = nearest_command(*at, word);
      return usage_error(app.get_name(),
                         "there is no command \"" + (at == &app ? "" : at->get_name() + " ") +
                             word + "\"" +
                             (meant.empty() ? ";" : "; did you mean \"" + meant + "\"?") + " `" +
                             path + " --help` lists them");
    }
    path += " " + word;
    at = *next;
  }
  return std::nullopt;
}

/// `--version`, `-v` and `help [COMMAND…]` as the commands that they stand for; `-o=name` and
/// `-v=6`, which kubectl takes, as `-oname` and `-v6`.
std::vector<std::string> spelled_out(std::vector<std::string> words) {
  if (words.empty()) return words;
  for (std::string& word : words)
    if (word.size() > 3 && word[0] == '-' && word[1] != '-' && word[2] == '=') word.erase(2, 1);
  if (words.front() == "--version" || words.front() == "-v" || words.front() == "-V")
    words.front() = "version";
  if (words.front() == "help") {
    words.erase(words.begin());
    words.push_back("--help");
  }
  return words;
}

/// Every setting that the file of --config may have, whichever command it is for.
std::set<std::string> command_line::settings_in_files() const {
  const parsing all(what, apis);
  std::set<std::string> names;
  for (const auto& [at, leaf] : all.leaves) {
    if (at->get_option_no_throw("--config") == nullptr) continue;
    for (const CLI::Option* option : at->get_options())
      names.insert(option->get_lnames().begin(), option->get_lnames().end());
  }
  return names;
}

parse_outcome command_line::with_file(const std::vector<std::string>& words,
                                      const CLI::App& command, const std::string& file) const {
  auto settings = load_settings(file);
  if (!settings) return usage_error(what.name, settings.error().message());
  // Before all other flags, behind the words of the command.
  std::ptrdiff_t path = 0;
  for (const CLI::App* at = &command; at->get_parent() != nullptr; at = at->get_parent()) ++path;
  std::vector<std::string> with_file(words.begin(), words.begin() + path);
  std::set<std::string> taken;
  const std::set<std::string> others = settings_in_files();
  for (const file_setting& s : *settings) {
    // What a command calls --fleet-NAME, as its --NAME is another thing, is NAME in files.
    const CLI::Option* option = command.get_option_no_throw("--fleet-" + s.flag);
    if (option == nullptr) option = command.get_option_no_throw("--" + s.flag);
    const bool never = s.flag == "config" || s.flag == "help";
    // One file serves all commands: a setting of another command is no mistake.
    if (option == nullptr && !never && others.contains(s.flag)) continue;
    // It may serve other programs, too.
    if (option == nullptr && !never && what.is_one_command()) {
      complain_as(what.name, file + ": \"" + s.flag + "\" is not a setting of " + what.name);
      continue;
    }
    if (option == nullptr || never)
      return usage_error(what.name, file + ": \"" + s.flag + "\" is not a setting of `" +
                                        path_of(command) + "`; its --help lists them");
    if (option->count() > 0) continue;
    const std::string name = "--" + option->get_lnames().front();
    // A list is the flag given again and again, where it may be, or else one value with commas.
    if (option->get_items_expected_max() > 1)
      for (const std::string& one : s.values) with_file.push_back(name + "=" + one);
    else
      with_file.push_back(name + "=" + joined(s.values, ","));
    taken.insert(option->get_lnames().front());
  }
  with_file.insert(with_file.end(), words.begin() + path, words.end());
  return once(with_file, &taken);
}

/// --help, --help-all, and what only groups others without a command of it.
std::optional<parse_outcome> help_asked_for(const parsing& all,
                                            const std::vector<std::string>& words) {
  const CLI::App* at = &all.app;
  std::string path = at->get_name();
  std::optional<help_extent> asked;
  bool names_the_rest = false;  // a flag or an argument ends the path
  for (const std::string& word : words) {
    if (word == "--") break;
    if (word == "--help" || word == "-h") asked = asked.value_or(help_extent::first_screen);
    if (word == "--help-all") asked = help_extent::all;
    const auto below = parsing::below(*at);
    const auto next = std::ranges::find(below, word, &CLI::App::get_name);
    if (names_the_rest || next == below.end()) {
      names_the_rest = true;
      continue;
    }
    at = *next;
    path += " " + word;
  }
  const bool only_groups = !parsing::below(*at).empty() && !all.leaves.contains(at);
  if (!asked && !names_the_rest && only_groups) asked = help_extent::first_screen;
  if (!asked) return std::nullopt;
  parse_outcome out;
  out.out = help_text(all.page_of(*at, path), *asked);
  return out;
}

parse_outcome command_line::once(const std::vector<std::string>& words,
                                 const std::set<std::string>* from_file) const {
  const auto all = std::make_shared<parsing>(what, apis);
  if (auto unknown = unknown_word(*all, words)) return *std::move(unknown);
  if (auto help = help_asked_for(*all, words)) return *std::move(help);
  const auto command_given = [&] {
    std::string command = what.name;
    for (const CLI::App* at = &all->app; !at->get_subcommands().empty();) {
      at = at->get_subcommands().front();
      command += " " + at->get_name();
    }
    return command;
  };
  std::vector<std::string> reversed(words.rbegin(), words.rend());
  try {
    all->app.parse(reversed);
  } catch (const CLI::ParseError& e) {
    std::ostringstream out, ignored;
    if (all->app.exit(e, out, ignored) != 0) {
      std::string why = e.what();
      if (dynamic_cast<const CLI::ExtrasError*>(&e) != nullptr)
        for (const std::string& word : words)
          if (word.starts_with("--") && why.find(word) != why.npos)
            why += nearest_flag(all->given(), word);
      return usage_error_of(command_given(), why);
    }
    parse_outcome outcome;
    outcome.out = out.str();
    return outcome;
  } catch (
      const std::logic_error&) {  // CLI11 does not say which: of a flag, a value that is no number
    for (const std::string& word : words)
      if (const auto at = word.find('='); at != word.npos && word.starts_with("--"))
        if (const CLI::Option* o = all->given().get_option_no_throw(word.substr(0, at));
            o && o->get_items_expected_max() == 0)
          return usage_error_of(command_given(), word.substr(0, at) + ": \"" + word.substr(at + 1) +
                                                     "\" is neither true nor false");
    throw;
  }
  CLI::App& command = all->given();
  for (const CLI::App* above = command.get_parent(); above != nullptr; above = above->get_parent())
    if (const std::string early = flag_given_to(*above, *all); !early.empty())
      return usage_error_of(command_given(), early + " is a flag of `" + path_of(*above) +
                                                 "`: write it behind " + command.get_name());
  const auto leaf = all->leaves.find(&command);
  if (leaf == all->leaves.end()) return {};  // a raw command, which run() knows
  const std::string& config = parsing::config(leaf->second);
  if (!config.empty() && !from_file) return with_file(words, command, config);
  if (const std::string wrong = parsing::finish(leaf->second, environment, from_file);
      !wrong.empty())
    return usage_error_of(command_given(), wrong);
  if (const std::string wrong = parsing::problem(leaf->second); !wrong.empty())
    return usage_error(what.name, wrong);
  parse_outcome outcome;
  outcome.chosen = leaf->second.what;
  outcome.path = leaf->second.path;
  outcome.read = all;
  return outcome;
}

}  // namespace

parse_outcome parse(const program& p, const std::vector<std::string>& words,
                    const environment_reader& environment, const std::vector<units::api>* apis) {
  return command_line{p, environment, apis}.once(p.is_one_command() ? words : spelled_out(words),
                                                 nullptr);
}

int run(const program& p, const std::vector<std::string>& words,
        const environment_reader& environment, const std::vector<units::api>* apis) {
  if (!words.empty())
    for (const command& c : p.commands)
      if (c.raw && words.front() == c.path)
        return c.raw({words.begin() + 1, words.end()},
                     {p, apis, environment, {}, [] { return std::vector<setting>(); }});
  const parse_outcome outcome = parse(p, words, environment, apis);
  write_bytes(STDOUT_FILENO, outcome.out);
  write_bytes(STDERR_FILENO, outcome.err);
  if (!outcome) return outcome.exit_code;
  const auto path = outcome.path.empty() ? 0 : 1 + std::ranges::count(outcome.path, ' ');
  return outcome.chosen.run({p, apis, environment, {words.begin() + path, words.end()}, [&outcome] {
                               return outcome.settings();
                             }});
}

std::vector<completed_command> described(const program& p, const std::vector<units::api>* apis) {
  const parsing all(p, apis);
  std::vector<completed_command> words, raw;
  const auto walk = [&](auto&& self, const CLI::App& at, const std::string& name) -> void {
    completed_command one;
    one.name = name;
    one.about = at.get_description();
    if (const auto c = std::ranges::find(p.commands, name, &command::path); c != p.commands.end())
      one.takes = c->takes;
    for (const CLI::App* below : parsing::below(at)) one.words.push_back(below->get_name());
    for (const CLI::Option* option : at.get_options()) {
      if (option->get_group().empty()) continue;
      const auto own = all.leaves.find(&at);
      const std::vector<std::string> values = own == all.leaves.end()
                                                  ? std::vector<std::string>()
                                                  : parsing::values_of(own->second, option);
      for (const std::string& flag : option->get_lnames()) {
        const auto& briefs = option->get_snames();
        one.flags.push_back({flag, option->get_description(), briefs.empty() ? '\0' : briefs[0][0],
                             option->get_items_expected_max() > 0, values});
      }
    }
    const auto leaf = all.leaves.find(&at);
    if (leaf != all.leaves.end())
      for (const std::string& word : parsing::first_words(leaf->second)) one.words.push_back(word);
    words.push_back(std::move(one));
    for (const CLI::App* below : parsing::below(at))
      self(self, *below, (name.empty() ? "" : name + " ") + below->get_name());
  };
  walk(walk, all.app, "");
  for (const command& c : p.commands) {
    if (!c.completed) continue;
    for (completed_command& one : c.completed()) {
      const auto known = std::ranges::find(words, one.name, &completed_command::name);
      if (known == words.end())
        raw.push_back(std::move(one));
      else
        known->words = std::move(one.words);
    }
  }
  words.insert(words.end(), std::make_move_iterator(raw.begin()),
               std::make_move_iterator(raw.end()));
  return words;
}

}  // namespace app
