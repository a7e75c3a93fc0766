#include "curvature/estimator.hpp"

#include <algorithm>

#include "curvature/blocked_rows.hpp"
#include "curvature/dense_rows.hpp"
#include "curvature/seeds.hpp"
#include "curvature/tape_numbers.hpp"
#include "network/graph.hpp"

namespace bdl {
namespace {

/// Names the example and sample of the first non-finite output.
template <class T>
void check_batch_finite(ConstMatrixView<T> f, Index examples) {
  for (Index s = 0; s * examples < f.cols; ++s) check_outputs_finite<T>(f.columns(s * examples, examples));
}

/// Outputs and coefficients common to both kinds of model.
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
  void reserve_batch(const BatchSize& size) {
    outputs_.reserve(density_.outputs() * size.examples * size.samples);
    c_.reserve(rows(size));
    w_.reserve(rows(size));
  }
  /// Outputs, c and w of examples that were seen apart.
  Index batch_numbers(Index outputs, Index count) const { return density_.outputs() * outputs + 2 * count; }
  T* write_batch(Index count, T* out) const {
    out = std::copy_n(outputs_.data(), density_.outputs() * columns_, out);
    out = std::copy_n(c_.data(), count, out);
    return std::copy_n(w_.data(), count, out);
  }
  /// `sections` of c and w; what follows them.
  const T* read_batch(const BatchSize& all, Index sections, Index first, Index count, const T* from) {
    const auto read = [&](Index height, Index of, Buffer<T>& to) {
      const ConstMatrixView<T> here(from, height, count * of);
      copy_examples<T>(Layout::columns, of, here, count, first, all.examples,
                       to.matrix(height, all.examples * of));
      from += here.size();
    };
    read(density_.outputs(), all.samples, outputs_);
    read(1, sections, c_);
    read(1, sections, w_);
    return from;
  }
  const Likelihood& density_;
  Index columns_ = 0;
  Buffer<T> outputs_, c_, w_;
};

template <class T>
class NetworkEstimator final : public BatchEstimator<T> {
 public:
  explicit NetworkEstimator(const Model<T>& model)
      : BatchEstimator<T>(model), graph_(*model.graph()), rows_(graph_), numbers_(graph_) {}

  void reserve(const BatchSize& size, const RowsUse&) override {
    this->reserve_batch(size);
    if (merges(size)) ones_.reserve(size.examples);
  }
  void reserve_gradients(Index) override {}
  const BlockedRows<T>* blocks() const override { return &rows_; }
  RowsCost cost(const BatchSize& size) const override {
    if (merges(size)) return rows_.cost(size.examples, 1, 1);
    return rows_.cost(size.examples, size.samples, seed_count(this->density_, size));
  }

