#include "network/published.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/word_distance.hpp"

namespace bdl {
namespace {

std::string lenet5() {
  return "conv 6 5\nrelu\nmaxpool 2\n"
         "conv 16 5\nrelu\nmaxpool 2\n"
         "dense 120\nrelu\n"
         "dense 84\nrelu\n";
}

std::string alexnet() {
  return "conv 64 11 stride 4 pad 5\nrelu\nmaxpool 2\n"
         "conv 192 5 pad 2\nrelu\nmaxpool 2\n"
         "conv 384 3 pad 1\nrelu\n"
         "conv 256 3 pad 1\nrelu\n"
         "conv 256 3 pad 1\nrelu\nmaxpool 2\n";
}

/// Returns a residual of two convolutions; where a stage begins with a stride, the shortcut is a convolution
/// too.
std::string basic_block(int filters, int stride) {
  const std::string number = std::to_string(filters);
  const std::string step = stride == 1 ? "" : " stride " + std::to_string(stride);
  std::string text = "residual\n  conv " + number + " 3" + step +
                     " pad 1 nobias\n  batchnorm\n  relu\n  conv " + number +
                     " 3 pad 1 nobias\n  batchnorm\n";
  if (stride != 1) text += "shortcut\n  conv " + number + " 1" + step + " nobias\n  batchnorm\n";
  return text + "end\nrelu\n";
}

std::string resnet18_after(std::string stem) {
  stem += basic_block(64, 1) + basic_block(64, 1);
  for (const int filters : {128, 256, 512}) stem += basic_block(filters, 2) + basic_block(filters, 1);
  return stem + "globalavgpool\n";
}

std::string resnet18() {
  return resnet18_after("conv 64 7 stride 2 pad 3 nobias\nbatchnorm\nrelu\nmaxpool 3 stride 2 pad 1\n");
}

std::string resnet18_cifar() {
  return resnet18_after("conv 64 3 pad 1 nobias\nbatchnorm\nrelu\n");
}

constexpr PublishedNetwork all_networks[] = {
    {"lenet5",
     "two convolutions and three dense layers, ReLU and max pools, for digits",
     "LeCun et al. 1998; Osawa et al. 2019",
     {1, 28, 28},
     10,
     lenet5},
    {"alexnet",
     "AlexNet cut down to small images, with one dense layer",
     "Krizhevsky et al. 2012; Osawa et al. 2019",
     {3, 32, 32},
     10,
     alexnet},
    {"resnet18",
     "ResNet-18 as made for ImageNet: its first layers shrink an image by 4, to 1 x 1 in the end for 32 x 32",
     "He et al. 2016; Osawa et al. 2019; Tomczak et al. 2020",
     {3, 32, 32},
     10,
     resnet18},
    {"resnet18-cifar",
     "ResNet-18 for small images, whose first layer keeps their size: 15 times the work",
     "He et al. 2016",
     {3, 32, 32},
     10,
     resnet18_cifar},
};

}  // namespace

std::span<const PublishedNetwork> published_networks() {
  return all_networks;
}

const PublishedNetwork& find_published_network(std::string_view name) {
  const auto networks = published_networks();
  const auto found = std::ranges::find(networks, name, &PublishedNetwork::name);
  if (found != networks.end()) return *found;
  const std::string wanted(name.substr(0, 60));
  const auto nearest = std::ranges::min_element(
      networks, {}, [&](const PublishedNetwork& network) { return word_distance(wanted, network.name); });
  std::string names;
  for (const PublishedNetwork& network : networks)
    names += (names.empty() ? "\"" : ", \"") + std::string(network.name) + "\"";
  fail(Status::ERROR_INVALID_ARGUMENT, "no network \"%s\", did you mean \"%s\"? There are %s", wanted.c_str(),
       nearest->name, names.c_str());
}

std::string description_of(const PublishedNetwork& network, const Shape& input, Index outputs) {
  return "input " + std::to_string(input.channels) + " " + std::to_string(input.rows) + " " +
         std::to_string(input.columns) + "\n" + network.layers() + "dense " + std::to_string(outputs) + "\n";
}

}  // namespace bdl
