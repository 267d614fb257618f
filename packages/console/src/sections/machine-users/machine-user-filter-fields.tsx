// The filters above the list of machine users.
import type { ReactNode } from 'react'
import { useEnvironment } from '../../app/environment.tsx'
import type { ListSearch } from '../../app/list-search.ts'
import { useProject } from '../../app/project.tsx'
import { useSearchText } from '../../app/use-search-text.ts'
import { SearchField, Select } from '../../kit/form.tsx'
import { useText } from '../../texts/language.tsx'
import { readListFilters, shortenToken } from './machine-user-filters.ts'
import { tokenAges } from './token-age.ts'

const any = '*'
const toParameter = (value: string): string | undefined => (value === any ? undefined : value)

export function MachineUserFilters({ list }: { list: ListSearch }): ReactNode {
  const t = useText()
  const { environments } = useProject()
  const environment = useEnvironment()
  const [text, setText] = useSearchText(list)
  const { olderThan, status } = readListFilters(list.search)
  return (
    <>
      <SearchField
        label={t('machineUsers.search')}
        value={text}
        onChange={(next) => setText(shortenToken(next))}
      />
      <Select
        label={t('machineUsers.environment')}
        isChip
        value={environment?.name ?? any}
        options={[
          { id: any, text: t('app.any') },
          ...environments.map(({ name }) => ({ id: name, text: name })),
        ]}
        onChange={(name) => list.setFilter({ env: toParameter(name) })}
      />
      <Select
        label={t('machineUsers.status')}
        isChip
        value={status ?? any}
        options={[
          { id: any, text: t('app.any') },
          { id: 'enabled', text: t('machineUsers.enabled') },
          { id: 'disabled', text: t('machineUsers.disabled') },
        ]}
        // Only enabled machine users have a token to renew.
        onChange={(next) =>
          list.setFilter({
            status: toParameter(next),
            ...(next === 'enabled' ? {} : { older: undefined }),
          })
        }
      />
      <Select
        label={t('machineUsers.age')}
        isChip
        value={olderThan === null ? any : String(olderThan)}
        options={[
          { id: any, text: t('app.any') },
          ...tokenAges.map((days) => ({ id: String(days), text: t('machineUsers.olderThan', days) })),
        ]}
        onChange={(days) =>
          list.setFilter({ older: toParameter(days), ...(days === any ? {} : { status: undefined }) })
        }
      />
    </>
  )
}
