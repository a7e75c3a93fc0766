"""The library's enumerations by their words: "relu" for BDL_RELU."""

from __future__ import annotations

from . import lowlevel
from .errors import InvalidArgumentError, brief


class Names:
    """One enumeration: numbers by words and back."""

    def __init__(self, title: str, numbers: dict[str, int]):
        self.title = title
        self._numbers = numbers
        self._words = {number: word for word, number in numbers.items()}

    def number(self, word: str) -> int:
        try:
            return self._numbers[word]
        except (KeyError, TypeError):
            expected = ", ".join(self._numbers)
            raise InvalidArgumentError(f"{self.title} is {brief(word)}, expected one of: {expected}") from None

    def word(self, number: int) -> str | None:
        """Returns the word of a number; None for 0."""
        return self._words.get(number)

    def __iter__(self):
        return iter(self._numbers)


def _names(title: str, words: str, prefix: str = "BDL_") -> Names:
    return Names(title, {word: getattr(lowlevel, prefix + word.upper()) for word in words.split()})


dtypes = Names("dtype", {"float32": lowlevel.BDL_F32, "float64": lowlevel.BDL_F64})
activations = _names("activation", "identity relu leaky_relu elu gelu tanh sigmoid softplus swish")
likelihoods = _names(
    "likelihood",
    "gaussian bernoulli categorical poisson heteroscedastic student_t probit cloglog negative_binomial gamma ordinal",
)
two_classes = ("bernoulli", "probit", "cloglog")  # likelihoods of labels 0 and 1
classes = (*two_classes, "categorical", "ordinal")
initializations = _names("scheme", "uniform_fan_in xavier he he_fan_out xavier_normal", "BDL_INIT_")
families = _names(
    "family",
    "low_rank full full_moment diagonal_moment dropout layerwise_full low_rank_moment layerwise_low_rank_moment "
    "kronecker",
)
predict_methods = _names("method", "monte_carlo plug_in quadrature linearized_monte_carlo linearized local_monte_carlo")
quantities = _names("of", "y mean link", "BDL_QUANTITY_")
draw_kinds = _names("kind", "parameters probes", "BDL_DRAW_")
scales = _names("scale", "linear log", "BDL_SCALE_")
option_types = Names(
    "type", {"double": lowlevel.BDL_OPTION_DOUBLE, "int": lowlevel.BDL_OPTION_INT, "choice": lowlevel.BDL_OPTION_CHOICE}
)
scores = _names("score", "confidence entropy", "BDL_SCORE_")
