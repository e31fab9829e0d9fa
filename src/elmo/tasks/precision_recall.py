"""Precision, recall and F1 from counts, as percentages; 0 where nothing is divided by nothing."""


def percentage(part: float, whole: float) -> float:
    """0 if there is nothing."""
    return 100 * part / whole if whole else 0.0


def precision_recall_f1(correct: float, predicted: float, gold: float) -> dict[str, float]:
    """`f1`, `precision` and `recall` of so many predicted items, of which `correct` are among the `gold` ones."""
    return {
        "f1": percentage(2 * correct, gold + predicted),
        "precision": percentage(correct, predicted),
        "recall": percentage(correct, gold),
    }
