"""Token vectors, computed once for each word type: the table of a call's words, and the cache of earlier calls.

Most of a call's words were in an earlier one. All vectors are in one matrix; a word is remembered as a row of it, and
the least recently used word is forgotten first. Any number of threads may use one cache: finding words and copying
their vectors is one step under a lock.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, Generic

from elmo.embed.network import Array, Network
from elmo.process.thread_lock import ThreadLock

DEFAULT_BYTES = 64 << 20

# Approximate cost of a word apart from its vector: the string, its entry, the row's number.
_BYTES_PER_ENTRY = 256
# Longer words are not remembered: they hardly ever come back, and a word can be a megabyte.
_MAX_CHARACTERS = 64


class TokenCache(Generic[Array]):
    """Vectors of at most `capacity` words, in at most `num_bytes` bytes.

    `empty` makes room for a number of them: numpy's or torch's, which are indexed alike.
    """

    def __init__(self, num_bytes: int, empty: Callable[[int], Array]) -> None:
        row: Any = empty(1)
        self.capacity = max(0, num_bytes) // (4 * row.shape[1] + _BYTES_PER_ENTRY)
        self.hits = 0
        """Tokens found since the cache was made."""
        self.misses = 0
        """Tokens not found since the cache was made."""
        self._rows: OrderedDict[str, int] = OrderedDict()
        self._vectors: Any = empty(self.capacity)
        # Rows from this one on were never given to a word.
        self._next_row = 0
        self._lock = ThreadLock()

    def __len__(self) -> int:
        return len(self._rows)

    def fill(self, tokens: Sequence[str], table: Array) -> list[int]:
        """Copies the vectors of known tokens into their places in `table` (tokens, dim); returns the others' places."""
        with self._lock.mutex:
            rows = [self._rows.get(token) for token in tokens]
            known = [place for place, row in enumerate(rows) if row is not None]
            for place in known:
                self._rows.move_to_end(tokens[place])
            self.hits += len(known)
            self.misses += len(rows) - len(known)
            if known:
                table[known] = self._vectors[[row for row in rows if row is not None]]  # type: ignore[index]
        return [place for place, row in enumerate(rows) if row is None]

    def add(self, tokens: Sequence[str], vectors: Array) -> None:
        """Remembers the vectors (tokens, dim) of distinct tokens; of too many, the last ones.

        Those that another thread added meanwhile are left out.
        """
        with self._lock.mutex:
            new = [
                place for place, token in enumerate(tokens) if len(token) <= _MAX_CHARACTERS and token not in self._rows
            ]
            rows = self._room_for(len(new))
            new = new[len(new) - len(rows) :]
            if not rows:
                return
            self._vectors[rows] = vectors[new]  # type: ignore[index]
            self._rows.update((tokens[place], row) for place, row in zip(new, rows, strict=True))

    def clear(self) -> None:
        """Forgets every word."""
        with self._lock.mutex:
            self._rows.clear()
            self._next_row = 0

    def _room_for(self, count: int) -> list[int]:
        """Up to `count` rows that no word has: unused ones, then rows of the least recently used words."""
        unused = min(count, self.capacity - self._next_row)
        rows = list(range(self._next_row, self._next_row + unused))
        self._next_row += unused
        while len(rows) < count and self._rows:
            rows.append(self._rows.popitem(last=False)[1])
        return rows


class TokenTable(Generic[Array]):
    """Token vectors of one network, each of them its token's own to the last bit, whatever the cache holds."""

    def __init__(self, network: Network[Array], cache_bytes: int) -> None:
        self.network = network
        self._cache_bytes = cache_bytes
        self._lock = ThreadLock()
        now = network.now()
        self._made_for = now.token_weights()
        self.cache = self._new_cache(now)

    def vectors(self, now: Network[Array], tokens: Sequence[str]) -> Array:
        """(tokens, projection): one vector for each of some distinct tokens. Any number of threads may call it.

        `now`: `network.now()` of this call.
        """
        weights = now.token_weights()
        cache = self._cache_for(now, weights)
        table = now.empty(len(tokens))
        new = cache.fill(tokens, table)
        if new:
            new_tokens = [tokens[place] for place in new]
            computed = now.encode(new_tokens)
            table[new] = computed  # type: ignore[index] - both kinds of arrays
            if now.token_weights() == weights:
                cache.add(new_tokens, computed)
        return table

    def _cache_for(self, now: Network[Array], weights: object) -> TokenCache[Array]:
        """The cache; a new one if the token encoder was trained, loaded anew or moved."""
        with self._lock.mutex:
            if weights != self._made_for:
                self._made_for, self.cache = weights, self._new_cache(now)
            return self.cache

    def _new_cache(self, now: Network[Array]) -> TokenCache[Array]:
        return TokenCache(self._cache_bytes, now.empty)
