"""The page about clusters: how many, how sure, what sets each apart, and their pictures."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.plots.clusters import draw_clusters, draw_criteria
from suffice.report.figures import HINT, Album, grid
from suffice.report.html_page import document
from suffice.report.markup import bar, listing, name, table, text
from suffice.sources.arrow_frames import frame_of
from suffice.training.clusters.latent_clusters import LatentClusters
from suffice.training.clusters.normal_clusters import Clusters

if TYPE_CHECKING:
    from suffice.training.clusters.found_clusters import FoundClusters

SHOWN = 4
"""Columns that are drawn over each other, two at a time: those that set clusters apart most."""
DRAWN_ROWS = 2000
"""Rows that a picture shows, at most; more are a blot, and a page of megabytes."""
TRIALS = 10
"""Numbers and forms that the page lists, the best first."""


def clusters_page(
    found: FoundClusters,
    *,
    title: str | None = None,
    source: str = "",
    pictures: bool = True,
) -> str:
    """Return one HTML page about clusters, which needs nothing else and no network.

    `source` says where the rows come from. Without `pictures`, or without matplotlib, the page
    holds its text and tables.
    """
    album = Album(pictures)
    parts = [
        ("clusters", "The clusters", _table(found)),
        ("apart", "What sets each apart", _apart(found)),
        ("pictures", "Pairs of columns", _pictures(found, album)),
        ("choice", "How many, and of which form", _choice(found, album)),
        ("care", "What to keep in mind", listing(_care(found))),
    ]
    kept = [part for part in parts if part[2]]
    body = "".join(
        f'<section id="{key}"><h2>{head}</h2>{html}</section>' for key, head, html in kept
    )
    links = "".join(f'<a href="#{key}">{head}</a>' for key, head, _ in kept)
    hint = f'<p class="care">{text(HINT)}</p>' if pictures and not album.installed else ""
    size = found.rows.table.size
    of = f"{name(source, 100)}: " if source else ""
    origin = f'<p class="soft">{of}{size:,} rows, {len(found.rows.names):,} columns</p>'
    facts = listing([text(one) for one in found.facts])
    main = (
        f'<div class="advice"><p>{text(found.title)}.</p>{facts}</div>{hint}'
        f'<nav aria-label="Parts of this page">{links}</nav>{body}'
    )
    return document(title or "Clusters", origin, main, album)


def _table(found: FoundClusters) -> str:
    size = found.rows.table.size
    rows = [
        (
            str(one.number),
            f"{one.rows:,}",
            f"{one.share:.1%}",
            bar(one.share),
            "–" if np.isnan(one.uncertainty) else f"{one.uncertainty:.1%}",
            f"{one.unsure:,}",
        )
        for one in found.clusters
    ]
    heads = ("cluster", "rows", "share", "", "mean uncertainty", "rows under 90 %")
    noise = size - sum(one.rows for one in found.clusters)
    more = f"<p>{noise:,} rows are noise and belong to no cluster.</p>" if noise else ""
    said = (
        "<p>Shares are those of the model, which counts a row partly in each cluster; the "
        "rows of a cluster are those that are most probably in it.</p>"
    )
    return said + table(heads, rows, figures=(1, 2, 4, 5)) + more


def _apart(found: FoundClusters) -> str:
    if len(found.clusters) < 2:
        return ""
    parts = [
        f"<h3>Cluster {one.number}</h3>{listing([text(s) for s in found.differences(one)])}"
        for one in found.clusters
    ]
    return f"<p>{found.apart_in_words}</p>{''.join(parts)}"


def _pictures(found: FoundClusters, album: Album) -> str:
    """Return clusters over pairs of the columns that set them apart most; of numbers only."""
    if not isinstance(found, Clusters) or len(found.rows.names) < 2:
        return ""
    rows = found.rows.table
    if rows.size > DRAWN_ROWS:
        rows = rows.rows(np.random.default_rng(0).permutation(rows.size)[:DRAWN_ROWS])
    best: dict[str, float] = dict.fromkeys(found.rows.names, 0.0)
    for cluster in found.clusters:
        for one in cluster.columns:
            best[one.column] = max(best[one.column], abs(one.difference))
    chosen = sorted(best, key=lambda column: -best[column])[:SHOWN]
    pairs = list(zip(chosen[::2], chosen[1::2], strict=False))
    frame = frame_of(rows)
    drawn = [
        album.picture(
            partial(draw_clusters, model=found.mixture, X=frame, columns=pair),
            f"the clusters over {pair[0]} and {pair[1]}",
            f"{name(pair[0])} and {name(pair[1])}. The larger a dot, the less certain its "
            "cluster; ellipses mark one standard deviation and 95 % of the cluster.",
        )
        for pair in pairs
    ]
    some = (
        f'<p class="soft">{rows.size:,} rows are drawn, chosen at random.</p>'
        if rows.size < found.rows.table.size and any(drawn)
        else ""
    )
    return grid(drawn) + some


def _choice(found: FoundClusters, album: Album) -> str:
    """Return what else was tried, where there was a choice."""
    model = found.mixture
    trials: list[dict[str, Any]] = model.trials_
    if len(trials) < 2:
        return ""
    forms = isinstance(found, Clusters)
    criterion = model.criterion.upper()
    rows = [
        (
            str(one["components"]),
            *((str(one["form"]),) if forms else ()),
            _number(one["criterion"]),
        )
        for one in trials[:TRIALS]
    ]
    heads = ("clusters", *(("form",) if forms else ()), f"{criterion}, less is better")
    picture = ""
    if forms:
        picture = album.picture(
            lambda ax: draw_criteria(ax, model),
            f"{criterion} by number and form",
            f"{criterion} by number and form; the best is ringed.",
        )
    rest = len(trials) - TRIALS
    more = f'<p class="soft">and {rest} others</p>' if rest > 0 else ""
    return grid([picture]) + table(heads, rows, figures=(len(heads) - 1,)) + more


def _number(value: float) -> str:
    return f"{value:,.1f}" if np.isfinite(value) else "none: it collapsed"


def _care(found: FoundClusters) -> list[str]:
    """Return what a reader has to know before believing it."""
    said = []
    if not found.mixture.converged_:
        said.append("EM did not converge in the allowed steps: the fit is not at its maximum.")
    if found.rows.blank:
        said.append(f"{found.rows.blank:,} blank rows are left out.")
    if not found.rows.whole:
        said.append(f"The table is large: {found.rows.table.size:,} of its rows are on this page.")
    if isinstance(found, LatentClusters):
        said.append(
            "Columns are taken to be independent within a cluster. Where they are not, several "
            "clusters may describe one group of rows."
        )
    else:
        said.append(
            "Clusters are normal. Several clusters may describe one group of another shape."
        )
    said.append(
        "A cluster is a group of similar rows. Whether it means anything is for people who know "
        "the data to say."
    )
    return [text(one) for one in said]
