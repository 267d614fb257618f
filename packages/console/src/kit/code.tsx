// Code and differences. Signs at the start of lines mark additions and removals, so that color is not the only
// indicator.
import './code.css'
import { type ReactNode, useState } from 'react'
import { useFormat } from '../texts/format.ts'
import { useText } from '../texts/language.tsx'
import { Button } from './button.tsx'
import { findChange } from './text-change.ts'
import { VisibleText } from './visible-text.tsx'

/** Longer code is cut until the person asks for all of it, because every line is an element of the page. */
const maxCode = 20_000

/** Text with line numbers, in its own scroll area, so that it never breaks the layout. */
export function CodeView({ label, text }: { label: string; text: string }): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const [isWhole, setWhole] = useState(false)
  const isCut = text.length > maxCode && !isWhole
  const lines = (isCut ? `${text.slice(0, maxCode)}…` : text).split('\n')
  return (
    <>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrollable region must be reachable by keyboard */}
      <pre className="code" role="region" aria-label={label} tabIndex={0}>
        {lines.map((line, index) => (
          // oxlint-disable-next-line react/no-array-index-key -- lines have no other identity
          <span key={index} className="code-line">
            <VisibleText text={line} />
            {'\n'}
          </span>
        ))}
      </pre>
      {isCut && (
        <Button variant="link" size="small" onPress={() => setWhole(true)}>
          {t('kit.showAll', number(text.length))}
        </Button>
      )}
    </>
  )
}

/** A field of an object before and after a change; null if the field did not exist. */
export type FieldChange = {
  readonly field: string
  readonly before: string | null
  readonly after: string | null
  /** A hint beside the name of the field. */
  readonly note?: string | undefined
}

/** Lists changed fields. The part of a value that differs is underlined. */
export const DiffView = ({
  label,
  changes,
}: {
  label: string
  changes: readonly FieldChange[]
}): ReactNode => (
  <dl className="diff" aria-label={label}>
    {changes.map((change) => (
      <DiffField key={change.field} {...change} />
    ))}
  </dl>
)

function DiffField({ field, before, after, note }: FieldChange): ReactNode {
  const t = useText()
  const kind = before === null ? t('kit.diffAdded') : after === null ? t('kit.diffRemoved') : undefined
  const notes = [kind, note].filter((text) => text !== undefined)
  return (
    <div className="diff-field">
      <dt className="diff-name">
        <span className="diff-key">
          <VisibleText text={field} />
        </span>
        {notes.length > 0 && <span className="diff-note">{notes.join(' · ')}</span>}
      </dt>
      <DiffValues before={before} after={after} />
    </div>
  )
}

function DiffValues({ before, after }: { before: string | null; after: string | null }): ReactNode {
  const t = useText()
  const change = before !== null && after !== null ? findChange(before, after) : null
  return (
    <>
      {before !== null && (
        <dd className="diff-line" data-kind="removed">
          <span className="diff-sign">−</span>
          <span className="visually-hidden">{t('kit.diffBefore')}</span>
          <DiffText text={before} range={change?.before ?? null} />
        </dd>
      )}
      {after !== null && (
        <dd className="diff-line" data-kind="added">
          <span className="diff-sign">+</span>
          <span className="visually-hidden">{t('kit.diffAfter')}</span>
          <DiffText text={after} range={change?.after ?? null} />
        </dd>
      )}
    </>
  )
}

type Range = readonly [start: number, end: number]

/** Longer values are shortened to the part around the change until the person asks for the whole value. */
const maxLength = 600
const lead = 120

function DiffText({ text, range }: { text: string; range: Range | null }): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const [isWhole, setWhole] = useState(false)
  const isCut = text.length > maxLength && !isWhole
  const from = isCut ? Math.max(0, Math.min((range?.[0] ?? 0) - lead, text.length - maxLength)) : 0
  const to = isCut ? from + maxLength : text.length
  const clamp = (position: number): number => Math.min(Math.max(position, from), to)
  const [start, end] = [clamp(range?.[0] ?? to), clamp(range?.[1] ?? to)]
  return (
    <span className="diff-text">
      {from > 0 && '…'}
      <VisibleText text={text.slice(from, start)} />
      {start !== end && (
        <span className="diff-changed">
          <VisibleText text={text.slice(start, end)} />
        </span>
      )}
      <VisibleText text={text.slice(end, to)} />
      {to < text.length && '…'}
      {text === '' && <span className="secondary">{t('kit.emptyValue')}</span>}
      {isCut && (
        <span className="diff-more">
          <Button variant="link" size="small" onPress={() => setWhole(true)}>
            {t('kit.showAll', number(text.length))}
          </Button>
        </span>
      )}
    </span>
  )
}
