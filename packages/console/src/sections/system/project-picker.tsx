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
  isRequired?: boolean
  /** Shows the picker as a filter, with an option for all projects. Its slug is empty. */
  isFilter?: boolean
  onChange: (slug: string) => void
}

export function ProjectPicker({
  value,
  isRequired = false,
  isFilter = false,
  onChange,
}: ProjectPickerProps): ReactNode {
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
  const anyProject = { id: '', text: t('app.any') }
  return (
    <Picker
      label={t('members.of.project')}
      isChip={isFilter}
      isRequired={isRequired}
      value={value === null ? (isFilter ? anyProject : null) : { id: value.slug, text: value.name }}
      placeholder={t('app.choose')}
      options={[
        ...(isFilter && text === '' ? [anyProject] : []),
        ...nodes.map(({ slug, name }) => ({ id: slug, text: name, hint: slug })),
      ]}
      isLoading={isFetching}
      search={search}
      onSearch={setSearch}
      note={totalCount > nodes.length ? t('app.moreMatches', number(totalCount)) : undefined}
      onChange={({ id }) => onChange(id)}
    />
  )
}