  bool has_sums_together() const override { return rows_.has_sums_together(); }
  Estimate<T> estimate(ConstMatrixView<T> thetas, ConstMatrixView<T> x, ConstMatrixView<T> y,
                       const SeedSpec& spec) override {
    const BatchSize size{x.cols, thetas.cols, spec.kind, spec.apart};
    const Index seeds = seed_count(this->density_, size), count = this->rows(size);
    reserve(size, {});
    this->columns_ = x.cols * thetas.cols;
    const auto f = this->outputs_.matrix(graph_.outputs(), this->columns_);
    graph_.forward(thetas, x, tape_, f, spec.noise, spec.statistics);
    check_batch_finite<T>(f, x.cols);
    const auto e = graph_.seeds(tape_, count);
    fill_seeds<T>(this->density_, spec, f, y, e, this->c_.first(count), this->w_.first(count));
    const double log_likelihood = expected_log_likelihood<T>(this->density_, f, y);
    seeds_ = seeds;
    is_merged_ = merges(size);
    if (is_merged_) {
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

  Index shared_numbers(const BatchSize& size) const override {
    const Index seeds = seed_count(this->density_, size), columns = size.examples * size.samples;
    if (merges(size)) return graph_.inputs() * size.examples + this->batch_numbers(columns, size.examples);
    return this->batch_numbers(columns, columns * seeds) + numbers_.count(size.examples, size.samples, seeds);
  }
  void write_shared(std::span<T> out) const override {
    T* const rest = this->write_batch(rows_.count(), out.data());
    if (is_merged_)
      for (Index i = 0; i < tape_.x.cols; ++i)
        std::ranges::copy(tape_.x.column(i), rest + i * graph_.inputs());
    else
      numbers_.write(tape_, seeds_, out.subspan(static_cast<std::size_t>(rest - out.data())));
  }
  void reserve_joined(const BatchSize& all, const RowsUse& use) override {
    reserve(all, use);
    x_.reserve(graph_.wire(0).height * graph_.wire(0).columns(all.examples));
  }
  Estimate<T> join(const BatchSize& all, ConstSpan<Index> sizes, ConstSpan<const T*> numbers) override {
    const Index seeds = seed_count(this->density_, all), columns = all.examples * all.samples;
    const bool merged = merges(all);
    reserve_joined(all, {});
    const auto x = x_.matrix(graph_.wire(0).height, graph_.wire(0).columns(all.examples));
    this->columns_ = columns;
    graph_.begin(tape_, x, all.samples);
    if (!merged) numbers_.clear(seeds, tape_);
    Index first = 0;
    for (std::size_t v = 0; v < sizes.size(); ++v) {
      const Index count = sizes[v];
      const T* const rest = this->read_batch(all, merged ? 1 : all.samples * seeds, first, count, numbers[v]);
      if (merged)
        copy_examples<T>(Layout::columns, 1, {rest, x.rows, count}, count, first, all.examples, x);
      else
        numbers_.read({rest, static_cast<std::size_t>(numbers_.count(count, all.samples, seeds))}, first,
                      count, seeds, tape_, x);
      first += count;
    }
    if (merged) {
      std::ranges::fill(ones_.first(all.examples), T(1));
      rows_.assign_single(x, ones_.matrix(1, all.examples));
    } else {
      rows_.assign(tape_, seeds);
    }
    return {&rows_, this->c_.first(rows_.count()), this->w_.first(rows_.count()), 0, merged};
  }

 private:
  bool merges(const BatchSize& size) const { return graph_.is_single_index() && !size.apart; }
  void merge(ConstMatrixView<T> x, ConstMatrixView<T> e) {
    merge_single_index(e, x.cols, this->c_.first(e.cols), this->w_.first(e.cols));
    std::ranges::fill(ones_.first(x.cols), T(1));
    rows_.assign_single(x, ones_.matrix(1, x.cols));
  }
  const Graph<T>& graph_;
  Tape<T> tape_;
  NetworkRows<T> rows_;
  TapeNumbers<T> numbers_;
  Index seeds_ = 1;
  bool is_merged_ = false;
  Buffer<T> ones_, x_;
};

template <class T>
class UserEstimator final : public BatchEstimator<T> {
 public:
  explicit UserEstimator(const Model<T>& model) : BatchEstimator<T>(model), model_(model) {}

  void reserve(const BatchSize& size, const RowsUse& use) override {
    this->reserve_batch(size);
    seeds_.reserve(model_.outputs() * this->rows(size));
    rows_.reserve(model_.parameters(), this->rows(size));
    rows_.reserve_use(model_.parameters(), this->rows(size), use);
  }
  void reserve_gradients(Index count) override { rows_.reserve_gradients(model_.parameters(), count); }
  RowsCost cost(const BatchSize& size) const override {
    return DenseRows<T>::cost(model_.parameters(), this->rows(size));
  }

  Estimate<T> estimate(ConstMatrixView<T> thetas, ConstMatrixView<T> x, ConstMatrixView<T> y,
                       const SeedSpec& spec) override {
    const BatchSize size{x.cols, thetas.cols, spec.kind, spec.apart};
    const Index count = this->rows(size);
    reserve(size, {});
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
  void point_squares(ConstSpan<T>, std::span<T>) const override {}  // it has none

  Index shared_numbers(const BatchSize& size) const override {
    const Index count = this->rows(size);
    return this->batch_numbers(size.examples * size.samples, count) + model_.parameters() * count;
  }
  void write_shared(std::span<T> out) const override {
    const ConstMatrixView<T> rows = rows_.matrix();
    std::copy_n(rows.data, rows.size(), this->write_batch(rows.cols, out.data()));
  }
  void reserve_joined(const BatchSize& all, const RowsUse& use) override { reserve(all, use); }
  Estimate<T> join(const BatchSize& all, ConstSpan<Index> sizes, ConstSpan<const T*> numbers) override {
    reserve(all, {});
    const Index count = this->rows(all), sections = count / all.examples;
    this->columns_ = all.examples * all.samples;
    const auto rows = rows_.resize(model_.parameters(), count);
    Index first = 0;
    for (std::size_t v = 0; v < sizes.size(); first += sizes[v++]) {
      const T* const rest = this->read_batch(all, sections, first, sizes[v], numbers[v]);
      copy_examples<T>(Layout::columns, sections, {rest, rows.rows, sizes[v] * sections}, sizes[v], first,
                       all.examples, rows);
    }
    return {&rows_, this->c_.first(count), this->w_.first(count), 0};
  }

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
