// The filters above the list of endpoints.
import { type ReactNode, useState } from 'react'
import type { ApplicationName } from '../../app/applications.ts'
import type { ListSearch } from '../../app/list-search.ts'
import { useSearchText } from '../../app/use-search-text.ts'
import { SearchField, Select } from '../../kit/form.tsx'
import { Picker } from '../../kit/picker.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { readEndpointFilters } from './select-endpoints.ts'

const any = '*'
const toParameter = (value: string): string | undefined => (value === any ? undefined : value)
const maxOptions = 50

type EndpointFiltersProps = {
  list: ListSearch
  applications: readonly ApplicationName[] | undefined
}

export function EndpointFilters({ list, applications }: EndpointFiltersProps): ReactNode {
  const t = useText()
  const [text, setText] = useSearchText(list)
  const { enabled } = readEndpointFilters(list.search)
  return (
    <>
      <SearchField label={t('esb.search')} value={text} onChange={setText} />
      <ApplicationFilter list={list} applications={applications} />
      <Select
        label={t('esb.status')}
        isChip
        value={enabled === null ? any : enabled ? 'enabled' : 'disabled'}
        options={[
          { id: any, text: t('app.any') },
          { id: 'enabled', text: t('esb.enabled') },
          { id: 'disabled', text: t('esb.disabled') },
        ]}
        onChange={(status) => list.setFilter({ status: toParameter(status) })}
      />
    </>
  )
}

function ApplicationFilter({ list, applications }: EndpointFiltersProps): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const [search, setSearch] = useState('')
  const id = list.search['application']
  const chosen = applications?.find((application) => application.id === id)
  const wanted = search.trim().toLowerCase()
  const found = (applications ?? []).filter(({ name, slug }) =>
    `${name} ${slug}`.toLowerCase().includes(wanted),
  )
  const options = found
    .slice(0, maxOptions)
    .map(({ id: key, name, slug }) => ({ id: key, text: name, hint: slug }))
  const all = { id: any, text: t('app.all') }
  return (
    <Picker
      label={t('esb.application')}
      isChip
      value={chosen === undefined ? (id === undefined ? all : null) : { id: chosen.id, text: chosen.name }}
      placeholder={t('app.choose')}
      options={wanted === '' ? [all, ...options] : options}
      isLoading={applications === undefined}
      search={search}
      onSearch={setSearch}
      note={found.length > options.length ? t('app.moreMatches', number(found.length)) : undefined}
      onChange={({ id: next }) => list.setFilter({ application: toParameter(next) })}
    />
  )
}
