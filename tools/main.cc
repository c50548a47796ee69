#include "tools/command.h"

int main(int argc, char** argv) {
  return vit::tools::run_program({argv + (argc > 0 ? 1 : 0), argv + argc});
}
