// Methods x families x models x options: what is not refused when an optimizer is created or an option is set
// is not refused by the use that it is for.
#include <cstdlib>

#include "combinations.hpp"

namespace {

using namespace combinations;

#ifdef __has_feature
#define BDL_TEST_SANITIZED __has_feature(address_sanitizer)
#else
#define BDL_TEST_SANITIZED 0
#endif
constexpr bool is_sanitized = BDL_TEST_SANITIZED;

struct Count {
  int used = 0, refused = 0;
};

/// Is there such an optimizer?
bool check(const Subject& subject, int family, const char* method, const std::string& text, Count& count) {
  static const Data data;
  const Posterior q = posterior_of(subject.model, family);
  bdl_optimizer* created = nullptr;
  if (!q || bdl_optimizer_create(subject.model.get(), q.get(), method, rows, &created) != BDL_OK)
    return false;
  const Optimizer o(created);
  if (bdl_optimizer_set_text(created, text.c_str()) != BDL_OK) return ++count.refused, true;
  const bdl_status status = use(created, subject, data);
  ++count.used;
  if (status == BDL_ERROR_UNSUPPORTED || status == BDL_ERROR_INVALID_ARGUMENT)
    fail_msg("%s, %s, %s, \"%s\": %s", subject.name, families[family], method, text.c_str(),
             bdl_last_error());
  return true;
}

void steps_refuse_nothing_for_the_first_time(void**) {
  // Each pair meets every fifth method and family, others with the next subject; fewer where sanitizers look
  // on, and all where BDL_ALL_PAIRS is set.
  const size_t stride = std::getenv("BDL_ALL_PAIRS") ? 1 : is_sanitized ? 23 : 5;
  Count count;
  size_t first = 0;
  const Settings all = settings();
  for (const Subject& subject : subjects())
    for (int family = 0; family < 7; ++family)
      for (int64_t m = 0; m < bdl_method_count(); ++m, first = (first + 1) % stride) {
        const char* const method = bdl_method_name(m);
        if (!check(subject, family, method, "", count)) continue;
        for (const std::string& text : all.alone) check(subject, family, method, text, count);
        for (size_t i = first; i < all.together.size(); i += stride)
          check(subject, family, method, all.together[i], count);
      }
  print_message("%d combinations used, %d sets refused\n", count.used, count.refused);
  const int least = 50000 / static_cast<int>(stride);
  assert_true(count.used > least && count.refused > least);
}

/// An optimizer for batches refuses streams, and one for streams refuses batches, before anything happens.
void other_uses_refuse_at_once(void**) {
  const Data data;
  const bdl_matrix x = bdl_f64(data.x, rows, inputs), y = bdl_f64(data.y, rows, 1);
  const Model model = make_mlp(BDL_F64, {inputs, 2, 1}, BDL_GAUSSIAN);
  const Posterior q = posterior_of(model, 0);
  const auto refused = [&](const char* method, const auto& call, const char* word) {
    const Optimizer o = make_optimizer(model, q, rows, method);
    assert_int_equal(call(o.get()), BDL_ERROR_UNSUPPORTED);
    assert_non_null(strstr(bdl_last_error(), word));
    assert_true(bdl_posterior_is_blank(q.get()));
  };
  refused(
      "bong", [&](auto* o) { return bdl_optimizer_fit(o, x, y, 1, nullptr, nullptr); },
      "\"rule\" is \"bong\"");
  refused(
      "map", [&](auto* o) { return bdl_optimizer_observe(o, x, y, bdl_none_out()); }, "\"rule\" is \"map\"");
  refused(
      "slang-online-eig", [&](auto* o) { return bdl_optimizer_observe(o, x, y, bdl_none_out()); },
      "moving_average");
}

}  // namespace

/// Streams see rows of one seed each, and Kronecker factors those of all labels.
void streams_have_no_kronecker_factors(void**) {
  const Model model = make_mlp(BDL_F64, {inputs, 1, 2}, BDL_CATEGORICAL);
  for (const int family : {1, 4}) {
    const Posterior q = posterior_of(model, family);
    const Optimizer o = make_optimizer(model, q, rows, "blr");
    for (const char* text : {"descent=kfac", "descent=kfac curvature=mc-reparam"})
      assert_int_equal(bdl_optimizer_set_text(o.get(), text), BDL_ERROR_UNSUPPORTED);
    assert_non_null(strstr(bdl_last_error(), "Kronecker-factored"));
  }
}

int test_combinations() {
  const CMUnitTest tests[] = {cmocka_unit_test(steps_refuse_nothing_for_the_first_time),
                              cmocka_unit_test(other_uses_refuse_at_once),
                              cmocka_unit_test(streams_have_no_kronecker_factors)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
