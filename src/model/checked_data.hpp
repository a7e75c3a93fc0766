// The caller's x and y, checked against a model: arrays at once, other data when they are read.
#pragma once

#include "data/data_set.hpp"
#include "model/model.hpp"

namespace bdl {

/// Fails unless x is n x inputs and finite, also when it is standardised and converted to T.
template <class T>
void check_inputs(const Model<T>& model, const Array& x);

enum class Missing { refused, allowed };

/// Fails unless x and y are n x inputs and n x targets and finite in that sense, and y suits the likelihood.
/// Targets that are allowed to be missing are NaN.
template <class T>
void check_data(const Model<T>& model, const Array& x, const Array& y, Missing missing = Missing::refused);

template <class T>
ArrayData checked_data(const Model<T>& model, const Array& x, const Array& y,
                       Missing missing = Missing::refused) {
  check_data(model, x, y, missing);
  return {x, y};
}

/// Other data, whose rows are checked when they are read: x is finite, y a target of the likelihood. The data
/// must outlive this.
class CheckedData final : public DataSet {
 public:
  /// Fails unless the data have the model's columns; without `with_targets` y may be missing.
  template <class T>
  CheckedData(const Model<T>& model, DataSet& all, bool with_targets = true)
      : CheckedData(model.likelihood, model.inputs(), all, with_targets) {}
  CheckedData(const Likelihood& likelihood, Index inputs, DataSet& all, bool with_targets);
  Index rows() const override { return all_.rows(); }
  Index inputs() const override { return all_.inputs(); }
  Index targets() const override { return all_.targets(); }
  void expect(Index first, Index count) override { all_.expect(first, count); }
  void forget(Index first, Index count) override { all_.forget(first, count); }
  void fetch(const RowNumbers& examples, const Standardization& units, MatrixView<float> x,
             MatrixView<float> y) override {
    fetch_into(examples, units, x, y);
  }
  void fetch(const RowNumbers& examples, const Standardization& units, MatrixView<double> x,
             MatrixView<double> y) override {
    fetch_into(examples, units, x, y);
  }

 private:
  template <class T>
  void fetch_into(const RowNumbers& examples, const Standardization& units, MatrixView<T> x, MatrixView<T> y);

  const Likelihood& likelihood_;
  DataSet& all_;
};

}  // namespace bdl
