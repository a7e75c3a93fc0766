// "network-golden-1": networks, parameters, inputs and seeds in; outputs, input gradients and all operations
// of their curvature rows out.
#include <algorithm>
#include <cstdio>

#include "curvature/blocked_rows.hpp"
#include "golden.hpp"

namespace golden {
namespace {

using bdl::Index;
using bdl::MatrixView;
using Matrix = std::vector<Vector>;

/// In front of a network: a layer that changes nothing, whose parameters make input gradients known.
std::string identity_layer(const bdl::Shape& input) {
  const std::string channels = std::to_string(input.channels);
  return input.is_image() ? "conv " + channels + " 1 groups " + channels + " nobias\n"
                          : "dense " + channels + " nobias\n";
}
Vector identity_weights(const bdl::Shape& input) {
  if (input.is_image()) return Vector(static_cast<std::size_t>(input.channels), 1.0);
  const auto n = static_cast<std::size_t>(input.channels);
  Vector weights(n * n);
  for (std::size_t i = 0; i < n; ++i) weights[i * n + i] = 1;
  return weights;
}

std::string with_identity(const std::string& description, const bdl::Shape& input) {
  const std::size_t line = description.find('\n') + 1;
  return description.substr(0, line) + identity_layer(input) + description.substr(line);
}

/// Columns of a matrix.
bdl::Buffer<double> columns(const Matrix& rows) {
  bdl::Buffer<double> out(static_cast<Index>(rows.size() * rows.front().size()));
  double* to = out.data();
  for (const Vector& row : rows) to = std::copy(row.begin(), row.end(), to);
  return out;
}

class Problem {
 public:
  explicit Problem(const Json& json)
      : json_(json),
        plain_(json.at("description").get<std::string>()),
        graph_(with_identity(plain_.description(), plain_.input())),
        prefix_(identity_weights(plain_.input())) {}

  double largest_error() {
    const auto theta_rows = json_.at("theta").get<Matrix>();
    Matrix thetas;
    for (const Vector& theta : theta_rows) {
      thetas.push_back(prefix_);
      thetas.back().insert(thetas.back().end(), theta.begin(), theta.end());
    }
    samples_ = static_cast<Index>(thetas.size());
    const auto x_rows = json_.at("x").get<Matrix>();
    examples_ = static_cast<Index>(x_rows.size());
    const bdl::Buffer<double> theta_columns = columns(thetas), x = columns(x_rows);
    theta_ = {theta_columns.data(), graph_.parameters(), samples_};
    graph_.reserve(tape_, examples_, samples_, 1);
    forward({x.data(), graph_.inputs(), examples_});
    backward();
    compare_rows();
    return worst_;
  }

 private:
  Index rows() const { return samples_ * examples_; }

  void compare(const char* name, const Vector& got) {
    const Json& expected = json_.at("expected").at(name);
    const Vector values = expected.empty()              ? Vector()
                          : expected.front().is_array() ? flatten_all(expected)
                                                        : expected.get<Vector>();
    const double error = golden::error(got, values);
    if (error > tolerance) std::printf("    %s: %.3g\n", name, error);
    worst_ = std::max(worst_, error);
  }
  static Vector flatten_all(const Json& json) {
    if (!json.is_array()) return {json.get<double>()};
    Vector all;
    for (const Json& part : json) {
      const Vector values = flatten_all(part);
      all.insert(all.end(), values.begin(), values.end());
    }
    return all;
  }

  /// Node by node, as the masks of dropout are given.
  void forward(bdl::ConstMatrixView<double> x) {
    output_.reserve(graph_.outputs() * rows());
    const MatrixView<double> f = output_.matrix(graph_.outputs(), rows());
    graph_.forward(theta_, x, tape_, f);
    if (!json_.at("masks").empty()) mask(x, f);
    compare("output", {f.data, f.data + f.size()});
  }

