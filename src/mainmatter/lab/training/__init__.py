"""From gold standards to trained methods: labels, folds by site, fitting, and the card that goes with a model."""
