"""How many components each class has, by what left-out rows say."""
