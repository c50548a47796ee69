#include "tools/commands.h"

#include "tools/attention/attention.h"
#include "tools/batch/batch.h"
#include "tools/classify/classify.h"
#include "tools/convert/convert.h"
#include "tools/embed/embed.h"
#include "tools/eval/eval.h"
#include "tools/heads/heads.h"
#include "tools/info/info.h"
#include "tools/join/join.h"
#include "tools/models/models.h"
#include "tools/pull/pull.h"
#include "tools/serve/serve.h"
#include "tools/train/train.h"

namespace vit::tools {

std::vector<Command> commands() {
  return {classify_command(),  batch_command(),  eval_command(), join_command(),    embed_command(),
          attention_command(), heads_command(),  info_command(), convert_command(), train_command(),
          pull_command(),      models_command(), serve_command()};
}

}  // namespace vit::tools
