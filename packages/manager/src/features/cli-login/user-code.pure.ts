// The code that a person compares: short enough to read, and without letters that are mistaken for others or make words.

const alphabet = 'BCDFGHJKLMNPQRSTVWXZ'
const length = 8
const form = /^[BCDFGHJKLMNPQRSTVWXZ]{8}$/i

/** A new code, XXXX-XXXX; `pick` draws a number from 0 below its argument. */
export const newUserCode = (pick: (below: number) => number): string =>
  written(Array.from({ length }, () => alphabet.charAt(pick(alphabet.length))).join(''))

/** The code that somebody has typed, in any case, with or without its hyphen; null when it cannot be one. */
export function readUserCode(typed: string): string | null {
  // What is far too long is not looked at.
  const letters = typed.length > 64 ? '' : typed.replaceAll(/[\s-]/g, '')
  return form.test(letters) ? written(letters.toUpperCase()) : null
}

const written = (letters: string): string => `${letters.slice(0, 4)}-${letters.slice(4)}`
