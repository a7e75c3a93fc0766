#include <vector>

#include "predict/mixture_quantile.hpp"
#include "predict/predict.hpp"
#include "predict/result.hpp"

namespace bdl {
namespace {

void check_kind(const Likelihood& likelihood) {
  if (likelihood.kind() != BDL_GAUSSIAN && likelihood.kind() != BDL_POISSON)
    fail(Status::ERROR_UNSUPPORTED, "the likelihood has no quantiles, expected BDL_GAUSSIAN or BDL_POISSON");
}

void check_probability(double value, const char* name) {
  if (!(value > 0 && value < 1))
    fail(Status::ERROR_INVALID_ARGUMENT, "%s is %g, expected a number strictly between 0 and 1", name, value);
}

template <class T>
double quantile(const Model<T>& model, const Mixture& mixture, Index c, Tail tail) {
  if (model.likelihood.kind() == BDL_POISSON) return poisson_quantile(mixture, c, tail);
  return model.standardization.to_caller(c, gaussian_quantile(model.likelihood, mixture, c, tail));
}

std::vector<Tail> checked_tails(const Array& levels) {
  check_shape(levels, 1, -1, "levels");
  check_finite(levels, "levels");
  std::vector<Tail> tails;
  for (Index k = 0; k < levels.cols; ++k) {
    check_probability(element(levels, 0, k), "levels");
    tails.push_back(tail_at(element(levels, 0, k)));
  }
  return tails;
}

}  // namespace

template <class T>
void predict_quantiles(const Query<T>& query, const Array& levels, const Array& quantiles) {
  const Likelihood& likelihood = query.model.likelihood;
  check_kind(likelihood);
  check_query(query);
  const std::vector<Tail> tails = checked_tails(levels);
  const Index outputs = likelihood.outputs();
  Result result(quantiles, query.x.rows, outputs * levels.cols, "quantiles");
  visit_mixtures(query, [&](Index i, const Mixture& mixture) {
    double* value = result.row(i).data();
    for (Index c = 0; c < outputs; ++c)
      for (const Tail tail : tails) *value++ = quantile(query.model, mixture, c, tail);
  });
  write_results(result);
}

template <class T>
void predict_interval(const Query<T>& query, double probability, const Array& lower, const Array& upper) {
  const Likelihood& likelihood = query.model.likelihood;
  check_kind(likelihood);
  check_query(query);
  check_probability(probability, "probability");
  const Index outputs = likelihood.outputs();
  Result from(lower, query.x.rows, outputs, "lower"), to(upper, query.x.rows, outputs, "upper");
  const double outside = (1 - probability) / 2;
  visit_mixtures(query, [&](Index i, const Mixture& mixture) {
    for (Index c = 0; c < outputs; ++c) {
      from(i, c) = quantile(query.model, mixture, c, {outside, false});
      to(i, c) = quantile(query.model, mixture, c, {outside, true});
    }
  });
  write_results(from, to);
}

#define BDL_INSTANTIATE(T)                                                      \
  template void predict_quantiles(const Query<T>&, const Array&, const Array&); \
  template void predict_interval(const Query<T>&, double, const Array&, const Array&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
