// The methods beside each other, and what is tried of each on rows held out.
#ifndef VOGN_METHODS_HPP
#define VOGN_METHODS_HPP

#include <bdl/bdl.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace vogn {

enum class Family { diagonal, low_rank, low_rank_moment, kronecker, dropout };

/// decay: prior precision per example, the weight decay of other libraries. rate: of dropout.
struct Trial {
  std::string options;
  double decay = 1e-4, rate = 0;
};

constexpr std::size_t trials_each = 3;

struct Method {
  const char *label, *method;
  Family family;
  int64_t rank;
  bdl_predict_method prediction;
  std::string options;
  std::array<Trial, trials_each> trials;
  int64_t members = 1;  ///< of an ensemble, which has the settings of "adam"
};

constexpr int64_t draws = 10;  ///< of Monte-Carlo predictions, as published

std::span<const Method> all_methods();
/// Ends the program where there is none.
const Method& find_method(const std::string& label);

/// VOGN as the specification of the protocol begins: for what tau, delta and K do to it.
Trial vogn_trial(const std::string& options, double decay);

}  // namespace vogn

#endif
