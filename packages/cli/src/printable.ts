// Makes untrusted text safe for a terminal. Control characters are shown as escapes: they have no effect, but readers
// see where they are.

/** Control characters, line separators, and characters that change the direction of a text. */
const controlCharacters = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu
const controlCharactersExceptLines = /[\p{Cc}\p{Bidi_Control}\u2028\u2029](?<![\n\t])/gu

/** All of these characters fit into four hex digits. JSON and double-quoted YAML use the same escape. */
const escapeOf = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Escapes control characters, including line breaks. */
export const printable = (text: string): string => text.replace(controlCharacters, escapeOf)

/** Escapes control characters except line breaks and tabs. JSON and double-quoted YAML keep their meaning. */
export const printableLines = (text: string): string => text.replace(controlCharactersExceptLines, escapeOf)

/** Whether `printableLines` would change the text. */
export const hasControlCharacters = (text: string): boolean =>
  text.search(controlCharactersExceptLines) !== -1
