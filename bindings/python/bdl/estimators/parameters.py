"""Documentation of the parameters that all networks have."""

LEARNING = """method : str, default="auto"
        How the posterior is learned, one of ``bdl.methods()``. Those for streams learn each row once, in order,
        whatever ``epochs`` is. "auto" is what ``bdl.suggest_training()`` says: in ``fit`` a method for batches ("slang";
        for numbers of images "slang-ggn"), in ``partial_fit`` one for streams ("lo-fi" for posteriors of low rank). A
        network without hidden units is a generalised linear model (``BayesianGLM``).
    posterior : str, default="auto"
        Its family: "low_rank", "diagonal", "full", "full_moment", "diagonal_moment", "layerwise_full",
        "low_rank_moment", "layerwise_low_rank_moment", "kronecker" or "dropout"; "auto" is the one that the method is for,
        "low_rank" if it takes any.
    prior : Posterior or Optimizer, default=None
        The posterior of a fit to earlier data, with its mean and whole precision. Another estimator's ``optimizer_``
        also gives its standardisation. None: N(0, 1 / precision), learned.
    rank : int, default=None
        Of a low-rank posterior; None is 5, and 0 for methods of mean-field posteriors."""

COURSE = """random_state : int, RandomState or None, default=1
        Seed of training. Equal seeds give equal numbers, in every language of the library.
    prediction : str, default="auto"
        How they do so: "monte_carlo", "plug_in", "linearized_monte_carlo", "linearized" or "local_monte_carlo". "auto" suits the method
        (``bdl.describe_method()``): "linearized" for "laplace" and
        methods for streams, else "monte_carlo".
    members : int, default=1
        Number of fits, with the seeds random_state, random_state + 1, ..., over which predictions average.
    options : dict, default=None
        Of training, by name: ``bdl.options()`` lists them.
    early_stopping : bool, default=False
        Whether to find first how many epochs are best for held-out data, and then to train on all data for that many.
        Whole courses of ``patience`` epochs, twice as many, and so on up to ``epochs`` are tried; the search ends after
        two that are worse for held-out data than a shorter one, by more than two standard errors of the log density. If
        none is, the result is that without early stopping. It takes up to 2.5 times as long. Training rows are copied.
    validation_fraction : float, default=0.1
        Of the data, to hold out.
    patience : int, default=10
        Epochs of the first such course.
    warm_start : bool, default=False
        Whether ``fit`` goes on from where training is.
    verbose : bool, default=False
        Whether to show a progress bar.

    Attributes
    ----------
    model_, posterior_, optimizer_ : the library's handles, of the first member
    others_ : the other members, fitted estimators
    history_ : dict of lists: "epoch", "expected_log_likelihood", "kl", "elbo"; of early stopping "validation_epoch",
        "validation_log_density"
    n_iter_ : epochs of training
"""
