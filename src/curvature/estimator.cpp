#include "curvature/estimator.hpp"

#include <algorithm>

#include "curvature/blocked_rows.hpp"
#include "curvature/dense_rows.hpp"
#include "curvature/seeds.hpp"
#include "network/graph.hpp"

namespace bdl {
namespace {

/// Fails if an output at some sample is not finite, naming the output and its example.
template <class T>
void check_batch_finite(ConstMatrixView<T> f, Index examples) {
  for (Index s = 0; s * examples < f.cols; ++s) check_outputs_finite<T>(f.columns(s * examples, examples));
}

/// Members that the estimators of both kinds of model have in common.
template <class T>
class BatchEstimator : public Estimator<T> {
 public:
  explicit BatchEstimator(const Model<T>& model) : density_(model.likelihood) {}
  ConstMatrixView<T> outputs() const override { return outputs_.matrix(density_.outputs(), columns_); }

 protected:
  Index rows(const BatchSize& size) const {
    check_row_count(static_cast<double>(size.examples) * static_cast<double>(size.samples) *
                    static_cast<double>(seed_count(density_, size)));
    return size.examples * size.samples * seed_count(density_, size);
  }
  const Likelihood& density_;
  Index columns_ = 0;
  Buffer<T> outputs_, c_, w_;
};

template <class T>
class NetworkEstimator final : public BatchEstimator<T> {
 public:
  explicit NetworkEstimator(const Model<T>& model)
      : BatchEstimator<T>(model), graph_(*model.graph()), rows_(graph_) {}

  const BlockedRows<T>* blocks() const override { return &rows_; }
  const Tape<T>* tape() const override { return &tape_; }
  RowsCost cost(const BatchSize& size) const override {
    if (merges(size)) return rows_.cost(size.examples, 1, 1);
    return rows_.cost(size.examples, size.samples, seed_count(this->density_, size));
  }

  bool has_sums_together() const override { return rows_.has_sums_together(); }
  Estimate<T> estimate(ConstMatrixView<T> thetas, ConstMatrixView<T> x, ConstMatrixView<T> y,
                       const SeedSpec& spec) override {
    const BatchSize size{x.cols, thetas.cols, spec.kind, spec.apart};
    const Index seeds = seed_count(this->density_, size), count = this->rows(size);
    this->columns_ = x.cols * thetas.cols;
    const auto f = this->outputs_.matrix(graph_.outputs(), this->columns_);
    graph_.forward(thetas, x, tape_, f, spec.noise, spec.statistics);
    check_batch_finite<T>(f, x.cols);
    const auto e = graph_.seeds(tape_, count);
    fill_seeds<T>(this->density_, spec, f, y, e, this->c_.first(count), this->w_.first(count));
    const double log_likelihood = expected_log_likelihood<T>(this->density_, f, y);
    if (merges(size)) {
      merge(x, e);
    } else {
      graph_.backward(thetas, tape_, seeds);
      rows_.assign(tape_, seeds);
    }
    return {&rows_, this->c_.first(rows_.count()), this->w_.first(rows_.count()), log_likelihood,
            merges(size)};
  }
  void sum_sample(Index s, Index samples, ConstSpan<T> c, std::span<T> out) override {
    rows_.sum_part(s, samples, c, out);
  }
  void point_squares(ConstSpan<T> w, std::span<T> out) const override { rows_.point_squares(w, out); }

 private:
  bool merges(const BatchSize& size) const { return graph_.is_single_index() && !size.apart; }
  void merge(ConstMatrixView<T> x, ConstMatrixView<T> e) {
    merge_single_index(e, x.cols, this->c_.first(e.cols), this->w_.first(e.cols));
    std::ranges::fill(ones_.first(x.cols), T(1));
    rows_.assign_single(graph_.features(x), ones_.matrix(1, x.cols));
  }
  const Graph<T>& graph_;
  Tape<T> tape_;
  NetworkRows<T> rows_;
  Buffer<T> ones_;
};

template <class T>
class UserEstimator final : public BatchEstimator<T> {
 public:
  explicit UserEstimator(const Model<T>& model) : BatchEstimator<T>(model), model_(model) {}

  RowsCost cost(const BatchSize& size) const override {
    return DenseRows<T>::cost(model_.parameters(), this->rows(size));
  }

  Estimate<T> estimate(ConstMatrixView<T> thetas, ConstMatrixView<T> x, ConstMatrixView<T> y,
                       const SeedSpec& spec) override {
    const BatchSize size{x.cols, thetas.cols, spec.kind, spec.apart};
    const Index count = this->rows(size);
    this->columns_ = x.cols * thetas.cols;
    const auto f = this->outputs_.matrix(model_.outputs(), this->columns_);
    for (Index s = 0; s < thetas.cols; ++s)
      model_.forward(thetas.column(s), x, f.columns(s * x.cols, x.cols), scratch_);
    check_batch_finite<T>(f, x.cols);
    const auto e = seeds_.matrix(model_.outputs(), count);
    fill_seeds<T>(this->density_, spec, f, y, e, this->c_.first(count), this->w_.first(count));
    const auto rows = rows_.resize(model_.parameters(), count);
    for (Index first = 0; first < count; first += x.cols)
      model_.gradient_rows(thetas.column(first / x.cols % thetas.cols), x, e.columns(first, x.cols),
                           rows.columns(first, x.cols));
    return {&rows_, this->c_.first(count), this->w_.first(count),
            expected_log_likelihood<T>(this->density_, f, y)};
  }
  void sum_sample(Index s, Index samples, ConstSpan<T> c, std::span<T> out) override {
    rows_.sum_part(s, samples, c, out);
  }
  void point_squares(ConstSpan<T>, std::span<T>) const override {}  // a custom model has no point parameters

 private:
  const Model<T>& model_;
  DenseRows<T> rows_;
  Buffer<T> seeds_;
  Scratch scratch_;
};

}  // namespace

template <class T>
std::unique_ptr<Estimator<T>> make_estimator(const Model<T>& model) {
  if (model.graph()) return std::make_unique<NetworkEstimator<T>>(model);
  return std::make_unique<UserEstimator<T>>(model);
}

template std::unique_ptr<Estimator<float>> make_estimator(const Model<float>&);
template std::unique_ptr<Estimator<double>> make_estimator(const Model<double>&);

}  // namespace bdl
