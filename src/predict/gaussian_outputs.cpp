#include "predict/gaussian_outputs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/interrupt.hpp"
#include "likelihood/output_nodes.hpp"
#include "linalg/blas.hpp"
#include "linalg/eigen/eigenpairs.hpp"
#include "predict/memory.hpp"
#include "predict/overflow.hpp"
#include "predict/result.hpp"

namespace bdl {
namespace {

/// Number of samples in one product, as BLAS counts in fewer bits than samples do.
constexpr Index tile_samples = 4096;

bool overflows(ConstSpan<double> m, ConstMatrixView<double> s) {
  return !overflow::is_finite(m) ||
         !overflow::is_finite(ConstSpan<double>(s.data, static_cast<std::size_t>(s.size())));
}

Mixture one_gaussian(ConstSpan<double> m, ConstMatrixView<double> s) {
  static constexpr double one = 1;
  return {{m.data(), s.rows, 1}, {&one, 1}, s, overflows(m, s)};
}

}  // namespace

Index fitting(Index limit, Index size, Index count) {
  return std::clamp<Index>(limit / size, 1, count);
}

template <class T>
void visit_gaussian_outputs(const Query<T>& query, PredictMemory<T>& memory, GaussianVisitor visit,
                            const ChunkLimits& limits) {
  const Model<T>& model = query.model;
  const Index rows = 2 * model.parameters() * model.outputs();  // J^T and Sigma J^T of one example
  const Index chunk = fitting(limits.jacobians, rows, std::min(limits.examples, query.x.rows));
  if (!memory.linearized) memory.linearized.emplace(model);
  LinearizedOutputs<T>& outputs = *memory.linearized;
  for (Index first = 0; first < query.x.rows; first += chunk) {
    check_interrupt();
    const auto x = memory.x.matrix(model.inputs(), std::min(chunk, query.x.rows - first));
    gather_inputs(model, query.x, first, x);
    outputs.compute(query.linearized_posterior(), x);
    check_sense<T, double>(model, x, outputs.mean(), first);
    for (Index i = 0; i < x.cols; ++i) visit(first + i, outputs.mean().column(i), outputs.covariance(i));
  }
}

template <class T>
void visit_linearized(const Query<T>& query, PredictMemory<T>& memory, MixtureVisitor visit,
                      const ChunkLimits& limits) {
  const auto visit_one = [&](Index i, ConstSpan<double> m, ConstMatrixView<double> s) {
    visit(i, one_gaussian(m, s));
  };
  visit_gaussian_outputs<T>(query, memory, visit_one, limits);
}

template <class T>
void visit_quadrature(const Query<T>& query, PredictMemory<T>& memory, MixtureVisitor visit,
                      const ChunkLimits& limits) {
  if (query.model.likelihood.kind() != BDL_BERNOULLI) return visit_linearized(query, memory, visit, limits);
  NormalRule& rule = memory.rule;
  const auto visit_logit = [&](Index i, ConstSpan<double> m, ConstMatrixView<double> s) {
    if (overflows(m, s)) return visit(i, one_gaussian(m, s));
    logistic_rule(m[0], s(0, 0), rule);
    visit(i, {{rule.nodes.data(), 1, static_cast<Index>(rule.nodes.size())}, rule.weights});
  };
  visit_gaussian_outputs<T>(query, memory, visit_logit, limits);
}

template <class T>
Mixture at_nodes(const Likelihood& likelihood, const Mixture& mixture, PredictMemory<T>& memory) {
  if (!mixture.is_gaussian() || mixture.overflows || !likelihood.integrates_by_nodes()) return mixture;
  const Index outputs = mixture.f.rows;
  double largest = 0, narrowest = HUGE_VAL;  // deviation, and width in deviations
  for (Index c = 0; c < outputs; ++c) {
    const double m = mixture.f(c, 0), v = mixture.variance(c);
    largest = std::max(largest, v);
    if (v > 0) narrowest = std::min(narrowest, feature_width(likelihood, m, v) / std::sqrt(v));
  }
  NormalRule& rule = memory.rule;
  standard_rule(narrowest, std::sqrt(largest), rule);
  const auto f = memory.mixture.matrix(outputs, std::ssize(rule.nodes));
  for (Index k = 0; k < f.cols; ++k)
    for (Index c = 0; c < outputs; ++c)
      f(c, k) = mixture.f(c, 0) +
                std::sqrt(std::max(0.0, mixture.variance(c))) * rule.nodes[static_cast<std::size_t>(k)];
  return {f, rule.weights};
}

template <class T>
void draw_normals(const Query<T>& query, PredictMemory<T>& memory) {
  const Index outputs = query.model.outputs(), samples = query.spec.samples;
  if (memory.normals_drawn == samples) return;
  for (Index k = 0; k < samples; ++k)
    fill_normal<double>({query.spec.seed, Stream::prediction, 1, static_cast<std::uint32_t>(k)}, 0,
                        memory.normals.matrix(outputs, samples).column(k));
  memory.normals_drawn = samples;
}

template <class T>
void visit_linearized_samples(const Query<T>& query, PredictMemory<T>& memory, MixtureVisitor visit,
                              const ChunkLimits& limits) {
  const Index outputs = query.model.outputs(), samples = query.spec.samples;
  const double negligible = static_cast<double>(outputs) * double{std::numeric_limits<T>::epsilon()};
  draw_normals(query, memory);
  const auto z = memory.normals.matrix(outputs, samples), f = memory.mixture.matrix(outputs, samples),
             root = memory.root.matrix(outputs, outputs);
  const auto visit_draws = [&](Index i, ConstSpan<double> m, ConstMatrixView<double> s) {
    if (overflows(m, s)) return visit(i, one_gaussian(m, s));
    if (!symmetric_root(s, negligible, root, memory.scratch))
      fail(Status::ERROR_DIVERGED,
           "the covariance of the model's outputs for example %lld (counting from 0) has no root",
           static_cast<long long>(i));
    for (Index k = 0; k < samples; ++k) std::ranges::copy(m, f.column_data(k));
    for (Index k = 0; k < samples; k += tile_samples) {
      const Index count = std::min(tile_samples, samples - k);
      gemm(Op::none, Op::none, 1.0, root, z.columns(k, count), 1.0, f.columns(k, count));
    }
    visit(i, {f, equal_weights(samples, memory)});
  };
  visit_gaussian_outputs<T>(query, memory, visit_draws, limits);
}

#define BDL_INSTANTIATE(T)                                                                                \
  template Mixture at_nodes(const Likelihood&, const Mixture&, PredictMemory<T>&);                        \
  template void draw_normals(const Query<T>&, PredictMemory<T>&);                                         \
  template void visit_gaussian_outputs(const Query<T>&, PredictMemory<T>&, GaussianVisitor,               \
                                       const ChunkLimits&);                                               \
  template void visit_quadrature(const Query<T>&, PredictMemory<T>&, MixtureVisitor, const ChunkLimits&); \
  template void visit_linearized(const Query<T>&, PredictMemory<T>&, MixtureVisitor, const ChunkLimits&); \
  template void visit_linearized_samples(const Query<T>&, PredictMemory<T>&, MixtureVisitor,              \
                                         const ChunkLimits&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
