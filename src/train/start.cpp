#include "train/start.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/interrupt.hpp"
#include "evidence/blocks.hpp"
#include "methods/schedule.hpp"
#include "posterior/point_parameters.hpp"

namespace bdl {
namespace {

constexpr double of_biases = 0.01;  // standard deviation of V in biases
// Precision with which draws of deep networks for classes stay near enough to the mean that they learn from
// few rows.
constexpr double least_of_deep = 200;

template <class T>
double deviation(ConstSpan<T> values) {
  double sum = 0, squares = 0;
  for (const T value : values) {
    sum += static_cast<double>(value);
    squares += static_cast<double>(value) * static_cast<double>(value);
  }
  const auto count = static_cast<double>(values.size());
  return std::sqrt(std::max(0.0, squares / count - sum / count * (sum / count)));
}

/// Returns the standard deviation of V in each parameter.
template <class T>
std::vector<double> deviations(const std::vector<ParameterBlock>& blocks, ConstSpan<T> mean,
                               double of_weights) {
  std::vector<double> all(mean.size());
  for (const ParameterBlock& block : blocks) {
    double size = 0;
    if (block.is_bias) {
      size = of_biases;
    } else if (!block.is_point) {
      const double of_mean = deviation(mean.subspan(at(block.offset), at(block.size())));
      size = of_weights * (of_mean > 0 ? of_mean : 1 / std::sqrt(3 * static_cast<double>(block.fan_in)));
    }
    std::fill_n(all.begin() + block.offset, block.size(), block.is_point ? 0 : size);
  }
  return all;
}

/// Random initial W, since W = 0 is stationary (docs/theory/noise.md, "Where training starts").
struct LowRankStart {
  std::uint64_t seed;
  double size;   ///< standard deviation of V times sqrt(K), in units of that of the layer's weights
  double scale;  ///< a of W = sqrt(a) V; 0: 1 / K
};

/// Draws W of each low-rank-moment block of q; the caller must call factorize() afterwards.
template <class T>
void draw_low_rank(const std::vector<ParameterBlock>& blocks, ConstSpan<T> mean, const LowRankStart& start,
                   Posterior<T>& q) {
  for_each_low_rank_moment(q, [&](LowRankMomentPosterior<T>& member, Index offset) {
    const Index rank = member.rank();
    if (rank == 0) return;
    const auto columns = static_cast<double>(rank);
    const double root = std::sqrt(start.scale > 0 ? start.scale : 1 / columns);
    const std::vector<double> sizes = deviations(blocks, mean, start.size / std::sqrt(columns));
    for (Index k = 0; k < rank; ++k) {
      const std::span<T> w = member.w().column(k);
      fill_normal({start.seed, Stream::initialization, 3, static_cast<std::uint32_t>(k)}, offset, w);
      for (std::size_t i = 0; i < w.size(); ++i)
        w[i] = static_cast<T>(root * sizes[at(offset) + i] * static_cast<double>(w[i]));
    }
  });
}

bdl_initialization scheme_of(Initialization word) {
  switch (word) {
    case Initialization::he:
      return BDL_INIT_HE;
    case Initialization::he_fan_out:
      return BDL_INIT_HE_FAN_OUT;
    case Initialization::xavier:
      return BDL_INIT_XAVIER;
    case Initialization::xavier_normal:
      return BDL_INIT_XAVIER_NORMAL;
    default:
      return BDL_INIT_UNIFORM_FAN_IN;
  }
}

bool has_curvature_per_example(StepKind kind) {
  return kind == StepKind::vogn || kind == StepKind::ivon || kind == StepKind::kfac;
}

/// Returns the prior as a posterior of K-FAC's family; null if it is diagonal, or for other steps.
template <class T>
const BlocksPosterior<T>* kronecker_prior(const Optimizer<T>& optimizer) {
  const Posterior<T>* const prior = optimizer.prior().posterior();
  const bool is_whole = optimizer.step_kind() == StepKind::kfac && prior && !prior->is_diagonal();
  return is_whole ? &as_blocks(*optimizer.prior().posterior_in_family()) : nullptr;
}

/// The changes of initialize(), computed completely before any of them is made.
template <class T>
class Start {
 public:
  Start(const Optimizer<T>& optimizer, const Prior<T>& prior, ConstSpan<T> mean)
      : posterior(optimizer.posterior()->clone()),
        optimizer_(optimizer),
        options_(optimizer.options()),
        prior_(prior),
        mean_(mean),
        precision_(posterior->dimension()) {
    optimizer.method().kind == MethodKind::stream ? start_stream() : start_batch();
  }
  ConstSpan<T> precision() { return precision_.first(posterior->dimension()); }
  std::unique_ptr<Posterior<T>> posterior;
  TiedScales<T> tied;

 private:
  bool is_given() const {
    return options_.initial_precision >= 1e-30;
  }  // smaller numbers, which a float hardly holds, count as 0: not given
  double isotropic() const {
    if (is_given()) return options_.initial_precision;
    const MethodContext& context = optimizer_.context();
    const double rows = optimizer_.data_weight();
    if (context.is_deep && learns_by_evidence(options_, context)) return rows;
    if (options_.start_share > 0) return std::max(0.1 * rows, context.is_deep ? least_of_deep : 0.0);
    return 10 * rows;
  }
  std::span<T> precision_to_fill() { return precision_.first(posterior->dimension()); }

