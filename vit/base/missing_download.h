/// The error for what a download would bring.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "vit/base/error.h"

namespace vit {

/// What is not there.
struct Download {
  enum class Kind {
    kKnownModel,     ///< a name in the catalogue
    kHubModel,       ///< "owner/name", which the hub may not have
    kClipVocabulary  ///< OpenAI's
  };

  Kind kind = Kind::kHubModel;
  std::string name{};      ///< of the model
  std::string revision{};  ///< empty: the newest
};

/// The message does not say how to get it: a program that can puts its advice into it.
class MissingDownload : public Error {
 public:
  /// The message is "where: before" and then `after`. Advice belongs between these two.
  MissingDownload(Download wanted, const std::string& where, const std::string& before,
                  const std::string& after = "")
      : Error(where + std::string(kSeparator) + before + after, where.size()),
        wanted_(std::move(wanted)),
        advice_at_(where.size() + kSeparator.size() + before.size()) {}

  const Download& wanted() const { return wanted_; }

  std::string with_advice(const std::string& advice) const {
    return std::string(what()).insert(advice_at_, advice);
  }

  /// The same error with more text at the end.
  MissingDownload followed_by(const std::string& more) const {
    const std::string text = what();
    const std::size_t reason = where().size() + kSeparator.size();
    return {wanted_, std::string(where()), text.substr(reason, advice_at_ - reason),
            text.substr(advice_at_) + more};
  }

 private:
  Download wanted_;
  std::size_t advice_at_;
};

}  // namespace vit
