#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "predict/predict.hpp"
#include "predict/result.hpp"

namespace bdl {
namespace {

/// -p log p, in nats.
double surprise(double p) {
  return p > 0 ? -p * std::log(p) : 0;
}

/// Entropies of y given its probabilities: one of a categorical y, one per output of a Bernoulli y.
void add_entropies(const Likelihood& likelihood, std::span<const double> p, double weight,
                   std::span<double> out) {
  const bool categorical = likelihood.kind() == BDL_CATEGORICAL;
  for (std::size_t c = 0; c < p.size(); ++c)
    out[categorical ? 0 : c] += weight * (surprise(p[c]) + (categorical ? 0 : surprise(1 - p[c])));
}

/// Mutual information of y and theta: H(E p) - E H(p) (Houlsby et al. 2011).
class ClassCalculator {
 public:
  explicit ClassCalculator(const Likelihood& likelihood)
      : likelihood_(likelihood),
        p_(static_cast<std::size_t>(likelihood.outputs())),
        variance_(p_.size()),
        expected_entropy_(p_.size()) {}

  void operator()(const Mixture& mixture, std::span<double> probabilities, std::span<double> entropy,
                  std::span<double> information) {
    for (const auto& row : {probabilities, entropy, std::span(expected_entropy_)})
      std::ranges::fill(row, 0.0);
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
  const Likelihood& likelihood_;
  std::vector<double> p_, variance_, expected_entropy_;
};

}  // namespace

template <class T>
void predict_classes(const Query<T>& query, const Array& probabilities, const Array& entropy,
                     const Array& mutual_information) {
  const Likelihood& likelihood = query.model.likelihood;
  if (likelihood.kind() != BDL_BERNOULLI && likelihood.kind() != BDL_CATEGORICAL)
    fail(Status::ERROR_UNSUPPORTED,
         "the likelihood has no classes, expected BDL_BERNOULLI or BDL_CATEGORICAL");
  check_query(query);
  const Index rows = query.x.rows, targets = likelihood.targets();
  Result p(probabilities, rows, likelihood.outputs(), "probabilities");
  Result entropies(entropy, rows, targets, "entropy");
  Result information(mutual_information, rows, targets, "mutual_information");
  ClassCalculator calculate(likelihood);
  visit_mixtures(query, [&](Index i, const Mixture& mixture) {
    calculate(mixture, p.row(i), entropies.row(i), information.row(i));
  });
  write_results(p, entropies, information);
}

template void predict_classes(const Query<float>&, const Array&, const Array&, const Array&);
template void predict_classes(const Query<double>&, const Array&, const Array&, const Array&);

}  // namespace bdl
