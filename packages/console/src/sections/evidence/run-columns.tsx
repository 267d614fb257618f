// The cells of evidence rows.
import { type ReactNode, useMemo } from 'react'
import { type DataColumn, TwoLines } from '../../kit/data-table.tsx'
import { useFormat } from '../../texts/format.ts'
import type { EvidenceRow, EvidenceRun } from './evidence.ts'
import { type EvidenceColumn, isInstant, listColumns, toCell, toText } from './evidence-columns.ts'

export type RunRow = { readonly id: string; readonly values: EvidenceRow }

/** A value as text; a time in the language of the page. */
export function Value({ value }: { value: unknown }): ReactNode {
  const { exact } = useFormat()
  if (isInstant(value)) return <time dateTime={value}>{exact(value)}</time>
  return toText(value)
}

function Cell({ column, row }: { column: EvidenceColumn; row: EvidenceRow }): ReactNode {
  const [value, details] = toCell(column, row)
  if (details === '')
    return (
      <span className="truncate" title={toText(value)}>
        <Value value={value} />
      </span>
    )
  return (
    <span className="evidence-query" title={toText(value)}>
      <TwoLines first={<Value value={value} />} second={details} />
    </span>
  )
}

/** A time with its seconds needs this width. */
const timeWidth = 200
const isTime = ({ name }: EvidenceColumn): boolean => name.endsWith('_at') || name === 'time'

/** The columns of a table; without rows, the columns that every run has. */
export function useRunColumns(run: EvidenceRun | undefined): readonly DataColumn<RunRow>[] {
  return useMemo(() => {
    const columns = run === undefined ? [] : listColumns(run.columns, run.rows)
    const shown =
      columns.length > 0
        ? columns
        : listColumns(run?.columns ?? ['time'], [
            Object.fromEntries((run?.columns ?? ['time']).map((name) => [name, ' '])),
          ])
    // The row needs a name for screen readers: the description, otherwise the first column that is not a time.
    const header = shown.find(({ name }) => name === 'description') ?? shown[1] ?? shown[0]
    return shown.map((column, index) => ({
      id: column.name,
      title: column.title,
      width: isTime(column) ? timeWidth : column.isLong ? '2fr' : '1fr',
      minWidth: isTime(column) ? timeWidth : column.isLong || column === header ? 184 : 136,
      isRowHeader: column === header,
      priority: column === header || index === 0 ? 1 : index < 3 ? 2 : 3,
      render: ({ values }) => <Cell column={column} row={values} />,
    }))
  }, [run])
}
