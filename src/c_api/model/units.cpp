#include "base/overlap.hpp"
#include "c_api/convert.hpp"
#include "c_api/handles.hpp"
#include "data/moments.hpp"
#include "data/robust.hpp"
#include "model/checked_data.hpp"
#include "model/data_units.hpp"
#include "model/noise_units.hpp"
#include "network/graph.hpp"
#include "predict/result.hpp"

namespace bdl {
namespace {

template <class T>
void check_network(const Model<T>& model) {
  if (!model.graph())
    fail(Status::ERROR_UNSUPPORTED,
         "a custom model cannot be standardised: scale x and y before you pass them");
}

void check_scales(ConstSpan<double> scales, const char* name) {
  for (std::size_t c = 0; c < scales.size(); ++c)
    if (!is_scale(scales[c]))
      fail(Status::ERROR_INVALID_ARGUMENT, "%s is %g at column %zu (counting from 0), expected %g to %g",
           name, scales[c], c, smallest_scale, largest_scale);
}

/// Returns the finite values of a 1 x columns array; without an array, `absent` for each column.
std::vector<double> row_values(const Array& array, Index columns, double absent, const char* name) {
  std::vector<double> values(static_cast<std::size_t>(columns), absent);
  if (!given(array)) return values;
  check_shape(array, 1, columns, name);
  check_finite(array, name);
  gather(array, 0, MatrixView<double>(values.data(), columns, 1));
  return values;
}

/// As row_values(), but the array may also have one value for each channel of an image, or one for all.
std::vector<double> input_values(const Array& array, const Shape& input, double absent, const char* name) {
  const bool is_shared = array.cols == 1 || (input.is_image() && array.cols == input.channels);
  const Index columns = is_shared ? array.cols : input.size();
  const std::vector<double> values = row_values(array, columns, absent, name);
  std::vector<double> all;
  for (const double value : values) all.insert(all.end(), at(input.size() / columns), value);
  return all;
}

/// Reads mean and scale by values(array, absent, name); returns no moments if neither is given.
template <class Values>
ColumnMoments checked_moments(const Array& mean, const Array& scale, const char* mean_name,
                              const char* scale_name, Values values) {
  if (!given(mean) && !given(scale)) return {};
  ColumnMoments moments{values(mean, 0.0, mean_name), values(scale, 1.0, scale_name)};
  check_scales(moments.scale, scale_name);
  return moments;
}

/// Returns the units of the targets: of Student-t noise, which is for outliers, those that they do not move.
template <class T>
ColumnMoments target_units(const Model<T>& model, DataSet& data, ColumnMoments moments) {
  if (model.likelihood.kind() == BDL_STUDENT_T)
    replace_by_robust(robust_moments_of_targets(data, {}, model.extras()), moments);
  return checked_moments(std::move(moments), "y");
}

/// Standardises by data that have been checked, or are checked when they are read.
template <class T>
void standardize(Model<T>& model, DataSet& checked) {
  const bool with_targets = model.likelihood.has_noise_precision() && checked.targets() > 0;
  const Index together = inputs_together(model);
  RowExtras extras = model.extras();
  extras.has_weight = extras.has_weight && checked.targets() > 0;
  const DataMoments moments = moments_of(checked, {}, {true, with_targets, together, extras});
  ColumnMoments targets =
      with_targets ? target_units(model, checked, moments_of_targets(moments.targets)) : ColumnMoments();
  ColumnMoments inputs = checked_moments(column_moments(moments.inputs, together), "x");
  set_standardization(model, Standardization(std::move(inputs), std::move(targets)));
}

void fill(Result& result, const std::vector<double>& values, double otherwise) {
  const auto row = result.row(0);
  for (std::size_t c = 0; c < row.size(); ++c) row[c] = values.empty() ? otherwise : values[c];
}

void check_gaussian(const Likelihood& likelihood) {
  if (likelihood.kind() != BDL_GAUSSIAN) fail(Status::ERROR_UNSUPPORTED, "the likelihood is not Gaussian");
}

void check_has_precision(const Likelihood& likelihood) {
  if (!likelihood.has_noise_precision())
    fail(Status::ERROR_UNSUPPORTED, "the likelihood is not Gaussian, heteroscedastic or Student t");
}

void check_student_t(const Likelihood& likelihood) {
  if (likelihood.kind() != BDL_STUDENT_T) fail(Status::ERROR_UNSUPPORTED, "the likelihood is not Student t");
}

void check_has_shape(const Likelihood& likelihood) {
  if (!has_shape(likelihood.kind()) || likelihood.target_kind() == TargetKind::level)
    fail(Status::ERROR_UNSUPPORTED, "the likelihood is not negative binomial or Gamma");
}

void check_ordinal(const Likelihood& likelihood) {
  if (likelihood.target_kind() != TargetKind::level)
    fail(Status::ERROR_UNSUPPORTED, "the likelihood is not ordinal");
}

}  // namespace
}  // namespace bdl

