// A person compares this code in the terminal and in the browser. It is short and contains no letters that can be
// confused or that form words.

const alphabet = 'BCDFGHJKLMNPQRSTVWXZ'
const length = 8
const form = /^[BCDFGHJKLMNPQRSTVWXZ]{8}$/i

/** Returns a new code in the form XXXX-XXXX. `pick` draws a number from 0 up to, but not including, its argument. */
export const newUserCode = (pick: (below: number) => number): string =>
  hyphenated(Array.from({ length }, () => alphabet.charAt(pick(alphabet.length))).join(''))

/** Normalizes a typed code, in any case, with or without its hyphen. Returns null if the text cannot be a code. */
export function readUserCode(typed: string): string | null {
  // Text that is far too long is not parsed.
  const letters = typed.length > 64 ? '' : typed.replaceAll(/[\s-]/g, '')
  return form.test(letters) ? hyphenated(letters.toUpperCase()) : null
}

const hyphenated = (letters: string): string => `${letters.slice(0, 4)}-${letters.slice(4)}`
