"""Text -> vocabulary and shards: what `elmo prepare` does.

A text is cut into blocks of whole lines (`blocks`). Workers read a block each and number its sentences, which makes a
part (`block_reader`, `parts`, `part_workers`). The parts are counted to a vocabulary, split into training, validation
and test text (`splitting`), and written as shards that training maps into memory (`numbering`, `shards`). Whatever is
finished lies in the work folder, so that a killed run goes on from there. Read `prepare` first.

    text files -> Block -> BlockReader -> Part -> WorkFolder -> PartedText -> Vocabulary -> Shard -> TrainingData
"""
