// Answers the questions of generate.py as main.go does for the reference; see README.md.
#include "tests/helm/questions.hpp"

#include <chrono>
#include <iostream>
#include <string>

int main() {
  std::ios::sync_with_stdio(false);
  helm::render_runtime runtime;
  runtime.now = [] { return std::chrono::system_clock::now(); };  // the reference looks too
  std::string line;
  while (std::getline(std::cin, line))
    std::cout << helm::tests::answer_line(line, runtime) << '\n' << std::flush;
}