  /// Sets the start of training in batches: a precision at which the first samples stay near the mean.
  void start_batch() {
    const PointLayout& points = posterior->point_parameters();
    const auto precision = precision_to_fill();
    std::ranges::fill(precision, static_cast<T>(isotropic()));
    fill_point_parameters(points, T(1), precision);
    if (!is_given()) {
      if (const auto* const whole = kronecker_prior(optimizer_)) return start_near_kronecker(*whole);
      const Posterior<T>* const given = prior_.posterior();
      if (options_.rule == Rule::blr && given && !prior_.has_normals() &&
          is_of_kind(*given, posterior->kind()))
        return start_near_prior(*given);
    }
    if (optimizer_.step_kind() == StepKind::low_rank_moment) return start_low_rank(1 / isotropic());
    if (points.ranges.empty() || !posterior->is_gaussian())
      posterior->set_isotropic(isotropic());
    else
      posterior->set_diagonal(precision, {});
  }

  /// Sets the start of a stream: its prior.
  void start_stream() {
    const auto precision = precision_to_fill();
    if (prior_.posterior()) {
      const auto given = in_family(*prior_.posterior(), posterior->kind());
      check_holds(*given, *prior_.posterior());
      given->precision_diagonal(precision);
      return posterior->swap(*given);
    }
    std::ranges::copy(prior_.precision(), precision.begin());
    if (is_given()) std::ranges::fill(precision, static_cast<T>(isotropic()));
    const bool plain = descent_of(options_.rule) == Descent::plain;
    posterior->set_diagonal(precision,
                            plain ? std::optional(static_cast<std::uint64_t>(options_.seed)) : std::nullopt);
  }

  /// Starts near a prior that is a posterior of the same kind, at half of its precision plus the isotropic
  /// one. Without the former, long first steps would forget the prior.
  void start_near_prior(const Posterior<T>& given) {
    const Index dimension = posterior->dimension();
    Buffer<T> numbers(2 * dimension + 1);
    std::fill_n(numbers.data(), 2 * dimension + 1, T(0));
    const auto lambda = numbers.first(dimension),
               slope = std::span(numbers.data() + dimension, at(dimension)),
               weight = std::span(numbers.data() + 2 * dimension, 1);
    std::ranges::fill(lambda, static_cast<T>(2 * isotropic()));
    fill_point_parameters(given.point_parameters(), T(1), lambda);
    DenseRows<T> rows;
    std::fill_n(rows.resize(dimension, 1).data, dimension, T(0));
    auto prior = Prior<T>::fixed(lambda);
    PosteriorStep<T> step{given};
    step.m = slope;
    step.curvature = {&rows, weight, {}, {}};
    step.curvature_rate = 0.5;
    prior.enter(step);
    step.projection.method = dimension < given.rank() + 1 ? EigenMethod::outer : EigenMethod::gram;
    Scratch scratch;
    const auto next = given.clone();
    next->update(step, scratch);
    next->precision_diagonal(precision_to_fill());
    posterior->swap(*next);
  }

  /// Starts near a prior of K-FAC's family at its whole precision, so that steps need not find its
  /// directions again.
  void start_near_kronecker(const BlocksPosterior<T>& given) {
    posterior->set_diagonal(precision_to_fill(), {});
    start_near(given, static_cast<T>(isotropic()), dynamic_cast<BlocksPosterior<T>&>(*posterior));
    posterior->precision_diagonal(precision_to_fill());
  }

  /// Sets W as large as option "low_rank_start" says, and s to one number, or near it if it is tied.
  void start_low_rank(double variance) {
    const Index dimension = posterior->dimension();
    const auto seed = static_cast<std::uint64_t>(options_.seed);
    posterior->set_isotropic(1 / variance);
    Buffer<T> s(dimension);
    std::fill_n(s.data(), dimension, static_cast<T>(variance));
    if (options_.diagonal_part == DiagonalPart::tied) {
      tied.reserve(optimizer_.blocks(), options_.tied_rank);
      tied.start(std::sqrt(variance), seed);
      tied.write_now(s.first(dimension));
    }
    fill_point_parameters(posterior->point_parameters(), T(1), s.first(dimension));
    draw_low_rank(optimizer_.blocks(), mean_, {seed, options_.low_rank_start, options_.low_rank_scale},
                  *posterior);
    for_each_low_rank_moment(*posterior, [&](LowRankMomentPosterior<T>& member, Index offset) {
      std::copy_n(s.data() + offset, member.dimension(), member.s().data());
      Scratch scratch;
      member.factorize(scratch);
    });
  }

