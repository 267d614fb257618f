// The filters above the list of triggers.
import { type ReactNode, useState } from 'react'
import { useRead } from '../../api/requests.ts'
import { useDebounced } from '../../app/debounced.ts'
import { usePickedApplication } from '../../app/in-project.ts'
import type { ListSearch } from '../../app/list-search.ts'
import { useProject } from '../../app/project.tsx'
import { useSearchText } from '../../app/use-search-text.ts'
import { pickApplicationsDocument } from '../../generated/documents.ts'
import { SearchField, Select } from '../../kit/form.tsx'
import { Picker } from '../../kit/picker.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { readStatus } from './trigger-rows.ts'

const any = '*'
const toParameter = (value: string): string | undefined => (value === any ? undefined : value)

export function TriggerFilters({ list }: { list: ListSearch }): ReactNode {
  const t = useText()
  const [text, setText] = useSearchText(list)
  return (
    <>
      <SearchField label={t('triggers.search')} value={text} onChange={setText} />
      <ApplicationFilter list={list} />
      <Select
        label={t('triggers.status')}
        isChip
        value={readStatus(list.search) ?? any}
        options={[
          { id: any, text: t('app.any') },
          { id: 'enabled', text: t('triggers.enabled') },
          { id: 'disabled', text: t('triggers.disabled') },
        ]}
        onChange={(status) => list.setFilter({ status: toParameter(status) })}
      />
    </>
  )
}

function ApplicationFilter({ list }: { list: ListSearch }): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const { slug } = useProject()
  const id = list.search['application'] ?? null
  const { item: chosen } = usePickedApplication(id)
  const [search, setSearch] = useState('')
  const settled = useDebounced(search.trim())
  const { data, isFetching } = useRead(
    pickApplicationsDocument,
    { project: slug, filters: settled === '' ? [] : [{ field: 'name', value: settled }] },
    { keepsPrevious: true },
  )
  const { nodes, totalCount } = data?.applicationsConnection ?? { nodes: [], totalCount: 0 }
  return (
    <Picker
      isChip
      label={t('triggers.application')}
      value={chosen === undefined ? null : { id: chosen.id, text: chosen.name }}
      placeholder={t('app.any')}
      options={[
        ...(settled === '' ? [{ id: any, text: t('app.any') }] : []),
        ...nodes.map((application) => ({
          id: application.id,
          text: application.name,
          hint: application.slug,
        })),
      ]}
      isLoading={isFetching}
      search={search}
      onSearch={setSearch}
      note={totalCount > nodes.length ? t('app.moreMatches', number(totalCount)) : undefined}
      onChange={(option) => list.setFilter({ application: toParameter(option.id) })}
    />
  )
}
