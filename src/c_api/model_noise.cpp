#include "c_api/convert.hpp"
#include "c_api/handles.hpp"
#include "model/noise_units.hpp"

namespace bdl {
namespace {

void check_gaussian(const Likelihood& likelihood) {
  if (likelihood.kind() != BDL_GAUSSIAN)
    fail(Status::ERROR_UNSUPPORTED, "the likelihood is not BDL_GAUSSIAN");
}

void check_has_precision(const Likelihood& likelihood) {
  if (!likelihood.has_noise_precision())
    fail(Status::ERROR_UNSUPPORTED,
         "the likelihood is not BDL_GAUSSIAN, BDL_HETEROSCEDASTIC or BDL_STUDENT_T");
}

void check_student_t(const Likelihood& likelihood) {
  if (likelihood.kind() != BDL_STUDENT_T)
    fail(Status::ERROR_UNSUPPORTED, "the likelihood is not BDL_STUDENT_T");
}

}  // namespace
}  // namespace bdl

using namespace bdl;

bdl_status bdl_model_set_noise_precision(bdl_model* model, bdl_matrix precision) {
  return guard("bdl_model_set_noise_precision", [&] {
    with(model, "model", [&](auto& m) {
      check_has_precision(m.likelihood);
      const Index targets = m.likelihood.targets();
      check_shape(precision, 1, precision.cols == 1 ? 1 : targets, "precision");
      check_positive(precision, "precision");
      std::vector<double> values;
      for (Index c = 0; c < precision.cols; ++c) values.push_back(element(precision, 0, c));
      m.likelihood.set_noise_precision(standardized_noise_precision(values, targets, m.standardization));
    });
  });
}

bdl_status bdl_model_get_noise_precision(const bdl_model* model, bdl_matrix_out precision) {
  return guard("bdl_model_get_noise_precision", [&] {
    with(model, "model", [&](const auto& m) {
      check_has_precision(m.likelihood);
      const Index targets = m.likelihood.targets();
      if (m.likelihood.noise_covariance().given())
        fail(Status::ERROR_UNSUPPORTED,
             "the noise has a full covariance: bdl_model_get_noise_covariance() reads it");
      std::vector<double> values = caller_noise_precision(m.likelihood, m.standardization);
      if (values.size() == 1 && precision.cols == targets)
        values.resize(static_cast<std::size_t>(targets), values.front());
      const auto count = static_cast<Index>(values.size());
      check_output(precision, 1, count, "precision");
      write_result<double>({values.data(), count, 1}, precision, "precision");
    });
  });
}

bdl_status bdl_model_set_noise_covariance(bdl_model* model, bdl_matrix covariance) {
  return guard("bdl_model_set_noise_covariance", [&] {
    with(model, "model", [&](auto& m) {
      check_gaussian(m.likelihood);
      check_shape(covariance, m.outputs(), m.outputs(), "covariance");
      check_finite(covariance, "covariance");
      check_symmetric(covariance, "covariance");
      m.likelihood.set_noise_covariance(standardized_noise_covariance(
          gathered<double>(covariance).matrix(m.outputs(), m.outputs()), m.standardization));
    });
  });
}

bdl_status bdl_model_get_noise_covariance(const bdl_model* model, bdl_matrix_out covariance) {
  return guard("bdl_model_get_noise_covariance", [&] {
    with(model, "model", [&](const auto& m) {
      check_gaussian(m.likelihood);
      const Index outputs = m.outputs();
      check_output(covariance, outputs, outputs, "covariance");
      const std::vector<double> values = caller_noise_covariance(m.likelihood, m.standardization);
      write_result<double>({values.data(), outputs, outputs}, covariance, "covariance");
    });
  });
}

bdl_status bdl_model_set_degrees_of_freedom(bdl_model* model, double degrees_of_freedom) {
  return guard("bdl_model_set_degrees_of_freedom", [&] {
    with(model, "model", [&](auto& m) {
      check_student_t(m.likelihood);
      if (!(degrees_of_freedom >= 0.1 && degrees_of_freedom <= 1e6))
        fail(Status::ERROR_INVALID_ARGUMENT, "degrees_of_freedom is %g, expected 0.1 to 1e6",
             degrees_of_freedom);
      m.likelihood.set_degrees_of_freedom(degrees_of_freedom);
    });
  });
}

bdl_status bdl_model_get_degrees_of_freedom(const bdl_model* model, double* degrees_of_freedom) {
  return guard("bdl_model_get_degrees_of_freedom", [&] {
    with(model, "model", [&](const auto& m) {
      check_student_t(m.likelihood);
      not_null(degrees_of_freedom, "degrees_of_freedom");
      *degrees_of_freedom = m.likelihood.degrees_of_freedom();
    });
  });
}
