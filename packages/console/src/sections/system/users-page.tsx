// The people of the installation and the rights of roles.
import './system.css'
import type { ReactNode } from 'react'
import { useListSearch } from '../../app/list-search.ts'
import { Segments } from '../../kit/tabs.tsx'
import { useText } from '../../texts/language.tsx'
import { PeoplePage } from './people-page.tsx'
import { RolesPage } from './roles-page.tsx'
import { SystemGate } from './system-gate.tsx'

const views = ['people', 'roles'] as const

export function UsersPage(): ReactNode {
  const t = useText()
  const { search, setOpen } = useListSearch()
  const view = views.find((id) => id === search['view']) ?? 'people'
  const choice = (
    <Segments
      label={t('section.users')}
      items={views.map((id) => ({ id, text: t(`system.view.${id}`) }))}
      selected={view}
      onSelect={(id) =>
        setOpen(null, {
          view: id === 'people' ? undefined : id,
          q: undefined,
          role: undefined,
          sort: undefined,
          page: undefined,
        })
      }
    />
  )
  return (
    <SystemGate title={t('section.users')}>
      {view === 'people' ? <PeoplePage choice={choice} /> : <RolesPage choice={choice} />}
    </SystemGate>
  )
}
