#include "tools/draw/typesetter.h"

#include <ft2build.h>
#include FT_FREETYPE_H
#include FT_OUTLINE_H

#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "tools/draw/font_files.h"
#include "tools/output/unicode.h"
#include "vit/base/error.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;

constexpr double kUnit = 64.0;  // FreeType's coordinates per pixel
constexpr FT_Int32 kLoad = FT_LOAD_NO_HINTING | FT_LOAD_NO_BITMAP;

struct Glyph {
  FT_Face face = nullptr;
  FT_UInt index = 0;
  bool thicken = false;  ///< of a font without bold letters, in bold text
};

/// Faces of all sizes; not thread-safe, as FreeType's are not.
class Fonts {
 public:
  Fonts() {
    if (FT_Init_FreeType(&library_) != 0) return;
    const FontFamily family = chosen_family();
    regular_ = open(family.regular);
    bold_ = open(family.bold);
    if (regular_ == nullptr && !family.regular.empty() && std::getenv("VIT_FONT") != nullptr)
      fail("$VIT_FONT: ", family.regular.string(), " is not a font with outlines");
    if (regular_ != nullptr) capital_ = capital_of(regular_);
  }

  bool empty() const { return regular_ == nullptr; }

  /// Pixels of an em where capitals are `height` pixels high.
  double em(double height) const { return height / capital_; }

  Glyph glyph(char32_t point, bool bold) {
    const auto [found, is_new] = glyphs_.try_emplace({point, bold});
    if (is_new) found->second = find(point, bold);
    return found->second;
  }

 private:
  FT_Face open(const fs::path& file) {
    FT_Face face = nullptr;
    if (library_ == nullptr || file.empty()) return nullptr;
    if (FT_New_Face(library_, file.c_str(), 0, &face) != 0) return nullptr;
    if (FT_IS_SCALABLE(face) && face->units_per_EM != 0) return face;
    FT_Done_Face(face);
    return nullptr;
  }

  static double capital_of(FT_Face face) {
    constexpr double kUsual = 0.72;
    if (FT_Load_Char(face, 'H', FT_LOAD_NO_SCALE) != 0) return kUsual;
    const double height = static_cast<double>(face->glyph->metrics.horiBearingY) /
                          static_cast<double>(face->units_per_EM);
    return height > 0.1 ? height : kUsual;
  }

  Glyph find(char32_t point, bool bold) {
    if (bold && bold_ != nullptr)
      if (const FT_UInt index = FT_Get_Char_Index(bold_, point)) return {bold_, index, false};
    if (const FT_UInt index = FT_Get_Char_Index(regular_, point)) return {regular_, index, bold};
    for (; opened_ < installed_fonts().size() || !others_.empty();) {
      for (FT_Face face : others_)
        if (const FT_UInt index = FT_Get_Char_Index(face, point)) return {face, index, bold};
      if (opened_ == installed_fonts().size()) break;
      open_more();
    }
    return {};
  }

  /// The other fonts are opened when a character first needs them, and stay open.
  void open_more() {
    for (; opened_ < installed_fonts().size(); ++opened_)
      if (FT_Face face = open(installed_fonts()[opened_])) others_.push_back(face);
  }

  FT_Library library_ = nullptr;
  FT_Face regular_ = nullptr, bold_ = nullptr;
  std::vector<FT_Face> others_;
  std::size_t opened_ = 0;
  double capital_ = 1.0;
  std::map<std::pair<char32_t, bool>, Glyph> glyphs_;
};

std::mutex& font_mutex() {
  static std::mutex mutex;
  return mutex;
}

/// Never destroyed: other threads may draw while the program exits.
Fonts& fonts() {
  static Fonts& all = *new Fonts;
  return all;
}

/// Marks that only change how neighbours join.
bool is_invisible(char32_t point) {
  return (point >= 0x200B && point <= 0x200F) || (point >= 0xFE00 && point <= 0xFE0F) ||
         point == 0xFEFF;
}

/// Calls `use` with each glyph, loaded at its size, and its place along the line. Returns the
/// advance of all.
template <typename Use>
double for_glyphs(std::string_view text, const TextLook& look, const Use& use) {
  Fonts& all = fonts();
  const double em = all.em(look.height);
  double x = 0.0;
  const auto set = [&](char32_t point) {
    const Glyph glyph = all.glyph(point, look.bold);
    if (glyph.index == 0) return false;
    FT_Set_Char_Size(glyph.face, 0, static_cast<FT_F26Dot6>(std::lround(em * kUnit)), 72, 72);
    if (FT_Load_Glyph(glyph.face, glyph.index, kLoad) != 0) return false;
    FT_GlyphSlot slot = glyph.face->glyph;
    const double advance = static_cast<double>(slot->linearHoriAdvance) / 65536.0;
    if (slot->format == FT_GLYPH_FORMAT_OUTLINE) {
      if (glyph.thicken) FT_Outline_Embolden(&slot->outline, std::lround(em * kUnit / 24.0));
      use(slot, x);
    }
    x += advance;
    return true;
  };
  while (!text.empty()) {
    const char32_t point = take_code_point(text).value_or(U'\uFFFD');
    if (is_invisible(point)) continue;
    if (point >= 0x20 && point != 0x7F && set(point)) continue;
    for (const char letter : code_of(point)) set(static_cast<char32_t>(letter));
  }
  return x;
}

