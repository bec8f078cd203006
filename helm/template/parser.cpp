// The grammar of text/template; its productions call one another, so they stay in one file.
#include "helm/template/parser.hpp"

#include "formats/plain/deep_stack.hpp"
#include "helm/go.hpp"
#include "helm/template/lexer.hpp"

#include <array>
#include <cmath>
#include <map>

namespace helm {
namespace {

constexpr int expression_depth_limit = 10000;

struct file {
  std::shared_ptr<const template_source> source;
  template_lexer lexer;
  const function_finder& functions;
  std::map<std::string, template_ptr> trees;
};

/// Parses one template of a file; a definition inside it is parsed by another parser on the same
/// lexer.
class parser {
public:
  parser(file& f, std::string name) : file_(f), name_(std::move(name)) {}
  void parse_file();

private:
  token next();
  token peek();
  token next_non_space();
  token peek_non_space();
  void back() { ++pending_; }
  void back2(token t) {
    tokens_[1] = std::move(t);
    pending_ = 2;
  }
  void back3(token t2, token t1) {
    tokens_[1] = std::move(t1);
    tokens_[2] = std::move(t2);
    pending_ = 3;
  }
  [[noreturn]] void fail(const std::string& message);
  [[noreturn]] void unexpected(const token& t, std::string_view context);
  token expect(token_kind kind, std::string_view context);

  node_ptr make(node_kind kind, std::size_t position) {
    return std::make_unique<node>(kind, position);
  }
  void add(node_ptr root);
  void definition();
  node_ptr list(node_ptr& last);
  node_ptr text_or_action();
  node_ptr action();
  node_ptr control(node_kind kind, std::string_view context);
  node_ptr block();
  node_ptr call();
  value template_name(const token& t, std::string_view context);
  node_ptr pipeline(std::string_view context, token_kind end);
  void declarations(node& pipe, std::string_view context);
  node_ptr command();
  node_ptr operand();
  node_ptr term();
  node_ptr number(const token& t);
  node_ptr variable(std::size_t position, std::string_view text);

