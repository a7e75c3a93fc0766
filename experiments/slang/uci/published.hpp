// Mishkin et al. (2018), table 2: tuned by Bayesian optimisation, mean and standard error of 20 splits. Its
// log likelihoods of SLANG are the joint form, those of dropout (Gal and Ghahramani 2016) per point.
#ifndef SLANG_UCI_PUBLISHED_HPP
#define SLANG_UCI_PUBLISHED_HPP

namespace uci {

struct Figure {
  double mean, error;
};

struct Published {
  const char *name, *label;
  Figure slang_rmse, dropout_rmse, slang_ll, dropout_ll;
};

inline constexpr Published published[] = {
    {"bostonHousing", "Boston", {3.21, 0.19}, {2.97, 0.19}, {-2.58, 0.05}, {-2.46, 0.06}},
    {"concrete", "Concrete", {5.58, 0.19}, {5.23, 0.12}, {-3.13, 0.03}, {-3.04, 0.02}},
    {"energy", "Energy", {0.64, 0.03}, {1.66, 0.04}, {-1.12, 0.01}, {-1.99, 0.02}},
    {"kin8nm", "Kin8nm", {0.08, 0.00}, {0.10, 0.00}, {1.06, 0.00}, {0.95, 0.01}},
    {"naval-propulsion-plant", "Naval", {0.00, 0.00}, {0.01, 0.00}, {4.76, 0.00}, {3.80, 0.01}},
    {"power-plant", "Power", {4.16, 0.04}, {4.02, 0.04}, {-2.84, 0.01}, {-2.80, 0.01}},
    {"wine-quality-red", "Wine", {0.65, 0.01}, {0.62, 0.01}, {-0.97, 0.01}, {-0.93, 0.01}},
    {"yacht", "Yacht", {1.08, 0.06}, {1.11, 0.09}, {-1.88, 0.01}, {-1.55, 0.03}},
};

inline constexpr double rounding = 0.005;  ///< of the published figures

}  // namespace uci

#endif
