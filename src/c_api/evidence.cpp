#include <string_view>

#include "bdl/optimizer.h"
#include "c_api/convert.hpp"
#include "c_api/guard.hpp"
#include "c_api/handles.hpp"
#include "model/noise_units.hpp"
#include "train/approximate/laplace.hpp"

namespace bdl {
namespace {

/// Returns the prior's precisions, or those given: one for all, one a group, or one a parameter.
template <class T>
GroupedPrecisions precisions_from(const Optimizer<T>& optimizer, const Array& given_values) {
  GroupedPrecisions prior = optimizer.prior().grouped();
  if (!given(given_values)) return prior;
  const Index groups = optimizer.prior().is_fixed() ? 1 : prior.groups(),
              dimension = optimizer.posterior()->dimension(), count = given_values.cols;
  if (optimizer.prior().posterior())
    fail(Status::ERROR_UNSUPPORTED,
         "the prior is given by parameter or as a posterior: leave prior_precision out");
  if (given_values.rows != 1 || (count != 1 && count != groups && count != dimension))
    fail(Status::ERROR_SHAPE, "prior_precision is %lld x %lld, expected 1 x 1, 1 x %lld (groups) or 1 x %lld",
         static_cast<long long>(given_values.rows), static_cast<long long>(count),
         static_cast<long long>(groups), static_cast<long long>(dimension));
  check_positive<double>(given_values, "prior_precision");
  if (count == dimension && count != groups && count > 1) {
    for (Index j = 0; j < dimension; ++j) prior.scale[at(j)] = element(given_values, 0, j);
    prior.values.assign(prior.values.size(), 1);
    return prior;
  }
  if (optimizer.prior().is_fixed()) prior.scale.assign(at(dimension), 1);
  for (Index g = 0; g < prior.groups(); ++g)
    prior.values[at(g)] = element(given_values, 0, count == 1 ? 0 : g);
  return prior;
}

/// Returns the factor of the noise precisions given on those of the model.
template <class T>
double noise_factor_from(const Optimizer<T>& optimizer, const Array& given_values) {
  if (!given(given_values)) return 1;
  const Model<T>& model = model_of(optimizer);
  const Likelihood& likelihood = model.likelihood;
  if (likelihood.kind() != BDL_GAUSSIAN || likelihood.noise_covariance().given())
    fail(Status::ERROR_UNSUPPORTED,
         "noise_precision is for Gaussian likelihoods without covariances of targets: leave it out");
  check_shape(given_values, 1, given_values.cols == 1 ? 1 : likelihood.targets(), "noise_precision");
  check_positive<double>(given_values, "noise_precision");
  const std::vector<double> now = caller_noise_precision(likelihood, model.standardization);
  const auto ratio = [&](Index c) {
    return element(given_values, 0, given_values.cols == 1 ? 0 : c) / now[now.size() == 1 ? 0 : at(c)];
  };
  for (Index c = 1; c < std::max(given_values.cols, std::ssize(now)); ++c)
    if (std::abs(ratio(c) / ratio(0) - 1) > 1e-9)
      fail(Status::ERROR_UNSUPPORTED,
           "noise_precision has other ratios than the model's noise: set that, and call "
           "bdl_optimizer_laplace() again");
  return ratio(0);
}

EvidenceSearch search_from(const char* of) {
  const std::string_view word(of);
  EvidenceSearch search{word == "prior" || word == "prior noise", word == "noise" || word == "prior noise"};
  if (!search.prior && !search.noise)
    fail(Status::ERROR_INVALID_ARGUMENT, R"(of is "%.40s", expected "prior", "noise" or "prior noise")", of);
  return search;
}

}  // namespace
}  // namespace bdl

using namespace bdl;

bdl_status bdl_optimizer_evidence(const bdl_optimizer* optimizer, bdl_matrix prior_precision,
                                  bdl_matrix noise_precision, double* log_evidence, double* log_likelihood,
                                  double* effective_parameters) {
  return interruptible_guard(__func__, optimizer, "optimizer", [&](const auto& o) {
    model_of(o);
    const LogEvidence evidence =
        evidence_of(o, precisions_from(o, prior_precision), noise_factor_from(o, noise_precision));
    if (log_evidence) *log_evidence = evidence.value;
    if (log_likelihood) *log_likelihood = evidence.log_likelihood;
    if (effective_parameters) *effective_parameters = evidence.effective_parameters;
  });
}

bdl_status bdl_optimizer_maximize_evidence(bdl_optimizer* optimizer, const char* of, double* log_evidence,
                                           int64_t* steps) {
  return guard(__func__, [&] {
    with_training(optimizer, [&](auto& o) {
      not_null(of, "of");
      const EvidenceSearch search = search_from(of);
      model_of(o);
      const Index taken = maximize_evidence(o, search).steps;
      if (log_evidence) *log_evidence = evidence_of(o, o.prior().grouped(), 1).value;
      if (steps) *steps = taken;
    });
  });
}

bdl_status bdl_optimizer_mode_gap(const bdl_optimizer* optimizer, bdl_matrix x, bdl_matrix y, double* gap) {
  return interruptible_guard(__func__, optimizer, "optimizer", [&](const auto& o) {
    not_null(gap, "gap");
    check_data(model_of(o), x, y);
    ArrayData data(x, y);
    *gap = mode_gap(o, data);
  });
}
