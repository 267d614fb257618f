// The tokens of the installation: personal access tokens of all people, and machine users whose token is old.
import './system.css'
import type { ReactNode } from 'react'
import { useListSearch } from '../../app/list-search.ts'
import { Segments } from '../../kit/tabs.tsx'
import { useText } from '../../texts/language.tsx'
import { MachineTokensPage } from './machine-tokens-page.tsx'
import { PersonalTokensPage } from './personal-tokens-page.tsx'
import { SystemGate } from './system-gate.tsx'

const views = ['personal', 'machine'] as const

export function TokensPage(): ReactNode {
  const t = useText()
  const { search, setOpen } = useListSearch()
  const view = views.find((id) => id === search['view']) ?? 'personal'
  const choice = (
    <Segments
      label={t('section.tokens')}
      items={views.map((id) => ({ id, text: t(`system.tokens.${id}`) }))}
      selected={view}
      onSelect={(id) =>
        setOpen(null, {
          view: id === 'personal' ? undefined : id,
          q: undefined,
          status: undefined,
          expires: undefined,
          age: undefined,
          sort: undefined,
          page: undefined,
        })
      }
    />
  )
  return (
    <SystemGate title={t('section.tokens')}>
      {view === 'personal' ? <PersonalTokensPage choice={choice} /> : <MachineTokensPage choice={choice} />}
    </SystemGate>
  )
}
