"""Operations on tensors, a file or folder each: a plain reference version and the fast ones next to it."""
