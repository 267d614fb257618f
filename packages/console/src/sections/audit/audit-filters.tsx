// The filters of the list. Their values are in the address.
import type { ReactNode } from 'react'
import type { ListSearch } from '../../app/list-search.ts'
import { useSearchText } from '../../app/use-search-text.ts'
import { Button } from '../../kit/button.tsx'
import { SearchField, Select } from '../../kit/form.tsx'
import type { PickerOption } from '../../kit/picker.tsx'
import { useText } from '../../texts/language.tsx'
import { type Entry, actions, describeObject, entityTypes, listIds } from './entry.ts'
import { PersonFilter } from './person-filter.tsx'
import { RangeFilter } from '../../app/range-filter.tsx'
import { Sentence } from './sentence.tsx'
import { useNames } from './use-names.ts'

const any = '*'

/** Adds a value of the address that the console does not know, such as a kind of a newer version. */
const withUnknown = (options: readonly PickerOption[], value: string | undefined): readonly PickerOption[] =>
  value === undefined || options.some(({ id }) => id === value)
    ? options
    : [...options, { id: value, text: value }]

type FiltersProps = {
  list: ListSearch
  /** The listed entries, which name the object of the filter. */
  entries: readonly Entry[]
}

export function AuditFilters({ list, entries }: FiltersProps): ReactNode {
  const t = useText()
  const [text, setText] = useSearchText(list)
  const { search, setFilter } = list
  const { entity, action, person = null, id } = search
  const choose = (name: string, value: string): void =>
    setFilter({ [name]: value === any ? undefined : value })
  const kinds = entityTypes
    .map((type) => ({ id: type, text: t(`audit.kind.${type}`) }))
    .toSorted((a, b) => a.text.localeCompare(b.text))
  return (
    <>
      <SearchField label={t('audit.search')} value={text} onChange={setText} />
      <PersonFilter
        id={person}
        entries={entries}
        onChange={(next) => setFilter({ person: next ?? undefined })}
      />
      <Select
        isChip
        label={t('audit.entity')}
        value={entity ?? any}
        options={[{ id: any, text: t('app.any') }, ...withUnknown(kinds, entity)]}
        onChange={(value) => {
          // The id of an object is valid only for its kind.
          setFilter({ entity: value === any ? undefined : value, id: undefined })
        }}
      />
      <Select
        isChip
        label={t('audit.action')}
        value={action ?? any}
        options={[
          { id: any, text: t('app.any') },
          ...withUnknown(
            actions.map((one) => ({ id: one, text: t(`audit.action.${one}`) })),
            action,
          ),
        ]}
        onChange={(value) => choose('action', value)}
      />
      <RangeFilter list={list} />
      {id !== undefined && (
        <ObjectFilter id={id} entries={entries} onClear={() => setFilter({ id: undefined })} />
      )}
    </>
  )
}

/** Shows that the list is limited to the entries of one object, and removes this limit. */
function ObjectFilter({
  id,
  entries,
  onClear,
}: {
  id: string
  entries: readonly Entry[]
  onClear: () => void
}): ReactNode {
  const t = useText()
  const entry = entries.find(({ entityID }) => entityID === id)
  const parts = (entry === undefined ? null : describeObject(entry)) ?? [{ id }]
  const names = useNames(listIds(parts))
  return (
    <span className="audit-object">
      <Button size="small" icon="close" onPress={onClear}>
        <span>{t('audit.onlyObject')}</span>
        <span className="truncate">
          <Sentence parts={parts} names={names} />
        </span>
      </Button>
    </span>
  )
}
