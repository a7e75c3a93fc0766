// Streams of normals for noisy layers: every place has another number, in pieces as at once, and pairs are
// opposite.
#include <set>
#include <vector>

#include "network/noise/noise_source.hpp"

// This header is the last: it includes cmocka.h.
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr Index sizes[] = {24, 40, 16}, count = 32;

template <class T>
StreamNoise<T> noise_of_step(Index step, std::uint64_t seed = 7, bool antithetic = false) {
  return {seed, bdl::Stream::weight_noise, step, {2, 3, sizes}, antithetic};
}

template <class T>
std::vector<T> factors_of(const StreamNoise<T>& noise, Index block, Index sample) {
  std::vector<T> out(count);
  noise.factors(block, sample, {out.data(), 8, count / 8});
  return out;
}

template <class T>
std::vector<T> outputs_of(const StreamNoise<T>& noise, Index layer, Index sample) {
  std::vector<T> out(count);
  noise.outputs(layer, sample, {out.data(), count, 1});
  return out;
}

/// No two places have the same number: blocks' factors and layers' noise, in all samples and steps.
void every_place_has_its_own_normals(void**) {
  std::set<double> all;
  std::size_t drawn = 0;
  const auto add = [&](const std::vector<double>& values) {
    all.insert(values.begin(), values.end());
    drawn += values.size();
  };
  for (const std::uint64_t seed : {7, 8})
    for (Index step = 0; step < 3; ++step)
      for (Index sample = 0; sample < 4; ++sample) {
        const StreamNoise<double> noise = noise_of_step<double>(step, seed);
        for (Index block = 0; block < 2; ++block) add(factors_of(noise, block, sample));
        for (Index layer = 0; layer < 3; ++layer) add(outputs_of(noise, layer, sample));
      }
  assert_int_equal(all.size(), drawn);
}

/// Normals of a layer's parameters for 16 examples do not depend on the pieces that they are asked for in.
template <class T>
void pieces_are_parts_of_the_whole(void**) {
  const StreamNoise<T> noise = noise_of_step<T>(3);
  for (const Index packet : {0, 5}) {
    std::vector<T> whole(at(40 * packet_size)), pieces(whole.size());
    noise.example_parameters(1, 2, packet, 0, 40, whole.data());
    for (Index first = 0; first < 40; first += 7) {
      const Index size = std::min<Index>(7, 40 - first);
      noise.example_parameters(1, 2, packet, first, size, pieces.data() + first * packet_size);
    }
    assert_true(pieces == whole);
    assert_int_equal(std::set<T>(whole.begin(), whole.end()).size(), whole.size());
  }
  std::vector<T> first(at(40 * packet_size)), second(first.size());
  noise.example_parameters(1, 2, 0, 0, 40, first.data());
  noise.example_parameters(1, 2, 1, 0, 40, second.data());
  std::set<T> both(first.begin(), first.end());
  both.insert(second.begin(), second.end());
  assert_int_equal(both.size(), 2 * first.size());
}

template <class T>
void pairs_are_opposite(void**) {
  const StreamNoise<T> noise = noise_of_step<T>(3, 7, true);
  const auto assert_opposite = [](const std::vector<T>& one, const std::vector<T>& other) {
    for (std::size_t i = 0; i < one.size(); ++i) assert_true(one[i] == -other[i] && one[i] != 0);
  };
  for (const Index sample : {0, 2}) {
    assert_opposite(factors_of(noise, 1, sample), factors_of(noise, 1, sample + 1));
    assert_opposite(outputs_of(noise, 1, sample), outputs_of(noise, 1, sample + 1));
    std::vector<T> one(16), other(16), own(at(16 * packet_size)), other_own(own.size());
    noise.parameters(2, sample, one);
    noise.parameters(2, sample + 1, other);
    assert_opposite(one, other);
    noise.example_parameters(2, sample, 1, 0, 16, own.data());
    noise.example_parameters(2, sample + 1, 1, 0, 16, other_own.data());
    assert_opposite(own, other_own);
  }
  assert_true(factors_of(noise, 1, 0) != factors_of(noise, 1, 2));
  std::vector<T> in(count), out(count), in_of_other(count), out_of_other(count);
  noise.signs(1, 0, {in.data(), count, 1}, {out.data(), count, 1});
  noise.signs(1, 1, {in_of_other.data(), count, 1}, {out_of_other.data(), count, 1});
  assert_true(in == in_of_other && out == out_of_other);  // else normals of both signs would meet them
}

/// 100,000 numbers have a mean within 4.5 / sqrt(n) and a mean square within 4.5 sqrt(2 / n).
void they_are_standard_normals_and_signs(void**) {
  constexpr Index many = 100000;
  const double root = std::sqrt(static_cast<double>(many));
  const StreamNoise<double> noise = noise_of_step<double>(1);
  std::vector<double> values(many), in(many), out(many);
  noise.outputs(2, 1, {values.data(), many, 1});
  noise.signs(2, 1, {in.data(), many, 1}, {out.data(), many, 1});
  double sum = 0, squares = 0, signs = 0, both = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    sum += values[i];
    squares += values[i] * values[i] - 1;
    assert_true(std::abs(in[i]) == 1 && std::abs(out[i]) == 1);
    signs += in[i];
    both += in[i] * out[i];
  }
  for (const double total : {sum, squares / std::sqrt(2), signs, both})
    assert_true(std::abs(total) < 4.5 * root);
}

}  // namespace

int test_noise_source() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(every_place_has_its_own_normals),
      cmocka_unit_test(pieces_are_parts_of_the_whole<float>),
      cmocka_unit_test(pieces_are_parts_of_the_whole<double>),
      cmocka_unit_test(pairs_are_opposite<float>),
      cmocka_unit_test(pairs_are_opposite<double>),
      cmocka_unit_test(they_are_standard_normals_and_signs),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
