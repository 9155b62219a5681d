"""The members that a pool may have, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.models.pool.discriminants import DiscriminantMember
from suffice.models.pool.folded_rows import RANKS, VALUES
from suffice.models.pool.logistic import KernelLogisticMember, LogisticMember
from suffice.models.pool.member import ClassShares
from suffice.models.pool.naive_bayes import NaiveBayesMember, WeightedNaiveBayesMember
from suffice.models.pool.trees.boosted import BoostedTreesMember
from suffice.models.pool.trees.forest import ForestMember

if TYPE_CHECKING:
    from suffice.models.pool.member import Member

MEMBERS: dict[str, Member] = {
    member.name: member
    for member in (
        NaiveBayesMember(),
        WeightedNaiveBayesMember(),
        DiscriminantMember(VALUES, "GDA"),
        DiscriminantMember(RANKS, "GDA on ranks"),
        LogisticMember(VALUES, "logistic"),
        LogisticMember(RANKS, "logistic on ranks"),
        KernelLogisticMember(),
        ForestMember(),
        BoostedTreesMember(),
        ClassShares(),
    )
}
"""All of them, in the order in which they are told. Names stand in files and do not change."""
FALLBACK = ClassShares.name
"""The member that every pool has."""
