// Permuted MNIST: ten tasks after one another, of which none is seen again (Osawa et al. 2019, section 4.4).
#ifndef VOGN_CONTINUAL_HPP
#define VOGN_CONTINUAL_HPP

#include "settings.hpp"

namespace vogn {

void learn_continually(const Settings& settings);

}  // namespace vogn

#endif
