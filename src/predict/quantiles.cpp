#include <vector>

#include "predict/gaussian_outputs.hpp"
#include "predict/memory.hpp"
#include "predict/mixture_quantile.hpp"
#include "predict/overflow.hpp"
#include "predict/predict.hpp"
#include "predict/result.hpp"

namespace bdl {
namespace {

/// Computes quantiles of one target after the other, in the caller's units.
template <class T>
class Quantiles {
 public:
  Quantiles(const Model<T>& model, Components& components) : model_(model), components_(components) {}

  /// Chooses the target of the next calls.
  void assign(const Mixture& mixture, Index c) {
    mixture_ = &mixture;
    c_ = c;
    if (!mixture.overflows && kind() != BDL_GAUSSIAN && kind() != BDL_POISSON)
      find_components(model_.likelihood, mixture, c, components_);
  }
  double operator()(Tail tail) const {
    if (mixture_->overflows)
      return overflow::quantile(model_.likelihood, overflow::mean(*mixture_, c_), tail);
    if (overflow::has_log_means(model_.likelihood) && kind() != BDL_POISSON)
      return log_mean_quantile(model_.likelihood, components_, tail);
    if (kind() == BDL_POISSON) return poisson_quantile(model_.likelihood, *mixture_, c_, tail);
    return model_.standardization.to_caller(
        c_, kind() == BDL_GAUSSIAN ? gaussian_quantile(model_.likelihood, *mixture_, c_, tail)
                                   : component_quantile(components_, tail));
  }

 private:
  bdl_likelihood kind() const { return model_.likelihood.kind(); }
  const Model<T>& model_;
  const Mixture* mixture_ = nullptr;
  Index c_ = 0;
  Components& components_;
};

}  // namespace

void check_has_quantiles(const Likelihood& likelihood) {
  if (has_classes(likelihood))
    fail(Status::ERROR_UNSUPPORTED,
         "the likelihood has no quantiles, expected a likelihood of numbers or counts");
}

void check_probability(double value, const char* name) {
  if (!(value > 0 && value < 1))
    fail(Status::ERROR_INVALID_ARGUMENT, "%s is %g, expected a number strictly between 0 and 1", name, value);
}

void read_levels(const Array& levels, std::vector<Tail>& tails) {
  check_shape(levels, 1, -1, "levels");
  check_finite(levels, "levels");
  tails.clear();
  for (Index k = 0; k < levels.cols; ++k) {
    check_probability(element(levels, 0, k), "levels");
    tails.push_back(tail_at(element(levels, 0, k)));
  }
}

template <class T>
void predict_quantiles(const Query<T>& query, const Array& levels, const OutArray& quantiles) {
  const Likelihood& likelihood = query.model.likelihood;
  check_has_quantiles(likelihood);
  check_query(query);
  const MemoryOf<T> memory(query);
  read_levels(levels, memory->tails);
  const Index outputs = likelihood.means();
  Quantiles<T> quantile(query.model, memory->components);
  Result result(memory->results[0], quantiles, query.x.rows, outputs * levels.cols, "quantiles");
  visit_mixtures(query, [&](Index i, const Mixture& found) {
    const Mixture mixture = at_nodes(likelihood, found, *memory);
    double* value = result.row(i).data();
    for (Index c = 0; c < outputs; ++c) {
      quantile.assign(mixture, c);
      for (const Tail tail : memory->tails) *value++ = quantile(tail);
    }
  });
  write_predictions(result);
}

template <class T>
void predict_interval(const Query<T>& query, double probability, const OutArray& lower,
                      const OutArray& upper) {
  const Likelihood& likelihood = query.model.likelihood;
  check_has_quantiles(likelihood);
  check_query(query);
  check_probability(probability, "probability");
  const MemoryOf<T> memory(query);
  const Index outputs = likelihood.means();
  Quantiles<T> quantile(query.model, memory->components);
  Result from(memory->results[0], lower, query.x.rows, outputs, "lower"),
      to(memory->results[1], upper, query.x.rows, outputs, "upper");
  const double outside = (1 - probability) / 2;
  visit_mixtures(query, [&](Index i, const Mixture& found) {
    const Mixture mixture = at_nodes(likelihood, found, *memory);
    for (Index c = 0; c < outputs; ++c) {
      quantile.assign(mixture, c);
      from(i, c) = quantile({outside, false});
      to(i, c) = quantile({outside, true});
    }
  });
  write_predictions(from, to);
}

#define BDL_INSTANTIATE(T)                                                         \
  template void predict_quantiles(const Query<T>&, const Array&, const OutArray&); \
  template void predict_interval(const Query<T>&, double, const OutArray&, const OutArray&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
