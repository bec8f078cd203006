#include "formats/go/format.hpp"
#include "formats/plain/deep_stack.hpp"
#include "helm/functions/functions.hpp"
#include "helm/go.hpp"
#include "helm/template/executor.hpp"

#include <algorithm>
#include <cmath>

namespace helm {

[[noreturn]] void nil_dereference() {
  throw function_error("runtime error: invalid memory address or nil pointer dereference");
}

[[noreturn]] void slice_bounds(std::int64_t low, std::int64_t high, std::int64_t length,
                               bool is_string) {
  // The upper bound is checked first; s[low:] has no written upper bound, s[:high] no lower one.
  auto n = std::to_string(length);
  static_cast<void>(is_string);
  std::string text = "runtime error: slice bounds out of range [";
  if (high == -2)
    text += std::to_string(low) + ":" + n + "]";
  else if (high < 0)
    text += ":" + std::to_string(high) + "]";
  else if (high > length)
    text += ":" + std::to_string(high) + "] with length " + n;
  else
    text += std::to_string(low) + ":" + (low < 0 ? "" : std::to_string(high)) + "]";
  throw function_error(text);
}

namespace {

using args = std::span<value>;

/// The elements of any list type, or the text that names the type and what was tried with it.
value::list_type elements(const value& v, const char* tried, const char* tail = "") {
  if (v.is_nil()) nil_dereference();
  if (!v.is_list()) throw function_error(std::string(tried) + v.kind_name() + tail);
  value::list_type out;
  out.reserve(v.size());
  for (std::size_t i = 0; i < v.size(); ++i) out.push_back(v.at(i).unbox());
  return out;
}

bool contains(std::span<const value> list, const value& v) {
  count_steps(list.size() * (1 + (v.is_string() ? v.size() / 64 : 0)));
  return std::any_of(list.begin(), list.end(),
                     [&](const value& item) { return deep_equal(item, v); });
}

value f_list(executor&, args a) {
  return value(value::list_type(a.begin(), a.end()));
}
value f_append(executor&, args a) {
  auto out = elements(a[0], "Cannot push on type ");
  out.push_back(a[1]);
  return value(std::move(out));
}
value f_prepend(executor&, args a) {
  auto out = elements(a[0], "Cannot prepend on type ");
  out.insert(out.begin(), a[1]);
  return value(std::move(out));
}
value f_first(executor&, args a) {
  auto all = elements(a[0], "Cannot find first on type ");
  return all.empty() ? value() : all.front();
}
value f_last(executor&, args a) {
  auto all = elements(a[0], "Cannot find last on type ");
  return all.empty() ? value() : all.back();
}
value f_rest(executor&, args a) {
  auto all = elements(a[0], "Cannot find rest on type ");
  if (all.empty()) return value::nil_of(type::list);
  all.erase(all.begin());
  return value(std::move(all));
}
value f_initial(executor&, args a) {
  auto all = elements(a[0], "Cannot find initial on type ");
  if (all.empty()) return value::nil_of(type::list);
  all.pop_back();
  return value(std::move(all));
}
value f_reverse(executor&, args a) {
  auto all = elements(a[0], "Cannot find reverse on type ");
  std::reverse(all.begin(), all.end());
  return value(std::move(all));
}
value f_compact(executor&, args a) {
  auto all = elements(a[0], "Cannot compact on type ");
  std::erase_if(all, [](const value& v) { return v.empty(); });
  return value(std::move(all));
}
value f_uniq(executor&, args a) {
  value::list_type out;
  for (auto& v : elements(a[0], "Cannot find uniq on type "))
    if (!contains(out, v)) out.push_back(v);
  return value(std::move(out));
}
value f_without(executor&, args a) {
  auto all = elements(a[0], "Cannot find without on type ");
  std::erase_if(all, [&](const value& v) { return contains(a.subspan(1), v); });
  return value(std::move(all));
}
value f_has(executor&, args a) {
  if (a[1].is_nil()) return false;
  return contains(elements(a[1], "Cannot find has on type "), a[0]);
}

value f_slice(executor&, args a) {
  auto all = elements(a[0], "list should be type of slice or array but ");
  if (all.empty()) return {};
  auto length = static_cast<std::int64_t>(all.size());
  auto from = a.size() > 1 ? cast_int(a[1]) : 0;
  auto to = a.size() > 2 ? cast_int(a[2]) : length;
  if (from < 0 || from > to || to > length)
    throw function_error("reflect.Value.Slice: slice index out of bounds");
  value::list_type out(all.begin() + from, all.begin() + to);
  if (a[0].kind() == type::bytes)
    return value::bytes(
        a[0].text().substr(static_cast<std::size_t>(from), static_cast<std::size_t>(to - from)));
  return value(std::move(out), a[0].kind());
}

value f_concat(executor& e, args a) {
  value::list_type out;
  for (const auto& v : a) {
    auto more = elements(v, "Cannot concat type ", " as list");
    e.reserve(sizeof(value) * more.size());
    out.insert(out.end(), more.begin(), more.end());
  }
  if (out.empty()) return value::nil_of(type::list);
  return value(std::move(out));
}

value f_chunk(executor&, args a) {
  auto all = elements(a[1], "Cannot chunk type ");
  auto size = a[0].integer();
  auto length = static_cast<std::int64_t>(all.size());
  double count = std::floor(static_cast<double>(length - 1) / static_cast<double>(size)) + 1;
  // Go turns an infinite or invalid count into the smallest integer, and make() refuses it.
  if (std::isnan(count) || count < 0 || count > 1e9)
    throw function_error("runtime error: makeslice: len out of range");
  value::list_type out;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(count); ++i) {
    auto n = size;
    if (i == static_cast<std::int64_t>(count) - 1) {
      n = static_cast<std::int64_t>(
          std::floor(std::fmod(static_cast<double>(length), static_cast<double>(size))));
      if (n == 0) n = size;
    }
    if (n < 0) throw function_error("runtime error: makeslice: len out of range");
    value::list_type part;
    for (std::int64_t j = 0; j < n; ++j) {
      auto at = i * size + j;
      if (at < 0 || at >= length) throw function_error("reflect: slice index out of range");
      part.push_back(all[static_cast<std::size_t>(at)]);
    }
    count_steps(8);
    out.push_back(value(std::move(part)));
  }
  return value(std::move(out), type::list_list);
}

/// untilStep's numbers.
value::list_type numbers(executor& e, std::int64_t start, std::int64_t stop, std::int64_t step) {
  value::list_type out;
  if (stop < start) {
    if (step >= 0) return out;
    for (__int128 i = start; i > stop; i += step) {
      e.reserve(16);
      out.push_back(value::integer(static_cast<std::int64_t>(i), type::int_));
    }
    return out;
  }
  if (step <= 0) return out;
  for (__int128 i = start; i < stop; i += step) {
    e.reserve(16);
    out.push_back(value::integer(static_cast<std::int64_t>(i), type::int_));
  }
  return out;
}
value f_until(executor& e, args a) {
  auto n = a[0].integer();
  return value(numbers(e, 0, n, n < 0 ? -1 : 1), type::int_list);
}
value f_until_step(executor& e, args a) {
  return value(numbers(e, a[0].integer(), a[1].integer(), a[2].integer()), type::int_list);
}
value f_seq(executor& e, args a) {
  std::int64_t start = 1, end = 0, step = 1;
  if (a.empty() || a.size() > 3) return "";
  if (a.size() == 1) {
    end = a[0].integer();
    step = end < start ? -1 : 1;
  } else if (a.size() == 2) {
    start = a[0].integer();
    end = a[1].integer();
    step = end < start ? -1 : 1;
  } else {
    start = a[0].integer();
    step = a[1].integer();
    end = a[2].integer();
    if (end < start && step > 0) return "";
  }
  auto direction = end < start ? -1 : 1;
  std::string out;
  for (const auto& n : numbers(e, start, end + direction, step)) {
    if (!out.empty()) out += ' ';
    out += std::to_string(n.integer());
  }
  return out;
}

constexpr auto any = param::any;
constexpr auto i = param::int_;
constexpr function table[] = {
    make_function("list", {any}, f_list, true),
    make_function("tuple", {any}, f_list, true),
    make_function("append", {any, any}, f_append),
    make_function("mustAppend", {any, any}, f_append),
    make_function("push", {any, any}, f_append),
    make_function("mustPush", {any, any}, f_append),
    make_function("prepend", {any, any}, f_prepend),
    make_function("mustPrepend", {any, any}, f_prepend),
    make_function("first", {any}, f_first, false, true),
    make_function("mustFirst", {any}, f_first, false, true),
    make_function("last", {any}, f_last, false, true),
    make_function("mustLast", {any}, f_last, false, true),
    make_function("rest", {any}, f_rest),
    make_function("mustRest", {any}, f_rest),
    make_function("initial", {any}, f_initial),
    make_function("mustInitial", {any}, f_initial),
    make_function("reverse", {any}, f_reverse),
    make_function("mustReverse", {any}, f_reverse),
    make_function("compact", {any}, f_compact),
    make_function("mustCompact", {any}, f_compact),
    make_function("uniq", {any}, f_uniq),
    make_function("mustUniq", {any}, f_uniq),
    make_function("without", {any, any}, f_without, true),
    make_function("mustWithout", {any, any}, f_without, true),
    make_function("has", {any, any}, f_has),
    make_function("mustHas", {any, any}, f_has),
    make_function("slice", {any, any}, f_slice, true, true),
    make_function("mustSlice", {any, any}, f_slice, true, true),
    make_function("concat", {any}, f_concat, true, true),
    make_function("chunk", {i, any}, f_chunk),
    make_function("mustChunk", {i, any}, f_chunk),
    make_function("until", {i}, f_until),
    make_function("untilStep", {i, i, i}, f_until_step),
    make_function("seq", {i}, f_seq, true),
};

}  // namespace

std::span<const function> list_functions() {
  return table;
}

}  // namespace helm
