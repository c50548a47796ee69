#include "tests/tools/words/words_call.h"

#include <filesystem>
#include <fstream>

#include "tests/support/golden.h"

namespace vit::tools {

namespace fs = std::filesystem;

bool Words::has(const std::string& name) {
  const fs::path source = test::text_case(name);
  if (!fs::exists(source)) return false;
  model = test::text_model(name).string();
  prompts = test::read_json(source / "prompts.json");
  const fs::path vocabulary = test::clip_vocabulary();
  fs::create_directories(folder.path("home/clip"));
  if (fs::exists(vocabulary))
    fs::copy_file(vocabulary, fs::path(folder.path("home/clip")) / vocabulary.filename(),
                  fs::copy_options::overwrite_existing);
  return true;
}

Finished Words::vit(const std::vector<std::string>& arguments) const {
  Call call;
  call.arguments = arguments;
  call.environment = {"VIT_HOME=" + folder.path("home"), "HF_HUB_CACHE=" + folder.path("hub")};
  return run(call);
}

Finished Words::on_model(const std::string& command, const std::vector<std::string>& more) const {
  std::vector<std::string> arguments{command, "-m", model};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return vit(arguments);
}

std::string Words::image(size_t index) const {
  const fs::path at = fs::is_directory(model) ? fs::path(model) : fs::path(model).parent_path();
  return (at / prompts["images"][index].get<std::string>()).string();
}

std::string Words::file(const std::string& name, const std::string& content) const {
  std::ofstream(folder.path(name), std::ios::binary) << content;
  return folder.path(name);
}

std::vector<std::string> Words::words() const {
  std::string lines;
  for (const auto& label : prompts["labels"]) lines += label.get<std::string>() + "\n";
  std::vector<std::string> options{"--labels", "@" + file("labels.txt", lines)};
  for (const auto& sentence : prompts["templates"]) {
    options.emplace_back("--template");
    options.push_back(sentence.get<std::string>());
  }
  return options;
}

std::vector<nlohmann::json> Words::answers(const Finished& finished) {
  std::vector<nlohmann::json> all;
  const auto document = nlohmann::json::parse(finished.out, nullptr, false);
  if (!document.is_object()) return all;
  for (const auto& one : document["images"]) {
    nlohmann::json labels = nlohmann::json::object();
    for (const auto& p : one["predictions"])
      labels[p["label"].get<std::string>()] = p["probability"];
    all.push_back(std::move(labels));
  }
  return all;
}

}  // namespace vit::tools
