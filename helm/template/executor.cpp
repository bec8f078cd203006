// One idea, the evaluation rules of text/template, kept in one place: they refer to one another at
// every step.
#include "helm/template/executor.hpp"

#include "formats/go/complex.hpp"
#include "formats/go/format.hpp"
#include "formats/plain/deep_stack.hpp"
#include "helm/chart_types.hpp"
#include "helm/go.hpp"
#include "helm/template/parser.hpp"

#include <boost/container/small_vector.hpp>
#include <sys/random.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace helm {

namespace {

constexpr std::uint64_t actions_between_looks = 64;  // at the clock and at cancellation
constexpr std::uint64_t actions_per_work = 250'000;  // a key or a password hash takes as long

constexpr std::string_view no_value = "<no value>";

enum class flow : std::uint8_t { on, break_, continue_ };

bool can_be_nil(param p) {
  return p == param::any || p == param::reflect || p == param::list || p == param::map ||
         p == param::version;
}

bool assignable(const value& v, param p) {
  switch (p) {
    case param::any:
    case param::reflect: return true;
    case param::string: return v.kind() == type::string;
    case param::int_: return v.kind() == type::int_;
    case param::uint32: return false;
    case param::float64: return v.kind() == type::float64;
    case param::boolean: return v.kind() == type::boolean;
    case param::list: return v.kind() == type::list;
    case param::map: return v.is_any_map();
    case param::time: return v.object() && v.object()->type_name() == "time.Time";
    case param::version: return v.object() && v.object()->type_name() == "*semver.Version";
    case param::certificate: return v.object() && v.object()->type_name() == "sprig.certificate";
  }
  return false;
}

/// The Go zero value that a literal nil becomes.
value zero_of(param p) {
  if (p == param::list) return value::nil_of(type::list);
  if (p == param::map) return value::nil_of(type::map);
  return {};
}

/// The static type in messages: `interface {}` for what came out of a map or list.
std::string static_type(const value& v) {
  return v.boxed() ? "interface {}" : v.type_name();
}

}  // namespace

std::string_view param_name(param p) {
  switch (p) {
    case param::any: return "interface {}";
    case param::reflect: return "reflect.Value";
    case param::string: return "string";
    case param::int_: return "int";
    case param::uint32: return "uint32";
    case param::float64: return "float64";
    case param::boolean: return "bool";
    case param::list: return "[]interface {}";
    case param::map: return "map[string]interface {}";
    case param::time: return "time.Time";
    case param::version: return "*semver.Version";
    case param::certificate: return "sprig.certificate";
  }
  return {};
}

/// The execution of one template: its variables and the node it is at.
class frame {
public:
  frame(executor& engine, std::string& out, const named_template& t, const value& data, int depth)
      : engine_(engine), out_(out), template_(t), depth_(depth), set_(engine.templates_) {
    variables_.push_back({"$", data});
  }
  void run() {
    auto dot = variables_[0].content;  // a copy: the stack of variables moves as it grows
    walk_list(dot, *template_.root);
  }

private:
  struct variable {
    std::string_view name;
    value content;
  };
  using operand = std::optional<value>;  // nothing: no value piped in
  // Most calls and templates have few: they cost no heap.
  using operands = boost::container::small_vector<value, 6>;
  using variables = boost::container::small_vector<variable, 4>;

  [[noreturn]] void fail(const std::string& message) const {
    std::string text = "template: ";
    if (!node_) throw template_error(text + template_.name + ": " + message, true);
    std::string_view before = std::string_view(*template_.source->text).substr(0, node_->position);
    auto newline = before.rfind('\n');
    auto column = newline == before.npos ? before.size() : before.size() - newline - 1;
    text += template_.source->name + ":" +
            std::to_string(1 + std::count(before.begin(), before.end(), '\n')) + ":" +
            std::to_string(column) + ": executing " + quote(template_.name) + " at <" +
            node_text(*node_) + ">: " + message;
    throw template_error(text, true);
  }
  void at(const node& n) { node_ = &n; }

