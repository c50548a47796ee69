#include "weights/formats/pickle_harm.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace vit::weights {
namespace {

/// Modules that a weight file has no business with, by the first word of their name.
constexpr std::string_view kHarmful[] = {
    "os",         "posix",     "nt",      "subprocess",      "sys",         "shutil",   "socket",
    "runpy",      "importlib", "ctypes",  "builtins",        "__builtin__", "commands", "pty",
    "webbrowser", "code",      "pickle",  "_pickle",         "marshal",     "types",    "operator",
    "urllib",     "requests",  "asyncio", "multiprocessing", "threading",   "tempfile", "pathlib",
    "io",         "timeit",    "pip",     "platform",
};

/// The plain types in them, which training scripts do save.
constexpr std::string_view kBuiltins[] = {
    "set", "frozenset", "dict", "list",    "tuple",   "int",   "float",  "bool",
    "str", "bytearray", "long", "complex", "unicode", "slice", "object", "range"};
constexpr std::pair<std::string_view, std::string_view> kOthers[] = {
    {"types", "SimpleNamespace"}, {"pathlib", "Path"},          {"pathlib", "PosixPath"},
    {"pathlib", "WindowsPath"},   {"pathlib", "PurePosixPath"},
};

template <typename List, typename Word>
bool lists(const List& list, const Word& word) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

}  // namespace

bool is_harmful(std::string_view module, std::string_view name) {
  if (!lists(kHarmful, module.substr(0, module.find('.')))) return false;
  const bool builtin = module == "builtins" || module == "__builtin__";
  return builtin ? !lists(kBuiltins, name) : !lists(kOthers, std::pair(module, name));
}

}  // namespace vit::weights
