// An optimizer: a posterior, the method that trains it, and everything that is kept from step to step. The
// class holds the parts, each of which has a file of its own; free functions do the work:
//
//   start.hpp     where training starts: posterior, prior, moving averages
//   units.hpp     units that are estimated from the targets before a step: initial noise, scales, limits
//   step.hpp      one step on a minibatch, or on the caller's rows
//   watch.hpp     divergence, and the last good state
//   scales.hpp    prior and noise precisions that are learned with the steps
//   course.hpp    epochs; fit.hpp the loop over them, on the caller's data
//   stream/stream.hpp       observations, one after the other
//   approximate/laplace.hpp, approximate/swag.hpp, exact/exact_fit.hpp
//                 posteriors that are found in other ways than by steps on minibatches
//   sharding.hpp  training by several processes
//   memory.hpp    an estimate of the memory; diagnose.hpp advice about training that has not worked
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "base/deferred.hpp"
#include "curvature/dense_rows.hpp"
#include "methods/combination.hpp"
#include "model/model.hpp"
#include "posterior/posterior.hpp"
#include "prior/prior.hpp"
#include "ranks/sharded_evidence.hpp"
#include "ranks/team.hpp"
#include "steps/averages.hpp"
#include "steps/bong.hpp"
#include "train/approximate/snapshots.hpp"
#include "train/scales.hpp"
#include "train/state.hpp"
#include "train/stream/prequential.hpp"
#include "train/stream/residual_noise.hpp"
#include "train/stream/stream_scales.hpp"
#include "train/watch.hpp"

namespace bdl {

template <class T>
class LaplaceApproximation;

/// Memory of the steps, beside model, posterior, prior and averages.
template <class T>
struct StepMemory {
  explicit StepMemory(const Model<T>* model);
  std::unique_ptr<MinibatchEvidence<T>> evidence;  ///< like the next two, null without a model
  std::unique_ptr<ShardedEvidence<T>> sharded;
  std::unique_ptr<Prequential<T>> prequential;
  Buffer<T> x, y;                      ///< the minibatch, one example per column
  DenseRows<T> rows;                   ///< rows of the caller
  std::unique_ptr<Posterior<T>> next;  ///< the result of a step until it is committed
  Scratch scratch;
  Scales scales;                   ///< scales learned in a step, until it is committed
  TreeSums<double> shard_numbers;  ///< sums of targets over shards, before a step
};

/// Description of the noise that each layer makes, and whether all layers' noise is exact.
struct NoiseText {
  bool is_exact;
  std::string text;
};

template <class T>
class Optimizer {
 public:
  using Scalar = T;
  /// `model` may be null: then only steps on the caller's rows work.
  Optimizer(std::shared_ptr<Model<T>> model, std::shared_ptr<Posterior<T>> posterior, const Method& method,
            Index data_size);

  const std::shared_ptr<Model<T>>& model() const { return model_; }
  const std::shared_ptr<Posterior<T>>& posterior() const { return posterior_; }
  const Method& method() const { return method_; }
  const MethodContext& context() const { return context_; }
  Index data_size() const { return data_size_; }
  /// Returns the sum of the rows' weights: N where a count is meant.
  double data_weight() const { return state.row_weight * static_cast<double>(data_size_); }
  const std::vector<ParameterBlock>& blocks() const { return model_ ? model_->blocks() : rows_block_; }

  const Options& options() const { return options_; }
  /// Sets options. The prior starts anew if an option that defines it changes or was set (reset_prior),
  /// which also ends a prior fixed by the caller.
  void set_options(const Options& options, bool reset_prior = false);
  /// Returns the kind of step that the options mean for methods that train in batches.
  StepKind step_kind() const { return step_kind_; }
  const Prior<T>& prior() const { return prior_; }
  Prior<T>& prior() { return prior_; }
  /// Fixes the prior to this posterior: its mean and whole precision. A blank posterior will start from it.
  void set_prior(std::shared_ptr<const Posterior<T>> prior);
  /// Fixes the prior's mean to 0 and the precision of each parameter.
  void set_prior(ConstSpan<T> precision);
  /// Gives parameters or coefficients normal priors beside the groups of the options. They stay when options
  /// or units change; nothing given takes them back.
  void set_normals(NormalPrior given);
  const NormalPrior& normals() const { return normals_; }
  /// Returns the prior as the options define it, with the normal priors in the model's present units.
  Prior<T> new_prior() const { return new_prior(options_, normals_); }
  /// Calls read(prior) with the prior in the model's present units.
  template <class Read>
  void read_prior(Read&& read) const {
    if (!prior_is_due()) return read(prior_);
    Prior<T> prior = new_prior();
    prior.set_groups(prior_.groups());
    read(std::as_const(prior));
  }
  /// Converts priors of coefficients, if the model's units have changed.
  void settle_prior();

