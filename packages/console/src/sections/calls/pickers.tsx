// Filters whose options are objects: the endpoint and the machine user of a call.
import { type ReactNode, useState } from 'react'
import { useRead } from '../../api/requests.ts'
import { useDebounced } from '../../app/debounced.ts'
import { useProject } from '../../app/project.tsx'
import {
  machineUserDetailDocument,
  pickEndpointsDocument,
  pickMachineUsersDocument,
  pickedEndpointDocument,
} from '../../generated/documents.ts'
import { Picker, type PickerOption } from '../../kit/picker.tsx'
import { shortenId } from '../../kit/short-id.ts'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'

const any = 'any'

type FilterProps = {
  label: string
  /** The id of the chosen object; null for any. */
  id: string | null
  onChange: (id: string | null) => void
}
type Found = {
  readonly options: readonly PickerOption[]
  readonly total: number
  readonly isLoading: boolean
  readonly chosenName: string | undefined
}
type ObjectFilterProps = FilterProps & { found: Found; search: string; onSearch: (text: string) => void }

function ObjectFilter({ label, id, onChange, found, search, onSearch }: ObjectFilterProps): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const anyOption = { id: any, text: t('app.any') }
  const { options, total, isLoading, chosenName } = found
  return (
    <Picker
      isChip
      label={label}
      value={id === null ? anyOption : { id, text: chosenName ?? shortenId(id) }}
      placeholder={t('app.any')}
      options={search.trim() === '' ? [anyOption, ...options] : options}
      isLoading={isLoading}
      search={search}
      onSearch={onSearch}
      onChange={(option) => onChange(option.id === any ? null : option.id)}
      note={total > options.length ? t('app.moreMatches', number(total)) : undefined}
    />
  )
}

const toFilters = (text: string) => (text === '' ? [] : [{ field: 'name', value: text }])

export function EndpointFilter({ application, ...props }: FilterProps & { application: string }): ReactNode {
  const [search, onSearch] = useState('')
  const { data, isFetching } = useRead(
    pickEndpointsDocument,
    { application, filters: toFilters(useDebounced(search.trim())) },
    { keepsPrevious: true },
  )
  const chosen = useRead(
    pickedEndpointDocument,
    { application, id: props.id ?? '' },
    { isEnabled: props.id !== null },
  )
  const found = data?.endpointsConnection
  return (
    <ObjectFilter
      {...props}
      found={{
        options: (found?.nodes ?? []).map(({ id, name, consumeURL }) => ({
          id,
          text: name,
          hint: consumeURL,
        })),
        total: found?.totalCount ?? 0,
        isLoading: isFetching,
        chosenName: chosen.data?.endpoint.name,
      }}
      search={search}
      onSearch={onSearch}
    />
  )
}

export function MachineUserFilter(props: FilterProps): ReactNode {
  const { id: project } = useProject()
  const [search, onSearch] = useState('')
  const { data, isFetching } = useRead(
    pickMachineUsersDocument,
    { project, filters: toFilters(useDebounced(search.trim())) },
    { keepsPrevious: true },
  )
  const chosen = useRead(machineUserDetailDocument, { id: props.id ?? '' }, { isEnabled: props.id !== null })
  const found = data?.projectMachineUsersConnection
  return (
    <ObjectFilter
      {...props}
      found={{
        options: (found?.nodes ?? []).map(({ id, name, environment }) => ({
          id,
          text: name,
          hint: environment.name,
        })),
        total: found?.totalCount ?? 0,
        isLoading: isFetching,
        chosenName: chosen.data?.machineUser.name,
      }}
      search={search}
      onSearch={onSearch}
    />
  )
}
