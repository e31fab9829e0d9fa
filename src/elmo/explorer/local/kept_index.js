// The browser's own store, which keeps an index from one visit to the next, by the hash of its model. Where there is none
// (private windows, some pages from disk), an index is made anew.

const NAME = "elmo-explorer", STORE = "indexes";

export const keptIndex = {
  get: (key) => used("readonly", (store) => store.get(key)).catch(() => undefined),
  put: (key, record) => used("readwrite", (store) => store.put(record, key)).catch(() => undefined),
};

async function used(mode, act) {
  const database = await settled(Object.assign(indexedDB.open(NAME, 1), { onupgradeneeded: ({ target }) => target.result.createObjectStore(STORE) }));
  try {
    return await settled(act(database.transaction(STORE, mode).objectStore(STORE)));
  } finally {
    database.close();
  }
}

const settled = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});
