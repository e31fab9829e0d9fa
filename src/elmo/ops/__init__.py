"""Operations on tensors, one folder each: a plain reference version and the fast ones next to it."""