  flow walk_list(const value& dot, const node& list);
  flow walk(const value& dot, const node& n);
  flow walk_branch(const value& dot, const node& n);
  flow walk_range(const value& dot, const node& n);
  void walk_call(const value& dot, const node& n);
  void print(const node& n, const value& v);

  value pipeline(const value& dot, const node& pipe);
  value command(const value& dot, const node& n, operand final);
  value field_node(const value& dot, const node& n, std::span<const node_ptr> arguments,
                   operand final);
  value chain_node(const value& dot, const node& n, std::span<const node_ptr> arguments,
                   operand final);
  value variable_node(const value& dot, const node& n, std::span<const node_ptr> arguments,
                      operand final);
  value chain(const value& dot, value receiver, const node& n, std::string_view names,
              std::span<const node_ptr> arguments, operand final);
  value member(const value& dot, std::string_view name, const node& n,
               std::span<const node_ptr> arguments, operand final, const value& receiver);
  value call(const value& dot, const function& f, const value* receiver, const node& n,
             std::string_view name, std::span<const node_ptr> arguments, operand final);
  value invoke(const function& f, const node& n, std::string_view name, operands& arguments);
  value argument(const value& dot, param p, const node& n);
  value literal(param p, const node& n);
  value validate(value v, param p) const;
  value constant(const node& n);
  value any_literal(const value& dot, const node& n);
  value& find_variable(std::string_view name);
  void not_a_function(std::span<const node_ptr> arguments, const operand& final) const {
    if (arguments.size() > 1 || final)
      fail("can't give argument to non-function " +
           (arguments.empty() ? "%!s(<nil>)" : node_text(*arguments[0])));
  }

  executor& engine_;
  std::string& out_;
  const named_template& template_;
  int depth_;
  const template_set* set_;
  const node* node_ = nullptr;
  variables variables_;
};

value& frame::find_variable(std::string_view name) {
  for (auto v = variables_.rbegin(); v != variables_.rend(); ++v)
    if (v->name == name) return v->content;
  fail("undefined variable: " + std::string(name));
}

flow frame::walk_list(const value& dot, const node& list) {
  flow result = flow::on;
  with_room([&] {
    for (const auto& child : list.children) {
      result = walk(dot, *child);
      if (result != flow::on) return;
    }
  });
  return result;
}

flow frame::walk(const value& dot, const node& n) {
  at(n);
  switch (n.kind) {
    case node_kind::text:
      engine_.reserve(n.text.size());
      check_text(2 * (out_.size() + n.text.size()));
      out_ += n.text;
      return flow::on;
    case node_kind::action: {
      engine_.tick();
      auto v = pipeline(dot, n.pipe());
      if (n.pipe().declared == 0) print(n, v);
      return flow::on;
    }
    case node_kind::if_:
    case node_kind::with: return walk_branch(dot, n);
    case node_kind::range: return walk_range(dot, n);
    case node_kind::template_: walk_call(dot, n); return flow::on;
    case node_kind::break_: return flow::break_;
    case node_kind::continue_: return flow::continue_;
    case node_kind::list: return walk_list(dot, n);
    default: fail("unknown node: " + node_text(n));
  }
}

flow frame::walk_branch(const value& dot, const node& n) {
  engine_.tick();
  auto mark = variables_.size();
  auto v = pipeline(dot, n.pipe());
  auto result = flow::on;
  if (v.truth())
    result = walk_list(n.kind == node_kind::with ? v : dot, n.body());
  else if (const node* other = n.otherwise())
    result = walk_list(dot, *other);
  variables_.resize(mark);
  return result;
}