  file& file_;
  std::string name_;
  std::array<token, 3> tokens_;
  int pending_ = 0;
  int range_depth_ = 0;
  int action_line_ = 0;
  int depth_ = 0;
  std::vector<std::string_view> variables_{"$"};
};

token parser::next() {
  if (pending_ > 0)
    --pending_;
  else
    tokens_[0] = file_.lexer.next();
  return tokens_[static_cast<std::size_t>(pending_)];
}

token parser::peek() {
  if (pending_ > 0) return tokens_[static_cast<std::size_t>(pending_) - 1];
  pending_ = 1;
  tokens_[0] = file_.lexer.next();
  return tokens_[0];
}

token parser::next_non_space() {
  for (;;) {
    auto t = next();
    if (t.kind != token_kind::space) return t;
  }
}

token parser::peek_non_space() {
  auto t = next_non_space();
  back();
  return t;
}

void parser::fail(const std::string& message) {
  throw template_error("template: " + file_.source->name + ":" + std::to_string(tokens_[0].line) +
                       ": " + message);
}

void parser::unexpected(const token& t, std::string_view context) {
  if (t.kind == token_kind::error) {
    std::string extra;
    if (action_line_ != 0 && action_line_ != t.line) {
      extra = t.message.ends_with(" action") ? " started at " : " in action started at ";
      extra += file_.source->name + ":" + std::to_string(action_line_);
    }
    fail(t.message + extra);
  }
  fail("unexpected " + token_text(t) + " in " + std::string(context));
}

token parser::expect(token_kind kind, std::string_view context) {
  auto t = next_non_space();
  if (t.kind != kind) unexpected(t, context);
  return t;
}

void parser::add(node_ptr root) {
  auto& slot = file_.trees[name_];
  if (slot && !is_empty_tree(*slot->root)) {
    if (!is_empty_tree(*root)) fail("template: multiple definition of template " + quote(name_));
    return;
  }
  slot = std::make_shared<named_template>(named_template{name_, file_.source, std::move(root)});
}

void parser::parse_file() {
  auto root = make(node_kind::list, peek().position);
  while (peek().kind != token_kind::eof) {
    if (peek().kind == token_kind::left_delimiter) {
      auto delimiter = next();
      if (next_non_space().kind == token_kind::define) {
        parser(file_, "definition").definition();
        continue;
      }
      back2(delimiter);
    }
    auto n = text_or_action();
    if (n->kind == node_kind::end || n->kind == node_kind::else_)
      fail("unexpected " + node_text(*n));
    root->children.push_back(std::move(n));
  }
  add(std::move(root));
}

void parser::definition() {
  constexpr std::string_view context = "define clause";
  auto name = next_non_space();
  if (name.kind != token_kind::string && name.kind != token_kind::raw_string)
    unexpected(name, context);
  auto text = unquote(name.text);
  if (!text) fail("invalid syntax");
  name_ = *text;
  expect(token_kind::right_delimiter, context);
  node_ptr last;
  auto root = list(last);
  if (last->kind != node_kind::end)
    fail("unexpected " + node_text(*last) + " in " + std::string(context));
  add(std::move(root));
}

node_ptr parser::list(node_ptr& last) {
  node_ptr out;
  with_room([&] {
    out = make(node_kind::list, peek_non_space().position);
    while (peek_non_space().kind != token_kind::eof) {
      auto n = text_or_action();
      if (n->kind == node_kind::end || n->kind == node_kind::else_) {
        last = std::move(n);
        return;
      }
      out->children.push_back(std::move(n));
    }
    fail("unexpected EOF");
  });
  return out;
}

node_ptr parser::text_or_action() {
  auto t = next_non_space();
  if (t.kind == token_kind::text) {
    auto n = make(node_kind::text, t.position);
    n->text = t.text;
    return n;
  }
  if (t.kind != token_kind::left_delimiter) unexpected(t, "input");
  action_line_ = t.line;
  auto n = action();
  action_line_ = 0;
  return n;
}

node_ptr parser::action() {
  auto t = next_non_space();
  switch (t.kind) {
    case token_kind::block: return block();
    case token_kind::break_:
    case token_kind::continue_: {
      std::string shown = t.kind == token_kind::break_ ? "{{break}}" : "{{continue}}";
      if (auto after = next_non_space(); after.kind != token_kind::right_delimiter)
        unexpected(after, shown);
      if (range_depth_ == 0) fail(shown + " outside {{range}}");
      return make(t.kind == token_kind::break_ ? node_kind::break_ : node_kind::continue_,
                  t.position);
    }
    case token_kind::else_: {
      auto after = peek_non_space();
      if (after.kind == token_kind::if_ || after.kind == token_kind::with)
        return make(node_kind::else_, after.position);
      return make(node_kind::else_, expect(token_kind::right_delimiter, "else").position);
    }
    case token_kind::end:
      return make(node_kind::end, expect(token_kind::right_delimiter, "end").position);
    case token_kind::if_: return control(node_kind::if_, "if");
    case token_kind::range: return control(node_kind::range, "range");
    case token_kind::with: return control(node_kind::with, "with");
    case token_kind::template_: return call();
    default: break;
  }
  back();
  auto n = make(node_kind::action, peek().position);
  n->children.push_back(pipeline("command", token_kind::right_delimiter));
  return n;
}

node_ptr parser::control(node_kind kind, std::string_view context) {
  auto visible = variables_.size();
  node_ptr n;
  with_room([&] {
    auto pipe = pipeline(context, token_kind::right_delimiter);
    n = make(kind, pipe->position);
    n->children.push_back(std::move(pipe));
    if (kind == node_kind::range) ++range_depth_;
    node_ptr last;
    n->children.push_back(list(last));
    if (kind == node_kind::range) --range_depth_;
    if (last->kind != node_kind::else_) return;
    // "else if" and "else with" are a branch inside the else list that shares its end.
    auto after = peek().kind;
    if ((kind == node_kind::if_ && after == token_kind::if_) ||
        (kind == node_kind::with && after == token_kind::with)) {
      next();
      auto other = make(node_kind::list, last->position);
      other->children.push_back(control(kind, context));
      n->children.push_back(std::move(other));
      return;
    }
    n->children.push_back(list(last));
    if (last->kind != node_kind::end) fail("expected end; found " + node_text(*last));
  });
  variables_.resize(visible);
  return n;
}

value parser::template_name(const token& t, std::string_view context) {
  if (t.kind != token_kind::string && t.kind != token_kind::raw_string) unexpected(t, context);
  auto name = unquote(t.text);
  if (!name) fail("invalid syntax");
  return *name;
}

node_ptr parser::block() {
  constexpr std::string_view context = "block clause";
  auto t = next_non_space();
  auto n = make(node_kind::template_, t.position);
  n->literal = template_name(t, context);
  n->children.push_back(pipeline(context, token_kind::right_delimiter));
  parser inner(file_, n->literal.text());
  node_ptr last;
  auto root = inner.list(last);
  if (last->kind != node_kind::end)
    fail("unexpected " + node_text(*last) + " in " + std::string(context));
  inner.add(std::move(root));
  return n;
}

node_ptr parser::call() {
  constexpr std::string_view context = "template clause";
  auto t = next_non_space();
  auto n = make(node_kind::template_, t.position);
  n->literal = template_name(t, context);
  if (next_non_space().kind != token_kind::right_delimiter) {
    back();
    n->children.push_back(pipeline(context, token_kind::right_delimiter));
  }
  return n;
}

node_ptr parser::variable(std::size_t position, std::string_view text) {
  auto n = make(node_kind::variable, position);
  n->text = text;
  return n;
}

void parser::declarations(node& pipe, std::string_view context) {
  while (peek_non_space().kind == token_kind::variable) {
    auto name = next();
    // "$x foo" is an argument, "$x := foo" is not: it takes three tokens to know.
    auto adjacent = peek();
    auto after = peek_non_space();
    if (after.kind == token_kind::assign || after.kind == token_kind::declare) {
      pipe.assigns = after.kind == token_kind::assign;
      next_non_space();
      pipe.children.push_back(variable(name.position, name.text));
      ++pipe.declared;
      variables_.push_back(name.text);
      return;
    }
    if (after.kind == token_kind::character && after.text == ",") {
      next_non_space();
      pipe.children.push_back(variable(name.position, name.text));
      ++pipe.declared;
      variables_.push_back(name.text);
      if (context == "range" && pipe.declared < 2) {
        auto kind = peek_non_space().kind;
        if (kind == token_kind::variable || kind == token_kind::right_delimiter ||
            kind == token_kind::right_paren)
          continue;
        fail("range can only initialize variables");
      }
      fail("too many declarations in " + std::string(context));
    }
    if (adjacent.kind == token_kind::space)
      back3(name, adjacent);
    else
      back2(name);
    return;
  }
}

node_ptr parser::pipeline(std::string_view context, token_kind end) {
  auto pipe = make(node_kind::pipe, peek_non_space().position);
  declarations(*pipe, context);
  for (;;) {
    auto t = next_non_space();
    if (t.kind == end) break;
    switch (t.kind) {
      case token_kind::boolean:
      case token_kind::char_constant:
      case token_kind::complex:
      case token_kind::dot:
      case token_kind::field:
      case token_kind::identifier:
      case token_kind::number:
      case token_kind::nil:
      case token_kind::raw_string:
      case token_kind::string:
      case token_kind::variable:
      case token_kind::left_paren:
        back();
        pipe->children.push_back(command());
        break;
      default: unexpected(t, context);
    }
  }
  const auto commands = pipe->commands();
  if (commands.empty()) fail("missing value for " + std::string(context));
  for (std::size_t i = 1; i < commands.size(); ++i) {
    switch (commands[i]->children[0]->kind) {
      case node_kind::boolean:
      case node_kind::dot:
      case node_kind::nil:
      case node_kind::number:
      case node_kind::string:
        fail("non executable command in pipeline stage " + std::to_string(i + 1));
      default: break;
    }
  }
  return pipe;
}

node_ptr parser::command() {
  auto n = make(node_kind::command, peek_non_space().position);
  for (;;) {
    peek_non_space();
    if (auto argument = operand()) n->children.push_back(std::move(argument));
    auto t = next();
    if (t.kind == token_kind::space) continue;
    if (t.kind == token_kind::right_delimiter || t.kind == token_kind::right_paren)
      back();
    else if (t.kind != token_kind::pipe)
      unexpected(t, "operand");
    break;
  }
  if (n->children.empty()) fail("empty command");
  return n;
}

node_ptr parser::operand() {
  auto n = term();
  if (!n || peek().kind != token_kind::field) return n;
  const auto first = peek();
  std::size_t size = 0;
  while (peek().kind == token_kind::field) size += next().text.size();
  switch (n->kind) {
    case node_kind::field:
    case node_kind::variable:
      // The chain takes the place of its first element, position included. The names follow one
      // another in the source.
      n->position = static_cast<std::uint32_t>(first.position);
      n->text = {n->text.data(), n->text.size() + size};
      return n;
    case node_kind::boolean:
    case node_kind::string:
    case node_kind::number:
    case node_kind::nil:
    case node_kind::dot: fail("unexpected . after term " + quote(node_text(*n)));
    default: break;
  }
  auto chain = make(node_kind::chain, first.position);
  chain->children.push_back(std::move(n));
  chain->text = {first.text.data(), size};
  return chain;
}

node_ptr parser::term() {
  auto t = next_non_space();
  switch (t.kind) {
    case token_kind::identifier: {
      const auto* callee = file_.functions(t.text);
      if (!callee) fail("function " + quote(t.text) + " not defined");
      auto n = make(node_kind::identifier, t.position);
      n->text = t.text;
      n->callee = callee;
      return n;
    }
    case token_kind::dot: return make(node_kind::dot, t.position);
    case token_kind::nil: return make(node_kind::nil, t.position);
    case token_kind::variable: {
      bool known = false;
      for (const auto& name : variables_) known = known || name == t.text;
      if (!known) fail("undefined variable " + quote(t.text));
      return variable(t.position, t.text);
    }
    case token_kind::field: {
      auto n = make(node_kind::field, t.position);
      n->text = t.text;
      return n;
    }
    case token_kind::boolean: {
      auto n = make(node_kind::boolean, t.position);
      n->text = t.text;
      n->literal = value(t.text == "true");
      return n;
    }
    case token_kind::char_constant:
    case token_kind::complex:
    case token_kind::number: return number(t);
    case token_kind::left_paren: {
      if (depth_ >= expression_depth_limit) fail("max expression depth exceeded");
      ++depth_;
      node_ptr n;
      with_room([&] { n = pipeline("parenthesized pipeline", token_kind::right_paren); });
      --depth_;
      return n;
    }
    case token_kind::string:
    case token_kind::raw_string: {
      auto text = unquote(t.text);
      if (!text) fail("invalid syntax");
      auto n = make(node_kind::string, t.position);
      n->text = t.text;
      n->literal = value(*text);
      return n;
    }
    default: back(); return nullptr;
  }
}

/// A number that was written with a point or an exponent may still serve as an integer.
void set_real(number_info& info, double d) {
  info.is_float = true;
  info.real = d;
  if (static_cast<double>(to_int64(d)) == d) {
    info.is_int = true;
    info.whole = to_int64(d);
  }
  if (d >= 0 && d < 18446744073709551616.0 && std::trunc(d) == d) {
    info.is_uint = true;
    info.natural = static_cast<std::uint64_t>(d);
  }
}

/// "2i", "1+2i": false when a part is no number.
bool imaginary(std::string_view text, number_info& info) {
  text.remove_suffix(1);
  std::size_t split = 0;
  for (std::size_t i = 1; i < text.size(); ++i)
    if ((text[i] == '+' || text[i] == '-') &&
        std::string_view("eEpP").find(text[i - 1]) == std::string_view::npos)
      split = i;
  auto first = split == 0 ? std::optional(parsed_float{}) : parse_float(text.substr(0, split));
  auto second = parse_float(text.substr(split));
  if (!first || !second || first->out_of_range || second->out_of_range) return false;
  info.is_complex = true;
  info.imaginary = second->number;
  if (info.imaginary == 0)
    set_real(info, first->number);
  else
    info.real = first->number;
  return true;
}

node_ptr parser::number(const token& t) {
  auto n = make(node_kind::number, t.position);
  n->text = t.text;
  n->number = std::make_unique<number_info>();
  auto& info = *n->number;
  if (t.kind == token_kind::char_constant) {
    auto body = t.text.substr(1);
    auto c = unquote_char(body, '\'');
    if (!c) fail("invalid syntax");
    if (body.substr(c->size) != "'") fail("malformed character constant: " + std::string(t.text));
    info = {true,    true,
            true,    static_cast<std::int64_t>(c->rune),
            c->rune, static_cast<double>(c->rune),
            false,   0};
    return n;
  }
  std::string_view text = t.text;
  if (text.ends_with('i')) {
    if (!imaginary(text, info))
      fail(t.kind == token_kind::complex ? "syntax error scanning complex number"
                                         : "illegal number syntax: " + quote(text));
    return n;
  }
  auto u = parse_uint(text, 0);
  if (u.error == int_error::none) {
    info.is_uint = true;
    info.natural = u.number;
  }
  auto i = parse_int(text, 0);
  if (i.error == int_error::none) {
    info.is_int = true;
    info.whole = i.number;
    if (i.number == 0) info.is_uint = true;
  }
  if (info.is_int) {
    info.is_float = true;
    info.real = static_cast<double>(info.whole);
  } else if (info.is_uint) {
    info.is_float = true;
    info.real = static_cast<double>(info.natural);
  } else if (auto f = parse_float(text); f && !f->out_of_range) {
    if (text.find_first_of(".eEpP") == text.npos) fail("integer overflow: " + quote(text));
    set_real(info, f->number);
  }
  if (!info.is_int && !info.is_uint && !info.is_float)
    fail("illegal number syntax: " + quote(text));
  return n;
}

}  // namespace

std::vector<template_ptr> parse_template(std::string name, std::string text,
                                         const function_finder& functions) {
  return parse_template(std::move(name), std::make_shared<const std::string>(std::move(text)),
                        functions);
}

std::vector<template_ptr> parse_template(std::string name, std::shared_ptr<const std::string> text,
                                         const function_finder& functions) {
  auto source =
      std::make_shared<const template_source>(template_source{std::move(name), std::move(text)});
  file f{source, template_lexer(*source->text), functions, {}};
  with_room([&] { parser(f, source->name).parse_file(); });
  std::vector<template_ptr> out;
  for (auto& [key, t] : f.trees) out.push_back(std::move(t));
  return out;
}

}  // namespace helm
