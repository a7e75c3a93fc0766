// Networks of papers have as many parameters as published and canonical texts, and take images of other
// sizes.
#include "network/graph.hpp"
#include "network/published.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

Graph<float> graph_of(const char* name, const Shape& input, Index outputs) {
  return Graph<float>(description_of(find_published_network(name), input, outputs));
}

void parameters_are_as_many_as_published(void**) {
  const auto parameters = [](const char* name, const Shape& input) {
    return graph_of(name, input, 10).parameters();
  };
  assert_int_equal(parameters("lenet5", {1, 28, 28}), 44'426);
  assert_int_equal(parameters("lenet5", {3, 32, 32}), 62'006);
  assert_int_equal(parameters("alexnet", {3, 32, 32}), 2'472'266);
  assert_int_equal(parameters("resnet18", {3, 32, 32}), 11'181'642);
  assert_int_equal(parameters("resnet18-cifar", {3, 32, 32}), 11'173'962);
}

void texts_are_what_models_say_of_themselves(void**) {
  assert_int_equal(published_networks().size(), 4);
  for (const PublishedNetwork& network : published_networks()) {
    const std::string text = description_of(network, network.input, network.outputs);
    const Graph<float> graph(text);
    assert_string_equal(graph.description().c_str(), text.c_str());
    assert_true(graph.outputs() == network.outputs && graph.input() == network.input);
  }
}

void images_may_be_of_other_sizes(void**) {
  assert_int_equal(graph_of("resnet18", {1, 28, 28}, 3).outputs(), 3);
  assert_int_equal(graph_of("resnet18-cifar", {1, 8, 20}, 2).outputs(), 2);
  assert_int_equal(graph_of("alexnet", {3, 64, 48}, 10).outputs(), 10);
  assert_int_equal(graph_of("lenet5", {1, 16, 16}, 4).outputs(), 4);
  expect_error(Status::ERROR_INVALID_ARGUMENT, "line 7 of the description: maxpool 2", [] {
    graph_of("lenet5", {1, 14, 14}, 10);
  });
  expect_error(Status::ERROR_INVALID_ARGUMENT, "maxpool 2", [] { graph_of("alexnet", {3, 28, 28}, 10); });
}

void unknown_names_offer_the_nearest(void**) {
  expect_error(Status::ERROR_INVALID_ARGUMENT, "did you mean \"resnet18-cifar\"?",
               [] { find_published_network("resnet-cifar"); });
  expect_error(Status::ERROR_INVALID_ARGUMENT,
               "no network \"LeNet\", did you mean \"lenet5\"? There are \"lenet5\", \"alexnet\", ",
               [] { find_published_network("LeNet"); });
}

}  // namespace

int test_published() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(parameters_are_as_many_as_published),
      cmocka_unit_test(texts_are_what_models_say_of_themselves),
      cmocka_unit_test(images_may_be_of_other_sizes),
      cmocka_unit_test(unknown_names_offer_the_nearest),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
