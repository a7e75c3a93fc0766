"""Documentation of the parameters that all networks have."""

LEARNING = """method : str, default="auto"
        Training method, one of ``bdl.methods()``. "auto" is the method that ``bdl.suggest_training()``
        suggests. In ``fit`` it is "slang", and "slang-ggn" for numbers of images; in ``partial_fit`` it
        is a method for streams, "lo-fi" for low-rank posteriors. Methods for streams learn each row once,
        in order, whatever ``epochs`` is. A network without hidden layers is trained as ``BayesianGLM`` is.
    posterior : str, default="auto"
        Family of the posterior: "low_rank", "diagonal", "full", "layerwise_full", "kronecker",
        "full_moment", "diagonal_moment", "low_rank_moment", "layerwise_low_rank_moment" or "dropout".
        "auto" is the default family of the method, "low_rank" for "slang".
    prior : Normal, dict, Posterior or Optimizer, default=None
        ``bdl.normal(0, 0.5)`` is the prior of each weight (of standardised data); a dict has priors by name of a
        layer, "layer0", of its parts, "layer0.weight", or of a feature: that of the weights that read it. Others
        have N(0, 1 / precision), with a learned precision. Or a posterior of a fit to earlier data, which
        becomes the prior; the ``optimizer_`` of another estimator also gives its standardisation.
    rank : int, default=None
        Rank of a low-rank posterior. None is 5, 20 for "swag", and 0 for mean-field methods."""

COURSE = """random_state : int, RandomState or None, default=1
        Seed of training. Equal seeds give identical results, in every language of libbdl.
    prediction : str, default="auto"
        How predictions average over the posterior: "monte_carlo", "linearized",
        "linearized_monte_carlo", "local_monte_carlo" or "plug_in" (the mean alone). "auto" is the one that
        suits the method and the model, ``optimizer_.prediction``.
    members : int, default=1
        Number of members of a deep ensemble. Their seeds are random_state, random_state + 1, and so on;
        predictions average over them.
    options : dict, default=None
        Options of training by name, such as {"learning_rate": 0.01}. ``bdl.options()`` describes them. Their
        defaults depend on the method; an option that the method does not use is refused.
    early_stopping : bool, default=False
        Whether to choose the number of epochs by held-out data, and then to train on all data. libbdl tries
        training runs of ``patience`` epochs, twice as many, and so on up to ``epochs``. It stops after two
        runs that are worse than a shorter one by more than two standard errors. It takes up to 2.5 times as
        long.
    validation_fraction : float, default=0.1
        Share of the data that early stopping holds out.
    patience : int, default=10
        Number of epochs of the first training run of early stopping.
    warm_start : bool, default=False
        Whether ``fit`` continues from the present state instead of starting again.
    verbose : bool, default=False
        Whether to show a progress bar.

    Attributes
    ----------
    model_ : Model
        Model of the network (of the first member).
    posterior_ : Posterior
        Posterior over its parameters (of the first member).
    optimizer_ : Optimizer
        Optimizer that trained it, with everything learned (of the first member).
    others_ : sequence of estimators
        Other members of an ensemble.
    history_ : dict of lists
        Training by epoch: "epoch", "expected_log_likelihood", "kl" and "elbo"; with early stopping also
        "validation_epoch" and "validation_log_density"; after a stream "log_density".
    n_iter_ : int
        Number of epochs of training.
    n_features_in_ : int
        Number of features.
"""
