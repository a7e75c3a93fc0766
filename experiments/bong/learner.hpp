// Owns the handles of a network, a posterior and an optimizer that learns online.
#ifndef BONG_LEARNER_HPP
#define BONG_LEARNER_HPP

#include <bdl/bdl.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/handles.hpp"

namespace bong {

using namespace support;

struct Network {
  std::vector<int64_t> sizes;
  bdl_likelihood likelihood;
  double noise_precision;
  bdl_dtype dtype;
  const char* initialization = "uniform_fan_in";
};

/// One of the paper's algorithms. Family: "diagonal", "diagonal-moment", "full", "full-moment" or
/// "low-rank-R". The rule may be any method of the library; iterations are those of blr and bbb, samples
/// those of mc-ef and mc-ggn.
struct Algorithm {
  std::string rule, curvature, family;
  double rate = 1;
  int iterations = 1, samples = 10;
  double prior_precision = 1;
  int64_t seed = 1;
};

class Learner {
 public:
  /// data_size matters to batch methods only, which have no score: null.
  Learner(const Network& network, const Algorithm& algorithm, const char* score, int64_t data_size = 1);

  bdl_model* model() const { return model_.get(); }
  bdl_posterior* belief() const { return belief_.get(); }
  bdl_optimizer* optimizer() const { return optimizer_.get(); }
  bool regression() const { return regression_; }
  void set(const char* option, double value) const {
    check(bdl_optimizer_set_double(optimizer_.get(), option, value));
  }
  /// False where the algorithm left the numbers it can live with.
  bool observe(const Data& data, int64_t first, int64_t count) const;

 private:
  bool regression_;
  Model model_;
  Posterior belief_;
  Optimizer optimizer_;
};

/// Means over a test set: minus the log predictive density, and the share of errors or the root mean squared
/// error.
struct Score {
  double nlpd, error;
};

Score evaluate(const Learner& learner, const Data& test, bdl_predict_method method, int64_t samples);

}  // namespace bong

#endif
