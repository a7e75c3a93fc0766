#include "bits/learned.hpp"

#include <numeric>

namespace bits {
namespace {

constexpr std::int64_t predicted_rows = 3, samples = 8;

/// Most entries of a covariance that are read: all of small posteriors, a corner of large ones.
constexpr std::int64_t most_covariance_rows = 64;

/// Room for an output. What its function wrote counts, or else why it did not.
class Output {
 public:
  Output(std::int64_t rows, std::int64_t cols)
      : rows_(rows), cols_(cols), values_(static_cast<std::size_t>(rows * cols)) {}
  bdl_matrix_out out() { return bdl_f64_out(values_.data(), rows_, cols_); }
  void add_to(Hash& hash, bdl_status status) const {
    hash.add_number(static_cast<std::int32_t>(status));
    if (status == BDL_OK) hash.add(values_.data(), values_.size() * sizeof(double));
  }

 private:
  std::int64_t rows_, cols_;
  std::vector<double> values_;
};

void add_covariance(Hash& hash, const bdl_posterior* q) {
  std::vector<std::int64_t> indices(
      static_cast<std::size_t>(std::min(bdl_posterior_dimension(q), most_covariance_rows)));
  std::iota(indices.begin(), indices.end(), 0);
  const auto count = static_cast<std::int64_t>(indices.size());
  Output covariance(count, count);
  covariance.add_to(
      hash, bdl_posterior_covariance(q, indices.data(), count, indices.data(), count, covariance.out()));
}

void add_posterior(Hash& hash, const bdl_posterior* q) {
  const std::int64_t dimension = bdl_posterior_dimension(q), rank = bdl_posterior_rank(q);
  Output mean(1, dimension), precision(1, dimension), variance(1, dimension);
  mean.add_to(hash, bdl_posterior_mean(q, mean.out()));
  precision.add_to(hash, bdl_posterior_precision_diagonal(q, precision.out()));
  variance.add_to(hash, bdl_posterior_marginal_variance(q, variance.out()));
  if (bdl_posterior_family(q) == BDL_LOW_RANK) {
    Output low_rank(dimension, rank), diagonal(1, dimension);
    const bdl_matrix_out u = rank > 0 ? low_rank.out() : bdl_none_out();
    const bdl_status status = bdl_posterior_get_low_rank(q, u, diagonal.out());
    low_rank.add_to(hash, status);
    diagonal.add_to(hash, status);
  }
  add_covariance(hash, q);
}

void add_scales(Hash& hash, const Learner& learner) {
  const bdl_model* model = learner.model.get();
  Output shared(1, 1), noise(1, bdl_model_targets(model)), prior(1, bdl_model_parameters(model));
  shared.add_to(hash, bdl_model_get_noise_precision(model, shared.out()));
  noise.add_to(hash, bdl_model_get_noise_precision(model, noise.out()));
  prior.add_to(hash, bdl_optimizer_get_prior(learner.optimizer.get(), prior.out()));
  double degrees = 0;
  hash.add_number(static_cast<std::int32_t>(bdl_model_get_degrees_of_freedom(model, &degrees)));
  hash.add_number(degrees);
}

void add_course(Hash& hash, const bdl_optimizer* optimizer) {
  std::int64_t step = 0, planned = 0, count = 0;
  double epoch = 0, score = 0, error = 0, loss = 0, kl = 0;
  (void)bdl_optimizer_progress(optimizer, &step, &planned, &epoch);
  (void)bdl_optimizer_prequential(optimizer, &count, &score, &error);
  (void)bdl_optimizer_running_elbo(optimizer, &loss, &kl);
  for (const std::int64_t number : {step, planned, count, bdl_optimizer_guarded_steps(optimizer),
                                    bdl_optimizer_shortened_steps(optimizer)})
    hash.add_number(number);
  for (const double number : {epoch, count > 0 ? score : 0, count > 0 ? error : 0, loss, kl})
    hash.add_number(number);
}

void add_predictions(Hash& hash, const Problem& problem, const Learner& learner) {
  const std::int64_t outputs = bdl_model_outputs(learner.model.get()),
                     columns = problem.likelihood == BDL_HETEROSCEDASTIC ? outputs / 2 : outputs;
  const bdl_matrix x = problem.x.first(predicted_rows);
  for (const bdl_predict_method method :
       {BDL_MONTE_CARLO, BDL_PLUG_IN, BDL_QUADRATURE, BDL_LINEARIZED_MONTE_CARLO, BDL_LINEARIZED}) {
    Output mean(predicted_rows, columns), epistemic(predicted_rows, columns), noise(predicted_rows, columns);
    const bdl_status status = bdl_predict(learner.model.get(), learner.posterior.get(), x, method, samples, 1,
                                          mean.out(), epistemic.out(), noise.out());
    for (const Output* output : {&mean, &epistemic, &noise}) output->add_to(hash, status);
  }
}

}  // namespace

void Hash::add(const void* bytes, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i)
    value_ = (value_ ^ static_cast<const unsigned char*>(bytes)[i]) * 0x100000001b3U;
}

void add_learned(Hash& hash, const Problem& problem, const Learner& learner) {
  add_posterior(hash, learner.posterior.get());
  add_scales(hash, learner);
  add_course(hash, learner.optimizer.get());
  add_predictions(hash, problem, learner);
}

}  // namespace bits
