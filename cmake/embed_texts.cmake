# Writes OUT: a function `const std::vector<std::string>& FUNCTION()` in NAMESPACE that returns the texts of FILES
# (separated by "|"), declared in HEADER. Run with cmake -P.
string(REPLACE "|" ";" files "${FILES}")
set(code "// Generated from the files it embeds.\n#include \"${HEADER}\"\n\nnamespace ${NAMESPACE} {\n\nconst std::vector<std::string>& ${FUNCTION}() {\n  static const std::vector<std::string> texts = {\n")
foreach(file IN LISTS files)
  file(READ ${file} text)
  string(APPEND code "R\"embedded(${text})embedded\",\n")
endforeach()
string(APPEND code "  };\n  return texts;\n}\n\n}  // namespace ${NAMESPACE}\n")
file(WRITE ${OUT} "${code}")
