// Texts of others on a terminal: they are shown, and steer nothing.

/** Control characters, and those that turn the direction of a text. */
const steering = /[\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu
const steeringButLines = /[\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069](?<![\n\t])/gu

/** The text on one line. */
export const printable = (text: string): string => text.replace(steering, '?')

/** The text with its own lines. */
export const printableLines = (text: string): string => text.replace(steeringButLines, '?')

/** As an escape of JSON and of double-quoted YAML. */
export const escaped = (text: string): string =>
  text.replace(steeringButLines, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Whether any of them is in the text. */
export const hasSteering = (text: string): boolean => text.search(steeringButLines) !== -1
