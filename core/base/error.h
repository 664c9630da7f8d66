// The one error type: where, what was found, what was expected, what to do.
#pragma once

#include <stdexcept>
#include <string>

namespace memwall {

/// Bad input or an impossible request, fit to be printed on one line.
/// `place` is "file:line", "file@offset" or an option ("--kv"); empty where there is none.
class Error : public std::runtime_error {
  public:
    Error(std::string place, std::string found, std::string expected = {}, std::string hint = {})
        : std::runtime_error(compose(place, found, expected, hint)),
          place_(std::move(place)),
          found_(std::move(found)),
          expected_(std::move(expected)),
          hint_(std::move(hint)) {}

    const std::string& place() const { return place_; }
    const std::string& found() const { return found_; }
    const std::string& expected() const { return expected_; }
    const std::string& hint() const { return hint_; }

  private:
    /// "PLACE: FOUND; expected EXPECTED; HINT", control characters of hostile input replaced by '?'.
    static std::string compose(const std::string& place, const std::string& found,
                               const std::string& expected, const std::string& hint);
    std::string place_, found_, expected_, hint_;
};

}  // namespace memwall
