#include <algorithm>

#include "base/error.hpp"
#include "io/checkpoint.hpp"
#include "posterior/families.hpp"
#include "posterior/low_rank_moment/members.hpp"

namespace bdl {
namespace {

constexpr Index count_limit = INT64_C(1) << 52;

/// Integer fields of the training state, once for writing and reading.
template <class State, class Visit>
void for_state(State& state, Visit&& visit) {
  visit("state.step", state.step);
  visit("state.learning_step", state.learning_step);
  visit("state.plan_begin", state.plan.begin);
  visit("state.plan_end", state.plan.end);
  visit("state.epoch", state.epoch);
  visit("state.batch", state.batch);
  visit("state.examples", state.examples);
  visit("state.batches", state.batches);
  visit("state.fit_end_epoch", state.fit_end_epoch);
  visit("state.running_steps", state.running_steps);
  visit("state.momentum_steps", state.momentum_steps);
  visit("state.shortened_steps", state.shortened_steps);
  visit("state.scored_examples", state.prequential.examples);
  visit("state.scored_targets", state.prequential.targets);
}

void write_options(RecordWriter& record, const Options& options) {
  for (const OptionInfo& info : option_table()) {
    const std::string key = std::string("option.") + info.name;
    if (info.type == OptionType::real)
      record.real(key, options.*info.real);
    else if (info.type == OptionType::integer)
      record.integer(key, options.*info.integer);
    else
      record.text(key, choice_word(info, info.choice(options)));
  }
}

/// Options the file does not have (of an older version) are as they were then.
Options read_options(const RecordReader& record, Options options) {
  options.guard = options.start_share = 0;
  options.minibatches = 200;
  options.prior_scaling = PriorScaling::unit;
  options.indefinite = Indefinite::shorten;
  for (const OptionInfo& info : option_table()) {
    const std::string key = std::string("option.") + info.name;
    if (!record.has(key)) continue;
    if (info.type == OptionType::real)
      set_option(options, info, record.real(key));
    else if (info.type == OptionType::integer)
      set_option(options, info, record.integer(key, INT64_MIN, INT64_MAX));
    else
      set_option(options, info, record.text(key).c_str());
  }
  return options;
}

constexpr const char* prior_prefix = "prior.posterior.";
/// Values of field prior.fixed; a reader that does not know the last one refuses it.
enum : Index { by_groups = 0, by_parameter = 1, by_posterior = 2 };

template <class T>
void write_prior(RecordWriter& record, const Prior<T>& prior) {
  record.integer("prior.fixed", prior.belief() ? by_posterior : prior.is_fixed() ? by_parameter : by_groups);
  if (prior.belief())
    write_posterior(record, *prior.belief(), prior_prefix);
  else if (prior.is_fixed())
    record.vector("prior.precision", prior.precision());
  else
    record.vector("prior.groups", prior.groups());
}

template <class T>
void read_prior(const RecordReader& record, Optimizer<T>& optimizer) {
  Prior<T>& prior = optimizer.prior();
  const Index fixed = record.integer("prior.fixed", by_groups, by_posterior);
  if (fixed == by_posterior) return optimizer.set_prior(read_posterior<T>(record, prior_prefix));
  if (fixed == by_parameter) {
    Buffer<T> precision(static_cast<Index>(prior.precision().size()));
    record.positive_vector<T>("prior.precision",
                              precision.first(static_cast<Index>(prior.precision().size())));
    prior.fix(precision.first(static_cast<Index>(prior.precision().size())));
    return;
  }
  std::vector<double> groups(prior.groups().size());
  record.positive_vector<double>("prior.groups", groups);
  prior.set_groups(groups);
}

template <class T>
void read_process_noise(const RecordReader& record, Optimizer<T>& optimizer) {
  if (!record.archive().contains("optimizer.process_noise")) return;
  Buffer<T> noise(optimizer.posterior()->dimension());
  const auto values = noise.first(optimizer.posterior()->dimension());
  record.vector<T>("optimizer.process_noise", values);
  if (std::ranges::any_of(values, [](T value) { return value < 0; }))
    fail(Status::ERROR_FORMAT, "tensor optimizer.process_noise has a negative value");
  optimizer.filter().set_process_noise(values);
}

void check_state(const TrainingState& state) {
  constexpr Index limit = most_epochs;  // products of two do not overflow
  const bool position = state.batch == 0 || state.batch <= state.batches;
  const bool course = state.fit_end_epoch <= state.epoch || state.batches >= 1;
  const bool history = state.learning_step <= state.step && state.running_steps <= state.step;
  const bool sizes = state.fit_end_epoch <= limit && state.epoch <= limit && state.batches <= limit;
  if (!(position && course && history && sizes && state.start_weight >= 0 && state.start_weight <= 1))
    fail(Status::ERROR_FORMAT, "the fields of the training state contradict each other");
}

template <class T>
void read_state(const RecordReader& record, Optimizer<T>& optimizer) {
  TrainingState& state = optimizer.state;
  for_state(state, [&](const char* key, Index& value) { value = record.integer(key, 0, count_limit); });
  state.is_ahead = record.integer("state.is_ahead", 0, 1) == 1;
  state.is_fresh = record.has("state.is_fresh") && record.integer("state.is_fresh", 0, 1) == 1;
  if (record.has("state.guarded_steps")) {  // files of 0.1 have none
    state.guarded_steps = record.integer("state.guarded_steps", 0, count_limit);
    state.rate_cuts = record.integer("state.rate_cuts", 0, most_rate_cuts);
    state.has_diverged = record.integer("state.has_diverged", 0, 1) == 1;
    state.watch = {record.integer("state.watch_steps", 0, count_limit), record.sum("state.watch_misfit"),
                   record.sum("state.watch_baseline"), record.sum("state.watch_first_ratio")};
  }
  // Before there were shards, training had one.
  state.shards = record.has("state.shards") ? record.integer("state.shards", 0, most_shards)
                                            : static_cast<Index>(state.step > 0);
  if (record.has("state.arrival_steps"))
    state.arrival = {record.integer("state.arrival_steps", 0, count_limit), record.sum("state.arrival_first"),
                     record.sum("state.arrival_average")};
  if (record.has("state.distance")) state.distance = record.sum("state.distance");
  state.prequential.log_density = record.sum("state.scored_log_density");
  state.prequential.error = record.sum("state.scored_error");
  state.running_log_likelihood = record.real("state.running_log_likelihood");
  state.start_weight = record.real("state.start_weight");
  check_state(state);
  const Index dimension = optimizer.posterior()->dimension();
  Buffer<T> momentum(dimension), mean(dimension), precision(dimension);
  record.vector<T>("optimizer.momentum", momentum.first(dimension));
  record.vector<T>("optimizer.initial_mean", mean.first(dimension));
  record.positive_vector<T>("optimizer.initial_precision", precision.first(dimension));
  optimizer.restore(momentum.first(dimension), mean.first(dimension), precision.first(dimension));
}

/// Averages of a descent that is under way.
template <class T>
void write_moments(RecordWriter& record, const Moments<T>& moments) {
  if (moments.steps == 0) return;
  record.integer("state.moment_steps", moments.steps);
  record.text("state.moment_kind",
              choice_word(find_option("descent"), static_cast<std::int32_t>(moments.kind)));
  record.vector("optimizer.first_moments", moments.first.first(moments.size));
  if (moments.has_second()) record.vector("optimizer.second_moments", moments.second.first(moments.size));
}

/// Files of before 0.2 do not name it.
DescentOption moment_kind(const RecordReader& record) {
  if (record.has("state.moment_kind")) {
    Options named;
    set_option(named, find_option("descent"), record.text("state.moment_kind").c_str());
    return named.descent;
  }
  return record.archive().contains("optimizer.second_moments") ? DescentOption::adam : DescentOption::sgd;
}

template <class T>
void read_moments(const RecordReader& record, Optimizer<T>& optimizer) {
  if (!record.has("state.moment_steps")) return;
  const Index dimension = optimizer.posterior()->dimension();
  Moments<T> moments;
  moments.steps = record.integer("state.moment_steps", 1, count_limit);
  moments.size = record.shape("optimizer.first_moments", 1)[0];
  const bool has_more = is_low_rank_moment(optimizer.posterior()->family());
  if (moments.size != dimension && moments.size != 2 * dimension && !(has_more && moments.size > dimension))
    fail(Status::ERROR_FORMAT, "tensor optimizer.first_moments does not fit the mean");
  moments.kind = moment_kind(record);
  moments.first.reserve(moments.size);
  record.vector<T>("optimizer.first_moments", moments.first.first(moments.size));
  if (moments.has_second()) {
    moments.second.reserve(moments.size);
    const auto second = moments.second.first(moments.size);
    record.vector<T>("optimizer.second_moments", second);
    const bool has_squares = moments.kind != DescentOption::ivon;
    if (has_squares && std::ranges::any_of(second, [](T value) { return value < 0; }))
      fail(Status::ERROR_FORMAT, "tensor optimizer.second_moments has a negative value");
  }
  optimizer.first_order().restore(std::move(moments));
}

/// Of K-FAC's steps.
template <class T>
void write_kronecker(RecordWriter& record, const Optimizer<T>& optimizer) {
  const KroneckerAverages<T>& averages = optimizer.kronecker_descent().averages();
  if (averages.steps == 0) return;
  const Posterior<T>& q = *optimizer.posterior();
  record.integer("state.kronecker_steps", averages.steps);
  record.vector("optimizer.kronecker_momentum", averages.momentum.first(q.dimension()));
  record.vector("optimizer.kronecker_factors", averages.factors.values());
  record.vector("optimizer.kronecker_eigenvalues",
                averages.eigenvalues.first(eigenvalue_count(averages.factors.shapes())));
  if (const Index points = q.points().parameters(); points > 0)
    record.vector("optimizer.kronecker_point_squares", averages.point_squares.first(points));
}

template <class T>
void read_kronecker(const RecordReader& record, Optimizer<T>& optimizer) {
  if (!record.has("state.kronecker_steps")) return;
  const Posterior<T>& q = *optimizer.posterior();
  if (q.family() != Family::kronecker)
    fail(Status::ERROR_FORMAT, "the file has Kronecker factors of a %s posterior", family_word(q.family()));
  const std::vector<MatrixShape> shapes = q.kind().matrices;
  const Index values = eigenvalue_count(shapes), points = q.points().parameters();
  KroneckerAverages<T> averages;
  averages.steps = record.integer("state.kronecker_steps", 1, count_limit);
  averages.momentum.reserve(q.dimension());
  averages.factors.reserve(shapes);
  averages.eigenvalues.reserve(values);
  averages.point_squares.reserve(points);
  record.vector<T>("optimizer.kronecker_momentum", averages.momentum.first(q.dimension()));
  record.vector<double>("optimizer.kronecker_factors", averages.factors.values());
  record.vector<double>("optimizer.kronecker_eigenvalues", averages.eigenvalues.first(values));
  if (points > 0) record.vector<T>("optimizer.kronecker_point_squares", averages.point_squares.first(points));
  const auto is_negative = [](auto value) { return value < 0; };
  if (std::ranges::any_of(averages.eigenvalues.first(values), is_negative) ||
      std::ranges::any_of(averages.point_squares.first(points), is_negative))
    fail(Status::ERROR_FORMAT, "tensor optimizer.kronecker_%s has a negative value",
         points > 0 ? "eigenvalues or _point_squares" : "eigenvalues");
  optimizer.kronecker_descent().restore(std::move(averages));
}

/// Of SWAG; how many is in the state.
template <class T>
void write_snapshots(RecordWriter& record, const Optimizer<T>& optimizer) {
  if (optimizer.state.snapshots == 0) return;
  const Posterior<T>& q = *optimizer.posterior();
  const Snapshots<T>& snapshots = optimizer.snapshots();
  record.integer("state.snapshots", optimizer.state.snapshots);
  record.vector("optimizer.snapshot_mean", snapshots.mean(q.dimension()));
  record.vector("optimizer.snapshot_squares", snapshots.squares(q.dimension()));
  for (Index k = 0; k < std::min(q.rank(), optimizer.state.snapshots); ++k)
    record.vector("optimizer.snapshot_deviation." + std::to_string(k),
                  snapshots.deviations(q.dimension(), q.rank()).column(k));
}

template <class T>
void read_snapshots(const RecordReader& record, Optimizer<T>& optimizer) {
  if (!record.has("state.snapshots")) return;
  const Posterior<T>& q = *optimizer.posterior();
  if (q.family() != Family::low_rank_moment || q.rank() < 2)
    fail(Status::ERROR_FORMAT, "the file has snapshots of SWAG for a %s posterior", family_word(q.family()));
  optimizer.state.snapshots = record.integer("state.snapshots", 1, count_limit);
  Snapshots<T>& snapshots = optimizer.snapshots();
  snapshots.reserve(q.dimension(), q.rank());
  record.vector<double>("optimizer.snapshot_mean", snapshots.mean(q.dimension()));
  record.vector<double>("optimizer.snapshot_squares", snapshots.squares(q.dimension()));
  if (std::ranges::any_of(snapshots.squares(q.dimension()), [](double value) { return value < 0; }))
    fail(Status::ERROR_FORMAT, "tensor optimizer.snapshot_squares has a negative value");
  for (Index k = 0; k < std::min(q.rank(), optimizer.state.snapshots); ++k)
    record.vector<T>("optimizer.snapshot_deviation." + std::to_string(k),
                     snapshots.deviations(q.dimension(), q.rank()).column(k));
}

/// What stands for s where it is tied.
template <class T>
void read_tied(const RecordReader& record, Optimizer<T>& optimizer) {
  if (!record.archive().contains("optimizer.tied_scales")) return;
  TiedScales<T>& tied = optimizer.first_order().tied();
  tied.reserve(optimizer.blocks(), optimizer.options().tied_rank);
  Buffer<T> values(tied.size());
  record.vector<T>("optimizer.tied_scales", values.first(tied.size()));
  tied.restore(values.first(tied.size()));
}

template <class T>
void read_point_steps(const RecordReader& record, Optimizer<T>& optimizer) {
  if (!record.archive().contains("optimizer.point_squares")) return;
  const Index points = optimizer.posterior()->points().parameters();
  Buffer<T> average(points);
  const auto values = average.first(points);
  record.vector<T>("optimizer.point_squares", values);
  if (std::ranges::any_of(values, [](T value) { return value < 0; }))
    fail(Status::ERROR_FORMAT, "tensor optimizer.point_squares has a negative value");
  optimizer.point_steps().restore(values);
}

}  // namespace

template <class T>
void write_optimizer(RecordWriter& record, const Optimizer<T>& optimizer) {
  record.text("optimizer.method", optimizer.method().name);
  record.integer("optimizer.data_size", optimizer.data_size());
  write_options(record, optimizer.options());
  for_state(optimizer.state, [&](const char* key, Index value) { record.integer(key, value); });
  record.integer("state.guarded_steps", optimizer.state.guarded_steps);
  record.integer("state.shards", optimizer.state.shards);
  record.integer("state.has_diverged", optimizer.state.has_diverged ? 1 : 0);
  record.integer("state.rate_cuts", optimizer.state.rate_cuts);
  record.integer("state.watch_steps", optimizer.state.watch.steps);
  record.real("state.watch_misfit", optimizer.state.watch.misfit);
  record.real("state.watch_baseline", optimizer.state.watch.baseline);
  record.real("state.watch_first_ratio", optimizer.state.watch.first_ratio);
  if (optimizer.state.distance != 0) record.real("state.distance", optimizer.state.distance);
  record.integer("state.arrival_steps", optimizer.state.arrival.steps);
  record.real("state.arrival_first", optimizer.state.arrival.first);
  record.real("state.arrival_average", optimizer.state.arrival.average);
  record.integer("state.is_ahead", optimizer.state.is_ahead ? 1 : 0);
  record.integer("state.is_fresh", optimizer.state.is_fresh ? 1 : 0);
  record.real("state.scored_log_density", optimizer.state.prequential.log_density);
  record.real("state.scored_error", optimizer.state.prequential.error);
  record.real("state.running_log_likelihood", optimizer.state.running_log_likelihood);
  record.real("state.start_weight", optimizer.state.start_weight);
  write_prior(record, optimizer.prior());
  if (const auto noise = optimizer.filter().process_noise(); !noise.empty())
    record.vector("optimizer.process_noise", noise);
  record.vector("optimizer.momentum", optimizer.momentum());
  write_moments(record, optimizer.first_order().moments());
  write_kronecker(record, optimizer);
  write_snapshots(record, optimizer);
  if (const TiedScales<T>& tied = optimizer.first_order().tied(); tied.has_values())
    record.vector("optimizer.tied_scales", tied.values());
  if (const auto squares = optimizer.point_steps().average(optimizer.posterior()->points().parameters());
      !squares.empty())
    record.vector("optimizer.point_squares", squares);
  record.vector("optimizer.initial_mean", optimizer.initial_mean());
  record.vector("optimizer.initial_precision", optimizer.initial_precision());
}

template <class T>
std::shared_ptr<Optimizer<T>> read_optimizer(const RecordReader& record, std::shared_ptr<Model<T>> model,
                                             std::shared_ptr<Posterior<T>> posterior) {
  if (!posterior) fail(Status::ERROR_FORMAT, "the file has an optimizer without a posterior");
  if (model && model->parameters() != posterior->dimension())
    fail(Status::ERROR_FORMAT, "the file's model and posterior have different numbers of parameters");
  try {
    const Method& method = find_method(record.text("optimizer.method").c_str());
    auto optimizer = std::make_shared<Optimizer<T>>(std::move(model), std::move(posterior), method,
                                                    record.integer("optimizer.data_size", 1, count_limit));
    optimizer->set_options(read_options(record, optimizer->options()));
    read_prior(record, *optimizer);
    read_process_noise(record, *optimizer);
    read_state(record, *optimizer);
    read_moments(record, *optimizer);
    read_kronecker(record, *optimizer);
    read_snapshots(record, *optimizer);
    read_tied(record, *optimizer);
    read_point_steps(record, *optimizer);
    return optimizer;
  } catch (const Error& error) {  // values the optimizer itself refuses
    fail(Status::ERROR_FORMAT, "%s", error.what());
  }
}

template void write_optimizer(RecordWriter&, const Optimizer<float>&);
template void write_optimizer(RecordWriter&, const Optimizer<double>&);
template std::shared_ptr<Optimizer<float>> read_optimizer(const RecordReader&, std::shared_ptr<Model<float>>,
                                                          std::shared_ptr<Posterior<float>>);
template std::shared_ptr<Optimizer<double>> read_optimizer(const RecordReader&,
                                                           std::shared_ptr<Model<double>>,
                                                           std::shared_ptr<Posterior<double>>);

}  // namespace bdl
