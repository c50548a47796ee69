/// The things that are drawn: each function fills one picture.
#pragma once

#include <span>

#include "tests/pictures/draw.h"

namespace vit::pictures {

struct Picture {
  const char* name;
  void (*draw)(Scene&);
};

/// Animals, fruit and food.
std::span<const Picture> living_pictures();
/// Vehicles, buildings and household objects.
std::span<const Picture> made_pictures();

}  // namespace vit::pictures
