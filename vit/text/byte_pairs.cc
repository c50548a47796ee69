#include "vit/text/byte_pairs.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <queue>
#include <tuple>

#include "vit/base/error.h"
#include "vit/text/unicode.h"

namespace vit::text {
namespace {

constexpr size_t kNone = static_cast<size_t>(-1);

std::uint64_t key_of(TokenId left, TokenId right) {
  return std::uint64_t{left} << 32 | right;
}

/// The symbols of a word as a linked list: merging removes from the middle.
struct Symbols {
  std::vector<TokenId> ids;
  std::vector<size_t> next, previous;
  std::vector<bool> removed;

  explicit Symbols(std::vector<TokenId> symbols)
      : ids(std::move(symbols)), next(ids.size()), previous(ids.size()), removed(ids.size()) {
    for (size_t i = 0; i < ids.size(); ++i) {
      next[i] = i + 1 < ids.size() ? i + 1 : kNone;
      previous[i] = i > 0 ? i - 1 : kNone;
    }
  }
  /// The symbol at `left` becomes `result` and swallows the one after it.
  void merge(size_t left, TokenId result) {
    const size_t right = next[left];
    ids[left] = result;
    removed[right] = true;
    next[left] = next[right];
    if (next[left] != kNone) previous[next[left]] = left;
  }
};

struct Candidate {
  std::uint32_t rank;
  size_t left;
  TokenId left_id, right_id;  ///< stale if the symbols have changed since
  TokenId result;

  bool operator>(const Candidate& other) const {
    return std::tie(rank, left) > std::tie(other.rank, other.left);
  }
};

}  // namespace

std::string byte_piece(unsigned char byte) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  return {'<', '0', 'x', kDigits[byte >> 4], kDigits[byte & 15], '>'};
}

BytePairs::BytePairs(Vocabulary vocabulary, std::span<const Merge> merges, Options options)
    : vocabulary_(std::move(vocabulary)), options_(std::move(options)) {
  merges_.reserve(merges.size());
  for (const Merge& merge : merges)
    merges_.try_emplace(key_of(merge.left, merge.right), Target{merge.rank, merge.result});
}

const BytePairs::Target* BytePairs::merge_of(TokenId left, TokenId right) const {
  const auto found = merges_.find(key_of(left, right));
  return found == merges_.end() ? nullptr : &found->second;
}

/// The ids of the bytes of `character`, or nothing where the vocabulary lacks one.
std::vector<TokenId> BytePairs::bytes_of(std::string_view character) const {
  std::vector<TokenId> ids;
  for (const char byte : character) {
    const auto id = find_piece(vocabulary_, byte_piece(static_cast<unsigned char>(byte)));
    if (!id) return {};
    ids.push_back(*id);
  }
  return ids;
}

std::vector<TokenId> BytePairs::symbols_of(std::u32string_view word) const {
  std::vector<TokenId> ids;
  bool after_unknown = false;
  for (size_t i = 0; i < word.size(); ++i) {
    const std::string character = encode_utf8(word.substr(i, 1));
    const bool last = i + 1 == word.size();
    std::vector<TokenId> symbol;
    if (const auto id =
            find_piece(vocabulary_, last ? character + options_.end_of_word : character))
      symbol = {*id};
    else if (options_.byte_fallback)
      symbol = bytes_of(character);
    const bool unknown = symbol.empty();
    if (unknown && options_.unknown && !(after_unknown && options_.fuse_unknown))
      symbol = {*options_.unknown};
    ids.insert(ids.end(), symbol.begin(), symbol.end());
    after_unknown = unknown;
  }
  return ids;
}

void BytePairs::encode(std::u32string_view word, std::vector<TokenId>& ids) const {
  if (word.empty()) return;
  if (options_.ignore_merges)
    if (const auto id = find_piece(vocabulary_, encode_utf8(word) + options_.end_of_word)) {
      ids.push_back(*id);
      return;
    }
  Symbols symbols(symbols_of(word));
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
  const auto offer = [&](size_t left) {
    if (left == kNone || symbols.next[left] == kNone) return;
    const TokenId a = symbols.ids[left], b = symbols.ids[symbols.next[left]];
    if (const Target* target = merge_of(a, b))
      queue.push({target->rank, left, a, b, target->result});
  };
  for (size_t i = 0; i + 1 < symbols.ids.size(); ++i) offer(i);
  while (!queue.empty()) {
    const Candidate best = queue.top();
    queue.pop();
    const size_t right = symbols.removed[best.left] ? kNone : symbols.next[best.left];
    if (right == kNone || symbols.ids[best.left] != best.left_id ||
        symbols.ids[right] != best.right_id)
      continue;
    symbols.merge(best.left, best.result);
    offer(symbols.previous[best.left]);
    offer(best.left);
  }
  for (size_t i = symbols.ids.empty() ? kNone : 0; i != kNone; i = symbols.next[i])
    ids.push_back(symbols.ids[i]);
}

std::vector<BytePairs::Merge> merges_of(const Vocabulary& vocabulary,
                                        std::span<const std::pair<std::string, std::string>> pairs,
                                        std::string_view where) {
  std::vector<BytePairs::Merge> merges;
  merges.reserve(pairs.size());
  for (const auto& pair : pairs) {
    const std::string& left =
        pair.first;  // not a structured binding: Clang 14 cannot capture those
    const std::string& right = pair.second;
    const auto id = [&](const std::string& piece) {
      const auto found = find_piece(vocabulary, piece);
      if (!found)
        fail_at(where, "merge ", merges.size() + 1, " ('", left, "' and '", right,
                "') needs the piece '", piece, "', which the vocabulary lacks");
      return *found;
    };
    merges.push_back(
        {id(left), id(right), id(left + right), static_cast<std::uint32_t>(merges.size())});
  }
  return merges;
}

std::vector<BytePairs::Merge> merges_of(const Vocabulary& vocabulary,
                                        std::span<const float> scores) {
  std::vector<float> order(scores.begin(), scores.end());
  std::sort(order.begin(), order.end(), std::greater<>());
  order.erase(std::unique(order.begin(), order.end()), order.end());

  std::vector<BytePairs::Merge> merges;
  for (const auto& [piece, id] : vocabulary) {
    const auto place = std::lower_bound(order.begin(), order.end(), scores[id], std::greater<>());
    const auto rank = static_cast<std::uint32_t>(place - order.begin());
    for (size_t cut = 1; cut < piece.size(); ++cut) {
      if ((static_cast<unsigned char>(piece[cut]) & 0xC0) == 0x80) continue;  // inside a character
      const std::string_view text = piece;
      const auto left = find_piece(vocabulary, text.substr(0, cut));
      const auto right = left ? find_piece(vocabulary, text.substr(cut)) : left;
      if (right) merges.push_back({*left, *right, id, rank});
    }
  }
  return merges;
}

}  // namespace vit::text
