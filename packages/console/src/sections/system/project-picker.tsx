// A picker for a project of the installation.
import { type ReactNode, useState } from 'react'
import { useRead } from '../../api/requests.ts'
import { useDebounced } from '../../app/debounced.ts'
import { shellProjectsDocument } from '../../generated/documents.ts'
import { Picker } from '../../kit/picker.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'

const shownProjects = 50

type ProjectPickerProps = {
  value: { readonly slug: string; readonly name: string } | null
  onChange: (slug: string) => void
}

export function ProjectPicker({ value, onChange }: ProjectPickerProps): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const [search, setSearch] = useState('')
  const text = useDebounced(search.trim())
  const { data, isFetching } = useRead(
    shellProjectsDocument,
    {
      filters: text === '' ? [] : [{ field: 'name', value: text }],
      pagination: { limit: shownProjects, offset: 0 },
    },
    { keepsPrevious: true },
  )
  const { nodes, totalCount } = data?.projectsConnection ?? { nodes: [], totalCount: 0 }
  return (
    <Picker
      label={t('members.of.project')}
      value={value === null ? null : { id: value.slug, text: value.name }}
      placeholder={t('app.choose')}
      options={nodes.map(({ slug, name }) => ({ id: slug, text: name, hint: slug }))}
      isLoading={isFetching}
      search={search}
      onSearch={setSearch}
      note={totalCount > nodes.length ? t('app.moreMatches', number(totalCount)) : undefined}
      onChange={({ id }) => onChange(id)}
    />
  )
}
