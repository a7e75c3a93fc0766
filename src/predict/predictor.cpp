#include "predict/predictor.hpp"

namespace bdl {
namespace {

/// Of rules whose number of nodes goes by what is predicted: that of x of 1e6 standard deviations, and the
/// most that heteroscedastic noise takes.
constexpr std::size_t most_nodes = 4096, most_parts = 9400;

}  // namespace

template <class T>
Predictor<T>::Predictor(const Model<T>& model, const Posterior<T>& posterior, const PredictSpec& spec)
    : spec_(spec) {
  check_spec(model, posterior, spec);
  model_ = model.clone();
  posterior_ = posterior.clone();
  reserve_rules();
  keep_draws(query({}));
}

template <class T>
void Predictor<T>::reserve_rules() {
  const bdl_likelihood kind = model_->likelihood.kind();
  if (kind == BDL_BERNOULLI && spec_.method == BDL_QUADRATURE) {
    memory_.rule.reserve(most_nodes);
    memory_.numbers.reserve(most_nodes);  // their moments
  }
  if (kind == BDL_BERNOULLI && spec_.method == BDL_LINEARIZED) memory_.information_rule.reserve(most_nodes);
  if (kind == BDL_HETEROSCEDASTIC && spec_.method == BDL_LINEARIZED)
    memory_.components.parts.reserve(most_parts);
}

template class Predictor<float>;
template class Predictor<double>;

}  // namespace bdl
