// The filters of the list. Their values are in the address.
import type { ReactNode } from 'react'
import type { ListSearch } from '../../app/list-search.ts'
import { ApplicationPicker } from '../../app/object-pickers.tsx'
import { useCan } from '../../app/project.tsx'
import { RangeFilter } from '../../app/range-filter.tsx'
import type { TimeRange } from '../../app/time-range.ts'
import { useSearchText } from '../../app/use-search-text.ts'
import { SearchField, Select } from '../../kit/form.tsx'
import { useText } from '../../texts/language.tsx'
import { keepId, statuses } from './calls-query.ts'
import { EndpointFilter, MachineUserFilter } from './pickers.tsx'

const any = '*'

type FiltersProps = { list: ListSearch; application: string; range: TimeRange }

export function CallsFilters({ list, application, range }: FiltersProps): ReactNode {
  const t = useText()
  const [text, setText] = useSearchText(list)
  const { search, setFilter } = list
  const canFilterMachines = useCan('MACHINE_USER_READ')
  const { status, endpoint, machine } = search
  const isUnknown = status !== undefined && !statuses.some((known) => known === status)
  return (
    <>
      <SearchField label={t('calls.search')} value={text} onChange={setText} />
      <ApplicationPicker
        isChip
        label={t('calls.application')}
        id={application}
        // An endpoint belongs to one application.
        onChange={(id) => setFilter({ application: id, endpoint: undefined, open: undefined })}
      />
      <RangeFilter list={list} range={range} />
      <Select
        isChip
        label={t('calls.status')}
        value={status ?? any}
        options={[
          { id: any, text: t('app.any') },
          ...statuses.map((id) => ({ id, text: t(`calls.status.${id}`) })),
          ...(isUnknown ? [{ id: status, text: status }] : []),
        ]}
        onChange={(value) => setFilter({ status: value === any ? undefined : value })}
      />
      <EndpointFilter
        label={t('calls.endpoint')}
        application={application}
        id={keepId(endpoint)}
        onChange={(id) => setFilter({ endpoint: id ?? undefined })}
      />
      {canFilterMachines && (
        <MachineUserFilter
          label={t('calls.machineUser')}
          id={keepId(machine)}
          onChange={(id) => setFilter({ machine: id ?? undefined })}
        />
      )}
    </>
  )
}
