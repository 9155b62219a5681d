"""The pictures of docs/logistic.md: what knowing the law of x is worth, and what it may cost.

python -m benchmarks.logistic_pictures
"""

from __future__ import annotations

from pathlib import Path

from examples import efron, poisson_classes

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"


def main() -> None:
    """Run both simulations as their commands do by default, and save what they draw."""
    for example, name in ((efron, "efron.png"), (poisson_classes, "poisson-classes.png")):
        example.main(["--output", str(IMAGES / name)])


if __name__ == "__main__":
    main()
