// write_seeds FOLDER: every target's seeds as FOLDER/TARGET/N; prints the targets' names.
#include <filesystem>
#include <fstream>
#include <iostream>

#include "tests/fuzz/targets.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  for (const auto& target : vit::fuzz::targets()) {
    const std::filesystem::path folder = std::filesystem::path(argv[1]) / target.name;
    std::filesystem::create_directories(folder);
    int number = 0;
    for (const auto& seed : target.seeds())
      std::ofstream(folder / std::to_string(number++), std::ios::binary) << seed;
    std::cout << target.name << '\n';
  }
}
