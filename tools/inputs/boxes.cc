#include "tools/inputs/boxes.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <span>

#include "tools/output/digest.h"
#include "tools/output/json_depth.h"
#include "tools/sources/readable_file.h"
#include "vit/base/error.h"
#include "vit/base/text.h"

namespace vit::tools {
namespace {

using MegaJson = nlohmann::ordered_json;

constexpr std::string_view kBoxMark = "#box=";
constexpr std::uint64_t kLargestFile = std::uint64_t{4} << 30;

std::string text_of(const ReadableFile& file) {
  if (file.size() > kLargestFile)
    fail_at(file.path(), "is too large for a file of MegaDetector: ", file.size(), " bytes");
  std::string text(static_cast<std::size_t>(file.size()), '\0');
  text.resize(file.read(0, std::as_writable_bytes(std::span(text))));
  return text;
}

/// The numbers of the categories that are wanted.
std::vector<std::string> find_categories(const BoxSettings& settings, const MegaJson& json) {
  if (settings.category == "all") return {};
  MegaJson named = {{"1", "animal"}, {"2", "person"}, {"3", "vehicle"}};
  if (json.contains("detection_categories")) named = json["detection_categories"];
  std::vector<std::string> found;
  std::string all;
  for (const auto& [number, name] : named.items()) {
    const std::string text = name.is_string() ? name.get<std::string>() : "";
    if (number == settings.category || text == settings.category) found.push_back(number);
    all += (all.empty() ? "" : ", ") + text;
  }
  if (found.empty())
    fail_at(settings.file, "has no category '", settings.category, "', expected one of: ", all,
            ", or all");
  return found;
}

bool is_fraction(const MegaJson& number) {
  return number.is_number() && std::isfinite(number.get<double>()) &&
         std::abs(number.get<double>()) <= 2;
}

}  // namespace

BoxFile::BoxFile(BoxSettings settings) : settings_(std::move(settings)) {
  const std::string text = text_of(ReadableFile(settings_.file));
  Digest digest = Digest::sha256();
  digest.add(std::as_bytes(std::span(text)));
  digest_ = digest.finish();
  if (nests_deep(text))
    fail_at(settings_.file, "nests more than 64 levels deep, more than any file of MegaDetector");
  json_ = MegaJson::parse(text, nullptr, false);
  if (json_.is_discarded()) fail_at(settings_.file, "is not JSON, or is cut short");
  const bool known = json_.is_object() && json_.contains("images") && json_["images"].is_array();
  if (!known)
    fail_at(settings_.file, "is not a file of MegaDetector: got ",
            json_.is_array() ? "a list" : "JSON without 'images'",
            ", expected an object with a list 'images', as run_detector_batch writes it");
  categories_ = find_categories(settings_, json_);
  read_images();
}

void BoxFile::read_images() {
  std::size_t place = 0;
  for (const auto& entry : json_["images"]) {
    const std::string where = settings_.file + ": images[" + std::to_string(place++) + "]";
    if (!entry.is_object() || !entry.contains("file") || !entry["file"].is_string())
      fail_at(where, "has no 'file'");
    if (entry["file"].get_ref<const std::string&>().find('\0') != std::string::npos)
      fail_at(where, "the name in 'file' has a zero byte, which no file's name has");
    Image image{
        (std::filesystem::path(settings_.folder) / entry["file"].get<std::string>()).string(), {}};
    const auto detections = entry.find("detections");
    if (detections != entry.end() && detections->is_array()) {
      std::size_t number = 0;
      for (const auto& detection : *detections) {
        const auto box = wanted(detection, where + ".detections[" + std::to_string(number++) + "]");
        if (box) image.boxes.emplace_back(number, *box);
      }
    }
    count_ += image.boxes.size();
    places_.try_emplace(image.file, images_.size());
    images_.push_back(std::move(image));
  }
}

std::optional<DetectionBox> BoxFile::wanted(const MegaJson& detection, const std::string& where) {
  const auto box = detection.is_object() ? detection.find("bbox") : detection.end();
  if (box == detection.end() || !box->is_array() || box->size() != 4 ||
      !std::ranges::all_of(*box, is_fraction))
    fail_at(where,
            "got a 'bbox' that cannot be read, expected [left, top, width, height] in "
            "fractions of the image");
  const auto category = detection.find("category"), sure = detection.find("conf");
  const bool right =
      categories_.empty() ||
      (category != detection.end() && category->is_string() &&
       std::ranges::find(categories_, category->get<std::string>()) != categories_.end());
  if (!right || sure == detection.end() || !sure->is_number() ||
      sure->get<double>() < settings_.threshold) {
    ++left_out_;
    return std::nullopt;
  }
  return DetectionBox{(*box)[0], (*box)[1], (*box)[2], (*box)[3]};
}

std::optional<std::pair<std::size_t, std::size_t>> BoxFile::find(const std::string& row) const {
  const auto name = split_box_name(row);
  const auto image = name ? places_.find(name->file) : places_.end();
  if (image == places_.end()) return std::nullopt;
  for (const auto& [place, box] : images_[image->second].boxes)
    if (place == name->place) return std::pair{image->second, place};
  return std::nullopt;
}

std::string box_name(const std::string& file, std::size_t place) {
  return file + std::string(kBoxMark) + std::to_string(place);
}

std::optional<BoxName> split_box_name(const std::string& row) {
  const std::size_t mark = row.rfind(kBoxMark);
  if (mark == row.npos) return std::nullopt;
  const auto place = to_number<std::size_t>(std::string_view(row).substr(mark + kBoxMark.size()));
  if (!place) return std::nullopt;
  return BoxName{row.substr(0, mark), *place};
}

patch::Image cropped(const patch::Image& image, const DetectionBox& box) {
  const auto misses = [](double start, double length) {
    return length <= 0 || start >= 1 || start + length <= 0;
  };
  if (misses(box.left, box.width) || misses(box.top, box.height))
    fail("the box is empty or outside of the image: [", box.left, ", ", box.top, ", ", box.width,
         ", ", box.height, "], expected [left, top, width, height] in fractions of the image");
  const auto range = [](double start, double length, std::size_t size) {
    const auto edge = static_cast<double>(size);
    const double from = std::clamp(std::floor(start * edge), 0.0, edge - 1);
    const double to = std::clamp(std::ceil((start + length) * edge), from + 1, edge);
    return std::pair{static_cast<std::size_t>(from), static_cast<std::size_t>(to - from)};
  };
  const auto [left, width] = range(box.left, box.width, image.width);
  const auto [top, height] = range(box.top, box.height, image.height);
  patch::Image part{width, height, {}};
  part.pixels.reserve(width * height * 3);
  for (std::size_t y = top; y < top + height; ++y) {
    const std::uint8_t* row = image.row(y) + 3 * left;
    part.pixels.insert(part.pixels.end(), row, row + 3 * width);
  }
  part.damage = image.damage;
  return part;
}

}  // namespace vit::tools
