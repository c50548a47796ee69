#include "tools/draw/vector_file.h"

#include <cmath>
#include <vector>

#include "tools/draw/typesetter.h"
#include "tools/output/deflate.h"
#include "tools/output/format.h"
#include "tools/output/html.h"
#include "tools/output/unicode.h"

namespace vit::tools {
namespace {

std::string number(double value) {
  return formatted("%.2f", value);
}

std::string hex(Colour colour) {
  std::string text = "#";
  for (const std::uint8_t part : colour)
    for (const int digit : {part / 16, part % 16}) text += "0123456789abcdef"[digit];
  return text;
}

/// XML has no control characters and no invalid bytes, and drops blanks at ends.
std::string svg_text(const TextLine& line) {
  // Capitals of DejaVu Sans and Verdana are 0.729 of their size.
  constexpr double kCapital = 0.729;
  const double end = left_end(line);
  const double x = line.upwards ? line.x : end, y = line.upwards ? end : line.y;
  std::string text = "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" font-size=\"" +
                     number(line.look.height / kCapital) + "\" fill=\"" + hex(line.look.colour) +
                     "\" textLength=\"" +
                     number(static_cast<double>(text_width(line.text, line.look))) +
                     "\" lengthAdjust=\"spacingAndGlyphs\"";
  if (line.look.bold) text += " font-weight=\"bold\"";
  if (line.upwards) text += " transform=\"rotate(-90 " + number(x) + " " + number(y) + ")\"";
  return text + ">" + html_escaped(printable(line.text)) + "</text>\n";
}

/// Objects of a PDF file, numbered from 1, with the table of where they are.
class PdfFile {
 public:
  void add(const std::string& dictionary, const std::string& stream = {}) {
    places_.push_back(bytes_.size());
    bytes_ += std::to_string(places_.size()) + " 0 obj\n" + dictionary + "\n";
    if (!stream.empty()) bytes_ += "stream\n" + stream + "\nendstream\n";
    bytes_ += "endobj\n";
  }

  std::string finished() && {
    const size_t table = bytes_.size();
    const std::string count = std::to_string(places_.size() + 1);
    bytes_ += "xref\n0 " + count + "\n0000000000 65535 f \n";
    for (const size_t place : places_) {
      const std::string digits = std::to_string(place);
      bytes_ += std::string(10 - std::min<size_t>(10, digits.size()), '0') + digits + " 00000 n \n";
    }
    bytes_ += "trailer\n<< /Size " + count + " /Root 1 0 R >>\nstartxref\n" +
              std::to_string(table) + "\n%%EOF\n";
    return std::move(bytes_);
  }

 private:
  // The second line says that the file is binary.
  std::string bytes_ = "%PDF-1.4\n%\xE2\xE3\xCF\xD3\n";
  std::vector<size_t> places_;
};

std::string packed_dictionary(const std::string& entries, const std::string& stream) {
  return "<< " + entries + " /Filter /FlateDecode /Length " + std::to_string(stream.size()) + " >>";
}

/// Outlines of one line of text, in the picture's pixels.
std::string pdf_text(const TextLine& line) {
  std::string path;
  const auto add = [&](std::initializer_list<double> numbers, const char* step) {
    for (const double value : numbers) path += number(value) + " ";
    path += std::string(step) + "\n";
  };
  const OutlineSink sink{[&](double x, double y) {
                           add({x, y}, "m");
                         },
                         [&](double x, double y) {
                           add({x, y}, "l");
                         },
                         [&](double a, double b, double c, double d, double x, double y) {
                           add({a, b, c, d, x, y}, "c");
                         },
                         [&] { path += "h\n"; }};
  const double end = left_end(line);
  outline_text(line.text, line.upwards ? line.x : end, line.upwards ? end : line.y, line.upwards,
               line.look, sink);
  std::string colour;
  for (const std::uint8_t part : line.look.colour) colour += formatted("%.3f ", part / 255.0);
  return path.empty() ? "" : colour + "rg\n" + path + "f\n";
}

}  // namespace

std::string svg_of(const Picture& picture) {
  const std::string width = std::to_string(picture.width), height = std::to_string(picture.height);
  const Image& pixels = picture;
  std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + width + "\" height=\"" +
                    height + "\" viewBox=\"0 0 " + width + " " + height +
                    "\" font-family=\"DejaVu Sans, Verdana, sans-serif\">\n<image width=\"" +
                    width + "\" height=\"" + height + "\" href=\"data:image/png;base64," +
                    base64(encode_picture(pixels, ".png")) + "\"/>\n";
  for (const TextLine& line : picture.texts) svg += svg_text(line);
  return svg + "</svg>\n";
}

std::string pdf_of(const Picture& picture) {
  constexpr double kPointsPerPixel = 72.0 / 96.0;
  constexpr DeflateSettings kLight{.level = 2};  // photographs hardly shrink
  const bool outlines = has_fonts();
  const Image pixels = outlines ? static_cast<const Image&>(picture) : flattened(picture);
  const double width = static_cast<double>(picture.width),
               height = static_cast<double>(picture.height);
  // The page's y grows upwards, the picture's downwards; so the image is turned over within.
  std::string page = number(kPointsPerPixel) + " 0 0 " + number(-kPointsPerPixel) + " 0 " +
                     number(height * kPointsPerPixel) + " cm\nq " + number(width) + " 0 0 " +
                     number(-height) + " 0 " + number(height) + " cm /Pixels Do Q\n";
  if (outlines)
    for (const TextLine& line : picture.texts) page += pdf_text(line);
  const std::string content = deflated(page, kLight);
  const std::string image =
      deflated({reinterpret_cast<const char*>(pixels.pixels.data()), pixels.pixels.size()}, kLight);
  PdfFile file;
  file.add("<< /Type /Catalog /Pages 2 0 R >>");
  file.add("<< /Type /Pages /Kids [3 0 R] /Count 1 >>");
  file.add("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 " + number(width * kPointsPerPixel) + " " +
           number(height * kPointsPerPixel) +
           "] /Contents 4 0 R /Resources << /XObject << /Pixels 5 0 R >> >> >>");
  file.add(packed_dictionary("", content), content);
  file.add(
      packed_dictionary("/Type /XObject /Subtype /Image /Width " + std::to_string(pixels.width) +
                            " /Height " + std::to_string(pixels.height) +
                            " /ColorSpace /DeviceRGB /BitsPerComponent 8",
                        image),
      image);
  return std::move(file).finished();
}

}  // namespace vit::tools
