// The binary data sets of Table 1, their published splits, and what the paper learns them with.
#ifndef SLANG_LOGISTIC_HPP
#define SLANG_LOGISTIC_HPP

#include <string>
#include <vector>

#include "support/handles.hpp"

namespace slang {

using namespace support;

/// Precision of the bias, which is the first feature.
constexpr double bias_precision = 1e-5;

struct DataSet {
  const char* name;
  int64_t features;
  double prior_precision;  ///< of all parameters but the bias
  int64_t minibatch;
  int splits;  ///< 1: the file NAME.t is the test set
};

const std::vector<DataSet>& data_sets();

struct Split {
  Data train, test;
};

/// Rows as in the paper's runs: argsort of the uniform numbers of numpy's RandomState(split), whose first
/// half trains. Labels are 0 and 1 (the larger one in the file), a column of ones comes first.
Split read_split(const std::string& folder, const DataSet& set, int split);

/// A method of the library, told apart from others by label and rank.
struct Method {
  const char* label;
  const char* name;
  const char* family;  ///< "low-rank" or "full"
  int64_t rank;
  int64_t iterations;  ///< at most, on all rows; 0: the paper's course on minibatches
  std::vector<const char*> options;
};

struct Learner {
  Model model;
  Posterior posterior;
  Optimizer optimizer;
};

/// Logistic regression with the set's prior; inputs include the ones. Starts from mu = 0, Sigma = I unless a
/// posterior is given.
Learner logistic_learner(const DataSet& set, const Method& method, int64_t rows, int64_t seed,
                         Posterior start = nullptr);

/// A network of one layer of hidden ReLU units and one output, with a blank posterior of the method's rank.
Learner network_learner(int64_t inputs, int64_t hidden, bdl_likelihood likelihood, const Method& method,
                        int64_t rows);

/// Returns the bias's part of the prior's normaliser, which the paper's -ELBO / N lacks.
double bias_normaliser(const Data& train);

/// -ELBO / N by exact one-dimensional integrals, or by samples.
double minus_elbo(const Learner& learner, const Data& train, int64_t samples = 0);

/// Mean over the test set of minus the log predictive density, in nats; exact, or by samples.
double test_nll(const Learner& learner, const Data& test, int64_t samples = 0);

}  // namespace slang

#endif
