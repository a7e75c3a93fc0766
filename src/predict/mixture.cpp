#include "predict/mixture.hpp"

#include <algorithm>
#include <vector>

#include "base/interrupt.hpp"
#include "posterior/dropout/dropout.hpp"
#include "predict/gaussian_outputs.hpp"
#include "predict/sense.hpp"

namespace bdl {
namespace {

/// The streams of draws count samples in 32 bits.
constexpr Index most_samples = Index{1} << 31;

/// Examples whose activations stay in the cache from one layer to the next.
constexpr Index tile_examples = 512;

/// Copies one sample's outputs, C x examples, to component k of every example.
template <class T>
void store(ConstMatrixView<T> f, Index first, Index k, Index samples, T* all) {
  for (Index i = 0; i < f.cols; ++i) {
    T* component = all + (i * samples + k) * f.rows;
    for (Index c = 0; c < f.rows; ++c) {
      require_finite(static_cast<double>(f(c, i)), "the model's output", first + i);
      component[c] = f(c, i);
    }
  }
}

/// Components of equal weight, one per parameter vector; fill(k, thetas) writes the vectors k, k + 1, ...
template <class T, class Fill>
void visit_samples(const Query<T>& query, Index samples, Fill fill, const MixtureVisitor& visit,
                   const ChunkLimits& limits) {
  const Model<T>& model = query.model;
  const Index outputs = model.outputs(), inputs = model.inputs(), dimension = model.parameters();
  const Index values = samples * outputs;  // of one example
  const Index chunk = fitting(limits.outputs, values, std::min(limits.examples, query.x.rows));
  const Index tile = std::min(tile_examples, chunk), group = fitting(limits.parameters, dimension, samples);
  Buffer<T> x(inputs * chunk), thetas(dimension * group), f(outputs * tile), all(values * chunk), scratch;
  Buffer<double> mixture(values);
  const std::vector<double> weights(static_cast<std::size_t>(samples), 1 / static_cast<double>(samples));
  for (Index first = 0; first < query.x.rows; first += chunk) {
    const Index count = std::min(chunk, query.x.rows - first);
    gather_inputs(model, query.x, first, x.matrix(inputs, count));
    for (Index k = 0; k < samples; ++k) {
      const Index member = k % group;
      const bool still_there = first > 0 && group == samples;
      if (member == 0 && !still_there) fill(k, thetas.matrix(dimension, std::min(group, samples - k)));
      for (Index begin = 0; begin < count; begin += tile) {
        check_interrupt();
        const auto part = x.matrix(inputs, count).columns(begin, std::min(tile, count - begin));
        model.forward(thetas.matrix(dimension, group).column(member), part, f.matrix(outputs, part.cols),
                      scratch);
        check_sense<T, T>(model, part, std::as_const(f).matrix(outputs, part.cols), first + begin);
        store<T>(f.matrix(outputs, part.cols), first + begin, k, samples, all.data() + begin * values);
      }
    }
    for (Index i = 0; i < count; ++i) {
      std::copy_n(all.data() + i * values, values, mixture.data());
      visit(first + i, {mixture.matrix(outputs, samples), weights});
    }
  }
}

}  // namespace

void check_samples(Index samples) {
  if (samples < 1 || samples > most_samples)
    fail(Status::ERROR_INVALID_ARGUMENT, "samples is %lld, expected 1 to %lld",
         static_cast<long long>(samples), static_cast<long long>(most_samples));
}

template <class T>
void check_query(const Query<T>& query) {
  const PredictSpec& spec = query.spec;
  if (spec.method == BDL_QUADRATURE && !query.model.is_single_index())
    fail(Status::ERROR_UNSUPPORTED, "quadrature needs a network with one layer and one output");
  if (spec.method != BDL_MONTE_CARLO && spec.method != BDL_PLUG_IN)
    check_gaussian(query.posterior, "predictions but by BDL_MONTE_CARLO and BDL_PLUG_IN");
  if (spec.method == BDL_MONTE_CARLO || spec.method == BDL_LINEARIZED_MONTE_CARLO)
    check_samples(spec.samples);
  check_shape(query.x, -1, query.model.inputs(), "x");
  check_finite(query.x, "x", query.model.standardization.inputs());
}

template <class T>
void visit_mixtures(const Query<T>& query, const MixtureVisitor& visit, const ChunkLimits& limits) {
  const Posterior<T>& q = query.posterior;
  switch (query.spec.method) {
    case BDL_MONTE_CARLO: {
      PosteriorScratch<T> scratch;
      const auto draw = [&](Index k, MatrixView<T> thetas) {
        sample(q, {query.spec.seed, Stream::prediction, 0, static_cast<std::uint32_t>(k)}, thetas, scratch);
      };
      return visit_samples(query, query.spec.samples, draw, visit, limits);
    }
    case BDL_PLUG_IN: {
      const auto copy_mean = [&](Index, MatrixView<T> theta) { std::ranges::copy(q.mean(), theta.data); };
      return visit_samples(query, 1, copy_mean, visit, limits);
    }
    case BDL_QUADRATURE:
      return visit_quadrature(query, visit, limits);
    case BDL_LINEARIZED_MONTE_CARLO:
      return visit_linearized_samples(query, visit, limits);
    case BDL_LINEARIZED:
      return visit_linearized(query, visit, limits);
    case BDL_PREDICT_METHOD_FORCE_INT32:
      break;
  }
}

#define BDL_INSTANTIATE(T)                    \
  template void check_query(const Query<T>&); \
  template void visit_mixtures(const Query<T>&, const MixtureVisitor&, const ChunkLimits&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