  void mask(bdl::ConstMatrixView<double> x, MatrixView<double> f) {
    const bdl::SampledWeights<double> weights(theta_);
    std::size_t dropout = 0;
    for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
      const auto& node = graph_.nodes()[n];
      const bool is_dropout = node.layer && node.layer->text().starts_with("dropout");
      for (Index s = 0; s < samples_; ++s) {
        const auto values = [&](Index w) {
          const Index columns = graph_.wire(w).columns(examples_);
          if (graph_.wire(w).is_data) return graph_.values(tape_, w);
          if (graph_.wire(w).place == graph_.wire(graph_.output()).place)
            return bdl::ConstMatrixView<double>(f.columns(s * columns, columns));
          return graph_.values(tape_, w).columns(s * columns, columns);
        };
        const auto in = values(node.in), other = node.layer ? in : values(node.other), at = values(node.out);
        const MatrixView<double> out(const_cast<double*>(at.data), at.rows, at.cols, at.ld);
        const auto kept = node.layer ? graph_.kept(tape_, n, s) : bdl::Kept<double>{};
        if (graph_.wire(node.out).is_data) continue;
        if (!node.layer)
          for (Index i = 0; i < out.size(); ++i) out.data[i] = in.data[i] + other.data[i];
        else if (is_dropout)
          apply_mask(json_.at("masks")[dropout][static_cast<std::size_t>(s)], node.layer->text(), in, out,
                     kept.slopes);
        else
          node.layer->forward({weights, x.cols, s}, in, out, kept);
      }
      if (is_dropout) ++dropout;
    }
  }

  /// One row of 0 and 1 an example; maps in packets or features in columns.
  static void apply_mask(const Json& masks, const std::string& text, bdl::ConstMatrixView<double> in,
                         MatrixView<double> out, MatrixView<double> slopes) {
    const double factor = 1 / (1 - std::stod(text.substr(8)));
    const Matrix rows = masks.get<Matrix>();
    std::copy_n(in.data, in.size(), out.data);
    std::fill_n(slopes.data, slopes.size(), 0.0);
    const bool is_packed = in.rows != static_cast<Index>(rows.front().size());
    const Index positions = is_packed ? positions_of(in.rows, static_cast<Index>(rows.front().size())) : 0;
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (std::size_t j = 0; j < rows[i].size(); ++j) {
        const Index number = static_cast<Index>(j);
        const Index at =
            is_packed ? (number / positions * (positions | 1) + number % positions) * bdl::packet_size +
                            static_cast<Index>(i) % bdl::packet_size
                      : number;
        slopes(at, is_packed ? static_cast<Index>(i) / bdl::packet_size : static_cast<Index>(i)) =
            factor * rows[i][j];
      }
    for (Index i = 0; i < out.size(); ++i) out.data[i] *= slopes.data[i];
  }
  /// Of a map with so many numbers a packet and an example.
  static Index positions_of(Index packet_numbers, Index numbers) {
    for (Index positions = 1;; ++positions)
      if (numbers % positions == 0 &&
          numbers / positions * (positions | 1) * bdl::packet_size == packet_numbers)
        return positions;
  }

  void backward() {
    const MatrixView<double> e = graph_.seeds(tape_, rows());
    const Vector seeds = flatten_all(json_.at("seeds"));
    std::copy(seeds.begin(), seeds.end(), e.data);
    graph_.backward(theta_, tape_, 1);
    const Index wire = graph_.nodes()[static_cast<std::size_t>(graph_.learned().front().node)].out;
    const auto& of = graph_.wire(wire);
    const auto gradient = std::as_const(graph_).sensitivities(std::as_const(tape_), wire, samples_);
    Vector got;
    const bdl::Shape& shape = plain_.input();
    const Index stride = bdl::PacketMap{shape}.stride(), positions = shape.rows * shape.columns;
    for (Index s = 0; s < samples_; ++s)
      for (Index i = 0; i < examples_; ++i)
        for (Index j = 0; j < of.size; ++j)
          got.push_back(of.layout == bdl::Layout::columns
                            ? gradient(j, s * examples_ + i)
                            : gradient((j / positions * stride + j % positions) * bdl::packet_size +
                                           i % bdl::packet_size,
                                       s * of.columns(examples_) + i / bdl::packet_size));
    compare("input_gradient", got);
  }

