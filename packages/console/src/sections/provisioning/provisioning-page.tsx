// The tokens of identity providers, the groups that they send, and the rules that give roles to groups.
import './provisioning.css'
import type { ReactNode } from 'react'
import { useListSearch } from '../../app/list-search.ts'
import { Segments } from '../../kit/tabs.tsx'
import { useText } from '../../texts/language.tsx'
import { addPageTexts } from '../../texts/page-texts.ts'
import { provisioning as german } from '../../texts/provisioning.de.ts'
import { provisioning as english } from '../../texts/provisioning.en.ts'
import { SystemGate } from '../system/system-gate.tsx'
import { GroupsPage } from './groups-page.tsx'
import { RulesPage } from './rules-page.tsx'
import { ScimTokensPage } from './scim-tokens-page.tsx'

addPageTexts({ en: english, de: german })

const views = ['providers', 'groups', 'rules'] as const

export function ProvisioningPage(): ReactNode {
  const t = useText()
  const { search, setOpen } = useListSearch()
  const view = views.find((id) => id === search['view']) ?? 'providers'
  const choice = (
    <Segments
      label={t('section.provisioning')}
      items={views.map((id) => ({ id, text: t(`provisioning.view.${id}`) }))}
      selected={view}
      onSelect={(id) =>
        setOpen(null, {
          view: id === 'providers' ? undefined : id,
          q: undefined,
          project: undefined,
          sort: undefined,
          page: undefined,
        })
      }
    />
  )
  const pages = {
    providers: <ScimTokensPage choice={choice} />,
    groups: <GroupsPage choice={choice} />,
    rules: <RulesPage choice={choice} />,
  }
  return (
    <SystemGate title={t('section.provisioning')} action="provisioning.createToken">
      {pages[view]}
    </SystemGate>
  )
}
