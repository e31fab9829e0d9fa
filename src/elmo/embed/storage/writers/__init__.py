"""Writers: arrays -> one file, in any of three formats, so that a killed run loses nothing that was synced.

hdf5      AllenNLP's layout: dataset "0", "1", ... for each row, `sentence_to_index` (a JSON text), metadata as
          attributes of the file; the group `text` joins the vectors to the text
npy       OUT: all tokens end to end, (tokens, dim) or (tokens, layers, dim); OUT.offsets.npy: where each row begins,
          and the end; OUT.text.jsonl; OUT.metadata.json
parquet   `index`, `line`, `sentence`, `tokens`, `starts`, `ends`, `shape`, `vectors` (for each token a list of
          layers * dim values)

A row is a sentence of the text; `text_columns` says what is stored of it beside its vectors.

All lengths are known beforehand. So HDF5 and npy files get their whole structure first and then only raw values, at
places that never change; a window that was not synced is simply written again. A Parquet file can't be changed, so its
row groups wait in files of their own until all are there: it needs twice the space while it is made.
Every window has a checksum, and so has the structure around the windows, so that a resumed run can tell whether what it
finds is what was written.

`writer` says what each of them does, `placed` is what HDF5 and npy have in common. Read `writer` first.
"""

from collections.abc import Mapping

from elmo.embed.storage.layout import FileFormat
from elmo.embed.storage.writers.hdf5 import Hdf5Writer
from elmo.embed.storage.writers.npy import NpyWriter
from elmo.embed.storage.writers.parquet import ParquetWriter
from elmo.embed.storage.writers.writer import VectorWriter

__all__ = ["WRITERS", "Hdf5Writer", "NpyWriter", "ParquetWriter", "VectorWriter"]

WRITERS: Mapping[FileFormat, type[VectorWriter]] = {"hdf5": Hdf5Writer, "npy": NpyWriter, "parquet": ParquetWriter}
