// Prints how many rows of tests/helm/data exercise each function; ends with 1 when a function has
// none.
#include "helm/template/function.hpp"
#include "tests/helm/questions.hpp"

#include <fstream>
#include <iostream>
#include <map>
#include <string>

int main() {
  std::map<std::string, int> count;
  for (const char* name : {"functions.jsonl", "templates.jsonl", "random.txt"}) {
    std::ifstream in(std::string(WINDLASS_SOURCE_DIR "/tests/helm/data/") + name);
    for (std::string line; std::getline(in, line);) helm::tests::count_words(line, count);
  }
  int none = 0, total = 0;
  for (auto name : helm::function_names()) {
    auto n = count[std::string(name)];
    std::cout << name << ' ' << n << '\n';
    none += n == 0;
    ++total;
  }
  std::cout << total << " functions, " << none << " without a row\n";
  return none == 0 ? 0 : 1;
}
