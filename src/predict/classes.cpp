#include <algorithm>
#include <cmath>
#include <span>

#include "likelihood/gaussian_integrals.hpp"
#include "likelihood/linearized_density.hpp"
#include "predict/gaussian_outputs.hpp"
#include "predict/memory.hpp"
#include "predict/overflow.hpp"
#include "predict/predict.hpp"
#include "predict/result.hpp"

namespace bdl {
namespace {

/// Computes probabilities, entropy, and mutual information of y and theta, H(E p) - E H(p) (Houlsby et al.
/// 2011).
class ClassCalculator {
 public:
  template <class T>
  ClassCalculator(const Likelihood& likelihood, PredictMemory<T>& memory)
      : likelihood_(likelihood), one_output_(memory.one_output), rule_(memory.information_rule) {
    const Index outputs = likelihood.moment_count();
    const auto rows = memory.numbers.matrix(outputs, 3);
    p_ = rows.column(0);
    variance_ = rows.column(1);
    expected_entropy_ = rows.column(2);
  }

  void operator()(const Mixture& mixture, std::span<double> probabilities, std::span<double> entropy,
                  std::span<double> information) {
    for (const auto& row : {probabilities, entropy, expected_entropy_}) std::ranges::fill(row, 0.0);
    if (mixture.overflows) {
      overflow::fill_classes(likelihood_, probabilities);
      std::ranges::fill(information, 0.0);
      return add_entropies(likelihood_, probabilities, 1, entropy);
    }
    if (mixture.is_gaussian()) return probit(mixture, probabilities, entropy, information);
    for (Index k = 0; k < mixture.components(); ++k) {
      likelihood_.moments(mixture.f.column_data(k), p_.data(), variance_.data());
      for (std::size_t c = 0; c < p_.size(); ++c) probabilities[c] += mixture.weight(k) * p_[c];
      add_entropies(likelihood_, p_, mixture.weight(k), expected_entropy_);
    }
    for (double& p : probabilities) p = std::min(p, 1.0);
    add_entropies(likelihood_, probabilities, 1, entropy);
    for (std::size_t c = 0; c < entropy.size(); ++c)
      information[c] = std::max(0.0, entropy[c] - expected_entropy_[c]);
  }

 private:
  /// Integrates the information of a Bernoulli output, as the difference of two approximate entropies could
  /// have either sign.
  void probit(const Mixture& mixture, std::span<double> probabilities, std::span<double> entropy,
              std::span<double> information) {
    probit_logits(mixture.f.column(0), mixture.covariance, p_.data());
    likelihood_.moments(p_.data(), probabilities.data(), variance_.data());
    add_entropies(likelihood_, probabilities, 1, entropy);
    for (std::size_t c = 0; likelihood_.kind() == BDL_BERNOULLI && c < information.size(); ++c)
      information[c] =
          logistic_information(mixture.f(static_cast<Index>(c), 0), mixture.variance(static_cast<Index>(c)));
  }

  /// Returns H(E p) - E H(p) for the logit f ~ N(m, v).
  double logistic_information(double m, double v) {
    if (!one_output_) one_output_.emplace(BDL_BERNOULLI, 1);
    logistic_rule(m, v, rule_);
    double mean = 0, expected_entropy = 0;
    for (std::size_t k = 0; k < rule_.nodes.size(); ++k) {
      double p, variance;
      one_output_->moments(&rule_.nodes[k], &p, &variance);
      mean += rule_.weights[k] * p;
      expected_entropy += rule_.weights[k] * (surprise(p) + surprise(1 - p));
    }
    mean = std::min(mean, 1.0);
    return std::max(0.0, surprise(mean) + surprise(1 - mean) - expected_entropy);
  }

  const Likelihood& likelihood_;
  std::optional<Likelihood>& one_output_;
  NormalRule& rule_;
  std::span<double> p_, variance_, expected_entropy_;
};

}  // namespace

template <class T>
void predict_classes(const Query<T>& query, const OutArray& probabilities, const OutArray& entropy,
                     const OutArray& mutual_information) {
  const Likelihood& likelihood = query.model.likelihood;
  if (!has_classes(likelihood))
    fail(Status::ERROR_UNSUPPORTED,
         "the likelihood has no classes, expected a likelihood of classes or levels");
  if (query.spec.method == BDL_LINEARIZED && likelihood.kind() == BDL_CATEGORICAL &&
      given(mutual_information))
    fail(
        Status::ERROR_UNSUPPORTED,
        "mutual_information is not given by the probit approximation of a categorical likelihood: use method "
        "linearized_monte_carlo, or do not ask for it");
  check_query(query);
  const Index rows = query.x.rows, targets = likelihood.targets();
  const MemoryOf<T> memory(query);
  Result p(memory->results[0], probabilities, rows, likelihood.moment_count(), "probabilities");
  Result entropies(memory->results[1], entropy, rows, targets, "entropy");
  Result information(memory->results[2], mutual_information, rows, targets, "mutual_information");
  ClassCalculator calculate(likelihood, *memory);
  visit_mixtures(query, [&](Index i, const Mixture& mixture) {
    calculate(at_nodes(likelihood, mixture, *memory), p.row(i), entropies.row(i), information.row(i));
  });
  write_predictions(p, entropies, information);
}

template void predict_classes(const Query<float>&, const OutArray&, const OutArray&, const OutArray&);
template void predict_classes(const Query<double>&, const OutArray&, const OutArray&, const OutArray&);

}  // namespace bdl
