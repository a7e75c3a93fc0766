#include "evidence/minibatch_evidence.hpp"

#include <algorithm>
#include <cmath>

#include "curvature/seeds.hpp"
#include "likelihood/kinds/student_t.hpp"
#include "likelihood/shape.hpp"
#include "parallel/parallel.hpp"

namespace bdl {
namespace {

/// Returns two columns whose mean square is that of draws from q, for steps that draw no parameter vectors.
template <class T>
ConstMatrixView<T> moments(const Posterior<T>& q, Scratch& scratch) {
  const auto columns = scratch.matrix<T>(q.dimension(), 2);
  q.marginal_variance(columns.column(1), scratch);
  const T *const mean = q.mean().data(), two = 2;
  T *const of_mean = columns.column_data(0), *const deviation = columns.column_data(1);
  for_each_index(q.dimension(), [=](Index i) BDL_INLINE_LAMBDA {
    of_mean[i] = std::sqrt(two) * mean[i];
    deviation[i] = std::sqrt(two * deviation[i]);
  });
  return columns;
}

/// Returns the slope of the log density of Student-t noise by 1 / nu, summed over outputs and targets;
/// outliers increase it.
template <class T>
double degrees_slope(const Likelihood& likelihood, ConstMatrixView<T> f, ConstMatrixView<T> y) {
  const double degrees = likelihood.degrees_of_freedom();
  double slope = 0;
  for (Index j = 0; j < f.cols; ++j)
    for (Index c = 0; c < likelihood.targets(); ++c) {
      const double residual = static_cast<double>(y(c, j % y.cols)) - static_cast<double>(f(c, j));
      slope -= likelihood.weight(y.column_data(j % y.cols)) * degrees *
               student_t::score(degrees, likelihood.noise_precision(c) * residual * residual);
    }
  return slope;
}

}  // namespace

template <class T>
StepEvidence<T> MinibatchEvidence<T>::estimate(const EvidenceRequest<T>& request, const Minibatch<T>& batch) {
  return with_sums(request, batch,
                   estimator_.estimate(request.q, batch, request.options, request.draws, request.scratch));
}

template <class T>
StepEvidence<T> MinibatchEvidence<T>::estimate(const EvidenceRequest<T>& request, const Minibatch<T>& batch,
                                               const Samples<T>& samples) {
  return with_sums(
      request, batch,
      estimator_.estimate(request.q, batch, samples, request.options, request.draws, request.scratch));
}

template <class T>
StepEvidence<T> MinibatchEvidence<T>::with_sums(const EvidenceRequest<T>& request, const Minibatch<T>& batch,
                                                const Evidence<T>& evidence) {
  StepEvidence<T> out;
  out.evidence = evidence;
  out.misfits = misfits(evidence.outputs, batch, request.scratch);
  out.examples = sum_weights(model_.likelihood, batch.y);
  if (out.evidence.gradient.empty())
    estimator_.sum_rows(request.q, request.options, request.scratch, out.evidence);
  if (request.learned.noise)
    out.squared_errors = request.scratch.template take<double>(model_.likelihood.targets());
  if (request.learned.prior)
    out.prior_squares = request.scratch.template take<double>(std::ssize(request.prior.groups()));
  if (request.learned.shape)
    out.shape_sums = request.scratch.template take<double>(shape_sum_count(model_.likelihood));
  for (const auto sums : {out.squared_errors, out.prior_squares, out.shape_sums})
    std::ranges::fill(sums, 0.0);
  if (request.learned.any())
    sum_scales(request, batch, evidence, out);
  else if (request.learned.at_samples)
    rehearse_samples(request, batch.x.cols);
  return out;
}

/// Takes and gives back the memory that samples need once scales are learned from them, so that later steps
/// allocate nothing.
template <class T>
void MinibatchEvidence<T>::rehearse_samples(const EvidenceRequest<T>& request, Index examples) {
  if (examples <= rehearsed_) return;
  rehearsed_ = examples;
  Scratch& scratch = request.scratch;
  const Scratch::Frame frame(scratch);
  const auto thetas = scratch.matrix<T>(model_.parameters(), request.options.samples);
  scratch.matrix<T>(model_.outputs(), examples * request.options.samples);
  bdl::sample(request.q, StreamKey{}, thetas, scratch);
  if (const Graph<T>* const graph = model_.graph()) scratch.take<T>(graph->scratch_size(examples));
}

template <class T>
Misfits MinibatchEvidence<T>::misfits(ConstMatrixView<T> f, const Minibatch<T>& batch,
                                      Scratch& scratch) const {
  if (f.cols == 0) return {};  // integrals have no outputs
  const Scratch::Frame frame(scratch);
  const auto zeros = scratch.take<T>(f.rows);
  std::ranges::fill(zeros, T(0));
  const Likelihood& likelihood = model_.likelihood;
  const ConstMatrixView<T> y = batch.y;
  const double examples = sum_weights(likelihood, y);
  Misfits sums{0, 0, examples * static_cast<double>(f.cols) / static_cast<double>(y.cols), examples};
  for (Index i = 0; i < y.cols; ++i) {
    std::copy_n(batch.x.column_data(i) + model_.features(), model_.offsets(), zeros.data());
    sums.zeros += likelihood.weight(y.column_data(i)) * likelihood.misfit(zeros.data(), y.column_data(i));
  }
  for (Index j = 0; j < f.cols; ++j)
    sums.outputs += likelihood.weight(y.column_data(j % y.cols)) *
                    likelihood.misfit(f.column_data(j), y.column_data(j % y.cols));
  return sums;
}

template <class T>
void MinibatchEvidence<T>::sum_scales(const EvidenceRequest<T>& request, const Minibatch<T>& batch,
                                      Evidence<T> evidence, StepEvidence<T>& out) {
  const LearnedScales& learned = request.learned;
  Scratch& scratch = request.scratch;
  const Scratch::Frame frame(scratch);
  if (learned.at_samples)
    estimator_.sample(request.q, batch, request.options, request.draws, scratch, evidence);
  if (learned.noise) sum_squared_errors<T>(model_.likelihood, evidence.outputs, batch.y, out.squared_errors);
  if (learned.degrees) {
    out.degrees_slope = degrees_slope<T>(model_.likelihood, evidence.outputs, batch.y);
    const Index samples = evidence.outputs.cols / batch.y.cols;
    out.degrees_count = out.examples * static_cast<double>(samples * model_.likelihood.targets());
  }
  if (learned.shape)
    for (Index j = 0; j < evidence.outputs.cols; ++j)
      add_shape_terms(model_.likelihood, evidence.outputs.column_data(j),
                      batch.y.column_data(j % batch.y.cols),
                      model_.likelihood.weight(batch.y.column_data(j % batch.y.cols)), out.shape_sums);
  if (!learned.prior) return;
  request.prior.mean_squares(evidence.noise ? moments(request.q, scratch) : evidence.thetas,
                             out.prior_squares);
}

template class MinibatchEvidence<float>;
template class MinibatchEvidence<double>;

}  // namespace bdl
