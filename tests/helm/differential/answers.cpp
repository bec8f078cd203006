// Answers the questions of generate.py as main.go does for the reference; see README.md.
#include "tests/helm/questions.hpp"

#include <iostream>
#include <string>

int main() {
  std::ios::sync_with_stdio(false);
  std::string line;
  while (std::getline(std::cin, line))
    std::cout << helm::tests::answer_line(line) << '\n' << std::flush;
}
