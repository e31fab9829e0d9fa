"""GloVe (Pennington et al. 2014): static vectors from how often words occur near each other. Read `train` first."""
