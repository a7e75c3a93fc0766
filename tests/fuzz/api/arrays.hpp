// Arguments of a call: matrices of every layout and type in memory of exactly their size, and places for
// results, which are poisoned before the call and examined after it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bdl/bdl.h"
#include "fuzz/api/bytes.hpp"

namespace fuzz {

/// Meanings of the numbers of an input.
enum class Kind { real, positive, unit, probabilities, binary, label, count, covariance, sorted };

/// Whether BDL_OK promises finite numbers; or_infinite: no NaN, as of predictions.
enum class Finite { yes, or_infinite, or_not };

class Arrays {
 public:
  /// `faulty`: arguments may be wrong. `classes`: of labels.
  bdl_matrix in(Bytes& bytes, bool faulty, std::int64_t rows, std::int64_t cols, Kind kind,
                std::int64_t classes);
  bdl_matrix_out out(Bytes& bytes, bool faulty, std::int64_t rows, std::int64_t cols, Finite finite);

  double* real(Finite finite) { return scalar<double>(finite == Finite::yes ? Rule::finite : Rule::any); }
  std::int64_t* integer() { return scalar<std::int64_t>(Rule::any); }
  std::int32_t* small_integer() { return scalar<std::int32_t>(Rule::any); }
  const char** text() { return scalar<const char*>(Rule::text); }
  template <class T>
  T* any() {
    return scalar<T>(Rule::any);
  }

  /// "" or what is wrong with the results of a call that has succeeded (failed).
  std::string written() const;
  std::string untouched() const;
  /// Returns a hash of the results' numbers and texts.
  std::uint64_t hash(std::uint64_t before) const;
  void clear();

 private:
  enum class Rule { any, number, finite, text };
  struct Result {
    std::vector<unsigned char> bytes;
    Rule rule;
    bool scalar = true;
    bdl_matrix_out view{};  ///< of a matrix; data is NULL if it has no elements
  };
  static constexpr unsigned char poison = 0xff;  // NaN as a number

  template <class T>
  T* scalar(Rule rule) {
    results_.push_back(std::make_unique<Result>());
    Result& result = *results_.back();
    result.bytes.assign(sizeof(T), poison);
    result.rule = rule;
    return reinterpret_cast<T*>(result.bytes.data());
  }
  static std::string problem_of(const Result& result);

  std::vector<std::unique_ptr<Result>> results_;
  std::vector<std::vector<unsigned char>> inputs_;
};

/// Element (i, j) of either floating type.
double read(const bdl_matrix& m, std::int64_t i, std::int64_t j);
void write(const bdl_matrix_out& m, std::int64_t i, std::int64_t j, double value);

}  // namespace fuzz
