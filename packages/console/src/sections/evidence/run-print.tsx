// A run for paper or a PDF file.
import type { ReactNode } from 'react'
import type { ListSearch } from '../../app/list-search.ts'
import { PrintPage, PrintTime } from '../../app/print-page.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import type { EvidenceRun } from './evidence.ts'
import { listColumns, toCell } from './evidence-columns.ts'
import { type RunRow, Value } from './run-columns.tsx'

type RunPrintProps = {
  run: EvidenceRun
  title: string
  description: string
  /** The rows of the filter. */
  rows: readonly RunRow[]
  list: ListSearch
}

export function RunPrint({ run, title, description, rows, list }: RunPrintProps): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const columns = listColumns(run.columns, run.rows)
  return (
    <PrintPage
      title={`${t('section.evidence')}: ${title}`}
      facts={[
        { label: t('evidence.content'), value: description },
        { label: t('evidence.from'), value: <PrintTime at={run.from} /> },
        { label: t('evidence.until'), value: <PrintTime at={run.to} /> },
        { label: t('evidence.asOf'), value: <PrintTime at={run.generated_at} /> },
        {
          label: t('evidence.rowCount'),
          value: t(
            'evidence.rowsOf',
            number(rows.length),
            `${number(run.rows.length)}${run.truncated ? '+' : ''}`,
          ),
        },
        {
          label: t('evidence.trail'),
          value: run.chain.reason ?? t(`evidence.verdict.${run.chain.status}`),
        },
      ]}
      columns={columns.map((column, index) => ({
        id: column.name,
        title: column.title,
        // The column of a person has an e-mail address below the name.
        isWide: column.isLong || column.name.endsWith('_name'),
        isRowHeader: index === 0,
        render: ({ values }: RunRow) => {
          const [value, details] = toCell(column, values)
          return (
            <>
              <bdi>
                <Value value={value} />
              </bdi>
              {details !== '' && <small>{details}</small>}
            </>
          )
        },
      }))}
      rows={rows}
      getId={({ id }) => id}
      onBack={() => list.setOpen(null, { print: undefined })}
    />
  )
}
