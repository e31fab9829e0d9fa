"""ELMo in your own model: [x ; ELMo] at the input of an RNN and [h ; ELMo] at its output, each with its own mix.

python examples/elmo_in_your_model.py
"""

import torch
from torch import nn

from elmo import ELMo

SENTENCES = [["I", "sat", "on", "the", "bank", "of", "the", "river"], ["The", "bank", "lent", "us", "money"]]
LABELS = [0, 1]  # which bank?


class Classifier(nn.Module):
    """Any model: word vectors, an RNN, a layer on top."""

    def __init__(self, words: dict[str, int]) -> None:
        super().__init__()
        self.words = words
        self.vectors = nn.Embedding(len(words), 50)
        self.elmo = ELMo.from_pretrained(num_mixes=2, dropout=0.5)  # frozen; one mix for the input, one for the output
        self.rnn = nn.LSTM(50 + self.elmo.output_dim, 64, batch_first=True, bidirectional=True)
        self.top = nn.Linear(128 + self.elmo.output_dim, 2)

    def forward(self, sentences: list[list[str]]) -> torch.Tensor:
        """(batch, tokens) words -> (batch, 2) scores."""
        below, above = self.elmo(sentences).mixes
        ids = [torch.tensor([self.words[word] for word in sentence]) for sentence in sentences]
        x = self.vectors(nn.utils.rnn.pad_sequence(ids, batch_first=True))
        h, _ = self.rnn(torch.cat([x, below], dim=2))
        return self.top(torch.cat([h, above], dim=2).amax(dim=1))


def main() -> int:
    """Train on two sentences and print what the mixes have learned."""
    torch.manual_seed(1)
    model = Classifier({word: number for number, word in enumerate(sorted({w for s in SENTENCES for w in s}))})
    learned = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.Adam(learned, lr=0.003)
    for step in range(20):
        task_loss = nn.functional.cross_entropy(model(SENTENCES), torch.tensor(LABELS))
        loss = task_loss + model.elmo.mix_penalty(1e-3)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 5 == 4:
            print(f"step {step + 1:2}: loss {task_loss.item():.3f}")
    for place, mix in zip(("input", "output"), model.elmo.mix_weights(), strict=True):
        shown = ", ".join(f"{weight:.3f}" for weight in mix["weights"])
        print(f"mix at the {place}: layers {shown}; gamma {mix['gamma']:.3f}")
    right = model.eval()(SENTENCES).argmax(dim=1).tolist() == LABELS
    print(f"both sentences are classified correctly: {right}")
    return 0 if right else 1


if __name__ == "__main__":
    raise SystemExit(main())
