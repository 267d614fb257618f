// A page for paper or a PDF file: a title, facts about its origin, and a table whose head repeats on every sheet. It
// has all rows in the document, because a browser prints only these.
import './print-page.css'
import type { ReactNode } from 'react'
import { useRead } from '../api/requests.ts'
import { shellMeDocument } from '../generated/documents.ts'
import { Button } from '../kit/button.tsx'
import { useDocumentTitle } from '../kit/document-title.ts'
import { Note } from '../kit/note.tsx'
import type { Fact } from '../kit/values.tsx'
import { useFormat } from '../texts/format.ts'
import { useText } from '../texts/language.tsx'
import { useNow } from './now.ts'
import { namePerson } from './person-name.ts'

export type PrintColumn<Row> = {
  readonly id: string
  readonly title: string
  /** A wide column gets twice the width. */
  readonly isWide?: boolean
  readonly isRowHeader?: boolean
  readonly render: (row: Row) => ReactNode
}

type PrintPageProps<Row> = {
  title: string
  facts: readonly Fact[]
  columns: readonly PrintColumn<Row>[]
  rows: readonly Row[]
  getId: (row: Row, index: number) => string
  /** Below the table, such as what was attested. */
  end?: ReactNode
  onBack: () => void
}

/** More rows would make the tab unusable; a CSV file has all of them. */
const maxPrintRows = 5_000

export function PrintPage<Row>({ title, facts, end, onBack, ...table }: PrintPageProps<Row>): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const { data } = useRead(shellMeDocument, {})
  const now = new Date(useNow()).toISOString()
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions()
  useDocumentTitle(title)
  const { length } = table.rows
  return (
    <div className="print-page">
      <div className="print-bar">
        <Button icon="chevronLeft" onPress={onBack}>
          {t('app.printBack')}
        </Button>
        <Button variant="primary" onPress={() => globalThis.print()}>
          {t('app.print')}
        </Button>
        {length > maxPrintRows && (
          <Note tone="warn">{t('app.printLimit', number(maxPrintRows), number(length))}</Note>
        )}
      </div>
      <article className="print-sheet">
        <h1 className="print-title">{title}</h1>
        <PrintFacts
          facts={[
            ...facts,
            { label: t('app.printedBy'), value: data === undefined ? '' : namePerson(data.me) },
            {
              label: t('app.printedAt'),
              value: (
                <>
                  <PrintTime at={now} /> ({timeZone})
                </>
              ),
            },
          ]}
        />
        {length === 0 ? (
          <p>{t('app.printEmpty')}</p>
        ) : (
          <PrintTable {...table} rows={table.rows.slice(0, maxPrintRows)} title={title} />
        )}
        {length > maxPrintRows && <p>{t('app.printLimit', number(maxPrintRows), number(length))}</p>}
        {end}
        <p className="print-end">{location.host}</p>
      </article>
    </div>
  )
}

/** Labels with their values, side by side. */
export const PrintFacts = ({ facts }: { facts: readonly Fact[] }): ReactNode => (
  <dl className="print-facts">
    {facts.map(({ label, value }) => (
      <div key={label} className="print-fact">
        <dt>{label}</dt>
        <dd>
          <bdi>{value}</bdi>
        </dd>
      </div>
    ))}
  </dl>
)

/** A time without its distance from now, which would be wrong on paper. */
export function PrintTime({ at }: { at: string | null }): ReactNode {
  const { exact } = useFormat()
  const t = useText()
  return at === null ? t('kit.never') : <time dateTime={at}>{exact(at)}</time>
}

type PrintTableProps<Row> = Pick<PrintPageProps<Row>, 'columns' | 'rows' | 'getId' | 'title'>

function PrintTable<Row>({ title, columns, rows, getId }: PrintTableProps<Row>): ReactNode {
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrollable region must be reachable by keyboard
    <div className="print-scroll" role="region" aria-label={title} tabIndex={0}>
      <table className="print-table">
        <thead>
          <tr>
            {columns.map(({ id, title: head, isWide = false }) => (
              <th key={id} scope="col" data-wide={isWide ? '' : undefined}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={getId(row, index)}>
              {columns.map(({ id, isRowHeader = false, render }) =>
                isRowHeader ? (
                  <th key={id} scope="row">
                    {render(row)}
                  </th>
                ) : (
                  <td key={id}>{render(row)}</td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
