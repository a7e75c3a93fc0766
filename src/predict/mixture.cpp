#include "predict/mixture.hpp"

#include <algorithm>

#include "base/interrupt.hpp"
#include "posterior/dropout/dropout.hpp"
#include "posterior/point_parameters.hpp"
#include "predict/gaussian_outputs.hpp"
#include "predict/memory.hpp"
#include "predict/overflow.hpp"
#include "predict/result.hpp"

namespace bdl {

template <class T>
LocalPasses<T>::LocalPasses(const Model<T>& model, const Posterior<T>& q)
    : graph_(*model.graph()), q_(q), network_(graph_) {
  network_.choose(NoiseEstimator::local);
  find_blocks(q, true, blocks_);
}

/// The key of the noise: the sample is the stream's step, the example the rest.
template <class T>
void LocalPasses<T>::forward(std::uint64_t seed, Index sample, Index first, ConstMatrixView<T> x,
                             MatrixView<T> f, Scratch& scratch) {
  constexpr Index most_tiles = Index{1} << 24;
  const StreamNoise<T> source(seed, Stream::prediction_weight_noise, sample * most_tiles + first % most_tiles,
                              network_.layout(std::ssize(blocks_)), false);
  network_.begin(q_.mean(), blocks_, x.cols, 1, source);
  graph_.forward(network_, x, f, scratch, q_.statistics());
}

template class LocalPasses<float>;
template class LocalPasses<double>;

namespace {

/// Most samples that the streams of draws can tell apart.
constexpr Index most_samples = Index{1} << 31;

/// Number of examples whose activations stay in the cache from one layer to the next.
constexpr Index tile_examples = 512;

/// Copies one sample's outputs, C x examples, to component k of every example.
template <class T>
void store(ConstMatrixView<T> f, Index k, Index samples, T* all) {
  for (Index i = 0; i < f.cols; ++i) {
    T* component = all + (i * samples + k) * f.rows;
    for (Index c = 0; c < f.rows; ++c) component[c] = f(c, i);
  }
}

/// Parameter vectors of equal weight, drawn in groups, on whose size their last bits depend.
template <class T>
class Draws {
 public:
  Draws(const Query<T>& query, PredictMemory<T>& memory, const ChunkLimits& limits)
      : query_(query),
        memory_(memory),
        dimension_(query.model.parameters()),
        samples_(query.spec.method == BDL_PLUG_IN ? 1 : query.spec.samples),
        group_(fitting(limits.parameters, dimension_, samples_)),
        held_(memory.keeps_draws ? samples_ : group_) {
    if (query.spec.method == BDL_LOCAL_MONTE_CARLO && !memory.local)
      memory.local.emplace(query.model, query.posterior);
  }
  Index samples() const { return samples_; }
  /// Computes the outputs of draw k for examples from `first` on.
  void forward(Index k, Index first, ConstMatrixView<T> x, MatrixView<T> f) {
    if (memory_.local)
      memory_.local->forward(query_.spec.seed, k, first, x, f, memory_.passes);
    else
      query_.model.forward((*this)(k), x, f, memory_.passes, query_.posterior.statistics());
  }
  /// Returns draw k. Callers go through all k in order, any number of times.
  ConstSpan<T> operator()(Index k) {
    if (k < memory_.first_draw || k >= memory_.last_draw) draw(k - k % group_);
    return thetas().column(k % held_);
  }

