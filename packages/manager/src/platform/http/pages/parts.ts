// Parts that several pages share.
import { type Html, html } from './html.ts'

/** Renders a name and its value in a `<dl>`. */
export const renderRow = (name: string, value: string | Html): Html =>
  html`<dt>${name}</dt>
    <dd>${value}</dd> `

/** Formats a count with thousands separators. */
export const formatCount = (count: number): string => count.toLocaleString('en')

/** Returns the count with its noun, such as "1 entry" or "2 entries". */
export const formatCountWithNoun = (count: number, one: string, many: string): string =>
  `${formatCount(count)} ${count === 1 ? one : many}`

/** Renders a timestamp with minute precision; the attribute contains the full timestamp. */
export const renderTime = (at: string): Html =>
  html`<time datetime="${at}">${at.slice(0, 16).replace('T', ' ')} UTC</time>`

const verdictTexts = {
  ok: 'verified, unbroken',
  empty: 'empty',
  broken: 'BROKEN: do not rely on this page',
}

/** Returns the text of the verdict on the audit trail. */
export const describeVerdict = ({
  status,
  reason,
}: {
  status: keyof typeof verdictTexts
  reason: string | null
}): string => (status === 'ok' ? reason : null) ?? verdictTexts[status]
