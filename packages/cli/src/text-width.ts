// The width of text on a terminal, in columns. Han, Hangul, kana and emoji are two columns wide, and combining
// characters have no width of their own.

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' })
const narrowText = /^[\u0020-\u02ff]*$/
const wideCharacter =
  /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Emoji_Presentation}\u{ff01}-\u{ff60}]/u

const getGraphemeWidth = (grapheme: string): number => (wideCharacter.test(grapheme) ? 2 : 1)

/** Returns the number of columns that the text needs. */
export function getWidth(text: string): number {
  if (narrowText.test(text)) return text.length
  let width = 0
  for (const { segment } of segmenter.segment(text)) width += getGraphemeWidth(segment)
  return width
}

/** Cuts the text to a number of columns. The last visible character of a cut text is an ellipsis. */
export function cutToWidth(text: string, maxWidth: number): string {
  if (getWidth(text) <= maxWidth) return text
  if (maxWidth <= 0) return ''
  let [start, width] = ['', 0]
  for (const { segment } of segmenter.segment(text)) {
    width += getGraphemeWidth(segment)
    if (width > maxWidth - 1) break
    start += segment
  }
  return `${start}…`
}

/** Appends spaces up to a number of columns. */
export const padToWidth = (text: string, width: number): string =>
  text + ' '.repeat(Math.max(0, width - getWidth(text)))
