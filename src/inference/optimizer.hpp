// One step of a posterior, on a minibatch of a data set (docs/mathematics/natural-gradients.md, "SLANG") or
// on the next observation of a stream, and the state that lives between steps.
#pragma once

#include <atomic>
#include <limits>
#include <memory>

#include "base/array.hpp"
#include "base/deferred.hpp"
#include "curvature/dense_rows.hpp"
#include "curvature/divided_rows.hpp"
#include "data/strata.hpp"
#include "inference/batch/first_order.hpp"
#include "inference/batch/freed_log_precision.hpp"
#include "inference/batch/kronecker_descent.hpp"
#include "inference/batch/point_steps.hpp"
#include "inference/batch/scales.hpp"
#include "inference/batch/snapshots.hpp"
#include "inference/evidence.hpp"
#include "inference/methods/combination.hpp"
#include "inference/methods/schedule.hpp"
#include "inference/stream/filter.hpp"
#include "inference/stream/prequential.hpp"
#include "inference/stream/stream_guard.hpp"
#include "linalg/tall/tall_ranks.hpp"
#include "model/model.hpp"
#include "posterior/posterior.hpp"
#include "prior/prior.hpp"

namespace bdl {

/// Later run-aways are errors.
inline constexpr Index most_rate_cuts = 10;

/// Of all fits of an optimizer together.
inline constexpr Index most_epochs = INT32_MAX;

/// Moving averages by which a run-away is noticed.
struct Watch {
  Index steps = 0;
  double misfit = 0, baseline = 0;  ///< of outputs at posterior samples, and of outputs 0
  double first_ratio = 0;           ///< of the two, at the start
  /// How many times worse than outputs 0, or than the start, training fits.
  double ratio() const;
};

/// Does the expected log likelihood still rise? Its average over steps, the k-th with weight k, since
/// training last began to learn something else: well behind the present value as long as training is on its
/// way.
struct Arrival {
  Index steps = 0;
  double first = 0, average = 0;
  void add(double value);
};

/// What a checkpoint holds beside posterior, options and prior.
struct TrainingState {
  Index step = 0;
  Index learning_step = 0;  ///< first step that learned scales; 0: none yet
  Plan plan;
  Index epoch = 0, batch = 0;         ///< position of fit: completed epochs, minibatches within
  Index examples = 0, batches = 0;    ///< of an epoch of fit
  Index fit_end_epoch = 0;            ///< epoch at which the current fit ends
  double running_log_likelihood = 0;  ///< moving average, scaled to N, of standardised targets
  Index running_steps = 0;
  double start_weight = 1;    ///< share of the initial precision in the present one: product of (1 - beta_t)
  Index momentum_steps = 0;   ///< gradients in the moving average
  Index shortened_steps = 0;  ///< steps that were shortened to stay positive definite
  Index guarded_steps = 0;    ///< steps in which the guard scaled a gradient, observations that it held back
  Watch watch;
  Index snapshots = 0;  ///< that SWAG has taken in this course
  Index shards = 0;     ///< of the data, that training has begun with; 0: none yet
  Index rate_cuts = 0;  ///< run-aways after which learning_rate was halved
  Arrival arrival;
  bool has_diverged = false;  ///< training ran away: this is the state it was taken back to
  bool is_ahead = false;      ///< time has been moved on since the last observation
  bool is_fresh = false;      ///< initialised, and no step taken since
  /// Distance from the optimum at which a fit with exact-* ended, in posterior standard deviations.
  double distance = 0;
  PrequentialSums prequential;
};

template <class T>
class Optimizer {
 public:
  using Scalar = T;
  /// model may be null: then only step_rows() works.
  Optimizer(std::shared_ptr<Model<T>> model, std::shared_ptr<Posterior<T>> posterior, const Method& method,
            Index data_size);

