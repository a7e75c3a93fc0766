#include "predict/ensemble.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "predict/overflow.hpp"
#include "predict/result.hpp"

namespace bdl {
namespace {

/// Sizes of rules whose number of nodes depends on the prediction: enough for x of 1e6 standard deviations,
/// and the largest that heteroscedastic noise can need.
constexpr std::size_t most_nodes = 4098, most_components = 9400;

}  // namespace

void fail_member(Index j, const Error& error) {
  fail(error.status(), "member %lld (counting from 0): %s", static_cast<long long>(j), error.what());
}

template <class T>
Predictor<T>::Predictor(const Model<T>& model, const Posterior<T>& posterior, const PredictSpec& spec)
    : spec_(spec) {
  check_spec(model, posterior, spec);
  model_ = model.clone();
  posterior_ = posterior.clone();
  reserve_rules();
  keep_draws(query({}));
}

template <class T>
void Predictor<T>::reserve_rules() {
  const bdl_likelihood kind = model_->likelihood.kind();
  if (kind == BDL_BERNOULLI && spec_.method == BDL_QUADRATURE) {
    memory_.rule.reserve(most_nodes);
    memory_.numbers.reserve(most_nodes);  // moments at the nodes
  }
  if (kind == BDL_BERNOULLI && spec_.method == BDL_LINEARIZED) memory_.information_rule.reserve(most_nodes);
  if (model_->likelihood.integrates_by_nodes() &&
      (spec_.method == BDL_QUADRATURE || spec_.method == BDL_LINEARIZED)) {
    memory_.rule.reserve(most_nodes);
    memory_.mixture.reserve(static_cast<Index>(most_nodes) * model_->outputs());
    memory_.numbers.reserve(static_cast<Index>(most_nodes + 1) * model_->likelihood.moment_count());
    memory_.components.list.reserve(most_nodes);
  }
  if (kind == BDL_HETEROSCEDASTIC && spec_.method == BDL_LINEARIZED)
    memory_.components.list.reserve(most_components);
}

namespace {

/// One rows x cols answer of each member, or nothing if it is not wanted.
class Answers {
 public:
  Answers(Buffer<double>& memory, Index members, Index rows, Index cols, bool wanted)
      : members_(members),
        rows_(rows),
        cols_(cols),
        wanted_(wanted),
        values_(wanted ? memory.first(members * rows * cols).data() : nullptr) {}
  OutArray of(Index j) {
    return wanted_ ? as_output(MatrixView<double>(values_ + j * rows_ * cols_, cols_, rows_)) : OutArray{};
  }
  double operator()(Index j, Index i, Index c) const { return values_[(j * rows_ + i) * cols_ + c]; }
  double mean(Index i, Index c) const {
    double sum = 0;
    for (Index j = 0; j < members_; ++j) sum += (*this)(j, i, c);
    return std::isnan(sum) ? overflow::infinity : sum / static_cast<double>(members_);
  }
  /// Returns the covariance over members of columns c and b.
  double covariance(Index i, Index c, Index b) const {
    const double center = mean(i, c), other = mean(i, b);
    double sum = 0;
    for (Index j = 0; j < members_; ++j) sum += ((*this)(j, i, c) - center) * ((*this)(j, i, b) - other);
    return std::isnan(sum) ? overflow::infinity : sum / static_cast<double>(members_);
  }

