#include "helm/template/node.hpp"

#include "helm/go.hpp"

namespace helm {
namespace {

void write(std::string& out, const node& n);

void write_argument(std::string& out, const node& n) {
  bool parenthesis = n.kind == node_kind::pipe;
  if (parenthesis) out += '(';
  write(out, n);
  if (parenthesis) out += ')';
}

void write_branch(std::string& out, const char* name, const node& n) {
  out += "{{";
  out += name;
  out += ' ';
  write(out, n.pipe());
  out += "}}";
  write(out, n.body());
  if (const node* other = n.otherwise()) {
    out += "{{else}}";
    write(out, *other);
  }
  out += "{{end}}";
}

void write(std::string& out, const node& n) {
  switch (n.kind) {
    case node_kind::text:
    case node_kind::boolean:
    case node_kind::identifier:
    case node_kind::number:
    case node_kind::field:
    case node_kind::variable:
    case node_kind::string: out += n.text; return;
    case node_kind::dot: out += '.'; return;
    case node_kind::nil: out += "nil"; return;
    case node_kind::break_: out += "{{break}}"; return;
    case node_kind::continue_: out += "{{continue}}"; return;
    case node_kind::else_: out += "{{else}}"; return;
    case node_kind::end: out += "{{end}}"; return;
    case node_kind::action:
      out += "{{";
      write(out, n.pipe());
      out += "}}";
      return;
    case node_kind::chain:
      write_argument(out, *n.children[0]);
      out += n.text;
      return;
    case node_kind::command:
      for (std::size_t i = 0; i < n.children.size(); ++i) {
        if (i > 0) out += ' ';
        write_argument(out, *n.children[i]);
      }
      return;
    case node_kind::pipe:
      for (std::size_t i = 0; i < n.children.size(); ++i) {
        if (i > 0) out += i < n.declared ? ", " : i == n.declared ? "" : " | ";
        if (i > 0 && i == n.declared) out += n.assigns ? " = " : " := ";
        write(out, *n.children[i]);
      }
      return;
    case node_kind::list:
      for (const auto& child : n.children) write(out, *child);
      return;
    case node_kind::if_: write_branch(out, "if", n); return;
    case node_kind::range: write_branch(out, "range", n); return;
    case node_kind::with: write_branch(out, "with", n); return;
    case node_kind::template_:
      out += "{{template ";
      out += quote(n.literal.text());
      if (!n.children.empty()) {
        out += ' ';
        write(out, n.pipe());
      }
      out += "}}";
      return;
  }
}

}  // namespace

std::string node_text(const node& n) {
  std::string out;
  write(out, n);
  return out;
}

bool is_empty_tree(const node& n) {
  if (n.kind == node_kind::text) return trim_space(n.text).empty();
  if (n.kind != node_kind::list) return false;
  for (const auto& child : n.children)
    if (!is_empty_tree(*child)) return false;
  return true;
}

const template_ptr* template_set::find(std::string_view name) const {
  for (const auto* set = this; set; set = set->parent_) {
    if (set->own_.empty()) continue;
    if (const template_ptr* found = set->own_.find(name)) return found;
  }
  return nullptr;
}

void template_set::add(template_ptr t) {
  if (is_empty_tree(*t->root) && find(t->name)) return;
  auto& slot = own_[t->name];
  slot = std::move(t);
}

}  // namespace helm