flow frame::walk_range(const value& dot, const node& n) {
  auto outer = variables_.size();
  auto v = pipeline(dot, n.pipe()).unbox();
  auto mark = variables_.size();
  const auto names = n.pipe().variables();
  auto result = flow::on;
  // False ends the loop.
  auto once = [&](const value& index, const value& element) {
    engine_.tick();
    if (!names.empty()) {
      if (n.pipe().assigns) {
        find_variable(names[0]->text) = names.size() > 1 ? index : element;
      } else {
        variables_[variables_.size() - 1].content = element;
      }
    }
    if (names.size() > 1) {
      if (n.pipe().assigns)
        find_variable(names[1]->text) = element;
      else
        variables_[variables_.size() - 2].content = index;
    }
    auto step = walk_list(element, n.body());
    variables_.resize(mark);
    return step != flow::break_;
  };
  bool ran = false;
  if (v.is_integer()) {
    if (names.size() > 1)
      fail("can't use " + format_value(v) + " to iterate over more than one variable");
    auto end = v.kind() == type::uint64 ? static_cast<std::uint64_t>(v.integer())
               : v.integer() > 0        ? static_cast<std::uint64_t>(v.integer())
                                        : 0;
    for (std::uint64_t i = 0; i < end; ++i) {
      ran = true;
      if (!once(value(), value::integer(static_cast<std::int64_t>(i), v.kind()))) break;
    }
  } else if (v.is_list()) {
    for (std::size_t i = 0; i < v.size(); ++i) {
      ran = true;
      if (!once(value(static_cast<int>(i)), v.at(i))) break;
    }
  } else if (v.is_map()) {
    // The body may change the map; Go walks the keys it had at the start with the values they had.
    std::vector<std::pair<std::string, value>> copy(v.entries().begin(), v.entries().end());
    for (auto& [key, element] : copy) {
      ran = true;
      if (!once(value(key), v.is_any_map() ? element.box() : element)) break;
    }
  } else if (!v.is_nil()) {
    fail("range can't iterate over " + format_value(v));
  }
  if (const node* other = n.otherwise(); other && !ran) result = walk_list(dot, *other);
  variables_.resize(outer);
  return result;
}

void frame::walk_call(const value& dot, const node& n) {
  engine_.tick();
  const auto& name = n.literal.text();
  const auto* t = set_->find(name);
  if (!t) fail("template " + quote(name) + " not defined");
  if (depth_ == engine_.limits_.template_depth)
    fail("exceeded maximum template depth (" + std::to_string(engine_.limits_.template_depth) +
         ")");
  value data;
  if (!n.children.empty()) data = pipeline(dot, n.pipe());
  auto keep = *t;
  with_room([&] { frame(engine_, out_, *keep, data, depth_ + 1).run(); });
}

void frame::print(const node& n, const value& v) {
  at(n);
  auto before = out_.size();
  auto* o = v.object();
  if (v.is_nil())
    out_ += no_value;
  else if (auto text = o ? o->addressed_text() : std::nullopt)
    out_ += *text;
  else
    append_value(out_, v);
  // A pointer is followed before it is printed.
  if (o && o->kind_name() == "ptr" && !o->text() && out_.size() > before && out_[before] == '&')
    out_.erase(before, 1);
  engine_.reserve(out_.size() - before);
  check_text(2 * out_.size());
}

value frame::pipeline(const value& dot, const node& pipe) {
  at(pipe);
  operand v;
  for (const auto& c : pipe.commands()) {
    auto result = command(dot, *c, std::move(v));
    v = result.boxed() ? result.unbox() : std::move(result);
  }
  for (const auto& name : pipe.variables()) {
    if (pipe.assigns)
      find_variable(name->text) = *v;
    else
      variables_.push_back({name->text, *v});
  }
  return std::move(*v);
}

