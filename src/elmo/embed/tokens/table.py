"""TokenTable: distinct tokens -> token vectors, computed once for each word as long as the cache remembers it."""

from collections.abc import Sequence
from typing import Generic

from elmo.embed.network.network import Array, Network
from elmo.embed.tokens.cache import TokenCache
from elmo.process.thread_lock import ThreadLock


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
        return TokenCache(self._cache_bytes, now.config.projection_size, now.empty)
