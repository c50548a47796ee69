#include "tools/train/settings.h"

namespace vit::tools {
namespace {

void add_model_options(cxxopts::Options& options) {
  const auto text = [] { return cxxopts::value<std::string>(); };
  options.add_options(
      "Model",
      {
          {"from", "start from this model: a new classifier on its features", text(), "MODEL"},
          {"probe", "with --from: all but the classifier stays as it is (the default)"},
          {"finetune", "with --from: the whole model learns on"},
          {"arch", "from scratch: a known architecture, such as vit_tiny_patch16_224", text(),
           "NAME"},
          {"image-size", "edge of the input in pixels (32; finetune: the model's own)", text(),
           "N"},
          {"patch", "edge of a patch in pixels (4)", text(), "N"},
          {"width", "numbers per token (192)", text(), "N"},
          {"depth", "layers (6)", text(), "N"},
          {"heads", "attention heads (3)", text(), "N"},
          {"mlp-ratio", "width of the MLP against that of the tokens (4)", text(), "X"},
          {"pool", "what is classified: mean (of the tokens) or class (a token of its own)", text(),
           "WHAT"},
          {"init", "first weights: mimetic or plain", text(), "HOW"},
      });
}

void add_learning_options(cxxopts::Options& options) {
  const auto text = [] { return cxxopts::value<std::string>(); };
  options.add_options(
      "Learning",
      {
          {"epochs", "times through the data (100; finetune 10)", text(), "N"},
          {"batch", "images per step (128)", text(), "N"},
          {"lr", "highest learning rate (0.001; finetune 0.0001)", text(), "X"},
          {"optimizer", "adamw, or muon for the matrices of the layers (adamw)", text(), "NAME"},
          {"weight-decay", "pull of the weights towards zero (0.05)", text(), "X"},
          {"warmup", "epochs until the highest rate (5)", text(), "X"},
          {"precision",
           "of the inputs of products: f32, or bf16 for machines with AMX or AVX-512 BF16 (f32)",
           text(), "WHAT"},
          {"clip", "largest norm of a gradient, 0: any (1)", text(), "X"},
          {"ema", "decay of the running average of the weights, 0: none (0.999)", text(), "X"},
          {"layer-decay", "factor on the rate per layer away from the head (1; finetune 0.75)",
           text(), "X"},
          {"drop-path", "how often the last layer is skipped (0)", text(), "X"},
          {"keep-patches", "share of each image's patches that is trained on: less is faster (1)",
           text(), "X"},
          {"whole-epochs", "last epochs on all patches (a tenth)", text(), "N"},
          {"label-smoothing", "share of a label spread over all classes (0.1)", text(), "X"},
          {"mixup", "alpha of mixtures of two images, 0: none (0)", text(), "X"},
          {"cutmix", "alpha of boxes from another image, 0: none (0)", text(), "X"},
          {"mix-probability", "how often a batch is mixed (1)", text(), "X"},
          {"teacher", "a model that knows the classes and whose answers are learned too", text(),
           "MODEL"},
          {"teacher-share", "share of the target that is the teacher's (0.5)", text(), "X"},
          {"teacher-crops",
           "crops of each image that the teacher answers to and epochs take in turn; 0: the whole "
           "image (0)",
           text(), "N"},
          {"store-teacher", "file of the teacher's answers: reused if it exists", text(), "FILE"},
          {"teacher-classes",
           "lines of a class of the data, a tab and the teacher's label for it, where they differ",
           text(), "FILE"},
      });
}

void add_image_options(cxxopts::Options& options) {
  const auto text = [] { return cxxopts::value<std::string>(); };
  options.add_options(
      "Images",
      {
          {"crop", "pad (shift by a few pixels), resized (a random part) or none; by image size",
           text(), "HOW"},
          {"no-flip", "never mirror images: digits, text"},
          {"jitter", "change brightness, contrast and saturation by up to this share (0)", text(),
           "X"},
          {"randaugment", "random operations per image (2)", text(), "N"},
          {"magnitude", "of these, 0 to 1 (0.9)", text(), "X"},
          {"erase", "how often a box becomes noise (0.25)", text(), "X"},
          {"val-share", "kept for validation where the data has no such part (0.1)", text(), "X"},
          {"class-names", "lines of a class folder, a tab and the label that the model gets for it",
           text(), "FILE"},
          {"max-per-class", "use no more images of each class", text(), "N"},
          {"max-pixels",
           "largest image that is read, and the most pixels that all threads decode at the same "
           "time (500M)",
           text(), "N"},
      });
}

}  // namespace

void add_train_options(cxxopts::Options& options) {
  const auto text = [] { return cxxopts::value<std::string>(); };
  options.add_options(
      "", {
              {"o,output", "the model file to write", text(), "FILE"},
              {"resume", "continue the run that wrote FILE.checkpoint"},
              {"restart", "overwrite an existing model, and start a new run where one was"},
          });
  add_model_options(options);
  add_learning_options(options);
  add_image_options(options);
  options.add_options(
      "Machine", {
                     {"seed", "random seed (0)", text(), "N"},
                     {"threads", "worker threads, all of the machine's unless given", text(), "N"},
                     {"save-every", "seconds between checkpoints (300)", text(), "S"},
                     {"half", "store the model's matrices in 16 bits"},
                 });
}

}  // namespace vit::tools
