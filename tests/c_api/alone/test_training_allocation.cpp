// Every allocation of training fails once, by every method: the call reports it, leaks nothing, and training that goes on
// gives the same bits as training that never failed.
#include <algorithm>
#include <string>
#include <vector>

#include "c_api/c_api_test.h"
#include "c_api/failing_allocator.hpp"
#include "c_api/handles.hpp"
#include "fuzz/options_any.hpp"

namespace {

constexpr int64_t rows = 6, epochs = 2;
constexpr const char *linear = "input 2; dense 1", *hidden = "input 2; dense 3; tanh; dense 2",
                     *images = "input 1 4 4; conv 2 3; batchnorm; relu; dense 2";

struct Data {
  std::vector<double> x, y;
  int64_t inputs;
  explicit Data(const bdl_model* model) : inputs(bdl_model_inputs(model)) {
    for (int64_t i = 0; i < rows * inputs; ++i) x.push_back(std::sin(1.7 * static_cast<double>(i)));
    for (int64_t i = 0; i < rows; ++i) y.push_back(static_cast<double>(i % 2));
  }
  bdl_matrix inputs_of() const { return bdl_f64(x.data(), rows, inputs); }
  bdl_matrix targets() const { return bdl_f64(y.data(), rows, 1); }
};

bool create_posterior(int family, bdl_model* model, bdl_posterior** q) {
  const int64_t d = bdl_model_parameters(model);
  switch (family) {
    case 0:
      return bdl_posterior_create_low_rank(BDL_F64, d, 2, q) == BDL_OK;
    case 1:
      return bdl_posterior_create_low_rank(BDL_F64, d, 0, q) == BDL_OK;
    case 2:
      return bdl_posterior_create_full(BDL_F64, d, q) == BDL_OK;
    case 3:
      return bdl_posterior_create_full_moment(BDL_F64, d, q) == BDL_OK;
    case 4:
      return bdl_posterior_create_diagonal_moment(BDL_F64, d, q) == BDL_OK;
    case 5:
      return bdl_posterior_create_layerwise_full(model, q) == BDL_OK;
    case 6:
      return bdl_posterior_create_low_rank_moment(BDL_F64, d, 2, q) == BDL_OK;
    case 7:
      return bdl_posterior_create_layerwise_low_rank_moment(model, 2, q) == BDL_OK;
    case 8:
      return bdl_posterior_create_dropout(model, 0.1, 0.2, q) == BDL_OK;
    default:
      return bdl_posterior_create_kronecker(model, q) == BDL_OK;
  }
}
constexpr int families = 10;

/// Blank handles, if the method is for such a model and posterior.
bool create(const char* method, const char* network, int family, fuzz::Parts& parts) {
  OK(bdl_model_create_network(BDL_F64, network, network == linear ? BDL_BERNOULLI : BDL_CATEGORICAL, &parts.model));
  if (!create_posterior(family, parts.model, &parts.posterior)) return false;
  if (bdl_optimizer_create(parts.model, parts.posterior, method, rows, &parts.optimizer) != BDL_OK) return false;
  OK(bdl_optimizer_set_int(parts.optimizer, "minibatch", rows / 2));
  if (strcmp(method, "swag") == 0) OK(bdl_optimizer_set_text(parts.optimizer, "swag_every=1 swag_from=0"));
  return true;
}

void load(const std::string& bytes, fuzz::Parts& parts) {
  OK(bdl_load_bytes(bytes.data(), static_cast<int64_t>(bytes.size()), nullptr, &parts.model, &parts.posterior,
                    &parts.optimizer));
}

bool is_stream(const char* method) {
  int32_t stream = 0;
  OK(bdl_method_describe(method, nullptr, &stream, nullptr, nullptr, nullptr, nullptr));
  return stream != 0;
}

/// From where it stands to the end: what is left of a plan, or of the rows.
bdl_status train(bool stream, const Data& data, bdl_optimizer* o) {
  int64_t step = 0, planned = 0;
  OK(bdl_optimizer_progress(o, &step, &planned, nullptr));
  if (!stream) return bdl_optimizer_fit(o, data.inputs_of(), data.targets(), planned > 0 ? 0 : epochs, nullptr, nullptr);
  if (step >= rows) return BDL_OK;
  return bdl_optimizer_observe(o, bdl_f64(data.x.data() + step * data.inputs, rows - step, data.inputs),
                               bdl_f64(data.y.data() + step, rows - step, 1), bdl_none_out());
}

/// Returns how many calls failed: by allocation k alone, for every k, or by all from every seventh on.
long fail_each(const char* method, const std::string& start, bool all_later) {
  const bool stream = is_stream(method);
  fuzz::Parts undisturbed;
  load(start, undisturbed);
  const Data data(undisturbed.model);
  OK(train(stream, data, undisturbed.optimizer));
  const std::string expected = fuzz::saved(undisturbed);
  long failures = 0;
  for (long k = 1;; k += all_later ? 7 : 1, ++failures) {
    fuzz::Parts parts;
    load(start, parts);
    allocator::arm(k, all_later ? LONG_MAX : k);
    const bdl_status status = train(stream, data, parts.optimizer);
    allocator::disarm();
    if (status == BDL_OK) return failures;
    if (status != BDL_ERROR_OUT_OF_MEMORY || !strstr(bdl_last_error(), ": out of memory"))
      fail_msg("%s gave %s (%s)", method, bdl_status_name(status), bdl_last_error());
    OK(train(stream, data, parts.optimizer));
    if (fuzz::saved(parts) != expected) fail_msg("%s, allocation %ld: other bits", method, k);
    assert_true(k < 10000);
  }
}

void fail_methods(const char* network) {
  long failures = 0, combinations = 0;
  for (int64_t i = 0; i < bdl_method_count(); ++i)
    for (int family = 0; family < families; ++family) {
      const char* method = bdl_method_name(i);
      fuzz::Parts parts;
      if (!create(method, network, family, parts)) continue;
      const std::string start = fuzz::saved(parts);
      failures += fail_each(method, start, true);
      const long live = allocator::live;  // tables stay that were made when first needed
      failures += fail_each(method, start, false);
      if (allocator::live != live) fail_msg("%s leaks %ld", method, allocator::live - live);
      ++combinations;
    }
  print_message("%s: %ld combinations, %ld failures\n", network, combinations, failures);
  assert_true(combinations > 20 && failures > 1000);
}

void test_linear(void**) {
  fail_methods(linear);
}
void test_hidden(void**) {
  fail_methods(hidden);
}
void test_images(void**) {
  fail_methods(images);
}
}  // namespace

int test_training_allocation() {
  const CMUnitTest tests[] = {cmocka_unit_test(test_linear), cmocka_unit_test(test_hidden),
                              cmocka_unit_test(test_images)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