value frame::command(const value& dot, const node& n, operand final) {
  const auto& first = *n.children[0];
  switch (first.kind) {
    case node_kind::field: return field_node(dot, first, n.children, std::move(final));
    case node_kind::chain: return chain_node(dot, first, n.children, std::move(final));
    case node_kind::identifier: {
      at(first);
      return call(dot, *first.callee, nullptr, n, first.text, n.children, std::move(final));
    }
    case node_kind::pipe: {
      not_a_function(n.children, final);
      value v;
      with_room([&] { v = pipeline(dot, first); });
      return v;
    }
    case node_kind::variable: return variable_node(dot, first, n.children, std::move(final));
    default: break;
  }
  at(first);
  not_a_function(n.children, final);
  switch (first.kind) {
    case node_kind::boolean:
    case node_kind::string: return first.literal;
    case node_kind::dot: return dot;
    case node_kind::nil: fail("nil is not a command");
    case node_kind::number: return constant(first);
    default: fail("can't evaluate command " + quote(node_text(first)));
  }
}

value frame::field_node(const value& dot, const node& n, std::span<const node_ptr> arguments,
                        operand final) {
  at(n);
  return chain(dot, dot, n, n.text, arguments, std::move(final));
}

value frame::chain_node(const value& dot, const node& n, std::span<const node_ptr> arguments,
                        operand final) {
  at(n);
  const auto& first = *n.children[0];
  if (first.kind == node_kind::nil) fail("indirection through explicit nil in " + node_text(n));
  auto receiver = argument(dot, param::any, first);
  return chain(dot, std::move(receiver), n, n.text, arguments, std::move(final));
}

value frame::variable_node(const value& dot, const node& n, std::span<const node_ptr> arguments,
                           operand final) {
  at(n);
  const auto dots = std::min(n.text.find('.'), n.text.size());
  value v = find_variable(n.text.substr(0, dots));
  if (dots == n.text.size()) {
    not_a_function(arguments, final);
    return v;
  }
  return chain(dot, std::move(v), n, n.text.substr(dots), arguments, std::move(final));
}

value frame::chain(const value& dot, value receiver, const node& n, std::string_view names,
                   std::span<const node_ptr> arguments, operand final) {
  for (;;) {
    names.remove_prefix(1);
    const auto end = names.find('.');
    if (end == names.npos) return member(dot, names, n, arguments, std::move(final), receiver);
    receiver = member(dot, names.substr(0, end), n, {}, std::nullopt, receiver);
    names.remove_prefix(end);
  }
}

value frame::member(const value& dot, std::string_view name, const node& n,
                    std::span<const node_ptr> arguments, operand final, const value& receiver) {
  if (receiver.is_invalid()) {
    if (engine_.missing_ == missing_keys::error) fail("nil data; no entry for key " + quote(name));
    return {};
  }
  if (receiver.is_nil()) fail("nil pointer evaluating interface {}." + std::string(name));
  const auto* methods =
      receiver.object() ? methods_of(*receiver.object()) : methods_of(receiver.kind());
  if (methods)
    if (const auto* m = methods->find(name))
      return call(dot, *m, &receiver, n, name, arguments, std::move(final));
  bool has_arguments = arguments.size() > 1 || final;
  if (auto* o = receiver.object()) {
    if (auto field = o->field(name)) {
      if (has_arguments)
        fail(std::string(name) + " has arguments but cannot be invoked as function");
      return *field;
    }
  } else if (receiver.is_map()) {
    if (has_arguments) fail(std::string(name) + " is not a method but has arguments");
    if (const auto* found = receiver.find(name))
      return receiver.is_any_map() ? found->box() : *found;
    if (engine_.missing_ == missing_keys::error) fail("map has no entry for key " + quote(name));
    if (receiver.kind() == type::string_map) return value("");
    if (receiver.kind() == chart_type::files) return value::nil_of(type::bytes);
    return value().box();
  }
  fail("can't evaluate field " + std::string(name) + " in type " + static_type(receiver));
}

