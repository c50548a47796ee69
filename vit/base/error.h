/// Errors that a user or a file can cause. Our own bugs are `assert`s.
#pragma once

#include <cstddef>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

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

/// Throws an Error about no place. Its message is the arguments, written one after the other.
template <typename... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  std::ostringstream message;
  (message << ... << parts);
  throw Error(message.str());
}

/// Throws an E about `place`, a file or a place in it: "place: parts".
template <typename E, typename Place, typename... Parts>
[[noreturn]] void fail_as(const Place& place, const Parts&... parts) {
  std::ostringstream message;
  message << place;
  const auto where = static_cast<std::size_t>(message.tellp());
  if (where > 0) message << Error::kSeparator;
  (message << ... << parts);
  throw E(message.str(), where);
}

template <typename Place, typename... Parts>
[[noreturn]] void fail_at(const Place& place, const Parts&... parts) {
  fail_as<Error>(place, parts...);
}

/// What an error says something about, such as "tensor 'head.weight'" of a file.
struct Subject {
  std::string file;
  std::string name;
};

/// "file: name parts", about the file.
template <typename... Parts>
[[noreturn]] void fail_at(const Subject& subject, const Parts&... parts) {
  fail_at(subject.file, subject.name, " ", parts...);
}

/// Throws `error` again with more text at its end, such as advice. It stays about its place.
template <typename... Parts>
[[noreturn]] void fail_again(const Error& error, const Parts&... parts) {
  std::ostringstream message;
  message << error.what();
  (message << ... << parts);
  throw Error(message.str(), error.where().size());
}

}  // namespace vit