using namespace bdl;

bdl_status bdl_model_set_standardization(bdl_model* model, bdl_matrix input_mean, bdl_matrix input_scale,
                                         bdl_matrix target_mean, bdl_matrix target_scale) {
  return guard(__func__, model, "model", [&](auto& m) {
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
}

bdl_status bdl_model_standardize(bdl_model* model, bdl_matrix x, bdl_matrix y) {
  return guard(__func__, model, "model", [&](auto& m) {
    check_network(m);
    check_shape(x, -1, m.inputs(), "x");
    check_finite(x, "x");
    const bool real = m.likelihood.has_noise_precision();
    if (given(y)) check_shape(y, x.rows, m.likelihood.columns(), "y");
    if (given(y) && (real || m.likelihood.is_weighted())) m.likelihood.check_targets(y, x.rows, "y", true);
    ArrayData rows(x, y);
    standardize(m, rows);
  });
}

bdl_status bdl_model_standardize_dataset(bdl_model* model, bdl_dataset* dataset) {
  return guard(__func__, model, "model", [&](auto& m) {
    check_network(m);
    with_rows(dataset, [&](DataSet& rows) {
      CheckedData checked(m, rows, false);
      standardize(m, checked);
    });
  });
}

bdl_status bdl_model_get_standardization(const bdl_model* model, bdl_matrix_out input_mean,
                                         bdl_matrix_out input_scale, bdl_matrix_out target_mean,
                                         bdl_matrix_out target_scale) {
  return guard(__func__, model, "model", [&](const auto& m) {
    const ColumnMoments &inputs = m.standardization.input_moments(),
                        &targets = m.standardization.target_moments();
    Result x_mean(input_mean, 1, m.features(), "input_mean"),
        x_scale(input_scale, 1, m.features(), "input_scale"),
        y_mean(target_mean, 1, m.likelihood.means(), "target_mean"),
        y_scale(target_scale, 1, m.likelihood.means(), "target_scale");
    fill(x_mean, inputs.mean, 0);
    fill(x_scale, inputs.scale, 1);
    fill(y_mean, targets.mean, 0);
    fill(y_scale, targets.scale, 1);
    check_apart({{"input_mean", input_mean},
                 {"input_scale", input_scale},
                 {"target_mean", target_mean},
                 {"target_scale", target_scale}});
    write_results(x_mean, x_scale, y_mean, y_scale);
  });
}

bdl_status bdl_model_set_noise_precision(bdl_model* model, bdl_matrix precision) {
  return guard(__func__, model, "model", [&](auto& m) {
    check_has_precision(m.likelihood);
    const Index targets = m.likelihood.targets();
    check_shape(precision, 1, precision.cols == 1 ? 1 : targets, "precision");
    check_positive(precision, "precision");
    std::vector<double> values;
    for (Index c = 0; c < precision.cols; ++c) values.push_back(element(precision, 0, c));
    m.likelihood.set_noise_precision(standardized_noise_precision(values, targets, m.standardization));
  });
}

bdl_status bdl_model_get_noise_precision(const bdl_model* model, bdl_matrix_out precision) {
  return guard(__func__, model, "model", [&](const auto& m) {
    check_has_precision(m.likelihood);
    const Index targets = m.likelihood.targets();
    if (m.likelihood.keeps_noise_covariance())
      fail(Status::ERROR_UNSUPPORTED,
           "the noise has a full covariance: read the noise covariance instead of the noise precision");
    std::vector<double> values = caller_noise_precision(m.likelihood, m.standardization);
    if (values.size() == 1 && precision.cols == targets)
      values.resize(static_cast<std::size_t>(targets), values.front());
    const auto count = static_cast<Index>(values.size());
    check_output(precision, 1, count, "precision");
    write_result<double>({values.data(), count, 1}, precision, "precision");
  });
}

bdl_status bdl_model_set_noise_covariance(bdl_model* model, bdl_matrix covariance) {
  return guard(__func__, model, "model", [&](auto& m) {
    check_gaussian(m.likelihood);
    check_shape(covariance, m.outputs(), m.outputs(), "covariance");
    check_finite(covariance, "covariance");
    check_symmetric(covariance, "covariance");
    m.likelihood.set_noise_covariance(standardized_noise_covariance(
        gathered<double>(covariance).matrix(m.outputs(), m.outputs()), m.standardization));
  });
}

bdl_status bdl_model_get_noise_covariance(const bdl_model* model, bdl_matrix_out covariance) {
  return guard(__func__, model, "model", [&](const auto& m) {
    check_gaussian(m.likelihood);
    const Index outputs = m.outputs();
    check_output(covariance, outputs, outputs, "covariance");
    const std::vector<double> values = caller_noise_covariance(m.likelihood, m.standardization);
    write_result<double>({values.data(), outputs, outputs}, covariance, "covariance");
  });
}

bdl_status bdl_model_noise_degrees_of_freedom(const bdl_model* model, bdl_matrix_out degrees) {
  return guard(__func__, model, "model", [&](const auto& m) {
    check_gaussian(m.likelihood);
    const Index targets = m.likelihood.targets();
    check_output(degrees, 1, targets, "degrees");
    std::vector<double> values;
    for (Index c = 0; c < targets; ++c) values.push_back(m.likelihood.noise_degrees(c));
    write_result<double>({values.data(), targets, 1}, degrees, "degrees", NonFinite::documented);
  });
}

bdl_status bdl_model_set_degrees_of_freedom(bdl_model* model, double degrees_of_freedom) {
  return guard(__func__, model, "model", [&](auto& m) {
    check_student_t(m.likelihood);
    if (!(degrees_of_freedom >= 0.1 && degrees_of_freedom <= 1e6))
      fail(Status::ERROR_INVALID_ARGUMENT, "degrees_of_freedom is %g, expected 0.1 to 1e6",
           degrees_of_freedom);
    m.likelihood.set_degrees_of_freedom(degrees_of_freedom);
  });
}

bdl_status bdl_model_get_degrees_of_freedom(const bdl_model* model, double* degrees_of_freedom) {
  return guard(__func__, model, "model", [&](const auto& m) {
    check_student_t(m.likelihood);
    not_null(degrees_of_freedom, "degrees_of_freedom");
    *degrees_of_freedom = m.likelihood.degrees_of_freedom();
  });
}

bdl_status bdl_model_set_shape(bdl_model* model, double shape) {
  return guard(__func__, model, "model", [&](auto& m) {
    check_has_shape(m.likelihood);
    if (!(shape >= 1e-6 && shape <= 1e6))
      fail(Status::ERROR_INVALID_ARGUMENT, "shape is %g, expected 1e-6 to 1e6", shape);
    m.likelihood.set_shape({&shape, 1});
  });
}

bdl_status bdl_model_get_shape(const bdl_model* model, double* shape) {
  return guard(__func__, model, "model", [&](const auto& m) {
    check_has_shape(m.likelihood);
    not_null(shape, "shape");
    *shape = m.likelihood.shape(0);
  });
}

bdl_status bdl_model_set_levels(bdl_model* model, int64_t levels) {
  return guard(__func__, model, "model", [&](auto& m) {
    check_ordinal(m.likelihood);
    check_range(levels, 2, most_levels, "levels");
    if (levels != m.likelihood.levels()) m.names.set_all(BDL_CLASS, {});
    m.likelihood.set_levels(levels);
  });
}

int64_t bdl_model_level_count(const bdl_model* model) {
  if (!model) return 0;
  return std::visit(
      [](const auto& m) {
        const bool is_ordinal = m->likelihood.target_kind() == TargetKind::level;
        return is_ordinal ? static_cast<int64_t>(m->likelihood.levels()) : int64_t{0};
      },
      model->object);
}

bdl_status bdl_model_set_cut_points(bdl_model* model, bdl_matrix cut_points) {
  return guard(__func__, model, "model", [&](auto& m) {
    check_ordinal(m.likelihood);
    check_shape(cut_points, 1, -1, "cut_points");
    check_range(cut_points.cols, 1, most_levels - 1, "the number of cut points");
    const std::vector<double> cuts = row_values(cut_points, cut_points.cols, 0, "cut_points");
    for (std::size_t k = 1; k < cuts.size(); ++k)
      if (!(cuts[k] > cuts[k - 1]))
        fail(Status::ERROR_INVALID_ARGUMENT,
             "cut_points has %g after %g at column %zu (counting from 0), expected ascending numbers",
             cuts[k], cuts[k - 1], k);
    if (std::ssize(cuts) + 1 != m.likelihood.levels()) m.names.set_all(BDL_CLASS, {});
    m.likelihood.set_shape(cuts);
  });
}

bdl_status bdl_model_get_cut_points(const bdl_model* model, bdl_matrix_out cut_points) {
  return guard(__func__, model, "model", [&](const auto& m) {
    check_ordinal(m.likelihood);
    const ConstSpan<double> cuts = m.likelihood.shape();
    check_output(cut_points, 1, std::ssize(cuts), "cut_points");
    write_result<double>({cuts.data(), std::ssize(cuts), 1}, cut_points, "cut_points");
  });
}
