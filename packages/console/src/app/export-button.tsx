// Saves the rows of the current filter as CSV.
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { type AllRows, type RowsRead, readAllRows } from '../api/all-rows.ts'
import { describeFailure } from '../api/failures.ts'
import { Button } from '../kit/button.tsx'
import { useFailureText } from '../kit/state.tsx'
import { showToast } from '../kit/toast.tsx'
import { useFormat } from '../texts/format.ts'
import { useText } from '../texts/language.tsx'
import { saveCsv } from './csv.ts'

/** A page has 100 rows, so a file has at most 10,000 rows. */
const maxPages = 100

type ExportRowsProps<Row> = {
  fileName: string
  readRows: (signal: AbortSignal) => Promise<Pick<AllRows<Row>, 'rows' | 'isComplete'>>
  heads: readonly string[]
  toCells: (row: Row) => readonly (string | number)[]
}
type ExportButtonProps<Result, Variables extends { readonly after?: string | null }, Row> = Omit<
  ExportRowsProps<Row>,
  'readRows'
> & { read: RowsRead<Result, Variables, Row> }

/** Exports the rows of one list. */
export const ExportButton = <Result, Variables extends { readonly after?: string | null }, Row>({
  read,
  ...props
}: ExportButtonProps<Result, Variables, Row>): ReactNode => (
  <ExportRows {...props} readRows={(signal) => readAllRows({ ...read, maxPages }, signal)} />
)

/** Exports rows that are composed from several lists. */
export function ExportRows<Row>({ fileName, readRows, heads, toCells }: ExportRowsProps<Row>): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const describe = useFailureText()
  const [isPending, setPending] = useState(false)
  const running = useRef<AbortController>(null)
  useEffect(() => () => running.current?.abort(), [])
  const save = async (): Promise<void> => {
    const { signal } = (running.current = new AbortController())
    setPending(true)
    try {
      const { rows, isComplete } = await readRows(signal)
      if (signal.aborted) return
      saveCsv(fileName, [heads, ...rows.map(toCells)])
      showToast(isComplete ? t('app.exported', rows.length) : t('app.exportedFirst', number(rows.length)))
    } catch (error) {
      if (!signal.aborted)
        showToast(t('app.exportFailed', describe(describeFailure(error))), { tone: 'danger' })
    } finally {
      if (running.current?.signal === signal) setPending(false)
    }
  }
  return (
    <Button
      icon={isPending ? 'close' : 'download'}
      onPress={() => (isPending ? running.current?.abort() : void save())}
    >
      <span className="wide-text">{t(isPending ? 'app.exportCancel' : 'app.exportCsv')}</span>
    </Button>
  )
}