 private:
  MatrixView<T> thetas() { return memory_.thetas.matrix(dimension_, held_); }
  void draw(Index first) {
    if (!memory_.keeps_draws) memory_.first_draw = memory_.last_draw = first;  // replaces the last group
    const Index count = std::min(group_, samples_ - first);
    const auto out = thetas().columns(first % held_, count);
    const StreamKey key{query_.spec.seed, Stream::prediction, 0, static_cast<std::uint32_t>(first)};
    if (query_.spec.method == BDL_PLUG_IN)
      std::ranges::copy(query_.posterior.mean(), out.data);
    else
      sample(query_.posterior, key, out, memory_.scratch);
    memory_.last_draw = first + count;
  }
  const Query<T>& query_;
  PredictMemory<T>& memory_;
  Index dimension_, samples_, group_, held_;
};

/// Visits mixtures of equal weights, with one component per parameter vector.
template <class T>
void visit_samples(const Query<T>& query, PredictMemory<T>& memory, MixtureVisitor visit,
                   const ChunkLimits& limits) {
  const Model<T>& model = query.model;
  Draws<T> draws(query, memory, limits);
  const Index outputs = model.outputs(), inputs = model.inputs(), samples = draws.samples();
  const Index values = samples * outputs;  // numbers of one example
  const Index chunk = fitting(limits.outputs, values, std::min(limits.examples, query.x.rows));
  const Index tile = std::min(tile_examples, chunk);
  T* const all = memory.all.first(values * chunk).data();
  double* const mixture = memory.mixture.first(values).data();
  for (Index first = 0; first < query.x.rows; first += chunk) {
    const auto x = memory.x.matrix(inputs, std::min(chunk, query.x.rows - first));
    gather_inputs(model, query.x, first, x);
    for (Index k = 0; k < samples; ++k) {
      for (Index begin = 0; begin < x.cols; begin += tile) {
        check_interrupt();
        const auto some = x.columns(begin, std::min(tile, x.cols - begin));
        const auto f = memory.f.matrix(outputs, some.cols);
        draws.forward(k, first + begin, some, f);
        check_sense<T, T>(model, some, f, first + begin);
        store<T>(f, k, samples, all + begin * values);
      }
    }
    for (Index i = 0; i < x.cols; ++i) {
      std::copy_n(all + i * values, values, mixture);
      visit(first + i, {.f = memory.mixture.matrix(outputs, samples),
                        .weights = equal_weights(samples, memory),
                        .overflows = !overflow::is_finite(memory.mixture.first(values))});
    }
  }
}

}  // namespace

bool draws_samples(bdl_predict_method method) {
  return method == BDL_MONTE_CARLO || method == BDL_LINEARIZED_MONTE_CARLO || method == BDL_LOCAL_MONTE_CARLO;
}

void check_samples(Index samples) {
  if (samples < 1 || samples > most_samples)
    fail(Status::ERROR_INVALID_ARGUMENT, "samples is %lld, expected 1 to %lld",
         static_cast<long long>(samples), static_cast<long long>(most_samples));
}

template <class T>
ConstSpan<double> equal_weights(Index count, PredictMemory<T>& memory) {
  if (static_cast<Index>(memory.weights.size()) != count)
    memory.weights.assign(static_cast<std::size_t>(count), 1 / static_cast<double>(count));
  return memory.weights;
}

template <class T>
void check_spec(const Model<T>& model, const Posterior<T>& posterior, const PredictSpec& spec) {
  if (spec.method == BDL_QUADRATURE && !model.is_single_index())
    fail(Status::ERROR_UNSUPPORTED, "quadrature needs a network with one layer and one output");
  if (spec.method != BDL_MONTE_CARLO && spec.method != BDL_PLUG_IN)
    check_gaussian(posterior, "predictions by methods other than monte_carlo and plug_in");
  if (spec.method == BDL_LOCAL_MONTE_CARLO && !(is_low_rank_moment(posterior.family()) && model.graph()))
    fail(Status::ERROR_UNSUPPORTED,
         "method local_monte_carlo needs a low-rank-moment posterior of a network");
  if (draws_samples(spec.method)) check_samples(spec.samples);
  check_point_parameters_fit(posterior, model);
}

template <class T>
void check_query(const Query<T>& query) {
  check_spec(query.model, query.posterior, query.spec);
  check_shape(query.x, -1, query.model.inputs(), "x");
  check_finite(query.x, "x", query.model.standardization.inputs());
}

template <class T>
void keep_draws(const Query<T>& query) {
  PredictMemory<T>& memory = *query.memory;
  memory.keeps_draws = true;
  if (query.spec.method == BDL_LINEARIZED_MONTE_CARLO) draw_normals(query, memory);
  if (query.spec.method != BDL_MONTE_CARLO && query.spec.method != BDL_PLUG_IN) return;
  Draws<T> draws(query, memory, {});
  for (Index k = 0; k < draws.samples(); ++k) {
    check_interrupt();
    draws(k);
  }
}

template <class T>
void visit_mixtures(const Query<T>& query, MixtureVisitor visit, const ChunkLimits& limits) {
  const MemoryOf<T> memory(query);
  switch (query.spec.method) {
    case BDL_MONTE_CARLO:
    case BDL_LOCAL_MONTE_CARLO:
    case BDL_PLUG_IN:
      return visit_samples(query, *memory, visit, limits);
    case BDL_QUADRATURE:
      return visit_quadrature(query, *memory, visit, limits);
    case BDL_LINEARIZED_MONTE_CARLO:
      return visit_linearized_samples(query, *memory, visit, limits);
    case BDL_LINEARIZED:
      return visit_linearized(query, *memory, visit, limits);
    case BDL_PREDICT_METHOD_FORCE_INT32:
      break;
  }
}

#define BDL_INSTANTIATE(T)                                                            \
  template ConstSpan<double> equal_weights(Index, PredictMemory<T>&);                 \
  template void check_spec(const Model<T>&, const Posterior<T>&, const PredictSpec&); \
  template void check_query(const Query<T>&);                                         \
  template void keep_draws(const Query<T>&);                                          \
  template void visit_mixtures(const Query<T>&, MixtureVisitor, const ChunkLimits&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
