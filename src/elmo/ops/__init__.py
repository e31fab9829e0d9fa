"""Operations on tensors, one folder each: the plain version is the specification, the fast ones stand beside it."""