value frame::call(const value& dot, const function& f, const value* receiver, const node& n,
                  std::string_view name, std::span<const node_ptr> arguments, operand final) {
  if (!arguments.empty()) arguments = arguments.subspan(1);
  std::size_t given = arguments.size() + (final ? 1 : 0);
  std::size_t fixed = arguments.size();
  if (f.variadic) {
    fixed = f.count - 1u;
    if (given < fixed)
      fail("wrong number of args for " + std::string(name) + ": want at least " +
           std::to_string(fixed) + " got " + std::to_string(arguments.size()));
  } else if (given != f.count) {
    fail("wrong number of args for " + std::string(name) + ": want " + std::to_string(f.count) +
         " got " + std::to_string(given));
  }
  if (f.how == calling::and_ || f.how == calling::or_) {
    value v;
    for (const auto& a : arguments) {
      v = argument(dot, param::reflect, *a);
      if (v.truth() == (f.how == calling::or_)) return v;
    }
    if (final) v = *final;
    return v;
  }
  operands values;
  values.reserve(given + 1);
  if (receiver) values.push_back(receiver->unbox());
  auto type_at = [&](std::size_t i) {
    return f.variadic && i >= fixed ? f.params[f.count - 1u] : f.params[i];
  };
  for (std::size_t i = 0; i < arguments.size(); ++i)
    values.push_back(argument(dot, type_at(i), *arguments[i]));
  if (final) values.push_back(validate(std::move(*final), type_at(given - 1)));
  for (std::size_t i = 0; i < given; ++i) {
    auto& v = values[i + (receiver ? 1 : 0)];
    auto p = type_at(i);
    // Inside the function the parameter's type is what counts.
    if (p == param::map && v.is_any_map()) v = v.as(type::map);
    if (p != param::reflect && v.boxed()) v = v.unbox();
    if (auto* o = p == param::any ? v.object() : nullptr)
      if (auto copy = o->detached()) v = *copy;
  }
  if (f.how == calling::call) {
    auto callee = values[0];
    // Piped in, the callee is named by what reflect says of a value.
    auto piped = [&] {
      return callee.is_string()
                 ? callee.text()
                 : "<" + (callee.is_nil() ? "invalid" : callee.type_name()) + " Value>";
    };
    auto callee_name = arguments.empty() ? piped() : node_text(*arguments[0]);
    at(n);
    if (callee.is_nil()) fail("error calling call: call of nil");
    fail("error calling call: non-function " + callee_name + " of type " + callee.type_name());
  }
  return invoke(f, n, name, values);
}

/// A function looks at least once at what it is given, and may hold for a moment some times as much
/// as a text takes, and a copy of a list.
constexpr std::uint64_t text_per_step = 16, items_per_step = 4, texts_made = 4;

/// The steps of one call, at least; what it may hold meanwhile goes into `scratch`.
std::uint64_t steps_of(std::span<const value> arguments, held_bytes& scratch) {
  std::uint64_t steps = 1;
  for (const value& v : arguments) {
    if (v.is_string() || v.kind() == type::bytes) {
      steps += v.size() / text_per_step;
      scratch.add(texts_made * v.size());
    } else if (v.is_list() || v.is_map()) {
      steps += v.size() / items_per_step;
      if (v.is_list()) scratch.add(sizeof(value) * v.size());
    }
  }
  return steps;
}

value frame::invoke(const function& f, const node& n, std::string_view name, operands& arguments) {
  std::string problem;
  try {
    value result;
    {
      held_bytes scratch;
      count_steps(steps_of(arguments, scratch));
      result = f.body(engine_, arguments);
    }
    if (result.is_string() || result.kind() == type::bytes)
      engine_.reserve(result.text().size());
    else if (result.is_list())
      count_steps(result.size() / items_per_step);  // loops that append copy the list each time
    return f.boxed ? result.box() : result;
  } catch (const function_error& e) {
    problem = e.what();
  } catch (const template_error& e) {
    problem = e.what();
  }
  at(n);
  fail("error calling " + std::string(name) + ": " + problem);
}

value frame::validate(value v, param p) const {
  if (v.is_invalid()) {
    if (can_be_nil(p)) return zero_of(p);
    fail("invalid value; expected " + std::string(param_name(p)));
  }
  if (p == param::any || p == param::reflect) return v;
  // A boxed value of the right type is taken out of its box.
  if (!v.is_nil() && assignable(v, p)) return v;
  fail("wrong type for value; expected " + std::string(param_name(p)) + "; got " +
       (v.is_nil() ? "interface {}" : v.type_name()));
}

