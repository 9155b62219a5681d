"""The form of everything a model file may hold: types, shapes and signs, field by field.

A form is a word and a shape. Letters of a shape are sizes: k classes, d columns, and so on; the
same letter in one object is the same size, and an object inside another has the sizes that are
named after it. "?" is: or nothing.

    float d      finite numbers, one for each of d columns; without a shape, one number
    log k        numbers that may be infinite, but not NaN
    weight k     finite and not negative        scale d   finite and positive
    moderate k d finite, at most 1e150 either way: squares of it are finite too
    deviation d  from 1e-100 to 1e300           unit d    from 1e-170 to 1e170
    truth d      truths                         place n   integers, not negative
    key n        numbers of 64 bits, each once, ascending
    count        one integer, not negative      text      text
    labels k     a tuple of k labels
    =A|B k d     an object of class A or B, of the same k and d; =family and =laws are any of
                 columns, whose classes have forms of their own
    (float n) d  a tuple of d of what is inside; * is any size
"""

from __future__ import annotations

_NORMALS = {
    "origin": "float d",
    "origin_low": "float d",
    "scale": "unit d",
    "active": "truth d",
    "means": "moderate k d",
}
"""Fields of normal classes, whatever their covariance."""
FORMS: dict[str, dict[str, str]] = {
    # Statistics
    "Moments": {
        "weight": "weight",
        "mean": "float d",
        "low": "float d",
        "scatter": "float d d",
        "error": "weight d",
        "scatter_low": "?float d d",
        "sum_error": "?weight d",
        "anchor": "?float d",
        "weight_low": "float",
        "weight_error": "weight",
        "usual": "?float d",
        "unusual": "?log d",
        "steps": "?log d",
    },
    "DiagonalMoments": {
        "weight": "weight",
        "counts": "weight d",
        "mean": "float d",
        "low": "float d",
        "scatter": "weight d",
        "error": "weight d",
        "scatter_low": "?float d",
        "sum_error": "?weight d",
        "anchor": "?float d",
        "weight_low": "float",
        "counts_low": "?float d",
        "counts_error": "?weight d",
        "usual": "?float d",
        "unusual": "?log d",
        "steps": "?log d",
    },
    "PooledMoments": {
        "labels": "labels k",
        "weights": "weight k",
        "means": "float k d",
        "lows": "float k d",
        "scatter": "float d d",
        "error": "weight d",
        "scatter_low": "?float d d",
        "sum_error": "?weight k d",
        "anchors": "?float k d",
        "weights_low": "?float k",
        "weights_error": "?weight k",
        "usual": "?float d",
        "unusual": "?log d",
        "steps": "?log d",
    },
    "Totals": {"weight": "weight", "sums": "weight d", "missing": "?weight d"},
    "Tallies": {"weight": "weight", "levels": "(labels *) d", "held": "weight n"},
    "ByColumn": {
        "weight": "weight",
        "parts": "(=ColumnNgrams|ColumnTerms|DiagonalMoments|Tallies|Totals) g",
    },
    "ColumnNgrams": {"weight": "weight", "ngrams": "(=NgramCounts) d"},
    "ColumnTerms": {"weight": "weight", "terms": "(=TermCounts) d"},
    "NgramCounts": {
        "order": "count",
        "weight": "weight",
        "keys": "key n",
        "counts": "scale n",
    },
    "TermCounts": {"weight": "weight", "keys": "key n", "counts": "scale n"},
    "TextStatistics": {
        "terms": "?=ByClass",
        "ngrams": "?=ByClass",
        "sample": "=RowSample",
    },
    "Folds": {"parts": "(=ByClass) n"},
    "WithRows": {"held": "=ByClass|ByPattern|Folds d", "sample": "=RowSample"},
    # Columns
    "Columns": {},  # checked as they are read: there may be very many
    "PlainColumns": {"width": "count"},
    "Design": {"columns": "=Columns|PlainColumns", "kept": "?place d", "usual": "?float d"},
    # Families of columns say themselves what they are
    "Gaussian": {
        "covariance": "text",
        "pool": "?weight",
        "shrink": "?weight",
        "shrink_target": "text",
        "divisor": "text",
        "predictive": "?scale",
        "prior_rows": "weight",
        "factors": "?count",
    },
    "Product": {"families": "(=family) g", "columns": "(places) g"},
    # Families of texts
    "Language": {"order": "count", "limit": "?count"},
    "Terms": {"event": "text", "tokens": "=Tokens"},
    "Tokens": {"ngrams": "(count) *", "lower": "truth"},
    # Normal classes
    "DiagonalNormals": {**_NORMALS, "deviations": "deviation m d"},
    "FactorNormals": {
        **_NORMALS,
        "loadings": "moderate m a q",
        "noise": "deviation m a",
    },
    "FullNormals": {
        **_NORMALS,
        "factors": "moderate m a a",
        "whitenings": "moderate m a a",
        "rank": "count",
        "silent": "count",
    },
    "DiagonalStudents": {
        **_NORMALS,
        "deviations": "deviation m d",
        "freedom": "scale k d",
        "stretches": "scale k d",
        "joint": "truth",
    },
    "FullStudents": {
        **_NORMALS,
        "factors": "moderate m a a",
        "whitenings": "moderate m a a",
        "freedom": "scale k",
        "stretches": "scale k",
    },
    "AveragedLaws": {
        "laws": "(=DiagonalNormals|DiagonalStudents|FullNormals|FullStudents k d) g",
        "temperatures": "scale b",
        "shares": "weight g b",
    },
    "MixtureLaws": {
        "components": "=DiagonalNormals|FullNormals d",
        "mixing": "weight k c",
    },
    # Models
    "ClassMixtures": {
        "forms": "(text) k",
        "log_likelihood": "float",
        "parameters": "count",
        "converged": "truth",
        "steps": "count",
    },
    "LatentRecord": {
        "log_likelihood": "log",
        "weight": "weight",
        "parameters": "count",
        "converged": "truth",
        "history": "float s",
        "numbers": "place t",
        "likelihoods": "log t",
        "counts": "place t",
        "criteria": "log t",
        "batches": "count",
    },
    "MixtureRecord": {
        "form": "text",
        "noise": "weight",
        "log_volume": "float",
        "log_likelihood": "float",
        "weight": "weight",
        "parameters": "count",
        "converged": "truth",
        "penalised": "truth",
        "history": "float s",
        "forms": "(text) t",
        "numbers": "place t",
        "likelihoods": "log t",
        "counts": "place t",
        "criteria": "log t",
    },
    "MixtureStream": {
        "waiting": "float w d",
        "blank": "truth w d",
        "weights": "weight w",
        "seen": "weight",
        "worth": "weight",
        "held": "?weight k",
        "means": "?moderate k a",
        "scatters": "?moderate k a a",
        "squares": "?weight k a",
        "noise": "weight",
        "likelihood": "float",
        "total": "?moderate a a",
        "trifle": "?moderate a a",
    },
    "StreamFrame": {
        "origin": "float d",
        "origin_low": "float d",
        "scale": "unit d",
        "active": "truth d",
        "total": "moderate a a",
        "weight": "scale",
    },
    "ClassStream": {
        "rows": "=MixtureStream d",
        "model": "?=GenerativeModel",
        "record": "?=MixtureRecord",
    },
    "ClassStreams": {
        "labels": "labels k",
        "classes": "(=ClassStream d) k",
        "weights": "scale k",
        "frame": "?=StreamFrame d",
    },
    "GenerativeModel": {
        "labels": "labels k",
        "log_priors": "log k",
        "densities": (
            "=AveragedLaws|DiagonalNormals|DiagonalStudents|FactorNormals|FullNormals|FullStudents"
            "|MixtureLaws k d"
        ),
        "weights": "weight k",
    },
    "NaiveBayesModel": {
        "labels": "labels k",
        "log_priors": "log k",
        "laws": "(=laws k) g",
        "product": "=Product g",
        "weights": "weight k",
        "temperature": "scale",
        "blank": "places",
        "temperatures": "?scale b",
        "shares": "?weight b",
    },
    "LinearForm": {
        "labels": "labels k",
        "weights": "float k d",
        "offsets": "log k",
        "origin": "float d",
    },
    "AveragedForm": {
        "labels": "labels k",
        "shares": "scale g",
        "members": "(=LinearForm k d) g",
    },
    "PoolModel": {
        "labels": "labels k",
        "weights": "scale k",
        "kinds": "(text) d",
        "members": "(text) m",
        "shares": "weight m",
        "grids": "(weight *) m",
        "log_losses": "weight m",
        "log_loss": "weight",
        "accuracy": "weight",
        "recipe": "count",
        "sample": "?=RowSample",
        "texts": "?=TextsBeside k",
        "exponents": "?weight m",
        "offsets": "?moderate k",
        "product": "weight",
    },
    "TextsBeside": {
        "places": "places",
        "belief": "scale",
        "alphas": "scale t",
        "factors": "scale t",
        "shifts": "moderate k",
        "readings": "?(text) t",
    },
    "TextRecord": {
        "labels": "labels k",
        "log_priors": "log k",
        "weights": "weight k",
        "smoothing": "scale",
        "factors": "?scale m",
        "shifts": "?moderate k",
        "terms": "?=Terms",
        "term_counts": "?=ByClass",
        "language": "?=Language",
        "ngram_counts": "?=ByClass",
    },
    "LogisticFit": {
        "labels": "labels k",
        "theta": "moderate m e",
        "origin": "float d",
        "inverse": "weight d",
        "estimable": "truth d",
        "has_intercept": "truth",
        "covariance_": "?log c c",
        "loss": "log",
        "null_loss": "log",
        "weight": "weight",
        "rank": "count",
        "penalty": "weight",
        "decrement": "log",
        "bound": "log",
        "converged": "truth",
        "passes": "count",
        "separation": "?=Separation m e",
        "correction": "?text",
        "undecided": "?text",
        "intercept": "truth",
        "l1_ratio": "weight",
    },
    "PenaltyPath": {
        "penalties": "scale g",
        "losses": "weight g",
        "errors": "weight g",
        "judged": "(text) g",
        "shares": "weight g",
        "rows": "count",
        "sampled": "?count",
    },
    "Separation": {
        "kind": "text",
        "direction": "float m e",
        "pairs": "(places) n",
        "columns": "places",
        "rows_apart": "count",
        "rows_tied": "count",
        "reason": "text",
    },
    # A normal law of its own
    "Normal": {"mean": "float d", "covariance": "float d d"},
    "Spread": {
        "scale": "weight d",
        "directions": "float d r",
        "lengths": "scale r",
        "slack": "weight d",
    },
    "Evidence": {"weight": "weight", "divisor": "scale", "degrees": "log", "leverage": "weight"},
    # Streams
    "SeenRows": {
        "labels": "labels k",
        "weights": "weight k",
        "moments": "=DiagonalMoments d",
        "size": "count",
        "sparse": "truth",
    },
    "Stochastic": {
        "seen": "=SeenRows k d",
        "theta": "moderate r e",
        "mean": "moderate r e",
        "time": "weight",
        "steps": "count",
    },
    "OnlinePerceptron": {
        "seen": "=SeenRows k d",
        "theta": "moderate r e",
        "drift": "moderate r e",
        "weight": "weight",
        "updates": "count",
    },
    "PerceptronFit": {
        "form": "=LinearForm k d",
        "updates": "count",
        "epochs": "count",
        "separated": "?truth",
        "margin": "?float",
        "online": "=OnlinePerceptron k d",
    },
}
"""By the names of classes, and of their fields; `form_checks.py` reads them."""
