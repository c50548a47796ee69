#include <vit/vit.h>
#include <iostream>

int main(int, char** argv) {
  const auto classifier = vit::Classifier::load(argv[1]);
  for (const auto& p : classifier.classify(vit::read_image(argv[2]), 3))
    std::cout << p.label << ' ' << p.probability << '\n';
}
