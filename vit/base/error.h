/// Errors that a user or a file can cause. Our own bugs are `assert`s.
#pragma once

#include <cstddef>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace vit {

/// Says where, what, got, expected and, where known, what to do: what() is "where: reason".
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  /// The first `where` bytes of the message name the place.
  Error(const std::string& message, std::size_t where)
      : std::runtime_error(message), where_(where) {}

  /// The file or the place in it that the error is about; empty: about no place.
  std::string_view where() const { return text().substr(0, where_); }
  /// The message without where().
  std::string_view reason() const {
    return where_ == 0 ? text() : text().substr(where_ + kSeparator.size());
  }
  /// The message for a reader who knows that it is about `place`.
  std::string_view reason_at(std::string_view place) const {
    const bool known = where_ >= place.size() && text().starts_with(place) &&
                       text().substr(place.size()).starts_with(kSeparator);
    return known ? text().substr(place.size() + kSeparator.size()) : text();
  }

  static constexpr std::string_view kSeparator = ": ";

 private:
  std::string_view text() const { return what(); }

  std::size_t where_ = 0;
};

/// Throws an Error whose message is its arguments written one after the other. Where the second one
/// begins with ": ", the first one is the error's where(). An Error as the first one keeps its own.
template <typename First, typename... Parts>
[[noreturn]] void fail(const First& first, const Parts&... parts) {
  std::ostringstream message;
  if constexpr (std::is_base_of_v<Error, First>)
    message << first.what();
  else
    message << first;
  const auto end = static_cast<std::size_t>(message.tellp());
  ((message << parts), ...);
  const std::string text = message.str();
  if constexpr (std::is_base_of_v<Error, First>)
    throw Error(text, first.where().size());
  else
    throw Error(text, std::string_view(text).substr(end).starts_with(Error::kSeparator) ? end : 0);
}

}  // namespace vit