value frame::argument(const value& dot, param p, const node& n) {
  at(n);
  switch (n.kind) {
    case node_kind::dot: return validate(dot, p);
    case node_kind::nil:
      if (can_be_nil(p)) return zero_of(p);
      fail("cannot assign nil to " + std::string(param_name(p)));
    case node_kind::field: return validate(field_node(dot, n, {}, std::nullopt), p);
    case node_kind::variable: return validate(variable_node(dot, n, {}, std::nullopt), p);
    case node_kind::pipe: {
      value v;
      with_room([&] { v = pipeline(dot, n); });
      return validate(std::move(v), p);
    }
    case node_kind::identifier:
      at(n);
      return validate(call(dot, *n.callee, nullptr, n, n.text, {}, std::nullopt), p);
    case node_kind::chain: return validate(chain_node(dot, n, {}, std::nullopt), p);
    default: return literal(p, n);
  }
}

value frame::literal(param p, const node& n) {
  auto expected = [&](const char* what) {
    fail(std::string("expected ") + what + "; found " + node_text(n));
  };
  switch (p) {
    case param::any:
    case param::reflect: return any_literal({}, n);
    case param::string:
      if (n.kind != node_kind::string) expected("string");
      return n.literal;
    case param::boolean:
      if (n.kind != node_kind::boolean) expected("bool");
      return n.literal;
    case param::int_:
      if (n.kind != node_kind::number || !n.number->is_int) expected("integer");
      return value::integer(n.number->whole, type::int_);
    case param::uint32:
      if (n.kind != node_kind::number || !n.number->is_uint) expected("unsigned integer");
      return value::integer(static_cast<std::int64_t>(n.number->natural & 0xffffffff),
                            type::uint64);
    case param::float64:
      if (n.kind != node_kind::number || !n.number->is_float) expected("float");
      return value(n.number->real);
    default:
      fail("can't handle " + node_text(n) + " for arg of type " + std::string(param_name(p)));
  }
}

value frame::any_literal(const value& dot, const node& n) {
  at(n);
  switch (n.kind) {
    case node_kind::boolean:
    case node_kind::string: return n.literal;
    case node_kind::number: return constant(n);
    default: break;
  }
  static_cast<void>(dot);
  fail("can't handle assignment of " + node_text(n) + " to empty interface argument");
}

value frame::constant(const node& n) {
  at(n);
  const auto& info = *n.number;
  if (info.is_complex) return value::object(new complex_number(info.real, info.imaginary));
  bool hex = n.text.size() > 2 && n.text[0] == '0' && (n.text[1] == 'x' || n.text[1] == 'X') &&
             n.text.find_first_of("pP") == n.text.npos;
  bool rune = !n.text.empty() && n.text[0] == '\'';
  if (info.is_float && !hex && !rune && n.text.find_first_of(".eEpP") != n.text.npos)
    return value(info.real);
  if (info.is_int) return value::integer(info.whole, type::int_);
  fail(std::string(n.text) + " overflows int");
}

std::string without_missing(std::string text) {
  if (text.find(no_value) == text.npos) return text;
  return replace_all(text, no_value, "");
}

executor::executor(const template_set& templates, const render_runtime& runtime,
                   render_limits limits, missing_keys missing, bool lint, parsed_texts* texts)
    : templates_(&templates),
      runtime_(runtime),
      limits_(limits),
      missing_(missing),
      lint_(lint),
      texts_(texts ? texts : &own_texts_),
      start_(runtime.steady ? runtime.steady() : std::chrono::nanoseconds(0)) {}

void executor::run(std::string& out, std::string_view name, const value& data) {
  const auto* t = templates_->find(name);
  if (!t)
    throw template_error("template: no template " + quote(name) +
                         " associated with template \"gotpl\"");
  auto keep = *t;
  with_room([&] { frame(*this, out, *keep, data, 0).run(); });
}