  const std::shared_ptr<Model<T>>& model() const { return model_; }
  const std::shared_ptr<Posterior<T>>& posterior() const { return posterior_; }
  const Method& method() const { return method_; }
  Index data_size() const { return data_size_; }
  const Options& options() const { return options_; }
  /// The prior starts anew when an option that defines it changes, or was set (reset_prior): one fixed by the
  /// caller ends.
  void set_options(const Options& options, bool reset_prior = false);
  /// What check_combination() is asked of this optimizer with these options.
  Combination combination(const Options& options) const {
    return {options, method_, context_, posterior_->family(), posterior_->rank()};
  }
  /// Fails unless these options go together here, for what the optimizer is there for.
  void check_options(const Options& options) const {
    check_combination(combination(options), intended_use(combination(options)));
    if (options.shards > 1 || team_.size() > 1) check_sums(combination(options));
  }
  /// Fails unless this optimizer can be used so.
  void check_use(Use use) const {
    check_combination(combination(options_), use);
    if (!team_.is_alone()) check_together(use);
    if (posterior_->points() != points_) fail_points_changed();
  }
  const Prior<T>& prior() const { return prior_; }
  Prior<T>& prior() { return prior_; }
  /// From now on the prior, fixed: its mean and whole precision. A blank posterior will start from it.
  void set_prior(std::shared_ptr<const Posterior<T>> belief);

  /// Restarts posterior, prior precisions, momentum and state; on failure nothing has changed.
  void initialize();
  /// Updates target scales and limits from the targets of a data set, of the minibatch in y_to_fill(), or of
  /// a block of a stream (optimizer_units.cpp). True if scales changed: fill the targets again.
  bool start_units(DataSet& data);
  bool start_units(const StepExamples& examples);
  bool start_units(ConstMatrixView<T> y);
  /// Gaussian noise precision where learning starts, or stays without it: initial_noise_precision / Var(y),
  /// unless the caller has set it.
  void start_noise(DataSet& data);
  /// The same for a noise of each target's own, which streams have as well; for Gaussian and Student-t noise.
  void start_noises(DataSet& data);
  /// Mean over the targets of Var(y), standardised: of all ranks' shards.
  double variance_of_targets(DataSet& data);
  /// Puts these examples where step() and observe() find them.
  void fill(DataSet& data, const RowNumbers& examples);
  /// One step on the minibatch that stands in x_to_fill(M) and y_to_fill(M), one example
  /// per column. Taken whole or not at all.
  void step(Index examples);
  /// The same where that is this rank's part of it: by all ranks or by none. Does any of them ask to stop, if
  /// they may?
  bool step(const StepExamples& examples, bool may_ask);
  MatrixView<T> x_to_fill(Index examples);
  MatrixView<T> y_to_fill(Index examples);
  /// One observation, in x_to_fill and y_to_fill like a minibatch; missing targets are NaN, and examples
  /// without any target must not be there. Time moves one step on before it, unless forecast() has moved it.
  /// `scores` receives the one-step-ahead log density of each example, if option "score" asks for one; fails
  /// with ERROR_DIVERGED where its size is beyond the largest.
  void observe(Index examples, std::span<double> scores,
               double largest_score = std::numeric_limits<double>::max());
  /// Moves time on, without an observation; the next one is made at that time.
  void forecast(Index steps);
  /// Time has passed as for an observation, but nothing was seen.
  void skip();
  Filter<T>& filter() { return work_.filter; }
  const Filter<T>& filter() const { return work_.filter; }
  /// Null: the optimizer's own streams.
  void set_draws(std::shared_ptr<DrawSource<T>> draws) { caller_draws_ = std::move(draws); }
  /// After a failed step: if training has run away, the belief and the scales are as in the last good state.
  bool go_back();
  /// What has changed other than by steps is not taken back.
  void forget_good_state() noexcept { good_.is_known = false; }
  void forget_older_good_state();
  /// From there on with half the learning rate? Not without a guard, nor for ever.
  bool may_go_on() const { return options_.guard > 0 && state.rate_cuts < most_rate_cuts; }
  /// One step on the rows that the caller has put into rows().
  void step_rows();
  DenseRows<T>& rows() { return work_.rows; }
  MatrixView<T> rows_to_fill(Index count) { return work_.rows.resize(posterior_->dimension(), count); }

