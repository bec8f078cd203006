#pragma once

#include "helm/template/function.hpp"

#include <span>

namespace helm {

// The function tables, one per file; function_table.cpp joins them.
std::span<const function> builtin_functions();
std::span<const function> string_functions();
std::span<const function> list_functions();
std::span<const function> dictionary_functions();
std::span<const function> number_functions();
std::span<const function> encoding_functions();
std::span<const function> regex_functions();
std::span<const function> crypto_functions();
std::span<const function> date_functions();
std::span<const function> engine_functions();

/// cast.ToInt64 and ToFloat64: what the number functions make of any argument.
std::int64_t cast_int(const value& v);
double cast_float(const value& v);

/// The kinds of errors Go raises by itself.
[[noreturn]] void nil_dereference();
[[noreturn]] void slice_bounds(std::int64_t low, std::int64_t high, std::int64_t length,
                               bool is_string);

}  // namespace helm
