import type { ReactNode } from 'react'
import type { ApplicationName } from '../../app/applications.ts'
import type { ListSearch } from '../../app/list-search.ts'
import { useSearchText } from '../../app/use-search-text.ts'
import { SearchField, Select } from '../../kit/form.tsx'
import { useText } from '../../texts/language.tsx'

type AccessFiltersProps = { list: ListSearch; applications: readonly ApplicationName[] }

export function AccessFilters({ list, applications }: AccessFiltersProps): ReactNode {
  const t = useText()
  const [text, setText] = useSearchText(list)
  const { search, setFilter } = list
  const change = (name: string, value: string): void =>
    setFilter({ [name]: value === 'all' ? undefined : value })
  return (
    <>
      <SearchField label={t('access.search')} value={text} onChange={setText} />
      <Select
        label={t('access.application')}
        isChip
        value={
          applications.some(({ id }) => id === search['application'])
            ? (search['application'] ?? 'all')
            : 'all'
        }
        options={[
          { id: 'all', text: t('app.all') },
          ...applications.map(({ id, name }) => ({ id, text: name })),
        ]}
        onChange={(value) => change('application', value)}
      />
      <Select
        label={t('access.show')}
        isChip
        value={search['show'] ?? 'all'}
        options={[
          { id: 'all', text: t('app.all') },
          { id: 'own', text: t('access.showOwn') },
          { id: 'changed', text: t('access.showChanged') },
        ]}
        onChange={(value) => change('show', value)}
      />
    </>
  )
}