  /// How each layer makes noise, and whether all of them do it exactly. The text lives as long as the
  /// optimizer. Fails with ERROR_UNSUPPORTED unless the posterior is a low-rank-moment one that is learned by
  /// noise.
  struct NoiseText {
    bool is_exact;
    std::string text;
  };
  const NoiseText& describe_noise() const;
  /// Bytes of numbers that it holds once it has stepped on so many examples (rows, without a model).
  Index workspace_bytes(Index examples) const;
  double kl() const;
  /// Posterior moments at the start, for the diagnostic.
  ConstSpan<T> initial_mean() const { return initial_mean_.first(posterior_->dimension()); }
  ConstSpan<T> initial_precision() const { return initial_precision_.first(posterior_->dimension()); }
  ConstSpan<T> momentum() const { return momentum_.first(posterior_->dimension()); }
  FirstOrder<T>& first_order() { return work_.first_order; }
  const FirstOrder<T>& first_order() const { return work_.first_order; }
  KroneckerDescent<T>& kronecker_descent() { return work_.kronecker; }
  const KroneckerDescent<T>& kronecker_descent() const { return work_.kronecker; }
  Snapshots<T>& snapshots() { return work_.snapshots; }
  const Snapshots<T>& snapshots() const { return work_.snapshots; }
  PointSteps<T>& point_steps() { return work_.point_steps; }
  const PointSteps<T>& point_steps() const { return work_.point_steps; }

  /// The ranks that take steps together; alone, this optimizer.
  Team& team() { return team_; }
  const Team& team() const { return team_; }
  /// Null: alone again. Fails where its steps cannot be taken by several.
  void set_communicator(std::shared_ptr<Communicator> communicator);
  /// Shards of the data that the next course has, or an interrupted one.
  Index planned_shards() const;
  /// Fails unless each rank has one of them, and steps can be made of their sums.
  void check_shards() const;
  /// From now on.
  void set_shards(Index shards) { state.shards = shards; }
  ShardRange own_shards() const { return shards_of(team_.rank(), team_.size(), state.shards); }
  /// Memory for their sums, without which a rank has no part in a step.
  void reserve_sums(Index shards);
  /// Number of bytes of these sums, whether reserved or not.
  Index bytes_of_sums(Index shards) const;
  /// What the other ranks must have, too, for a course of so many rows and epochs. `whole`: each number of
  /// posterior, prior and averages. `option_hashes` has room for one of each option.
  Agreement agreement(std::uint8_t call, Index rows, Index epochs, Index shards, bool whole,
                      std::span<std::uint32_t> option_hashes) const;

  TrainingState state;
  std::atomic<bool> stop_requested{false};

  /// For checkpoints: contents of the three vectors above.
  void restore(ConstSpan<T> momentum, ConstSpan<T> initial_mean, ConstSpan<T> initial_precision);
  const std::vector<ParameterBlock>& blocks() const;

  /// The posterior is blank again, as if initialize() had not been called.
  void forget_start() noexcept;

 private:
  /// What steps hold beside model, belief, prior and averages of gradients. A new one, reserved in a plan,
  /// tells how much that is.
  struct Workspace {
    explicit Workspace(const Model<T>* model);
    std::unique_ptr<EvidenceEstimator<T>> evidence;  // this and the next two: null without a model
    std::unique_ptr<Prequential<T>> prequential;
    std::unique_ptr<StreamGuard<T>> stream_guard;
    Filter<T> filter;
    FirstOrder<T> first_order;
    KroneckerDescent<T> kronecker;
    PointSteps<T> point_steps;
    Snapshots<T> snapshots;
    std::unique_ptr<Posterior<T>> next, good;  // the step's result until it is committed; the last good state
    UpdateWorkspace<T> update;
    PosteriorScratch<T> scratch;
    DenseRows<T> rows;                // the caller's
    TreeSums<T> sums;                 // of shards
    TreeSums<double> noise_sums;      // of their targets
    ShardExchange<T> exchange;        // of what their rows are made of
    DividedRows<T> divided;           // of all shards
    NoiseGradient<T> noise_gradient;  // of all shards
    Buffer<T> all_y;                  // likewise
    Buffer<double> hessian;           // likewise, lower triangle
    Buffer<T> x, y, zeros, gradient, slope, next_momentum, c, moments, point_squares;
  };

