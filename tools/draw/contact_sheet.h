/// A page of small pictures in groups, in one file that needs nothing else.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "patch/image/image.h"
#include "vit/base/thread_pool.h"

namespace vit::tools {

struct SheetPicture {
  std::string path{};    ///< of the image
  std::string link{};    ///< a URL of it; empty: none
  std::string figure{};  ///< "0.93"
  std::string detail{};  ///< "640 x 480, 53 KB"
  std::string badge{};   ///< "keep"; empty: none
};

struct SheetGroup {
  std::string title{};
  std::string note{};
  std::vector<SheetPicture> pictures{};
};

struct ContactSheet {
  std::string title{};
  std::string note{};
  std::vector<SheetGroup> groups{};
};

using LoadPicture = std::function<patch::Image(const std::string& path)>;

/// The page, with thumbnails of 240 pixels embedded. `load` reads an image and is called by any
/// worker; where it throws an Error, the picture's place has the reason instead.
std::string contact_sheet_html(const ContactSheet& sheet, const LoadPicture& load,
                               ThreadPool& pool);

}  // namespace vit::tools
