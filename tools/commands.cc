#include "tools/commands.h"

#include "tools/attention/attention.h"
#include "tools/batch/batch.h"
#include "tools/classify/classify.h"
#include "tools/cluster/cluster.h"
#include "tools/convert/convert.h"
#include "tools/duplicates/duplicates.h"
#include "tools/embed/embed.h"
#include "tools/eval/eval.h"
#include "tools/export/export.h"
#include "tools/heads/heads.h"
#include "tools/index/index.h"
#include "tools/info/info.h"
#include "tools/join/join.h"
#include "tools/models/models.h"
#include "tools/pick/pick.h"
#include "tools/pull/pull.h"
#include "tools/search/search.h"
#include "tools/serve/serve.h"
#include "tools/sort/sort.h"
#include "tools/train/train.h"

namespace vit::tools {

std::vector<Command> commands() {
  return {classify_command(),  batch_command(),      sort_command(),    export_command(),
          eval_command(),      join_command(),       embed_command(),   index_command(),
          search_command(),    duplicates_command(), cluster_command(), pick_command(),
          attention_command(), heads_command(),      info_command(),    convert_command(),
          train_command(),     pull_command(),       models_command(),  serve_command()};
}

}  // namespace vit::tools
