#include "tools/draw/thumbnail.h"

#include <algorithm>

#include "tools/draw/canvas.h"
#include "tools/output/html.h"
#include "tools/output/unicode.h"

namespace vit::tools {

const std::string_view kSheetStyle = R"(
:root { color-scheme: light dark; --ink: #1c1e22; --faint: #5c6574; --paper: #fafaf8; --card: #fff;
  --rule: #e4e5e2; --soft: #eef1f0; --mark: #0d766e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e9ebee; --faint: #98a1ad; --paper: #131518;
  --card: #1b1e23; --rule: #2c3037; --soft: #252a31; --mark: #2dd4bf; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1240px; padding: 28px 22px 40px; background: var(--paper);
  color: var(--ink); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
h1 { font-size: 21px; line-height: 1.3; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 15px; margin: 0; overflow-wrap: anywhere; }
p { margin: 0; color: var(--faint); font-size: 13px; overflow-wrap: anywhere; }
section { background: var(--card); border: 1px solid var(--rule); border-radius: 12px;
  padding: 16px 18px; margin: 18px 0 0; }
ul { display: grid; grid-template-columns: repeat(auto-fill, minmax(150px, 1fr)); gap: 16px;
  margin: 12px 0 0; padding: 0; list-style: none; }
img, .none { width: 100%; aspect-ratio: 1; object-fit: contain; display: block;
  background: var(--soft); border-radius: 8px; }
a { display: block; border-radius: 8px; }
a:focus-visible { outline: 3px solid var(--mark); outline-offset: 2px; }
.none { padding: 10px; overflow: auto; color: var(--faint); font-size: 12px;
  overflow-wrap: anywhere; }
.name { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 4; overflow: hidden;
  font-size: 13px; line-height: 1.35; margin-top: 6px; overflow-wrap: anywhere; }
li p { font-size: 12px; line-height: 1.4; }
li b { color: var(--ink); font-variant-numeric: tabular-nums; font-weight: 600; }
.badge { display: inline-block; background: var(--mark); color: var(--card); border-radius: 5px;
  padding: 0 6px; font-size: 12px; font-weight: 600; }
@media (max-width: 480px) { body { padding: 16px 12px; } section { padding: 12px; }
  ul { grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 12px; } }
)";

std::string thumbnail(const patch::Image& image) {
  constexpr size_t kLonger = 240;
  const size_t longer = std::max(image.width, image.height);
  if (longer <= kLonger) return encode_picture(image, ".png");
  const auto side = [&](size_t pixels) {
    return std::max<size_t>(1, (pixels * kLonger + longer / 2) / longer);
  };
  return encode_picture(scaled(image, side(image.width), side(image.height)), ".jpg");
}

std::string data_url(std::string_view picture) {
  const bool png = picture.starts_with("\x89PNG");
  return std::string("data:image/") + (png ? "png" : "jpeg") + ";base64," + base64(picture);
}

std::string page_text(std::string_view text) {
  return html_escaped(printable(text));
}

}  // namespace vit::tools
