#include "tools/batch/header.h"

#include <array>
#include <fstream>
#include <set>

#include "tools/cache.h"
#include "tools/model_files.h"
#include "tools/pull/digest.h"
#include "vit/base/error.h"

namespace vit::tools {
namespace {

void add_file(Digest& digest, const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> buffer(size_t{1} << 20);
  while (file) {
    file.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    digest.add(std::as_bytes(std::span(buffer.data(), static_cast<size_t>(file.gcount()))));
  }
  if (!file.eof()) fail(path.string(), ": cannot read");
}

/// The names of the classes decide the rows, and need not lie in the weight file.
std::string labels_digest(const std::vector<std::string>& labels) {
  Digest digest = Digest::sha256();
  for (const auto& label : labels)
    digest.add(std::as_bytes(std::span(label.c_str(), label.size() + 1)));
  return digest.finish();
}

void compare(const Json& stored, const Json& wanted, const std::string& name,
             std::vector<std::string>& lines) {
  if (stored == wanted) return;
  if (!stored.is_object() || !wanted.is_object()) {
    lines.push_back(name + " is " + dump(stored) + " in the file, " + dump(wanted) + " now");
    return;
  }
  std::set<std::string> keys;
  for (const auto& [key, value] : stored.items()) keys.insert(key);
  for (const auto& [key, value] : wanted.items()) keys.insert(key);
  for (const auto& key : keys)
    compare(stored.contains(key) ? stored[key] : Json(),
            wanted.contains(key) ? wanted[key] : Json(), name.empty() ? key : name + "." + key,
            lines);
}

}  // namespace

std::string model_digest(const std::filesystem::path& model) {
  Digest digest = Digest::sha256();
  for (const auto& file : weight_files(model)) add_file(digest, file);
  return digest.finish();
}

Json make_header(std::string_view command, const ModelSettings& settings,
                 const Classifier& classifier, const Json& options) {
  Json header;
  header["vit"] = VIT_VERSION;
  header["command"] = command;
  header["model"] = classifier.name();
  header["model_sha256"] = model_digest(find_model(settings.model));
  header["labels_sha256"] = labels_digest(classifier.labels());
  header["recipe"] = to_json(classifier.recipe());
  Json& all = header["options"] = options;
  all["exif"] = settings.exif == patch::Exif::kApply ? "apply" : "ignore";
  if (settings.classifier.positions) all["positions"] = to_string(*settings.classifier.positions);
  if (settings.classifier.heads != 0) all["heads"] = settings.classifier.heads;
  if (settings.classifier.precision)
    all["precision"] = *settings.classifier.precision == Precision::kInt8 ? "int8" : "f32";
  if (settings.classifier.merge != 0) all["merge"] = settings.classifier.merge;
  return header;
}

Json with_shard(Json header, const std::optional<Shard>& shard) {
  if (shard) header["shard"] = {{"index", shard->index}, {"count", shard->count}};
  return header;
}

std::optional<Shard> take_shard(Json& header) {
  const auto found = header.find("shard");
  if (found == header.end()) return std::nullopt;
  const Shard shard{found->value("index", size_t{0}), found->value("count", size_t{1}), {}};
  header.erase("shard");
  return shard;
}

std::vector<std::string> differences(const Json& stored, const Json& wanted) {
  std::vector<std::string> lines;
  compare(stored, wanted, "", lines);
  return lines;
}

void check_header(const std::filesystem::path& path, const std::string& stored,
                  const Json& wanted) {
  // As it will be read again: the numbers of both have gone through text.
  const auto lines =
      differences(Json::parse(stored, nullptr, false), Json::parse(dump(wanted), nullptr, false));
  if (lines.empty()) return;
  std::string text;
  for (const auto& line : lines) text += "\n  " + line;
  fail(path.string(),
       ": was made differently, so its rows and new ones would not go together:", text,
       "\nuse the same options, give another output, or start anew with --restart");
}

RowShape shape_of(const Json& header) {
  RowShape shape;
  const Json options = header.value("options", Json::object());
  shape.top = options.value("top", size_t{0});
  shape.features = options.value("shape", std::vector<size_t>{});
  return shape;
}

}  // namespace vit::tools
