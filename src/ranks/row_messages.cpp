#include "ranks/row_messages.hpp"

#include <algorithm>
#include <numeric>

#include "curvature/blocked_rows.hpp"
#include "curvature/seeds.hpp"

namespace bdl {

template <class T>
RowMessages<T>::RowMessages(const Model<T>& model) : model_(model) {
  if (!model.graph()) return;
  tape_numbers_ = std::make_unique<TapeNumbers<T>>(*model.graph());
  rows_ = std::make_unique<NetworkRows<T>>(*model.graph());
}

template <class T>
auto RowMessages<T>::form(const BatchSize& size) const -> Form {
  const bool is_merged = model_.graph() && model_.graph()->is_single_index() && !size.apart;
  return {size.samples, seed_count(model_.likelihood, size), is_merged, true};
}

/// The message holds the outputs, c and w; then the inputs, a tape, or the rows of a custom model.
template <class T>
Index RowMessages<T>::count(const Form& form, Index examples) const {
  const Index rows = examples * form.sections();
  const Index outputs = form.has_outputs ? model_.outputs() * examples * form.samples : 0;
  const Index rest = form.is_merged  ? model_.graph()->inputs() * examples
                     : tape_numbers_ ? tape_numbers_->count(examples, form.samples, form.seeds)
                                     : model_.parameters() * rows;
  return outputs + 2 * rows + rest;
}

template <class T>
void RowMessages<T>::write(const Form& form, const Estimate<T>& estimate, ConstMatrixView<T> x,
                           ConstMatrixView<T> outputs, const Tape<T>* tape, std::span<T> out) const {
  T* to = out.data();
  const auto append = [&](ConstMatrixView<T> from) {
    for (Index j = 0; j < from.cols; ++j) to = std::ranges::copy(from.column(j), to).out;
  };
  if (form.has_outputs) append(outputs);
  to = std::ranges::copy(estimate.c, to).out;
  to = std::ranges::copy(estimate.w, to).out;
  if (form.is_merged)
    append(model_.graph()->features(x));
  else if (tape_numbers_)
    tape_numbers_->write(*tape, form.seeds, {to, static_cast<std::size_t>(out.data() + out.size() - to)});
  else
    append(static_cast<const DenseRows<T>&>(*estimate.rows).matrix());
}

/// Reads outputs, c and w of the `count` examples from `first` on; returns the rest of the message.
template <class T>
const T* RowMessages<T>::read_coefficients(const Form& form, Index first, Index count, Index examples,
                                           const T* from) {
  const auto read = [&](Index height, Index sections, Buffer<T>& to) {
    const ConstMatrixView<T> here(from, height, count * sections);
    copy_examples<T>(Layout::columns, sections, here, count, first, examples,
                     to.matrix(height, examples * sections));
    from += here.size();
  };
  if (form.has_outputs) read(model_.outputs(), form.samples, outputs_);
  read(1, form.sections(), c_);
  read(1, form.sections(), w_);
  return from;
}

template <class T>
Estimate<T> RowMessages<T>::join(const Form& form, ConstSpan<Index> sizes, ConstSpan<const T*> messages) {
  const Index examples = std::accumulate(sizes.begin(), sizes.end(), Index{0}), sections = form.sections(),
              rows = examples * sections;
  check_row_count(static_cast<double>(rows));
  columns_ = form.has_outputs ? examples * form.samples : 0;
  MatrixView<T> x;
  if (form.is_merged) {
    x = x_.matrix(model_.graph()->inputs(), examples);
  } else if (tape_numbers_) {
    const auto& wire = model_.graph()->wire(0);
    x = x_.matrix(wire.height, wire.columns(examples));
    model_.graph()->begin(tape_, x, form.samples);
    tape_numbers_->clear(form.seeds, tape_);
  } else {
    x = dense_.resize(model_.parameters(), rows);
  }
  Index first = 0;
  for (std::size_t v = 0; v < sizes.size(); first += sizes[v++]) {
    const Index count = sizes[v];
    const T* const rest = read_coefficients(form, first, count, examples, messages[v]);
    if (form.is_merged || !tape_numbers_)
      copy_examples<T>(Layout::columns, sections, {rest, x.rows, count * sections}, count, first, examples,
                       x);
    else
      tape_numbers_->read({rest, at(tape_numbers_->count(count, form.samples, form.seeds))}, first, count,
                          form.seeds, tape_, x);
  }
  Estimate<T> estimate{&dense_, c_.first(rows), w_.first(rows), 0, form.is_merged};
  if (!rows_) return estimate;
  estimate.rows = rows_.get();
  if (form.is_merged) {
    std::ranges::fill(ones_.first(examples), T(1));
    rows_->assign_single(x, ones_.matrix(1, examples));
  } else {
    rows_->assign(tape_, form.seeds);
  }
  return estimate;
}

template class RowMessages<float>;
template class RowMessages<double>;

}  // namespace bdl
