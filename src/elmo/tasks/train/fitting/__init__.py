"""One model, trained to the end: `fit` takes the steps, `fit_folder` keeps where they stand on disk."""