  /// The operations on the network's own parameters.
  void compare_rows() {
    bdl::NetworkRows<double> all(graph_);
    const Index before = static_cast<Index>(prefix_.size()), n = rows(), d = plain_.parameters();
    all.reserve(examples_, samples_, 1, {true, 2, graph_.parameters()});
    all.assign(tape_, 1);
    bdl::Rows<double>& rows = all.part(before, d);
    const auto w = json_.at("w").get<Vector>();
    Vector out(static_cast<std::size_t>(d));
    rows.sum(w, out);
    compare("sum", out);
    rows.sum_squares(w, out);
    compare("sum_squares", out);
    Vector sum(static_cast<std::size_t>(d));
    rows.sum_and_squares(w, sum, w, out);
    compare("sum", sum);
    compare("sum_squares", out);
    compare_gram(rows);
    Vector u(static_cast<std::size_t>(2 * d)), projected(static_cast<std::size_t>(2 * n)), by_row;
    const auto u_rows = json_.at("u").get<Matrix>();
    for (std::size_t p = 0; p < u_rows.size(); ++p)
      for (std::size_t k = 0; k < 2; ++k) u[k * u_rows.size() + p] = u_rows[p][k];
    rows.project({u.data(), d, 2}, {projected.data(), 2, n});
    compare("project", projected);
    Vector weights(w);
    for (const double value : w) weights.push_back(value * value);
    rows.combine({weights.data(), n, 2}, {u.data(), d, 2});
    for (Index p = 0; p < d; ++p)
      for (Index k = 0; k < 2; ++k) by_row.push_back(u[static_cast<std::size_t>(k * d + p)]);
    compare("combine", by_row);
  }

  void compare_gram(bdl::Rows<double>& rows) {
    const Index n = rows.count();
    Vector gram(static_cast<std::size_t>(n * n)), written(gram.size());
    rows.gram({gram.data(), n, n});
    std::vector<Vector> g(static_cast<std::size_t>(n), Vector(static_cast<std::size_t>(rows.dimension())));
    for (Index r = 0; r < n; ++r) rows.write_row(r, 0, g[static_cast<std::size_t>(r)]);
    for (Index r = 0; r < n; ++r)
      for (Index s = 0; s < n; ++s) {
        const auto at = static_cast<std::size_t>(r * n + s);
        const Vector &a = g[static_cast<std::size_t>(r)], &b = g[static_cast<std::size_t>(s)];
        for (std::size_t p = 0; p < a.size(); ++p) written[at] += a[p] * b[p];
        if (s > r) gram[static_cast<std::size_t>(s * n + r)] = gram[at];
      }
    for (Index r = 0; r < n; ++r)  // the lower triangle, column by column
      for (Index s = 0; s < r; ++s)
        gram[static_cast<std::size_t>(r * n + s)] = gram[static_cast<std::size_t>(s * n + r)];
    compare("gram", gram);
    compare("gram", written);
  }

  const Json& json_;
  bdl::Graph<double> plain_, graph_;
  Vector prefix_;
  Index samples_ = 0, examples_ = 0;
  MatrixView<const double> theta_;
  bdl::Tape<double> tape_;
  bdl::Buffer<double> output_;
  double worst_ = 0;
};

}  // namespace

bool replay_network(const Json& file) {
  bool good = true;
  for (const Json& json : file.at("problems")) {
    const auto name = json.at("name").get<std::string>();
    const double worst = Problem(json).largest_error();
    std::printf("%-45s largest error %.2g\n", name.c_str(), worst);
    good = good && worst <= tolerance;
  }
  return good;
}

}  // namespace golden
