// Texts of others on a terminal: they are shown, and steer nothing. A control character is shown by its escape, so that a
// reader sees where it is.

/** Control characters, line separators, and characters that change the direction of a text. */
const steering = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu
const steeringButLines = /[\p{Cc}\p{Bidi_Control}\u2028\u2029](?<![\n\t])/gu

/** All of them are in the first plane; JSON and double-quoted YAML have the same escape. */
const escapeOf = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** The text on one line. */
export const printable = (text: string): string => text.replace(steering, escapeOf)

/** The text with its own lines. In JSON, and in double-quoted YAML, it stays the same text. */
export const printableLines = (text: string): string => text.replace(steeringButLines, escapeOf)

/** Whether `printableLines` would change the text. */
export const hasSteering = (text: string): boolean => text.search(steeringButLines) !== -1
