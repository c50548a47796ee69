#include "vit/text/tower.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <limits>
#include <numeric>

namespace vit::text {
namespace {

constexpr size_t kNoParent = static_cast<size_t>(-1);
// Enough rows for the matrix products to run at full speed; the attention between tokens of
// different texts, which the mask throws away, stays a tenth of the work.
constexpr size_t kTreeTokens = 320;

/// A token of one text, or of the beginning that several texts share.
struct Node {
  size_t parent = kNoParent;
  size_t depth = 0;
  TokenId id = 0;
};

/// Some texts as a tree of tokens.
struct Tree {
  std::vector<Node> nodes;
  std::vector<size_t> texts;   ///< their numbers in the batch
  std::vector<size_t> pooled;  ///< the node of each that becomes its feature
};

void embed(const TextTower& tower, TokenId id, size_t position, float* row) {
  tower.token_table.read_rows(id, 1, row);
  const float* offset = tower.positions.view().row(position);
  for (size_t c = 0; c < tower.positions.cols(); ++c) row[c] += offset[c];
}

void make_room(Matrix& matrix, size_t rows, size_t cols) {
  if (matrix.cols() != cols || matrix.rows() < rows) matrix = Matrix(rows, cols);
}

/// normed rows to features.
void project(const TextTower& tower, MatrixView pooled, MatrixView features) {
  const Execution alone{nullptr, tower.isa};
  normalize(tower.norm, pooled, pooled, alone);
  apply(tower.projection, pooled, features, alone);
}

/// The ids that the feature depends on.
std::span<const TokenId> needed_ids(const TextConfig& config, const TokenSequence& text) {
  const size_t last = config.causal ? pooled_position(config, text) : config.context - 1;
  return {text.ids.data(), last + 1};
}

class TreeBuilder {
 public:
  TreeBuilder(const TextConfig& config, std::span<const TokenSequence> texts)
      : config_(config), texts_(texts) {}

  /// Texts in the order of their ids: neighbours share the longest beginnings.
  std::vector<Tree> build() {
    std::vector<size_t> order(texts_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      const auto x = needed_ids(config_, texts_[a]), y = needed_ids(config_, texts_[b]);
      return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end());
    });
    for (const size_t text : order) add(text);
    return std::move(trees_);
  }

 private:
  void add(size_t text) {
    const auto ids = needed_ids(config_, texts_[text]);
    if (trees_.empty() || trees_.back().nodes.size() + ids.size() > kTreeTokens) {
      trees_.emplace_back();
      path_.clear();
    }
    Tree& tree = trees_.back();
    size_t shared = 0;
    while (shared < ids.size() && shared < path_.size() &&
           tree.nodes[path_[shared]].id == ids[shared])
      ++shared;
    path_.resize(shared);
    for (size_t depth = shared; depth < ids.size(); ++depth) {
      path_.push_back(tree.nodes.size());
      tree.nodes.push_back({depth == 0 ? kNoParent : path_[depth - 1], depth, ids[depth]});
    }
    tree.texts.push_back(text);
    tree.pooled.push_back(path_.back());
  }

  const TextConfig& config_;
  std::span<const TokenSequence> texts_;
  std::vector<Tree> trees_;
  std::vector<size_t> path_;  // the nodes of the text before
};

/// Rows for the nodes, those that are pooled first: the last layer then computes these alone.
std::vector<size_t> rows_of(const Tree& tree, size_t& pooled_rows) {
  std::vector<size_t> rows(tree.nodes.size(), kNoParent);
  size_t next = 0;
  for (const size_t node : tree.pooled)
    if (rows[node] == kNoParent) rows[node] = next++;
  pooled_rows = next;
  for (size_t& row : rows)
    if (row == kNoParent) row = next++;
  return rows;
}

/// 0 where a token sees another one: itself and those on its way to the root.
void fill_mask(const Tree& tree, std::span<const size_t> rows, MatrixView mask) {
  for (size_t r = 0; r < mask.rows; ++r)
    std::fill_n(mask.row(r), mask.cols, -std::numeric_limits<float>::infinity());
  for (size_t node = 0; node < tree.nodes.size(); ++node)
    for (size_t seen = node; seen != kNoParent; seen = tree.nodes[seen].parent)
      mask(rows[node], rows[seen]) = 0.0f;
}

