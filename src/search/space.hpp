// What a search varies: named options, each within a range. A point of the unit cube stands for one value of
// each.
#pragma once

#include <vector>

#include "base/hash.hpp"
#include "options/options.hpp"

namespace bdl {

enum class RangeScale { linear = 1, log = 2 };

class Space {
 public:
  /// Fail, and add nothing, unless the option exists, has no range yet, and allows the values.
  void add_real(const char* name, double low, double high, RangeScale scale);
  void add_integer(const char* name, std::int64_t low, std::int64_t high, RangeScale scale);
  /// `words` as in the option's own range: "mc-ef | mc-ggn".
  void add_choice(const char* name, const char* words);

  Index size() const { return static_cast<Index>(ranges_.size()); }
  /// Coordinate k has no order: its values are equal or not.
  bool is_choice(Index k) const;
  /// A value per option; of a choice, the number of its word in the range, from 0.
  std::vector<double> values(ConstSpan<double> point) const;
  /// Points that stand for the same values become the same point.
  void snap(std::span<double> point) const;
  /// Sets every option, or on a failure none.
  void set(ConstSpan<double> values, Options& options) const;
  /// Some option defines the prior.
  bool has_prior_option() const;
  /// All that defines it.
  void add_to(Hash& hash) const;

 private:
  struct Range {
    const OptionInfo* option;
    double low, high;  ///< of the values
    RangeScale scale;
    std::vector<std::int32_t> words;  ///< the option's numbers of a choice's words
    bool is_whole() const { return option->type != OptionType::real; }
    double value(double coordinate) const;
    double coordinate(double value) const;
  };
  void add(Range range);
  std::vector<Range> ranges_;
};

}  // namespace bdl
