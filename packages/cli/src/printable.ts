// Makes untrusted text safe for a terminal. Control characters are shown as escapes, so that they have no
// effect but stay visible.

/** Control characters, line separators, and characters that change the text direction. */
const controlCharacters = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu
const controlCharactersExceptLines = /[\p{Cc}\p{Bidi_Control}\u2028\u2029](?<![\n\t])/gu

/**
 * Escapes a character. Four hex digits are enough for all of these characters. JSON and double-quoted YAML
 * use the same escape.
 */
const escapeCharacter = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Escapes control characters, including line breaks. */
export const escapeControlCharacters = (text: string): string =>
  text.replace(controlCharacters, escapeCharacter)

/**
 * Escapes control characters except line breaks and tabs. Escaped JSON and double-quoted YAML keep their meaning.
 */
export const escapeLines = (text: string): string =>
  text.replace(controlCharactersExceptLines, escapeCharacter)

/** Returns whether `escapeLines` would change the text. */
export const hasControlCharacters = (text: string): boolean =>
  text.search(controlCharactersExceptLines) !== -1