  const Optimizer<T>& optimizer_;
  const Options& options_;
  const Prior<T>& prior_;
  ConstSpan<T> mean_;
  Buffer<T> precision_;
};

/// Sets the mean to the prior's, or to the network's initialisation. Hidden units whose weights have normal
/// priors start at both together: at equal weights they would stay equal.
template <class T>
void start_mean(const Optimizer<T>& optimizer, std::span<T> mean) {
  const Options& options = optimizer.options();
  std::ranges::fill(mean, T(0));
  const Posterior<T>* const given = optimizer.prior().posterior();
  const bool is_drawn = !given || (optimizer.prior().has_normals() && optimizer.context().has_hidden);
  if (is_drawn && optimizer.model() && options.initialization != Initialization::zero)
    optimizer.model()->initialize(scheme_of(options.initialization), static_cast<std::uint64_t>(options.seed),
                                  mean);
  if (given) std::ranges::transform(mean, given->mean(), mean.begin(), std::plus<>());
}

}  // namespace

template <class T>
void initialize(Optimizer<T>& optimizer) {
  Interruptible work;
  optimizer.settle_prior();
  Posterior<T>& q = *optimizer.posterior();
  const Options& options = optimizer.options();
  Buffer<T> mean_buffer(q.dimension());
  const auto mean = mean_buffer.first(q.dimension());
  start_mean(optimizer, mean);
  std::optional<Prior<T>> prior;
  if (!optimizer.prior().is_fixed()) prior = optimizer.new_prior();
  check_loop();
  Start<T> start(optimizer, prior ? *prior : optimizer.prior(), mean);
  check_loop();
  work.end();  // from here on nothing can fail
  q.swap(*start.posterior);
  if (start.tied.has_values()) optimizer.averages.tied = std::move(start.tied);
  if (prior) optimizer.prior() = std::move(*prior);
  std::ranges::copy(mean, q.mean().begin());
  optimizer.set_start(mean, start.precision());
  q.reset_statistics();
  if (const Posterior<T>* const given = optimizer.prior().posterior())
    std::ranges::copy(given->statistics(), q.statistics().begin());
  q.set_blank(false);
  if (options.rule == Rule::map) q.set_has_covariance(!q.is_gaussian());  // it will learn the mean alone
  if (optimizer.model()) {
    Likelihood& likelihood = optimizer.model()->likelihood;
    likelihood.forget_learned_noise();
    likelihood.free_log_precision(optimizer.method().kind == MethodKind::stream ||
                                  options.heteroscedastic_from == 0);
  }
  optimizer.averages.forget();
  optimizer.noise.forget();
  if (optimizer.stream_scales.is_open()) optimizer.model()->standardization = {};
  optimizer.stream_scales.close();
  optimizer.watch.forget();
  const double row_weight = optimizer.state.row_weight;
  optimizer.state = {};
  optimizer.state.row_weight = row_weight;
  optimizer.state.plan = {0, options.total_steps};
  optimizer.state.is_fresh = true;
}

namespace {

template <class T>
void start_curvature(Optimizer<T>& optimizer) {
  const Options& options = optimizer.options();
  const TrainingState& state = optimizer.state;
  if (!has_curvature_per_example(optimizer.step_kind()) || !state.is_fresh) return;
  if (options.initial_curvature == 0 || options.initial_precision > 0) return;
  Posterior<T>& q = *optimizer.posterior();
  const double weight = optimizer.data_weight() / kl_weight(options, state.plan, state.step + 1);
  const double damping = options.damping_in == DampingIn::both ? options.damping : 0;
  const T least = static_cast<T>(weight * (options.initial_curvature + damping));
  const auto precision = optimizer.memory.scratch.template take<T>(q.dimension());
  std::ranges::transform(optimizer.prior().precision(), precision.begin(),
                         [=](T lambda) { return least + lambda; });
  fill_point_parameters(q.point_parameters(), T(1), precision);
  optimizer.set_start(optimizer.initial_mean(), precision);
  q.set_diagonal(precision, {});
  if (const auto* const prior = kronecker_prior(optimizer))
    start_near(*prior, least, dynamic_cast<BlocksPosterior<T>&>(q));
}

/// Starts tied scales near the deviations of a posterior that the caller has set.
template <class T>
void start_tied(Optimizer<T>& optimizer) {
  TiedScales<T>& tied = optimizer.averages.tied;
  const Options& options = optimizer.options();
  if (optimizer.step_kind() != StepKind::low_rank_moment || options.diagonal_part != DiagonalPart::tied)
    return;
  tied.reserve(optimizer.blocks(), options.tied_rank);
  if (tied.has_values()) return;
  const Posterior<T>& q = *optimizer.posterior();
  const auto s = optimizer.memory.scratch.template take<T>(q.dimension());
  for_each_low_rank_moment(q, [&](const LowRankMomentPosterior<T>& member, Index offset) {
    std::ranges::copy(member.s(), s.data() + offset);
  });
  tied.start(s, static_cast<std::uint64_t>(options.seed));
}

}  // namespace

template <class T>
void start_step(Optimizer<T>& optimizer) {
  const Scratch::Frame frame(optimizer.memory.scratch);
  start_tied(optimizer);
  start_curvature(optimizer);
}

#define BDL_INSTANTIATE(T)                 \
  template void initialize(Optimizer<T>&); \
  template void start_step(Optimizer<T>&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
