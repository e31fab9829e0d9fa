// Which words of a text are one Korean noun, alone or with particles: the rules of elmo.analysis.neighbors.korean.

const TO_AFTER_CONSONANT = ["으로", "으로서", "으로써"], TO = ["로", "로서", "로써"];
const AFTER_CONSONANT = ["이", "을", "은", "과", "이랑", "이나", "이라도", "이든지", "이야말로"];
const AFTER_VOWEL = ["가", "를", "는", "와", "랑", "나", "라도", "든지", "야말로"];
const AFTER_ALL = [
  "의", "에", "에서", "에게", "에게서", "께", "께서", "한테", "한테서", "하고", "보다", "처럼", "만큼",
  "도", "만", "까지", "부터", "조차", "마저", "밖에", "마다", "대로", "뿐",
];
const FIRST_SYLLABLE = 0xac00, LAST_SYLLABLE = 0xd7a3, NUM_FINALS = 28, FINAL_RIEUL = 8;

export const formsOf = (noun, words) => words.filter((word) => word.startsWith(noun) && areParticles(word.slice(noun.length), noun));

// Whether `rest` is particles that can follow one another and what is before.
const areParticles = (rest, before) => !rest || following(before).some((particle) => rest.startsWith(particle) && areParticles(rest.slice(particle.length), particle));

function following(before) {
  const code = before.charCodeAt(before.length - 1);
  if (!(code >= FIRST_SYLLABLE && code <= LAST_SYLLABLE)) return [...AFTER_ALL, ...AFTER_CONSONANT, ...TO_AFTER_CONSONANT, ...AFTER_VOWEL, ...TO];
  const final = (code - FIRST_SYLLABLE) % NUM_FINALS;
  return [...AFTER_ALL, ...(final === 0 || final === FINAL_RIEUL ? TO : TO_AFTER_CONSONANT), ...(final ? AFTER_CONSONANT : AFTER_VOWEL)];
}
