// All values of one row.
import type { ReactNode } from 'react'
import { ItemActions } from '../../app/item-actions.tsx'
import type { ListSearch } from '../../app/list-search.ts'
import { SidePanel } from '../../kit/side-panel.tsx'
import { State } from '../../kit/state.tsx'
import { Facts, Id } from '../../kit/values.tsx'
import { useText } from '../../texts/language.tsx'
import { toText, toTitle } from './evidence-columns.ts'
import { type RunRow, Value } from './run-columns.tsx'

type RowPanelProps = {
  row: RunRow | undefined
  columns: readonly string[]
  ids: readonly string[]
  list: ListSearch
}

const isId = (name: string): boolean => name === 'hash' || name === 'sha256' || name.endsWith('_id')

export function RowPanel({ row, columns, ids, list }: RowPanelProps): ReactNode {
  const t = useText()
  const title = toText(row?.values['description'])
  return (
    <SidePanel
      label={t('evidence.row')}
      title={<span className="truncate">{title === '' ? t('evidence.row') : title}</span>}
      actions={<ItemActions ids={ids} openId={list.open ?? ''} onOpen={list.setOpen} />}
      onClose={() => list.setOpen(null)}
    >
      {row === undefined ? (
        <State icon="search" title={t('evidence.noRow')}>
          {t('evidence.noRowHint')}
        </State>
      ) : (
        <Facts
          items={columns.map((name) => ({
            label: toTitle(name),
            value: <FullValue name={name} value={row.values[name]} />,
          }))}
        />
      )}
    </SidePanel>
  )
}

function FullValue({ name, value }: { name: string; value: unknown }): ReactNode {
  const text = toText(value)
  if (text === '') return <span className="muted">–</span>
  if (isId(name)) return <Id value={text} />
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return <Value value={value} />
  return Object.entries(value).map(([field, one]) => (
    <div key={field}>
      <span className="secondary">{field}:</span> {toText(one)}
    </div>
  ))
}
