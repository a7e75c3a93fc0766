#include "plan.hpp"

#include <cstdint>

namespace bench {
namespace {

Record line(const std::string& text, std::int64_t threads) {
  return Record(text).set("threads", threads);
}

/// Large networks on all threads and on one; tiny ones on one.
std::vector<Record> slang_plan(const Settings& settings) {
  std::vector<Record> lines;
  const std::string large = settings.quick
                                ? "case=slang shape=784-100-10 likelihood=categorical M=100 S=4 L="
                                : "case=slang shape=784-400-400-10 likelihood=categorical M=200 S=4 L=";
  for (const char* rank : {"1", "8", "32"}) {
    lines.push_back(line(large + rank + " dtype=f32", settings.threads));
    if (settings.threads > 1) lines.push_back(line(large + rank + " dtype=f32", 1));
  }
  lines.push_back(line("case=slang shape=13-50-1 likelihood=gaussian M=10 S=4 L=1 dtype=f64 fit=1", 1));
  for (const char* dtype : {"f64", "f32"})
    lines.push_back(line(
        std::string("case=slang shape=256-1 likelihood=bernoulli M=64 S=12 L=10 fit=1 dtype=") + dtype, 1));
  if (settings.profile)
    for (Record& record : lines) record.set("stages", "1");
  return lines;
}

std::vector<Record> posterior_plan(const std::string& name, const Settings& settings) {
  std::vector<Record> lines;
  for (const char* dtype : {"f32", "f64"})
    for (const std::int64_t count : {1, 4})
      lines.push_back(Record("case=" + name)
                          .set("D", std::int64_t{settings.quick ? 100000 : 1000000})
                          .set("L", std::int64_t{10})
                          .set(name == "sample" ? "S" : "vectors", count)
                          .set("dtype", dtype)
                          .set("threads", settings.threads));
  return lines;
}

std::vector<Record> limit_plan(const std::string& name, const Settings& settings) {
  std::vector<Record> lines;
  for (const char* dtype : {"f32", "f64"})
    lines.push_back(line("case=" + name + " dtype=" + dtype, settings.threads));
  return lines;
}

/// Many examples at once, and one alone.
std::vector<Record> predict_plan(const Settings& settings) {
  return {line(settings.quick ? "case=predict shape=784-100-10 L=8 examples=1000 S=10 dtype=f32"
                              : "case=predict shape=784-400-400-10 L=8 examples=10000 S=100 dtype=f32",
               settings.threads),
          line("case=predictor shape=13-50-1 activation=relu L=5 S=100 dtype=f64", 1),
          line("case=predictor shape=13-50-1 activation=tanh L=5 S=100 dtype=f64", 1)};
}

/// Low-rank (lo-fi) and diagonal filters against D.
std::vector<Record> online_plan(const Settings& settings) {
  std::vector<Record> lines;
  for (const char* dtype : {"f64", "f32"})
    for (const std::int64_t rank : {10, 0})
      for (const std::int64_t outputs : {1, 10})
        for (const std::int64_t d : {1000, 10000, 100000, 1000000})
          if (!settings.quick || d <= 10000)
            lines.push_back(line("case=online", settings.threads)
                                .set("dtype", dtype)
                                .set("L", rank)
                                .set("C", outputs)
                                .set("D", d));
  return lines;
}

std::vector<Record> endurance_plan(const Settings& settings) {
  std::vector<Record> lines;
  for (const char* dtype : {"f64", "f32"})
    lines.push_back(line("case=endurance D=10000 L=10", settings.threads)
                        .set("dtype", dtype)
                        .set("n", std::int64_t{settings.quick ? 10000 : 1000000}));
  return lines;
}

/// On one thread and on all.
void for_threads(const Settings& settings, const std::string& text, std::vector<Record>& lines) {
  lines.push_back(line(text, 1));
  if (settings.threads > 1) lines.push_back(line(text, settings.threads));
}

/// The layers of the published networks, then steps of them: plain, with squares, low rank.
std::vector<Record> conv_plan(const Settings& settings) {
  std::vector<Record> lines;
  for (const char* layer : {"C=1 H=28 O=6 k=5 s=1 p=0 M=128", "C=6 H=12 O=16 k=5 s=1 p=0 M=128",
                            "C=3 H=32 O=64 k=11 s=4 p=5 M=128", "C=64 H=4 O=192 k=5 s=1 p=2 M=128",
                            "C=192 H=2 O=384 k=3 s=1 p=1 M=128", "C=3 H=32 O=64 k=7 s=2 p=3 M=128",
                            "C=64 H=8 O=64 k=3 s=1 p=1 M=128", "C=128 H=4 O=128 k=3 s=1 p=1 M=128",
                            "C=256 H=2 O=256 k=3 s=1 p=1 M=128", "C=512 H=1 O=512 k=3 s=1 p=1 M=128",
                            "C=3 H=32 O=64 k=3 s=1 p=1 M=32", "C=64 H=32 O=64 k=3 s=1 p=1 M=32",
                            "C=128 H=16 O=128 k=3 s=1 p=1 M=32", "C=256 H=8 O=256 k=3 s=1 p=1 M=32",
                            "C=512 H=4 O=512 k=3 s=1 p=1 M=32", "C=64 H=32 O=128 k=3 s=2 p=1 M=32",
                            "C=64 H=32 O=128 k=1 s=2 p=0 M=32"})
    for_threads(settings, std::string("case=conv ") + layer + " dtype=f32", lines);
  for (const char* network : {"lenet5 M=128", "alexnet M=128", "resnet18 M=128", "resnet18-cifar M=32"}) {
    if (settings.quick && std::string(network) != "lenet5 M=128") continue;
    for (const char* method : {"map S=1 L=0", "slang S=1 L=0 guard=0", "slang S=1 L=0", "slang S=4 L=0",
                               "slang S=1 L=1", "slang S=1 L=10"})
      for_threads(settings, std::string("case=conv network=") + network + " method=" + method + " dtype=f32",
                  lines);
  }
  return lines;
}

/// Dense layers by each method, then convolutions by two estimates of their noise.
std::vector<Record> noise_plan(const Settings& settings) {
  std::vector<Record> lines;
  const std::string dense =
      std::string("case=noise network=") + (settings.quick ? "784-100-10 M=64" : "784-400-400-10 M=256");
  for (const char* method :
       {"elrg K=1", "elrg K=2", "elrg K=5", "elrg-d K=2", "mf-vi K=0", "k-tied K=0", "low-rank-vi K=2"})
    lines.push_back(line(dense + " method=" + method + " dtype=f32", 1));
  const std::string lenet = std::string("case=noise network=lenet5 M=") + (settings.quick ? "32" : "512");
  for (const char* estimator : {"local", "automatic"})
    for (const char* rank : {"1", "2", "5"})
      lines.push_back(line(lenet + " method=elrg K=" + rank + " estimator=" + estimator + " dtype=f32", 1));
  if (settings.profile)
    for (Record& record : lines) record.set("stages", "1");
  return lines;
}

/// Deep networks by VOGN and IVON with one draw; LeNet-5 by K-FAC, whose eigenproblems of the others take
/// minutes, and its Laplace approximation.
std::vector<Record> vogn_plan(const Settings& settings) {
  std::vector<Record> lines;
  for (const char* network : {"lenet5 M=128", "alexnet M=128", "resnet18 M=128", "resnet18-cifar M=32"}) {
    if (settings.quick && std::string(network) != "lenet5 M=128") continue;
    for (const char* method : {"vogn", "ivon"})
      lines.push_back(
          line(std::string("case=vogn network=") + network + " method=" + method + " dtype=f32", 1));
  }
  for (const char* fisher : {"empirical", "exact"})
    for (const char* refresh : {"10", "100"})
      if (!settings.quick || std::string(refresh) == "10")
        lines.push_back(line(std::string("case=vogn network=lenet5 M=128 method=kfac fisher=") + fisher +
                                 " refresh=" + refresh + " dtype=f32",
                             1));
  lines.push_back(line("case=vogn network=lenet5 M=1000 method=laplace dtype=f32", 1));
  return lines;
}

/// Cost against D (the caller's rows, no model), against n = M S, against L.
std::vector<Record> scaling_plan(const Settings& settings) {
  using Numbers = std::vector<std::int64_t>;
  const bool quick = settings.quick;
  std::vector<Record> lines;
  for (const std::int64_t d :
       quick ? Numbers{1000, 10000, 100000} : Numbers{1000, 10000, 100000, 1000000, 10000000})
    lines.push_back(
        line("case=scaling sweep=D D=" + std::to_string(d) + " L=10 n=32 dtype=f32", settings.threads));
  const std::string network = "case=scaling shape=784-100-10 likelihood=categorical dtype=f32 S=2 sweep=";
  for (const std::int64_t n : quick ? Numbers{50, 200} : Numbers{50, 100, 200, 400, 800, 1600, 3200})
    lines.push_back(line(network + "n L=8", settings.threads).set("M", n / 2).set("n", n));
  for (const std::int64_t rank : quick ? Numbers{1, 8} : Numbers{1, 2, 4, 8, 16, 32, 64})
    lines.push_back(line(network + "L M=200 n=400", settings.threads).set("L", rank));
  return lines;
}

/// Sizes of ranks, outputs, layers.
std::vector<Record> kernels_plan() {
  std::vector<Record> lines;
  for (const char* kernel :
       {"trsm size=8 columns=200", "trsm size=32 columns=20", "trsm size=100 columns=200",
        "gemv size=5 columns=1000", "gemv size=10 columns=50", "gemv size=400 columns=784",
        "gemv size=1000 columns=5", "eigenpairs size=10 columns=10", "eigenpairs size=100 columns=10",
        "eigenpairs size=200 columns=200", "cholesky size=8 columns=8", "cholesky size=32 columns=32",
        "cholesky size=400 columns=400"})
    lines.push_back(line(std::string("case=kernels dtype=f64 kernel=") + kernel, 1));
  return lines;
}

}  // namespace

const std::vector<std::string>& case_names() {
  static const std::vector<std::string> names{"slang",   "sample",  "solve",    "predict", "online",
                                              "conv",    "noise",   "vogn",     "gemm",    "stream",
                                              "kernels", "scaling", "endurance"};
  return names;
}

std::vector<Record> plan(const std::string& name, const Settings& settings) {
  std::vector<Record> lines = name == "slang"                       ? slang_plan(settings)
                              : name == "sample" || name == "solve" ? posterior_plan(name, settings)
                              : name == "predict"                   ? predict_plan(settings)
                              : name == "online"                    ? online_plan(settings)
                              : name == "endurance"                 ? endurance_plan(settings)
                              : name == "conv"                      ? conv_plan(settings)
                              : name == "noise"                     ? noise_plan(settings)
                              : name == "vogn"                      ? vogn_plan(settings)
                              : name == "kernels"                   ? kernels_plan()
                              : name == "scaling"                   ? scaling_plan(settings)
                                                                    : limit_plan(name, settings);
  if (settings.quick)
    for (Record& record : lines) record.set("quick", "1");
  return lines;
}

}  // namespace bench
