# Writes a .cpp with the files of the chart:  cmake -DOUT=x.cpp -DROOT=dir -DFILES="a;b" -P embed_chart.cmake
include(${CMAKE_CURRENT_LIST_DIR}/../../cmake/literal.cmake)
set(code "#include \"helm/members/embedded_chart.hpp\"\n\nnamespace cli {\n\nstd::span<const chart_file> embedded_chart() {\n  static constexpr chart_file files[] = {\n")
foreach(path IN LISTS FILES)
  literal(${ROOT}/${path} text)
  string(APPEND code "      {\"${path}\", ${text}},\n")
endforeach()
string(APPEND code "  };\n  return files;\n}\n\n}  // namespace cli\n")
file(WRITE ${OUT} "${code}")