  /// Returns the arguments of check_combination() for this optimizer with these options.
  Combination combination(const Options& options) const {
    return {options, method_, context_, posterior_->family(), posterior_->rank()};
  }
  /// Fails unless these options can be combined with each other and with method, model and posterior.
  void check_options(const Options& options) const;
  /// As check_options(), for options that the user sets: also fails if nothing reads what they change.
  void check_choice(const Options& options) const;
  /// Fails unless this optimizer supports this use.
  void check_use(Use use) const;

  /// Sets the source of random draws; null: the optimizer's streams.
  void set_draws(std::shared_ptr<DrawSource<T>> draws) { caller_draws_ = std::move(draws); }
  const std::shared_ptr<DrawSource<T>>& caller_draws() const { return caller_draws_; }
  DrawSource<T>& draws();

  /// Mean and diagonal of the precision at the start, with which the diagnosis compares.
  ConstSpan<T> initial_mean() const { return initial_mean_.first(posterior_->dimension()); }
  ConstSpan<T> initial_precision() const { return initial_precision_.first(posterior_->dimension()); }
  void set_start(ConstSpan<T> mean, ConstSpan<T> precision);
  /// Makes the posterior blank again, as if it had not been initialised.
  void forget_start() noexcept;

  /// Return the memory for a minibatch of so many examples, one per column, which step() and observe() read.
  MatrixView<T> batch_x(Index examples) { return memory.x.matrix(model_->inputs(), examples); }
  MatrixView<T> batch_y(Index examples) { return memory.y.matrix(model_->likelihood.columns(), examples); }
  /// Describes the noise of each layer. The text lives as long as the optimizer. Fails with
  /// ERROR_UNSUPPORTED unless the posterior is a low-rank-moment one that is learned through noise.
  const NoiseText& noise_text() const;

  TrainingState state;
  Averages<T> averages;
  Watch<T> watch;
  Filter<T> filter;
  ResidualNoise noise;
  StreamScales stream_scales;
  Snapshots<T> snapshots;
  /// The last Laplace approximation, for the evidence; it knows what it is of.
  std::shared_ptr<const LaplaceApproximation<T>> laplace;
  Team team;
  std::atomic<bool> stop_requested{false};
  StepMemory<T> memory;

 private:
  std::shared_ptr<Model<T>> model_;
  std::shared_ptr<Posterior<T>> posterior_;
  const Method& method_;
  Index data_size_;
  PointLayout points_;  // the model's, and the posterior's unless the caller has changed it
  MethodContext context_;
  Options options_;
  Prior<T> new_prior(const Options& options, const NormalPrior& normals) const;
  /// True if the model's units have changed since priors of coefficients were converted.
  bool prior_is_due() const;
  void hold_prior(Prior<T> prior, NormalPrior normals);
  mutable std::optional<Use> checked_use_;  // use that the present options have been checked for
  StepKind step_kind_ = StepKind::natural_gradient;
  Prior<T> prior_;
  NormalPrior normals_;
  Standardization units_of_prior_;
  std::vector<ParameterBlock> rows_block_;  // theta as one block where there is no model
  StreamDraws<T> streams_;
  std::shared_ptr<DrawSource<T>> caller_draws_;
  Buffer<T> initial_mean_, initial_precision_;
  mutable struct {
    Deferred is_due{true};
    NoiseText text;
  } noise_texts_[static_cast<int>(NoiseEstimator::shared) + 1];  // one for each NoiseEstimator
};

/// Returns the KL divergence of the posterior from the prior.
template <class T>
double kl_from_prior(const Optimizer<T>& optimizer);

}  // namespace bdl
