#include <algorithm>

#include "io/checkpoint.hpp"
#include "io/record.hpp"
#include "posterior/families.hpp"
#include "posterior/low_rank_moment/members.hpp"
#include "train/course.hpp"

namespace bdl {
namespace {

/// Visits fields that files have since 0.2 or later; those that a file lacks keep their initial values.
template <class Fields, class State>
void visit_later_state(Fields& fields, State& state) {
  if (fields.has("state.is_fresh")) fields.flag("state.is_fresh", state.is_fresh);
  if (fields.has("state.guarded_steps")) {
    fields.integer("state.guarded_steps", state.guarded_steps, 0, most_counted);
    fields.integer("state.rate_cuts", state.rate_cuts, 0, most_rate_cuts);
    fields.flag("state.has_diverged", state.has_diverged);
    fields.integer("state.watch_steps", state.watch.steps, 0, most_counted);
    fields.sum("state.watch_misfit", state.watch.misfit);
    fields.sum("state.watch_baseline", state.watch.baseline);
    fields.sum("state.watch_first_ratio", state.watch.first_ratio);
  }
  if (fields.has("state.shards")) fields.integer("state.shards", state.shards, 0, most_shards);
  if (fields.has("state.arrival_steps")) {
    fields.integer("state.arrival_steps", state.convergence.steps, 0, most_counted);
    fields.sum("state.arrival_first", state.convergence.first);
    fields.sum("state.arrival_average", state.convergence.average);
  }
  if (fields.has("state.best_evidence")) {
    fields.sum("state.best_evidence", state.best_evidence);
    fields.flag("state.may_begin_anew", state.may_begin_anew);
    fields.real("state.draw_scale", state.draw_scale);
  }
  if (fields.has("state.is_in_doubt")) fields.flag("state.is_in_doubt", state.is_in_doubt);
  if (fields.has("state.row_weight")) fields.real("state.row_weight", state.row_weight);
  if (fields.has("state.distance")) fields.sum("state.distance", state.distance);
}

/// Visits the whole training state except snapshots.
template <class Fields, class State>
void visit_state(Fields& fields, State& state) {
  const auto count = [&](const char* key, auto& value) { fields.integer(key, value, 0, most_counted); };
  count("state.step", state.step);
  count("state.learning_step", state.learning_step);
  fields.integer("state.plan_begin", state.plan.begin, 0, most_counted);
  fields.integer("state.plan_end", state.plan.end, 0, most_steps);
  fields.integer("state.epoch", state.epoch, 0, most_epochs);
  count("state.batch", state.batch);
  count("state.examples", state.examples);
  count("state.batches", state.batches);
  fields.integer("state.fit_end_epoch", state.fit_end_epoch, 0, most_epochs);
  count("state.running_steps", state.running_steps);
  count("state.shortened_steps", state.shortened_steps);
  fields.real("state.scored_examples", state.prequential.examples);
  fields.real("state.scored_targets", state.prequential.targets);
  fields.flag("state.is_ahead", state.is_ahead);
  fields.sum("state.scored_log_density", state.prequential.log_density);
  fields.sum("state.scored_error", state.prequential.error);
  fields.real("state.running_log_likelihood", state.running_log_likelihood);
  fields.real("state.start_weight", state.start_weight);
  visit_later_state(fields, state);
}

void check_state(const TrainingState& state) {
  const bool position = state.batch == 0 || state.batch <= state.batches;
  const bool course = state.fit_end_epoch <= state.epoch || state.batches >= 1;
  const bool history = state.learning_step <= state.step && state.running_steps <= state.step;
  const bool scores = state.prequential.examples >= 0 && state.prequential.targets >= 0;
  const bool sizes = are_countable(std::max(state.epoch, state.fit_end_epoch), state.batches);
  if (!(position && course && history && sizes && scores && state.row_weight > 0 && state.start_weight >= 0 &&
        state.start_weight <= 1))
    fail(Status::ERROR_FORMAT, "the fields of the training state contradict each other");
}

/// Returns which descent the averages belong to. Files from before 0.2 do not name it.
DescentOption moment_kind(const RecordReader& record) {
  if (record.has("state.moment_kind")) {
    Options named;
    set_option(named, find_option("descent"), record.text("state.moment_kind").c_str());
    return named.descent;
  }
  return record.has("optimizer.second_moments") ? DescentOption::adam : DescentOption::sgd;
}

template <class T>
void make_room(const RecordReader& record, const Posterior<T>& q, Moments<T>& moments) {
  moments.kind = moment_kind(record);
  moments.size = record.shape("optimizer.first_moments", 1)[0];
  const bool has_more = is_low_rank_moment(q.family());
  if (moments.size != q.dimension() && moments.size != 2 * q.dimension() &&
      !(has_more && moments.size > q.dimension()))
    fail(Status::ERROR_FORMAT, "tensor optimizer.first_moments does not fit the mean");
  moments.first.reserve(moments.size);
  if (moments.has_second()) moments.second.reserve(moments.size);
}

/// Visits the averages; their kind, which gives their size, is known already.
template <class Fields, class Averages>
void visit_moments(Fields& fields, Averages& moments) {
  fields.integer("state.moment_steps", moments.steps, 1, most_counted);
  fields.vector("optimizer.first_moments", moments.first.first(moments.size));
  if (!moments.has_second()) return;
  const bool may_be_negative = moments.kind == DescentOption::ivon;
  fields.vector("optimizer.second_moments", moments.second.first(moments.size),
                may_be_negative ? Numbers::any : Numbers::not_negative);
}

/// Visits the averages of K-FAC's steps.
template <class T, class Fields, class Averages>
void visit_kronecker(Fields& fields, const Posterior<T>& q, Averages& averages) {
  const Index values = eigenvalue_count(averages.factors.shapes()),
              points = q.point_parameters().parameters();
  fields.integer("state.kronecker_steps", averages.steps, 1, most_counted);
  fields.vector("optimizer.kronecker_momentum", averages.momentum.first(q.dimension()));
  fields.vector("optimizer.kronecker_factors", averages.factors.values());
  fields.vector("optimizer.kronecker_eigenvalues", averages.eigenvalues.first(values), Numbers::not_negative);
  if (points > 0)
    fields.vector("optimizer.kronecker_point_squares", averages.point_squares.first(points),
                  Numbers::not_negative);
}

template <class T>
void make_room(const Posterior<T>& q, KroneckerAverages<T>& averages) {
  if (q.family() != Family::kronecker)
    fail(Status::ERROR_FORMAT, "the file has Kronecker factors of a %s posterior", family_word(q.family()));
  const std::vector<MatrixShape> shapes = q.kind().matrices;
  averages.momentum.reserve(q.dimension());
  averages.factors.reserve(shapes);
  averages.eigenvalues.reserve(eigenvalue_count(shapes));
  averages.point_squares.reserve(q.point_parameters().parameters());
}

/// Visits SWAG's `count` snapshots.
template <class T, class Fields, class Kept, class Count>
void visit_snapshots(Fields& fields, const Posterior<T>& q, Kept& snapshots, Count& count) {
  fields.integer("state.snapshots", count, 1, most_counted);
  fields.vector("optimizer.snapshot_mean", snapshots.mean(q.dimension()));
  fields.vector("optimizer.snapshot_squares", snapshots.squares(q.dimension()), Numbers::not_negative);
  for (Index k = 0; k < std::min(q.rank(), count); ++k)
    fields.vector("optimizer.snapshot_deviation." + std::to_string(k),
                  snapshots.deviations(q.dimension(), q.rank()).column(k));
}

template <class T>
void check_has_snapshots(const Posterior<T>& q) {
  if (q.family() != Family::low_rank_moment || q.rank() < 2)
    fail(Status::ERROR_FORMAT, "the file has snapshots of SWAG for a %s posterior", family_word(q.family()));
}

constexpr const char *momentum_name = "optimizer.momentum", *momentum_steps_name = "state.momentum_steps",
                     *mean_name = "optimizer.initial_mean", *precision_name = "optimizer.initial_precision",
                     *tied_name = "optimizer.tied_scales", *squares_name = "optimizer.point_squares";

template <class T>
void read_moments(const RecordReader& fields, Optimizer<T>& optimizer) {
  if (!fields.has("state.moment_steps")) return;
  Moments<T> moments;
  make_room(fields, *optimizer.posterior(), moments);
  visit_moments(fields, moments);
  optimizer.averages.moments.restore(std::move(moments));
}

template <class T>
void read_kronecker(const RecordReader& fields, Optimizer<T>& optimizer) {
  if (!fields.has("state.kronecker_steps")) return;
  KroneckerAverages<T> averages;
  make_room(*optimizer.posterior(), averages);
  visit_kronecker(fields, *optimizer.posterior(), averages);
  optimizer.averages.kfac.restore(std::move(averages));
}

template <class T>
void read_snapshots(const RecordReader& fields, Optimizer<T>& optimizer) {
  if (!fields.has("state.snapshots")) return;
  check_has_snapshots(*optimizer.posterior());
  visit_snapshots(fields, *optimizer.posterior(), optimizer.snapshots, optimizer.state.snapshots);
}

/// Reads the tied scales, if option tied_rank is set.
template <class T>
void read_tied(const RecordReader& fields, Optimizer<T>& optimizer) {
  if (!fields.has(tied_name)) return;
  TiedScales<T>& tied = optimizer.averages.tied;
  tied.reserve(optimizer.blocks(), optimizer.options().tied_rank);
  Buffer<T> values(tied.size());
  fields.vector(tied_name, values.first(tied.size()));
  tied.restore(values.first(tied.size()));
}

template <class T>
void read_point_steps(const RecordReader& fields, Optimizer<T>& optimizer) {
  if (!fields.has(squares_name)) return;
  const Index points = optimizer.posterior()->point_parameters().parameters();
  Buffer<T> average(points);
  fields.vector(squares_name, average.first(points), Numbers::not_negative);
  optimizer.averages.point_squares.restore(average.first(points));
}

}  // namespace

template <class T>
void write_training(RecordWriter& record, const Optimizer<T>& optimizer) {
  const Posterior<T>& q = *optimizer.posterior();
  visit_state(record, optimizer.state);
  record.integer(momentum_steps_name, optimizer.averages.momentum.steps(), 0, most_counted);
  record.vector(momentum_name, optimizer.averages.momentum.values());
  if (const Moments<T>& moments = optimizer.averages.moments.now(); moments.steps > 0) {
    record.text("state.moment_kind",
                choice_word(find_option("descent"), static_cast<std::int32_t>(moments.kind)));
    visit_moments(record, moments);
  }
  if (const auto& averages = optimizer.averages.kfac.now(); averages.steps > 0)
    visit_kronecker(record, q, averages);
  if (optimizer.state.snapshots > 0)
    visit_snapshots(record, q, optimizer.snapshots, optimizer.state.snapshots);
  if (const TiedScales<T>& tied = optimizer.averages.tied; tied.has_values())
    record.vector(tied_name, tied.values());
  if (const auto squares = optimizer.averages.point_squares.average(q.point_parameters().parameters());
      !squares.empty())
    record.vector(squares_name, squares);
  record.vector(mean_name, optimizer.initial_mean());
  record.vector(precision_name, optimizer.initial_precision());
}

template <class T>
void read_training(const RecordReader& record, Optimizer<T>& optimizer) {
  TrainingState& state = optimizer.state;
  state.is_fresh = false;
  visit_state(record, state);
  if (!record.has("state.shards")) state.shards = state.step > 0 ? 1 : 0;  // as before there were shards
  check_state(state);
  const Index dimension = optimizer.posterior()->dimension();
  Buffer<T> momentum(dimension), mean(dimension), precision(dimension);
  Index momentum_steps = 0;
  record.integer(momentum_steps_name, momentum_steps, 0, most_counted);
  record.vector(momentum_name, momentum.first(dimension));
  record.vector(mean_name, mean.first(dimension));
  record.vector(precision_name, precision.first(dimension), Numbers::positive);
  optimizer.averages.momentum.restore(momentum.first(dimension), momentum_steps);
  optimizer.set_start(mean.first(dimension), precision.first(dimension));
  read_moments(record, optimizer);
  read_kronecker(record, optimizer);
  read_snapshots(record, optimizer);
  read_tied(record, optimizer);
  read_point_steps(record, optimizer);
}

template void write_training(RecordWriter&, const Optimizer<float>&);
template void write_training(RecordWriter&, const Optimizer<double>&);
template void read_training(const RecordReader&, Optimizer<float>&);
template void read_training(const RecordReader&, Optimizer<double>&);

}  // namespace bdl
