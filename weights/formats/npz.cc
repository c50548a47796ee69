#include "weights/formats/npz.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "vit/base/error.h"
#include "weights/numbers.h"

namespace vit::weights {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::string_view kExtension = ".npy";
constexpr size_t kLongestHeader = 1 << 16;

/// The header is a Python dictionary of three fields; this reads just that much Python.
class Literal {
 public:
  Literal(std::string_view text, const Subject& array) : rest_(text), array_(array) {}

  bool accept(char c) {
    skip_spaces();
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!accept(c)) refuse();
  }
  std::string_view string() {
    skip_spaces();
    if (rest_.empty() || (rest_.front() != '\'' && rest_.front() != '"')) refuse();
    const size_t end = rest_.find(rest_.front(), 1);
    if (end == std::string_view::npos) refuse();
    const std::string_view text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return text;
  }
  bool truth() {
    skip_spaces();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      return value;
    }
    refuse();
  }
  size_t number() {
    skip_spaces();
    size_t value = 0;
    const auto read = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (read.ec != std::errc()) refuse();
    rest_.remove_prefix(static_cast<size_t>(read.ptr - rest_.data()));
    accept('L');  // Python 2 wrote long numbers so
    return value;
  }
  Shape tuple() {
    Shape shape;
    expect('(');
    while (!accept(')')) {
      if (shape.size() == kMostAxes) fail_at(array_, "has more than ", kMostAxes, " axes");
      shape.push_back(number());
      if (accept(')')) break;
      expect(',');
    }
    return shape;
  }
  [[noreturn]] void refuse() const { fail_at(array_, "has a header that is not NumPy's"); }

 private:
  void skip_spaces() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
  }

  std::string_view rest_;
  const Subject& array_;
};

struct Header {
  std::string descr;
  bool fortran = false;
  Shape shape;
};

Header read_header(std::string_view text, const Subject& array) {
  Literal literal(text, array);
  Header header;
  unsigned seen = 0;
  literal.expect('{');
  while (!literal.accept('}')) {
    const std::string_view key = literal.string();
    literal.expect(':');
    if (key == "descr") {
      header.descr = literal.string();
      seen |= 1;
    } else if (key == "fortran_order") {
      header.fortran = literal.truth();
      seen |= 2;
    } else if (key == "shape") {
      header.shape = literal.tuple();
      seen |= 4;
    } else {
      literal.refuse();
    }
    literal.accept(',');
  }
  if (seen != 7) literal.refuse();
  return header;
}

DType dtype_of(std::string_view descr, const Subject& array) {
  constexpr std::pair<std::string_view, DType> kNames[] = {
      {"<f8", DType::kF64},
      {"<f4", DType::kF32},
      {"<f2", DType::kF16},
      {"<i8", DType::kI64},
      {"<i4", DType::kI32},
      {"<i2", DType::kI16},
      {"|i1", DType::kI8},
      {"|u1", DType::kU8},
      {"|b1", DType::kBool},
      {"|V2", DType::kBf16},  // how NumPy writes the bfloat16 that it does
                              // not know
      {"<V2", DType::kBf16},
  };
  for (const auto& [name, dtype] : kNames)
    if (name == descr) return dtype;
  if (descr == "|O")
    fail_at(array, "holds Python objects, which could be programs; expected numbers");
  fail_at(array, "has dtype '", descr,
          "', expected one of <f8, <f4, <f2, <i8, <i4, <i2, |i1, |u1, |b1 or |V2 (bfloat16)");
}

std::vector<size_t> fortran_strides(const Shape& shape) {
  std::vector<size_t> strides(shape.size(), 1);
  for (size_t i = 1; i < shape.size(); ++i) strides[i] = strides[i - 1] * shape[i - 1];
  return strides;
}

}  // namespace

Tensor read_npy(std::span<const std::byte> bytes, const Subject& array) {
  const std::string_view text{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  if (!text.starts_with(kMagic)) fail_at(array, "is not a NumPy array");
  if (text.size() < 12) fail_at(array, "is cut short");
  const auto version = static_cast<unsigned char>(text[kMagic.size()]);
  const bool long_form = version >= 2;
  if (version < 1 || version > 3)
    fail_at(array, "has format version ", +version, ", expected 1 to 3");
  const size_t start = kMagic.size() + (long_form ? 6 : 4);
  const size_t length =
      long_form ? load<std::uint32_t>(bytes.data() + 8) : load<std::uint16_t>(bytes.data() + 8);
  if (length > kLongestHeader) fail_at(array, "has a header of ", length, " bytes");
  if (length > text.size() - start) fail_at(array, "is cut short");

  const Header header = read_header(text.substr(start, length), array);
  const DType dtype = dtype_of(header.descr, array);
  const size_t expected = checked_bytes(array, dtype, header.shape);
  const size_t held = bytes.size() - start - length;
  if (held != expected)
    fail_at(array, "holds ", held, " bytes, expected ", expected, " for shape ",
            to_string(header.shape));
  return {dtype, header.shape,
          header.fortran ? fortran_strides(header.shape) : contiguous_strides(header.shape),
          bytes.data() + start + length};
}

bool looks_like_npz(const ZipArchive& archive) {
  const auto& entries = archive.entries();
  return std::any_of(entries.begin(), entries.end(),
                     [](const ZipEntry& entry) { return entry.name.ends_with(kExtension); });
}

TensorFile read_npz(ZipArchive archive) {
  TensorFile result{.format = WeightFormat::kNpz, .tensors = {}, .metadata = {}, .storage = {}};
  for (const auto& entry : archive.entries()) {
    if (!entry.name.ends_with(kExtension)) continue;
    const std::string name = entry.name.substr(0, entry.name.size() - kExtension.size());
    const Subject array{archive.path(), "array '" + name + "'"};
    if (!result.tensors.emplace(name, read_npy(archive.read(entry), array)).second)
      fail_at(array, "comes twice");
  }
  result.storage = archive.storage();
  return result;
}

}  // namespace vit::weights
