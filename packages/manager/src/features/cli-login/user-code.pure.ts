// A person compares this code in the terminal and in the browser. The code is short and contains no letters
// that are easily confused or that form words.

const alphabet = 'BCDFGHJKLMNPQRSTVWXZ'
const length = 8
const codePattern = /^[BCDFGHJKLMNPQRSTVWXZ]{8}$/i

/**
 * Returns a new code in the format XXXX-XXXX. `pick` returns a random number from 0 up to, but not including,
 * its argument.
 */
export const createUserCode = (pick: (below: number) => number): string =>
  addHyphen(Array.from({ length }, () => alphabet.charAt(pick(alphabet.length))).join(''))

/** Normalizes a typed code. Case and hyphens are ignored. Returns null if the input cannot be a code. */
export function parseUserCode(input: string): string | null {
  // Input that is far too long is rejected without parsing.
  const letters = input.length > 64 ? '' : input.replaceAll(/[\s-]/g, '')
  return codePattern.test(letters) ? addHyphen(letters.toUpperCase()) : null
}

const addHyphen = (letters: string): string => `${letters.slice(0, 4)}-${letters.slice(4)}`