void encode_tree(const TextTower& tower, const Tree& tree, TextWorkspace& workspace,
                 MatrixView features) {
  const size_t count = tree.nodes.size(), width = tower.config.encoder.width;
  size_t pooled_rows = 0;
  const std::vector<size_t> rows = rows_of(tree, pooled_rows);
  make_room(workspace.tokens, count, width);
  make_room(workspace.mask, count, count);
  const MatrixView tokens = workspace.tokens.view().row_range(0, count);
  const MatrixView mask{workspace.mask.data(), count, count, workspace.mask.cols()};
  for (size_t node = 0; node < count; ++node)
    embed(tower, tree.nodes[node].id, tree.nodes[node].depth, tokens.row(rows[node]));
  fill_mask(tree, rows, mask);

  workspace.encoder.reserve(workspace_shape(tower.encoder, count));
  const MatrixView encoded =
      encode(tower.encoder, tokens, {workspace.encoder, {nullptr, tower.isa}}, nullptr,
             {.mask = {.bias = mask}, .needed_tokens = pooled_rows});
  Matrix answers(pooled_rows, features.cols);
  project(tower, encoded.row_range(0, pooled_rows), answers);
  for (size_t i = 0; i < tree.texts.size(); ++i)
    std::copy_n(answers.view().row(rows[tree.pooled[i]]), features.cols,
                features.row(tree.texts[i]));
}

}  // namespace

size_t pooled_position(const TextConfig& config, const TokenSequence& text) {
  const auto begin = text.ids.begin(), end = text.ids.end();
  switch (config.pooling) {
    case TextPooling::kHighestId:
      return static_cast<size_t>(std::max_element(begin, end) - begin);
    case TextPooling::kFirstEnd: {
      const auto found = std::find(begin, end, config.end_token);
      return found == end ? 0 : static_cast<size_t>(found - begin);  // as the reference's argmax
    }
    case TextPooling::kLast:
      return config.context - 1;
    case TextPooling::kFirst:
      break;
  }
  return 0;
}

void encode_text(const TextTower& tower, const TokenSequence& text, TextWorkspace& workspace,
                 std::span<float> feature, const TextTaps* taps) {
  assert(text.ids.size() == tower.config.context);
  const auto ids = needed_ids(tower.config, text);
  const size_t width = tower.config.encoder.width;
  make_room(workspace.tokens, tower.config.context, width);
  make_room(workspace.pooled, 1, width);
  const MatrixView tokens = workspace.tokens.view().row_range(0, ids.size());
  for (size_t i = 0; i < ids.size(); ++i) embed(tower, ids[i], i, tokens.row(i));
  if (taps != nullptr && taps->tokens) taps->tokens(tokens);

  workspace.encoder.reserve(workspace_shape(tower.encoder, tower.config.context));
  const MatrixView encoded =
      encode(tower.encoder, tokens, {workspace.encoder, {nullptr, tower.isa}},
             taps == nullptr ? nullptr : &taps->encoder, {.mask = {.causal = tower.config.causal}});
  const MatrixView pooled = workspace.pooled;
  std::copy_n(encoded.row(pooled_position(tower.config, text)), width, pooled.row(0));
  project(tower, pooled, {feature.data(), 1, feature.size()});
  if (taps != nullptr && taps->pooled) taps->pooled(pooled);
}

Matrix encode_texts(const TextTower& tower, const TextBatch& batch) {
  Matrix features(batch.texts.size(), tower.config.features);
  std::vector<TextWorkspace> workspaces(batch.pool == nullptr ? 1 : batch.pool->size());
  std::atomic<size_t> done{0};
  const auto report = [&](size_t texts) {
    const size_t all = done += texts;
    if (batch.progress) batch.progress(all);
  };
  if (!tower.config.causal) {
    parallel_for(batch.pool, batch.texts.size(), [&](size_t i, size_t worker) {
      encode_text(tower, batch.texts[i], workspaces[worker], features.view().row_span(i));
      report(1);
    });
    return features;
  }
  const std::vector<Tree> trees = TreeBuilder(tower.config, batch.texts).build();
  parallel_for(batch.pool, trees.size(), [&](size_t i, size_t worker) {
    encode_tree(tower, trees[i], workspaces[worker], features);
    report(trees[i].texts.size());
  });
  return features;
}

}  // namespace vit::text
