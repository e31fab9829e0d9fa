"""When memory is exhausted: torch reports it as a RuntimeError, Python as a MemoryError."""

# What torch says on a CPU (allocator) and on GPUs; the class of the latter is named OutOfMemoryError.
_SAYINGS = ("can't allocate memory", "not enough memory", "out of memory", "bad allocation")


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error says that memory couldn't be allocated."""
    if isinstance(error, MemoryError):
        return True
    is_torch = isinstance(error, RuntimeError)
    return is_torch and (type(error).__name__ == "OutOfMemoryError" or any(said in str(error) for said in _SAYINGS))