  [[noreturn]] static void fail_points_changed();
  void remember_start();
  DrawSource<T>& draws();
  struct Start;
  void start_precision(const Prior<T>& prior, ConstSpan<T> mean, Start& start) const;
  void start_newton();
  void start_near_belief(const Posterior<T>& belief, double isotropic, Start& start) const;
  void start_near_kronecker(const BlocksPosterior<T>& belief, double isotropic, Start& start) const;
  void start_low_rank(double variance, ConstSpan<T> mean, Start& start) const;
  void start_tied();
  ConstMatrixView<T> moments();
  Rule rule() const { return options_.rule; }
  bool is_first_order() const;
  bool is_noisy() const;
  bool is_newton() const;
  bool is_kronecker() const;
  const BlocksPosterior<T>* kronecker_prior() const;
  bool learns_prior() const;
  bool learns_noise() const;
  bool samples_for_scales() const;
  double first_noise_factor() const;
  void take(const Evidence<T>& evidence);
  bool is_guarded() const;
  PosteriorStep<T> begin_batch_step(const Evidence<T>& evidence);
  void take_guarded(const Evidence<T>& evidence);
  void descend(const Evidence<T>& evidence);
  void descend_newton(const Evidence<T>& evidence);
  void descend_kronecker(const Evidence<T>& evidence);
  ConstSpan<T> prior_pull(const Evidence<T>& evidence);
  ConstSpan<T> point_squares();
  Evidence<T> assess(ConstMatrixView<T> x, ConstMatrixView<T> y, double weight, DrawPlace place);
  double mean_rate() const;
  ConstSpan<T> penalized(ConstSpan<T> gradient, double weight);
  void check_prior(const Prior<T>& prior, const Options& options) const;
  ConstSpan<T> slope(ConstSpan<T> gradient);
  bool scales_points() const;
  void start_statistics();
  double curvature_rate() const;
  double newton_rate() const;
  double next_log_likelihood(double value, Index epoch_steps) const;
  double start_kept() const;
  bool is_due(double from, Index epoch_steps) const;
  bool learns_scales(Index epoch_steps) const;
  bool learns_degrees(Index epoch_steps) const;
  void sum_scales(ConstMatrixView<T> x, ConstMatrixView<T> y, Index epoch_steps);
  void sum_errors(ConstMatrixView<T> y, Index epoch_steps);
  void learn_scales(Index examples, Index epoch_steps);
  /// Over a minibatch: of outputs at posterior samples, and of outputs 0.
  struct Misfits {
    double outputs = 0, zeros = 0, columns = 0;
    Index examples = 0;
  };
  Misfits misfits(ConstMatrixView<T> f, ConstMatrixView<T> y);
  void watch(const Misfits& misfits, Index epoch_steps);
  void keep_good_state(Index epoch_steps);
  void remember_good_state();
  void commit();
  void commit_averages();
  void prepare_step(const StepExamples& examples, Index epoch_steps, FreedLogPrecision& freed);

  // optimizer_units.cpp
  bool limits_rates() const;
  /// True if start_units() has to read the targets.
  bool asks_targets() const;
  bool take_units(ConstSpan<double> sums);
  template <class Add>
  bool learn_units(Add add);

  bool is_sharded() const { return state.shards > 1; }
  bool exchanges_rows() const;
  bool has_curvature_sums() const {
    return (rule() == Rule::bbb && !exchanges_rows() && !is_noisy()) || is_newton();
  }
  Options seen_options() const;
  double log_likelihood_of_shards() const;

