#include "data/data_set.hpp"

namespace bdl {
namespace {

template <class T>
void fetch_from(const Array& array, const RowNumbers& examples, const ColumnScales& scales,
                MatrixView<T> out) {
  if (!out.data) return;
  if (examples.is_list())
    gather(array, examples.list(), out, scales);
  else
    gather(array, examples.first(), out, scales);
}

}  // namespace

void ArrayData::fetch(const RowNumbers& examples, const Standardization& units, MatrixView<float> x,
                      MatrixView<float> y) {
  fetch_from(x_, examples, units.inputs(), x);
  fetch_from(y_, examples, units.targets(), y);
}

void ArrayData::fetch(const RowNumbers& examples, const Standardization& units, MatrixView<double> x,
                      MatrixView<double> y) {
  fetch_from(x_, examples, units.inputs(), x);
  fetch_from(y_, examples, units.targets(), y);
}

RowNumbers Subset::members_of(const RowNumbers& examples) {
  if (!examples.is_list())
    return members_.subspan(static_cast<std::size_t>(examples.first()),
                            static_cast<std::size_t>(examples.count()));
  some_.resize(static_cast<std::size_t>(examples.count()));
  std::ranges::transform(examples.list(), some_.begin(),
                         [&](Index i) { return members_[static_cast<std::size_t>(i)]; });
  return ConstSpan<Index>(some_);
}

void Subset::fetch(const RowNumbers& examples, const Standardization& units, MatrixView<float> x,
                   MatrixView<float> y) {
  all_.fetch(members_of(examples), units, x, y);
}

void Subset::fetch(const RowNumbers& examples, const Standardization& units, MatrixView<double> x,
                   MatrixView<double> y) {
  all_.fetch(members_of(examples), units, x, y);
}

}  // namespace bdl