 private:
  Index members_, rows_, cols_;
  bool wanted_;
  double* values_;
};

/// Returns the log of the mean over members of exp(log); of logs of a row that counts `times` times, that of
/// the row once, so many times.
double log_mean(const Answers& logs, Index members, Index i, double times) {
  if (times == 0) return 0;
  double top = -std::numeric_limits<double>::infinity(), sum = 0;
  for (Index j = 0; j < members; ++j) top = std::max(top, logs(j, i, 0));
  if (!std::isfinite(top)) return top;
  for (Index j = 0; j < members; ++j) sum += std::exp((logs(j, i, 0) - top) / times);
  return top + times * std::log(sum / static_cast<double>(members));
}

template <class T>
void check_alike(const Model<T>& model, const Model<T>& first) {
  const auto check = [](const char* what, Index value, Index expected) {
    if (value != expected)
      fail(Status::ERROR_SHAPE, "the model has %s %lld, expected %lld as the first member", what,
           static_cast<long long>(value), static_cast<long long>(expected));
  };
  check("inputs", model.inputs(), first.inputs());
  check("outputs", model.outputs(), first.outputs());
  check("likelihood", model.likelihood.kind(), first.likelihood.kind());
}

}  // namespace

template <class T>
void Ensemble<T>::add(const Model<T>& member, const Posterior<T>& posterior, const PredictSpec& spec) {
  if (!members_.empty()) check_alike(member, model());
  members_.push_back(std::make_unique<Predictor<T>>(member, posterior, spec));
}

/// Applies the law of total variance.
template <class T>
void Ensemble<T>::moments(const Array& x, const OutArray& mean, const OutArray& epistemic,
                          const OutArray& noise) {
  if (count() == 1) return predict_moments(members_[0]->query(x), mean, epistemic, noise);
  check_query(members_[0]->query(x));
  const Index rows = x.rows, outputs = model().likelihood.moment_count();
  Result means(results_[0], mean, rows, outputs, "mean");
  Result epistemics(results_[1], epistemic, rows, outputs, "epistemic_variance");
  Result noises(results_[2], noise, rows, outputs, "noise_variance");
  Answers m(answers_[0], count(), rows, outputs, given(mean) || given(epistemic));
  Answers e(answers_[1], count(), rows, outputs, given(epistemic));
  Answers s(answers_[2], count(), rows, outputs, given(noise));
  each(x, [&](Index j, const Query<T>& query) { predict_moments(query, m.of(j), e.of(j), s.of(j)); });
  for (Index i = 0; i < rows; ++i)
    for (Index c = 0; c < outputs; ++c) {
      if (given(mean)) means(i, c) = m.mean(i, c);
      if (given(epistemic)) epistemics(i, c) = e.mean(i, c) + m.covariance(i, c, c);
      if (given(noise)) noises(i, c) = s.mean(i, c);
    }
  write_predictions(means, epistemics, noises);
}

/// E H(p) of a member is its entropy less its own mutual information.
template <class T>
void Ensemble<T>::classes(const Array& x, const OutArray& probabilities, const OutArray& entropy,
                          const OutArray& mutual_information) {
  if (count() == 1) return predict_classes(members_[0]->query(x), probabilities, entropy, mutual_information);
  check_query(members_[0]->query(x));
  const Likelihood& likelihood = model().likelihood;
  const Index rows = x.rows, outputs = likelihood.moment_count(), targets = likelihood.targets();
  const bool informs = given(mutual_information);
  Result p(results_[0], probabilities, rows, outputs, "probabilities");
  Result entropies(results_[1], entropy, rows, targets, "entropy");
  Result information(results_[2], mutual_information, rows, targets, "mutual_information");
  Answers of(answers_[0], count(), rows, outputs, true);
  Answers h(answers_[1], count(), rows, targets, informs),
      known(answers_[2], count(), rows, targets, informs);
  each(x, [&](Index j, const Query<T>& query) { predict_classes(query, of.of(j), h.of(j), known.of(j)); });
  for (Index i = 0; i < rows; ++i) {
    for (Index c = 0; c < outputs; ++c) p(i, c) = std::min(1.0, of.mean(i, c));
    std::ranges::fill(entropies.row(i), 0.0);
    add_entropies(likelihood, p.row(i), 1, entropies.row(i));
    for (Index t = 0; informs && t < targets; ++t)
      information(i, t) = std::max(0.0, entropies(i, t) - h.mean(i, t) + known.mean(i, t));
  }
  write_predictions(p, entropies, information);
}

template <class T>
void Ensemble<T>::log_density(const Array& x, const Array& y, const OutArray& log_density) {
  if (count() == 1) return predict_log_density(members_[0]->query(x), y, log_density);
  check_query(members_[0]->query(x));
  Result result(results_[0], log_density, x.rows, 1, "log_density");
  Answers logs(answers_[0], count(), x.rows, 1, true);
  each(x, [&](Index j, const Query<T>& query) { predict_log_density(query, y, logs.of(j)); });
  const Likelihood& likelihood = model().likelihood;
  const bool has_times = likelihood.is_weighted() && !likelihood.has_trials();  // trials belong together
  for (Index i = 0; i < x.rows; ++i)
    result(i, 0) = log_mean(logs, count(), i, has_times ? element(y, i, likelihood.targets()) : 1);
  write_predictions(result);
}

template <class T>
template <class Draw>
void Ensemble<T>::collect_draws(const Array& x, Index columns, const OutArray& draws, Draw&& draw) {
  check_query(members_[0]->query(x));
  const Index samples = members_[0]->query(x).spec.samples;
  check_samples(samples);
  Result result(results_[0], draws, x.rows, columns * samples * count(), "draws");
  Answers drawn(answers_[0], count(), x.rows, columns * samples, true);
  each(x, [&](Index j, const Query<T>& query) { draw(query, drawn.of(j)); });
  for (Index i = 0; i < x.rows; ++i)
    for (Index t = 0; t < columns; ++t)
      for (Index j = 0; j < count(); ++j)
        for (Index k = 0; k < samples; ++k)
          result(i, (t * count() + j) * samples + k) = drawn(j, i, t * samples + k);
  write_predictions(result);
}

template <class T>
void Ensemble<T>::draws(const Array& x, const OutArray& draws) {
  if (count() == 1) return predict_draws(members_[0]->query(x), draws);
  collect_draws(x, model().likelihood.targets(), draws,
                [](const Query<T>& query, const OutArray& out) { predict_draws(query, out); });
}

template <class T>
void Ensemble<T>::draws_of(const Array& x, bdl_quantity quantity, const OutArray& draws) {
  if (quantity == BDL_QUANTITY_Y) return this->draws(x, draws);
  if (count() == 1) return predict_draws_of(members_[0]->query(x), quantity, draws);
  collect_draws(x, quantity_count(model().likelihood, quantity), draws,
                [&](const Query<T>& query, const OutArray& out) { predict_draws_of(query, quantity, out); });
}

template <class T>
void Ensemble<T>::log_likelihood(const Array& x, const Array& y, const OutArray& log_likelihood) {
  if (count() == 1) return predict_log_likelihood(members_[0]->query(x), y, log_likelihood);
  check_query(members_[0]->query(x));
  const Index samples = members_[0]->query(x).spec.samples;
  check_samples(samples);
  Result result(results_[0], log_likelihood, samples * count(), x.rows, "log_likelihood");
  Answers logs(answers_[0], count(), samples, x.rows, true);
  each(x, [&](Index j, const Query<T>& query) { predict_log_likelihood(query, y, logs.of(j)); });
  for (Index j = 0; j < count(); ++j)
    for (Index k = 0; given(log_likelihood) && k < samples; ++k)
      for (Index i = 0; i < x.rows; ++i) result(j * samples + k, i) = logs(j, k, i);
  write_predictions(result);
}

template <class T>
void Ensemble<T>::output_law(Predictor<T>& member, const Array& x, const OutArray& mean,
                             const OutArray& covariance) {
  Query<T> query = member.query(x);
  query.spec.method = BDL_LINEARIZED;
  predict_output_distribution(query, mean, covariance);
}

template <class T>
void Ensemble<T>::output_distribution(const Array& x, const OutArray& mean, const OutArray& covariance) {
  if (count() == 1) return output_law(*members_[0], x, mean, covariance);
  check_query(members_[0]->query(x));
  const Index outputs = model().outputs();
  Result means(results_[0], mean, x.rows, outputs, "mean");
  Result covariances(results_[1], covariance, x.rows, outputs * outputs, "covariance");
  Answers m(answers_[0], count(), x.rows, outputs, true);
  Answers v(answers_[1], count(), x.rows, outputs * outputs, given(covariance));
  each(x, [&](Index j, const Query<T>&) {
    output_law(*members_[static_cast<std::size_t>(j)], x, m.of(j), v.of(j));
  });
  for (Index i = 0; i < x.rows; ++i)
    for (Index c = 0; c < outputs; ++c) {
      means(i, c) = m.mean(i, c);
      for (Index b = 0; given(covariance) && b < outputs; ++b)
        covariances(i, c * outputs + b) = v.mean(i, c * outputs + b) + m.covariance(i, c, b);
    }
  write_predictions(means, covariances);
}

template <class T>
void Ensemble<T>::leverage(const Array& x, const OutArray& leverage, const OutArray& left_out) {
  if (count() == 1) return predict_leverage(members_[0]->query(x), leverage, left_out);
  check_query(members_[0]->query(x));
  Result plain(results_[0], leverage, x.rows, 1, "leverage");
  Result without(results_[1], left_out, x.rows, 1, "left_out");
  Answers p(answers_[0], count(), x.rows, 1, true), w(answers_[1], count(), x.rows, 1, true);
  each(x, [&](Index j, const Query<T>& query) { predict_leverage(query, p.of(j), w.of(j)); });
  for (Index i = 0; i < x.rows; ++i) {
    plain(i, 0) = p.mean(i, 0);
    without(i, 0) = w.mean(i, 0);
  }
  write_predictions(plain, without);
}

template class Predictor<float>;
template class Predictor<double>;
template class Ensemble<float>;
template class Ensemble<double>;

}  // namespace bdl