  // optimizer_rows.cpp
  Index numbers_of_shard(const Options& options, Index examples, const Workspace& work) const;
  void lay_out_exchange(const StepExamples& examples);
  void write_rows(Index shard, ConstMatrixView<T> y);
  Evidence<T> exchange_rows(const StepExamples& examples, double weight);
  void divide_rows(Evidence<T>& evidence);
  Index hessian_numbers() const;
  bool takes_hessian() const;
  void write_hessian(const Curvature<T>& curvature, std::span<T> out) const;
  Curvature<T> hessian_of_shards();
  bool shares_passes() const;
  bool shares_draws() const;
  void draw_together();
  void reserve_divided(Index examples, const RowsUse& use, Workspace& work) const;

  // optimizer_shards.cpp
  Index sum_count() const;
  Index number_count() const;
  double variance_of_shards(DataSet& data);
  void add_shard(const StepExamples& examples, Index shard, double weight, Index epoch_steps,
                 const Summand<T>& out);
  void sum_shards(const StepExamples& examples, double weight, Index epoch_steps);
  Evidence<T> evidence_of_shards();
  Misfits misfits_of_shards(Index examples) const;
  void take_scale_sums_of_shards();
  ConstSpan<double> statistics_of_shards() const;

  // optimizer_memory.cpp
  using PriorScratch = typename Prior<T>::Scratch;
  /// Examples of a step, and those that are seen together.
  struct StepSizes {
    Index examples = 0, together = 0, all = 0;
    bool operator==(const StepSizes&) const = default;
  };
  void reserve_exchange(const StepSizes& sizes, Workspace& work) const;
  void reserve(Use use, const StepSizes& sizes);
  void reserve(Use use, const StepSizes& sizes, Workspace& work, PriorScratch& of_prior) const;
  StepSizes sizes_of(Index examples) const;
  void reserve_sums(Index shards, Workspace& work) const;
  void reserve_rows(Index count, Workspace& work, PriorScratch& of_prior) const;
  void reserve_batch(const StepSizes& sizes, Workspace& work, PriorScratch& of_prior) const;
  void reserve_descent(Workspace& work, PriorScratch& of_prior) const;
  RowsUse reserve_step(bool has_rows, const RowsCost& rows, Workspace& work, PriorScratch& of_prior) const;
  void reserve_stream(Index examples, Workspace& work) const;

  std::shared_ptr<Model<T>> model_;
  std::shared_ptr<Posterior<T>> posterior_;
  const Method& method_;
  Index data_size_;
  PointLayout points_;  // the model's, and the posterior's unless somebody else has changed it since
  MethodContext context_;
  Options options_;
  Prior<T> prior_;
  std::vector<ParameterBlock> rows_block_;  // theta as one block when there is no model

  StreamDraws<T> streams_;
  std::shared_ptr<DrawSource<T>> caller_draws_;
  Watch next_watch_;
  struct GoodState {
    bool is_known = false;
    std::vector<double> prior;
    std::optional<Likelihood> likelihood;
    Watch watch;
    double running_log_likelihood = 0, start_weight = 1;
    std::vector<T> tied;
  } good_;
  mutable struct {
    Deferred is_due{true};
    NoiseText text;
  } noise_texts_[static_cast<int>(NoiseEstimator::shared) + 1];  // of describe_noise(), for each estimator
  double part_ = 1;                                              // of the step that was taken
  bool held_ = false;                                            // was anything of its gradient held back?
  Scales scales_;
  double degrees_slope_ = 0;  // by which Student-t noise learns: summed, then the mean
  Team team_;
  TallRanks tall_ranks_{team_};
  bool has_drawn_ = false;  // the samples of this step, for all shards
  Buffer<T> momentum_, initial_mean_, initial_precision_;
  std::vector<double> unit_sums_;
  StepSizes reserved_for_;  // 0: not for these options
  Use reserved_use_ = Use::fit;
  Workspace work_;
};

}  // namespace bdl
