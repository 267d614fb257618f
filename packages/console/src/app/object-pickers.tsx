// Pickers for tenants and applications of a project. They search by name and load at most 50 rows.
import { type ReactNode, useState } from 'react'
import { useRead } from '../api/requests.ts'
import {
  pickApplicationsDocument,
  pickTenantsDocument,
  pickedApplicationDocument,
  pickedTenantDocument,
} from '../generated/documents.ts'
import { Picker, type PickerOption } from '../kit/picker.tsx'
import { useFormat } from '../texts/format.ts'
import { useText } from '../texts/language.tsx'
import { useDebounced } from './debounced.ts'
import { useProject } from './project.tsx'

type ObjectPickerProps = {
  label: string
  /** The id of the chosen object. */
  id: string | null
  onChange: (id: string) => void
  isRequired?: boolean
  /** Hides one object, for example the one that is compared. */
  exceptId?: string | null
  /** Shows the label inside a small button, before the value, for filters. */
  isChip?: boolean
}

type Row = { readonly id: string; readonly name: string; readonly slug: string }
const toOption = ({ id, name, slug }: Row): PickerOption => ({ id, text: name, hint: slug })
const toFilters = (text: string) => (text === '' ? [] : [{ field: 'name', value: text }])

function useSearchText() {
  const [search, onSearch] = useState('')
  return { search, onSearch, settled: useDebounced(search.trim()) }
}

type Found = { readonly nodes: readonly Row[]; readonly totalCount: number }

function ObjectPicker({
  found,
  chosen,
  isLoading,
  text,
  exceptId = null,
  ...props
}: Omit<ObjectPickerProps, 'id'> & {
  found: Found | undefined
  chosen: Row | undefined
  isLoading: boolean
  text: ReturnType<typeof useSearchText>
}): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const { nodes, totalCount } = found ?? { nodes: [], totalCount: 0 }
  return (
    <Picker
      label={props.label}
      isChip={props.isChip ?? false}
      isRequired={props.isRequired ?? false}
      value={chosen === undefined ? null : toOption(chosen)}
      placeholder={t('app.choose')}
      options={nodes.filter(({ id }) => id !== exceptId).map(toOption)}
      isLoading={isLoading}
      search={text.search}
      onSearch={text.onSearch}
      note={totalCount > nodes.length ? t('app.moreMatches', number(totalCount)) : undefined}
      onChange={({ id }) => props.onChange(id)}
    />
  )
}

/** Tenants of the project of the page. */
export const TenantPicker = (props: ObjectPickerProps): ReactNode => (
  <TenantOfProjectPicker {...props} projectSlug={useProject().slug} />
)

/** Applications of the project of the page. */
export const ApplicationPicker = (props: ObjectPickerProps): ReactNode => (
  <ApplicationOfProjectPicker {...props} projectSlug={useProject().slug} />
)

type OfProjectProps = ObjectPickerProps & { projectSlug: string }

export function TenantOfProjectPicker({ id, projectSlug, ...props }: OfProjectProps): ReactNode {
  const text = useSearchText()
  const { data, isFetching } = useRead(
    pickTenantsDocument,
    { project: projectSlug, filters: toFilters(text.settled) },
    { keepsPrevious: true },
  )
  const chosen = useRead(pickedTenantDocument, { id: id ?? '' }, { isEnabled: id !== null })
  return (
    <ObjectPicker
      {...props}
      found={data?.tenantsConnection}
      chosen={chosen.data?.tenantById}
      isLoading={isFetching}
      text={text}
    />
  )
}

export function ApplicationOfProjectPicker({ id, projectSlug, ...props }: OfProjectProps): ReactNode {
  const text = useSearchText()
  const { data, isFetching } = useRead(
    pickApplicationsDocument,
    { project: projectSlug, filters: toFilters(text.settled) },
    { keepsPrevious: true },
  )
  const chosen = useRead(pickedApplicationDocument, { id: id ?? '' }, { isEnabled: id !== null })
  return (
    <ObjectPicker
      {...props}
      found={data?.applicationsConnection}
      chosen={chosen.data?.applicationById}
      isLoading={isFetching}
      text={text}
    />
  )
}
