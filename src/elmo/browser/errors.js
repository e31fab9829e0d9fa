// ElmoError: what a caller can put right. Its message says what is wrong, why, and what to do next.

export class ElmoError extends Error {
  name = "ElmoError";
}