/// The outline moved to where the line is, y still upwards, in FreeType's units.
void place(FT_Outline& outline, double along, bool upwards, double x, double baseline) {
  if (upwards) {
    FT_Matrix turn{0, -0x10000, 0x10000, 0};
    FT_Outline_Transform(&outline, &turn);
  }
  const double right = upwards ? x : x + along, up = upwards ? along - baseline : -baseline;
  FT_Outline_Translate(&outline, std::lround(right * kUnit), std::lround(up * kUnit));
}

void blend_pixel(std::uint8_t* pixel, Colour colour, unsigned part) {
  for (size_t k = 0; k < 3; ++k)
    pixel[k] = static_cast<std::uint8_t>((pixel[k] * (255 - part) + colour[k] * part) / 255);
}

void lay_on(FT_GlyphSlot slot, Colour colour, Image& image) {
  const FT_Bitmap& bitmap = slot->bitmap;
  for (unsigned r = 0; r < bitmap.rows; ++r) {
    const long y = static_cast<long>(r) - slot->bitmap_top;
    if (y < 0 || y >= static_cast<long>(image.height)) continue;
    const unsigned char* from = bitmap.buffer + static_cast<long>(r) * bitmap.pitch;
    for (unsigned c = 0; c < bitmap.width; ++c) {
      const long x = static_cast<long>(c) + slot->bitmap_left;
      if (from[c] == 0 || x < 0 || x >= static_cast<long>(image.width)) continue;
      blend_pixel(image.row(static_cast<size_t>(y)) + 3 * x, colour, from[c]);
    }
  }
}

/// FreeType's callbacks, with curves of the second order raised to the third.
struct Decomposition {
  const OutlineSink* sink = nullptr;
  double x = 0.0, y = 0.0;
  bool open = false;
};
double across(const FT_Vector* v) {
  return static_cast<double>(v->x) / kUnit;
}
double down(const FT_Vector* v) {
  return -static_cast<double>(v->y) / kUnit;
}
int move_to(const FT_Vector* to, void* user) {
  auto& d = *static_cast<Decomposition*>(user);
  if (d.open) d.sink->close();
  d.open = true;
  d.sink->move(d.x = across(to), d.y = down(to));
  return 0;
}
int line_to(const FT_Vector* to, void* user) {
  auto& d = *static_cast<Decomposition*>(user);
  d.sink->line(d.x = across(to), d.y = down(to));
  return 0;
}
int cubic_to(const FT_Vector* a, const FT_Vector* b, const FT_Vector* to, void* user) {
  auto& d = *static_cast<Decomposition*>(user);
  d.sink->curve(across(a), down(a), across(b), down(b), across(to), down(to));
  d.x = across(to);
  d.y = down(to);
  return 0;
}
int conic_to(const FT_Vector* control, const FT_Vector* to, void* user) {
  auto& d = *static_cast<Decomposition*>(user);
  const double cx = across(control), cy = down(control), x = across(to), y = down(to);
  d.sink->curve(d.x + (cx - d.x) * 2 / 3, d.y + (cy - d.y) * 2 / 3, x + (cx - x) * 2 / 3,
                y + (cy - y) * 2 / 3, x, y);
  d.x = x;
  d.y = y;
  return 0;
}

}  // namespace

bool has_fonts() {
  const std::scoped_lock lock(font_mutex());
  return !fonts().empty();
}

double set_width(std::string_view text, const TextLook& look) {
  const std::scoped_lock lock(font_mutex());
  return for_glyphs(text, look, [](FT_GlyphSlot, double) {});
}

void set_text(std::string_view text, double x, double baseline, bool upwards, const TextLook& look,
              Image& image) {
  const std::scoped_lock lock(font_mutex());
  for_glyphs(text, look, [&](FT_GlyphSlot slot, double along) {
    place(slot->outline, along, upwards, x, baseline);
    if (FT_Render_Glyph(slot, FT_RENDER_MODE_NORMAL) == 0) lay_on(slot, look.colour, image);
  });
}

void outline_text(std::string_view text, double x, double baseline, bool upwards,
                  const TextLook& look, const OutlineSink& sink) {
  const std::scoped_lock lock(font_mutex());
  const FT_Outline_Funcs callbacks{move_to, line_to, conic_to, cubic_to, 0, 0};
  for_glyphs(text, look, [&](FT_GlyphSlot slot, double along) {
    place(slot->outline, along, upwards, x, baseline);
    Decomposition decomposition{.sink = &sink};
    FT_Outline_Decompose(&slot->outline, &callbacks, &decomposition);
    if (decomposition.open) sink.close();
  });
}

}  // namespace vit::tools