std::string executor::include(const std::string& name, const value& data) {
  int* const known = includes_.find(name);
  int& count = known ? *known : includes_[name];  // stays where it is while others are added
  if (count > limits_.include_depth)
    throw function_error("rendering template has a nested reference name: " + name +
                         ": unable to execute template");
  ++count;
  std::string out;
  try {
    run(out, name, data);
  } catch (...) {
    --count;
    throw;
  }
  --count;
  return out;
}

std::string executor::tpl(const std::string& text, const value& data) {
  if (text.find("{{") == text.npos) return without_missing(text);
  template_set local(templates_);
  template_ptr main;
  std::shared_ptr<const parsed_texts::templates> parsed;
  try {
    parsed = texts_->parse(text);
    for (const template_ptr& t : *parsed) {
      if (t->name == "gotpl") main = t;
      local.add(t);
    }
  } catch (const template_error& e) {
    throw function_error("cannot parse template " + quote(text) + ": " + e.what());
  }
  if (tpl_depth_ >= limits_.include_depth)
    throw render_stopped("tpl is nested more than " + std::to_string(limits_.include_depth) +
                         " deep");
  const auto* outer = templates_;
  templates_ = &local;
  ++tpl_depth_;
  struct leave {
    int& depth;
    ~leave() { --depth; }
  } on_exit{tpl_depth_};
  std::string out;
  std::string problem;
  bool failed = false;
  try {
    // Not looked up by name: a text of definitions only is blank, though an enclosing tpl has a
    // template of this name.
    with_room([&] { frame(*this, out, *main, data, 0).run(); });
  } catch (const template_error& e) {
    failed = true;
    problem = e.what();
  } catch (...) {
    templates_ = outer;
    throw;
  }
  templates_ = outer;
  if (failed)
    throw function_error("error during tpl function execution for " + quote(text) + ": " + problem);
  return without_missing(std::move(out));
}

void executor::random(std::span<unsigned char> bytes) const {
  note_impure();
  if (runtime_.random) {
    runtime_.random(bytes);
    return;
  }
  for (std::size_t done = 0; done < bytes.size();) {
    auto got = getrandom(bytes.data() + done, bytes.size() - done, 0);
    if (got < 0) throw function_error("the kernel has no random numbers");
    done += static_cast<std::size_t>(got);
  }
}

std::chrono::system_clock::time_point executor::now() const {
  note_impure();
  if (!runtime_.now) throw function_error("no clock was given");
  return runtime_.now();
}

void executor::reserve(std::uint64_t bytes) {
  bytes_ += bytes;
  if (limits_.output_bytes != 0 && bytes_ > limits_.output_bytes)
    throw render_stopped("the templates made more than " + std::to_string(limits_.output_bytes) +
                         " bytes");
}

executor::~executor() {
  for (auto& [identity, map] : changed_) map.entries().clear();
}

void executor::changed(const value& map) {
  if (map.identity()) changed_.try_emplace(map.identity(), map);
}

void executor::tick() {
  ++actions_;
  if (limits_.actions != 0 && actions_ > limits_.actions)
    throw render_stopped("the templates ran more than " + std::to_string(limits_.actions) +
                         " actions");
  if (actions_ % actions_between_looks == 0) check_bounds();
}

void executor::about_to_work() {
  actions_ += actions_per_work;
  tick();
  check_bounds();
}

void executor::check_bounds() {
  if (limits_.cancelled && limits_.cancelled->load(std::memory_order_relaxed))
    throw render_stopped("cancelled");
  if (limits_.time.count() != 0 && runtime_.steady && runtime_.steady() - start_ > limits_.time)
    throw render_stopped(
        "the templates ran longer than " +
        std::to_string(
            std::chrono::duration_cast<std::chrono::milliseconds>(limits_.time).count()) +
        " ms");
}

}  // namespace helm
