# Writes a .cpp with the contents of files:  cmake -DOUT=x.cpp -DROOT=dir -DFILES="a;b" -DPRELUDE=file -P embed.cmake
include(${CMAKE_CURRENT_LIST_DIR}/../../cmake/literal.cmake)

set(code "#include \"policies/host/embedded.hpp\"\n\nnamespace policies {\n\nstd::string_view prelude_source() {\n")
literal(${PRELUDE} text)
string(APPEND code "  return ${text};\n}\n\nstd::span<const embedded_file> stock_files() {\n  static constexpr embedded_file files[] = {\n")
foreach(path IN LISTS FILES)
  literal(${ROOT}/${path} text)
  string(APPEND code "      {\"${path}\", ${text}},\n")
endforeach()
string(APPEND code "  };\n  return files;\n}\n\n}  // namespace policies\n")
file(WRITE ${OUT} "${code}")
