// Evidence for auditors: named queries over the records, the state of all audit chains, and the export of the trail.
import './evidence.css'
import type { ReactNode } from 'react'
import { useListSearch } from '../../app/list-search.ts'
import { Segments } from '../../kit/tabs.tsx'
import { useText } from '../../texts/language.tsx'
import { SystemGate } from '../system/system-gate.tsx'
import { ChainsPage } from './chains-page.tsx'
import { QueriesPage } from './queries-page.tsx'
import { RunPage } from './run-page.tsx'

const views = ['queries', 'chains'] as const

export function EvidencePage(): ReactNode {
  const t = useText()
  const { search, setOpen } = useListSearch()
  const query = search['query']
  const view = views.find((id) => id === search['view']) ?? 'queries'
  const choice = (
    <Segments
      label={t('section.evidence')}
      items={views.map((id) => ({ id, text: t(`evidence.view.${id}`) }))}
      selected={view}
      onSelect={(id) =>
        setOpen(null, { view: id === 'queries' ? undefined : id, q: undefined, page: undefined })
      }
    />
  )
  return (
    <SystemGate title={t('section.evidence')} action="evidence.run">
      {query !== undefined ? (
        <RunPage key={query} name={query} />
      ) : view === 'chains' ? (
        <ChainsPage choice={choice} />
      ) : (
        <QueriesPage choice={choice} />
      )}
    </SystemGate>
  )
}
