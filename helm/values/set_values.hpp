#pragma once

#include "helm/go.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace helm {

/// Which of the --set flags a line came with.
enum class set_kind : unsigned char { typed, text, json, file, literal };

/// Reads a file for --set-file.
using file_reader = std::function<outcome<std::string>(const std::string& path)>;

/// Applies one line, "a.b=1,c[0]=x", to `into`, a map that is changed.
/// Errors   Helm's, without the prefix that names the flag.
outcome<bool> apply_set(value& into, std::string_view line, set_kind kind,
                        const file_reader& files = {});

}  // namespace helm
