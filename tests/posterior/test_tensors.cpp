// A posterior's tensors tell all that it is: what they are copied to is the same posterior, in its own and in
// the other arithmetic, and what makes no posterior is refused whole.
#include <map>

#include "posterior/families.hpp"
#include "support/posteriors.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

using Values = std::map<std::string, Dense>;

template <class T>
Values values_of(const Posterior<T>& q) {
  Values out;
  q.read_tensors([&](const PosteriorTensor<const T>& tensor) {
    assert_true(tensor.rows() >= 0 && (!tensor.is_vector || tensor.rows() == 1));
    tensor.with([&](const auto& view) { out[tensor.name] = dense_of(view); });
  });
  assert_int_equal(out.size(), q.tensor_count());
  return out;
}

template <class T>
TensorSource<T> source_of(const Values& values) {
  return [&](const PosteriorTensor<T>& tensor) {
    const auto found = values.find(tensor.name);
    if (found == values.end()) return false;
    tensor.with([&]<class S>(MatrixView<S> to) {
      for (Index j = 0; j < to.cols; ++j)
        for (Index i = 0; i < to.rows; ++i) to(i, j) = static_cast<S>(found->second(i, j));
    });
    return true;
  };
}

template <class T>
void assert_same_tensors(const Posterior<T>& got, const Posterior<T>& expected) {
  const Values a = values_of(got), b = values_of(expected);
  assert_int_equal(a.size(), b.size());
  for (const auto& [name, values] : b) assert_same(name.c_str(), a.at(name), values);
  assert_true(got.log_det_covariance() == expected.log_det_covariance());
}

template <class T>
void they_tell_all(void**) {
  for (const Belief<T>& belief : beliefs<T>(9, 2)) {
    const Posterior<T>& q = *belief.q;
    const auto other = q.clone();
    other->reset();
    set_tensors(*other, source_of<T>(values_of(q)));
    assert_same_tensors(*other, q);
    assert_false(other->is_blank());
    Scratch scratch;
    assert_near(belief.name.c_str(), kl(q, *other, scratch), 0, sizeof(T) == 8 ? 1e-12 : 1e-4);
  }
}

/// Through double and back: nothing is lost of float, and the kinds are the same.
void conversions_keep_the_posterior(void**) {
  for (const Belief<float>& belief : beliefs<float>(9, 2)) {
    if (belief.name == "blocks") continue;  // of several families: no kind describes them
    const auto wide = converted<double>(*belief.q);
    assert_true(wide->family() == belief.q->family() && wide->rank() == belief.q->rank());
    const Values a = values_of(*wide), b = values_of(*belief.q);
    for (const auto& [name, values] : b) assert_same(name.c_str(), a.at(name), values);
    assert_same_tensors(*converted<float>(*wide), *belief.q);
  }
  FullPosterior<double> large(2);
  large.mean()[1] = 1e300;
  expect_error(Status::ERROR_DIVERGED, "does not fit in 32 bits", [&] { converted<float>(large); });
}

template <class T>
void what_is_not_given_stays(void**) {
  for (const Belief<T>& belief : beliefs<T>(9, 2)) {
    const auto q = belief.q->clone();
    Values values;
    values["mean"] = Dense(1, 9, 2.5);
    set_tensors(*q, source_of<T>(values));
    Values expected = values_of(*belief.q), got = values_of(*q);
    expected["mean"] = values["mean"];
    for (const auto& [name, numbers] : expected) assert_same(name.c_str(), got.at(name), numbers);
  }
}

template <class T>
void factors_are_found_anew(void**) {
  const auto q = create_posterior<T>({Family::layerwise_full, 5, 0, {2, 3}, {}});
  Random random(4);
  const Dense root = random.normal(3, 3), p = root * transposed(root) + identity(3);
  Values values;
  values["block1.precision"] = p;
  set_tensors(*q, source_of<T>(values));
  const Values got = values_of(*q);
  assert_close("precision", got.at("block1.precision"), p, 1e-15);
  assert_close("factor", got.at("block1.factor"), cholesky_of(p), 1e-14);
  assert_near("log det", q->log_det_covariance(), -log_det(p), 1e-13);
}

template <class T>
void nothing_is_half_set(void**) {
  const auto refuse = [](Posterior<T>& q, const Values& values, Status status, const char* word) {
    const auto before = q.clone();
    expect_error(status, word, [&] { set_tensors(q, source_of<T>(values)); });
    assert_same_tensors(q, *before);
  };
  const auto layerwise = create_posterior<T>({Family::layerwise_full, 5, 0, {2, 3}, {}});
  Dense crooked = identity(3), negative = identity(3), wild = identity(3);
  crooked(2, 0) = 0.5;
  negative(1, 1) = -1;
  wild(0, 2) = not_a_number;
  const Values good{{"mean", Dense(1, 5, 3.0)}};
  const auto with = [&](const char* name, const Dense& values) {
    Values all = good;
    all[name] = values;
    return all;
  };
  refuse(*layerwise, with("block1.precision", crooked), Status::ERROR_INVALID_ARGUMENT,
         "block1.precision is not symmetric at row 2, column 0");
  refuse(*layerwise, with("block1.precision", negative), Status::ERROR_INVALID_ARGUMENT,
         "block1.precision is not positive definite");
  refuse(*layerwise, with("block1.precision", wild), Status::ERROR_NOT_FINITE,
         "block1.precision is not finite at row 0, column 2");
  refuse(*layerwise, with("block0.factor", 2.0 * identity(2)), Status::ERROR_INVALID_ARGUMENT,
         "do not belong together");
  LowRankPosterior<T> low_rank(5, 1);
  refuse(low_rank, with("diagonal", Dense(1, 5, 0.0)), Status::ERROR_INVALID_ARGUMENT,
         "diagonal is 0 at row 0, column 0 (counting from 0), expected > 0");
  DiagonalMomentPosterior<T> moment(5);
  refuse(moment, with("variance", Dense(1, 5, -1.0)), Status::ERROR_INVALID_ARGUMENT, "expected > 0");
}

}  // namespace

#define BOTH(test) cmocka_unit_test(test<float>), cmocka_unit_test(test<double>)

int test_tensors() {
  const CMUnitTest tests[] = {BOTH(they_tell_all), cmocka_unit_test(conversions_keep_the_posterior),
                              BOTH(what_is_not_given_stays), BOTH(factors_are_found_anew),
                              BOTH(nothing_is_half_set)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
