// Parts that several pages have.
import { type Html, html } from './html.ts'

/** A name and its value in a `<dl>`. */
export const row = (name: string, value: string | Html): Html =>
  html`<dt>${name}</dt>
    <dd>${value}</dd> `

export const counted = (count: number): string => count.toLocaleString('en')

/** The number with its noun, such as "1 entry" or "2 entries". */
export const countedNoun = (count: number, one: string, many: string): string =>
  `${counted(count)} ${count === 1 ? one : many}`

/** Minutes are enough to read; the whole is in the attribute. */
export const time = (at: string): Html =>
  html`<time datetime="${at}">${at.slice(0, 16).replace('T', ' ')} UTC</time>`

const verdicts = {
  ok: 'verified, unbroken',
  empty: 'empty',
  broken: 'BROKEN: do not rely on what this page shows',
}

/** The verdict on the audit trail. */
export const verdictOf = ({
  status,
  reason,
}: {
  status: keyof typeof verdicts
  reason: string | null
}): string => (status === 'ok' ? reason : null) ?? verdicts[status]
