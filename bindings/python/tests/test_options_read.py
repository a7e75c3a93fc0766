"""Options: what a method accepts changes what it learns, or it is refused."""

import numpy as np
import pytest

import bdl
from bdl.estimators import construction

N = 60
# Options beside which another has an effect.
COMPANIONS = {
    "decay": "schedule=power", "step_from": "schedule=steps", "step_every": "schedule=steps", "step_factor": "schedule=steps",
    "kl_start": "kl_warmup=0.5", "damping_in": "damping=0.1", "tempering": "kl_weight=0.5",
    "tied_rank": "diagonal_part=tied", "scale_parameter": "diagonal_part=free", "momentum_form": "momentum=0.8",
    "initial_curvature": "initial_precision=0", "eigen_passes": "eigen_method=randomized",
    "eigen_oversampling": "eigen_method=randomized", "learn_from": "scales=samples learn_noise=1 learn_prior=0",
    "scale_rate": "scales=samples learn_noise=1", "bias_prior_precision": "prior_groups=weights_biases", "swag_from": "swag=1", "swag_every": "swag=1", "start_share": "initial_precision=0",
}
# Those that act where steps would go wrong, or only on networks, data and numbers that are not these.
SITUATIONS = {"guard", "indefinite", "kl_clip", "clip", "tolerance", "threads", "progress_every", "augment_pad", "augment_flip",
              "augment_fill", "learn_prior", "kronecker_eigenvalues", "eigen_method", "mean_update", "seed", "shards", "total_steps",
              "sample_sharing", "prior_groups", "evidence_step"}
VALUES = {"minibatch": [7], "minibatches": [1, 2], "block": [3], "initial_precision": [50.0, 3.0], "learning_rate": [0.013],
          "samples": [4], "eigen_passes": [30]}


def data():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(N, 2))
    return x, (np.sin(2 * x[:, 0]) + 0.1 * rng.normal(size=N))[:, np.newaxis]


def learner(method):
    of = bdl.describe_method(method)
    is_linear = of.is_exact or method == "slang-exact-hess"
    model = bdl.Model.mlp([2, 1] if is_linear else [2, 4, 1], "identity" if is_linear else "tanh", "gaussian")
    training = bdl.suggest_training(model, N, False, method)
    return bdl.Optimizer(model, construction.create_posterior(training.family, model, training.rank, 0.1), method, N)


def learned(method, *texts):
    """Returns what training has learned with these options; None if they are refused."""
    optimizer, (x, y) = learner(method), data()
    try:
        for text in texts:
            optimizer.set_text(text)
        optimizer.start_noise(y)
        is_stream = bdl.describe_method(method).is_stream
        parts = [optimizer.observe(x[:20], y[:20]) if is_stream else optimizer.fit(x, y, 6)]
        if is_stream and optimizer["rule"] in ("blr", "bbb"):
            optimizer.fit(x, y, 6)
    except bdl.BDLError:
        return None
    q = optimizer.posterior
    if bdl.describe_method(method).prediction == "plug_in":
        optimizer.laplace(x, y)
    elif q.family != "dropout" and not is_stream:
        parts += bdl.Predictor(optimizer.model, q, "linearized").predict(x)[:2]
    parts += [q.mean, q.sample(2), optimizer.prior_precision, optimizer.model.noise_precision]
    return np.concatenate([np.ravel(part) for part in parts])


def other_values(option, present):
    if option.name in VALUES:
        return VALUES[option.name]
    if option.type == "choice":
        values = option.range.split(" | ")
    elif option.type == "int":
        values = [0, 1] if option.range == "0 | 1" else [2, 3, 8]
    else:
        values = [0.3, 0.71, 3.0, 20.0]
    return [value for value in values if value != present]


@pytest.mark.parametrize("method", bdl.methods())
def test_accepted_options_change_what_is_learned(method):
    usual, ignored = learner(method).options, []
    for option in bdl.options().values():
        if option.name in SITUATIONS:
            continue
        companion = COMPANIONS.get(option.name, "")
        without = learned(method, companion)
        if without is None:
            continue
        found = [learned(method, companion, f"{option.name}={value}") for value in other_values(option, usual[option.name])]
        accepted = [result for result in found if result is not None]
        if accepted and all(np.array_equal(result, without, equal_nan=True) for result in accepted):
            ignored.append(option.name)
    assert not ignored


@pytest.mark.parametrize(
    "method, options, readers",
    [
        ("exact-full", {"learning_rate": 0.5}, "methods for batches; streams by rules blr, bog and bbb"),
        ("exact-full", {"kl_weight": 0.5}, "rule map"),
        ("slang", {"tolerance": 1e-3}, "the methods exact-*"),
        ("slang", {"forgetting": 0.9}, "streams"),
        ("map", {"samples": 3}, "curvatures mc-*"),
        ("lo-fi", {"minibatch": 3}, "methods for batches"),
    ],
)
def test_options_that_nothing_reads(method, options, readers):
    optimizer = learner(method)
    with pytest.raises(bdl.UnsupportedError) as caught:
        optimizer.set(**options)
    assert f"does not read it here: it is read by {readers}" in str(caught.value)
    (name,) = options
    optimizer.set(**{name: optimizer[name]})  # the default
