"""Text -> vocabulary and shards: what `elmo prepare` does. Read `prepare` first.

text file   the cat sat\\n a dog ...      read once, in constant memory
  |  blocks
Block       whole lines, about 2 MB       the unit of work: any process can read it without the others
  |  block_reader, documents
Part        its sentences as numbers      with a list of words of its own; kept in `DATA.partial/` (work_folder), so
  |  part_workers, parts                  that a killed run continues from there
  |  parts
Piece       what a split gets of a Part   train, valid or test; whole documents
  |  numbering
Shard       types of all sentences        numbered by frequency; training maps it into memory (shards)
  |
TrainingData: shards, vocabulary, the characters of each type, and the report (settings, numbering)
"""
