#include "c_api/convert.hpp"
#include "c_api/dataset_handle.hpp"
#include "c_api/handles.hpp"
#include "c_api/parameters.hpp"
#include "data/moments.hpp"
#include "model/checked_data.hpp"
#include "model/noise_units.hpp"
#include "network/graph.hpp"
#include "predict/result.hpp"

namespace bdl {
namespace {

template <class T>
void check_network(const Model<T>& model) {
  if (!model.graph()) fail(Status::ERROR_UNSUPPORTED, "a user model is not standardised");
}

void check_scales(ConstSpan<double> scales, const char* name) {
  for (std::size_t c = 0; c < scales.size(); ++c)
    if (!is_scale(scales[c]))
      fail(Status::ERROR_INVALID_ARGUMENT, "%s is %g at column %zu (counting from 0), expected %g to %g",
           name, scales[c], c, smallest_scale, largest_scale);
}

/// 1 x columns, finite; `absent` everywhere without an array.
std::vector<double> row_values(const Array& array, Index columns, double absent, const char* name) {
  std::vector<double> values(static_cast<std::size_t>(columns), absent);
  if (!given(array)) return values;
  check_shape(array, 1, columns, name);
  check_finite(array, name);
  gather(array, 0, MatrixView<double>(values.data(), columns, 1));
  return values;
}

/// Pixels that share mean and scale: those of a channel.
Index pixels(const Shape& input) {
  return input.rows * input.columns;
}

/// As row_values(), but the array may have one value for each channel of an image, or one for all.
std::vector<double> input_values(const Array& array, const Shape& input, double absent, const char* name) {
  const bool is_shared = array.cols == 1 || (input.is_image() && array.cols == input.channels);
  const Index columns = is_shared ? array.cols : input.size();
  const std::vector<double> values = row_values(array, columns, absent, name);
  std::vector<double> all;
  for (const double value : values) all.insert(all.end(), at(input.size() / columns), value);
  return all;
}

/// Nothing if neither mean nor scale is given; values(array, absent, name) reads one of them.
template <class Values>
ColumnMoments checked_moments(const Array& mean, const Array& scale, const char* mean_name,
                              const char* scale_name, Values values) {
  if (!given(mean) && !given(scale)) return {};
  ColumnMoments moments{values(mean, 0.0, mean_name), values(scale, 1.0, scale_name)};
  check_scales(moments.scale, scale_name);
  return moments;
}

/// Of data whose deviations may overflow.
ColumnMoments checked_moments(ColumnMoments moments, const char* name) {
  for (std::size_t c = 0; c < moments.mean.size(); ++c)
    if (!std::isfinite(moments.mean[c]) || !is_scale(moments.scale[c]))
      fail(Status::ERROR_INVALID_ARGUMENT,
           "%s has mean %g and standard deviation %g in column %zu (counting from 0), expected a finite mean "
           "and at most %g",
           name, moments.mean[c], moments.scale[c], c, largest_scale);
  return moments;
}

template <class T>
void standardize(Model<T>& model, DataSet& data) {
  check_network(model);
  const bool with_targets = model.likelihood.has_noise_precision() && data.targets() > 0;
  CheckedData checked(model, data, false);
  const Index together = pixels(model.graph()->input());
  const DataMoments moments = moments_of(checked, {}, {true, with_targets, together});
  ColumnMoments targets =
      with_targets ? checked_moments(moments_of_targets(moments.targets), "y") : ColumnMoments();
  ColumnMoments inputs = checked_moments(column_moments(moments.inputs, together), "x");
  set_standardization(model, Standardization(std::move(inputs), std::move(targets)));
}

void fill(Result& result, const std::vector<double>& values, double otherwise) {
  const auto row = result.row(0);
  for (std::size_t c = 0; c < row.size(); ++c) row[c] = values.empty() ? otherwise : values[c];
}

}  // namespace
}  // namespace bdl

using namespace bdl;

bdl_status bdl_model_set_standardization(bdl_model* model, bdl_matrix input_mean, bdl_matrix input_scale,
                                         bdl_matrix target_mean, bdl_matrix target_scale) {
  return guard("bdl_model_set_standardization", [&] {
    with(model, "model", [&](auto& m) {
      check_network(m);
      if (!m.likelihood.has_noise_precision() && (given(target_mean) || given(target_scale)))
        fail(Status::ERROR_UNSUPPORTED, "%s is given, but the likelihood is of classes or counts",
             given(target_mean) ? "target_mean" : "target_scale");
      ColumnMoments inputs = checked_moments(input_mean, input_scale, "input_mean", "input_scale",
                                             [&](const Array& array, double absent, const char* name) {
                                               return input_values(array, m.graph()->input(), absent, name);
                                             });
      ColumnMoments targets = checked_moments(target_mean, target_scale, "target_mean", "target_scale",
                                              [&](const Array& array, double absent, const char* name) {
                                                return row_values(array, m.likelihood.means(), absent, name);
                                              });
      set_standardization(m, Standardization(std::move(inputs), std::move(targets)));
    });
  });
}

bdl_status bdl_model_standardize(bdl_model* model, bdl_matrix x, bdl_matrix y) {
  return guard("bdl_model_standardize", [&] {
    with(model, "model", [&](auto& m) {
      check_network(m);
      check_shape(x, -1, m.inputs(), "x");
      check_finite(x, "x");
      const bool real = m.likelihood.has_noise_precision();
      if (given(y)) check_shape(y, x.rows, m.likelihood.targets(), "y");
      if (given(y) && real) m.likelihood.check_targets(y, x.rows, "y", true);
      ColumnMoments targets =
          given(y) && real ? checked_moments(moments_of_targets(y), "y") : ColumnMoments();
      ColumnMoments inputs = checked_moments(moments_of_columns(x, pixels(m.graph()->input())), "x");
      set_standardization(m, Standardization(std::move(inputs), std::move(targets)));
    });
  });
}

bdl_status bdl_model_standardize_dataset(bdl_model* model, bdl_dataset* dataset) {
  return guard("bdl_model_standardize_dataset", [&] {
    with(model, "model", [&](auto& m) {
      not_null(dataset, "dataset");
      standardize(m, *dataset->rows);
    });
  });
}

bdl_status bdl_model_get_standardization(const bdl_model* model, bdl_matrix_out input_mean,
                                         bdl_matrix_out input_scale, bdl_matrix_out target_mean,
                                         bdl_matrix_out target_scale) {
  return guard("bdl_model_get_standardization", [&] {
    with(model, "model", [&](const auto& m) {
      const ColumnMoments &inputs = m.standardization.input_moments(),
                          &targets = m.standardization.target_moments();
      Result x_mean(input_mean, 1, m.inputs(), "input_mean"),
          x_scale(input_scale, 1, m.inputs(), "input_scale"),
          y_mean(target_mean, 1, m.likelihood.means(), "target_mean"),
          y_scale(target_scale, 1, m.likelihood.means(), "target_scale");
      fill(x_mean, inputs.mean, 0);
      fill(x_scale, inputs.scale, 1);
      fill(y_mean, targets.mean, 0);
      fill(y_scale, targets.scale, 1);
      write_results(x_mean, x_scale, y_mean, y_scale);
    });
  });
}
