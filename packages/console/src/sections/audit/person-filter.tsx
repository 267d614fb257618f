// Filters by the person who made a change. The person is chosen from the directory.
import { type ReactNode, useState } from 'react'
import { useRead } from '../../api/requests.ts'
import { useDebounced } from '../../app/debounced.ts'
import { namePerson } from '../../app/person-name.ts'
import { personDocument, pickPeopleDocument, shellMeDocument } from '../../generated/documents.ts'
import { Picker, type PickerOption } from '../../kit/picker.tsx'
import { shortenId } from '../../kit/short-id.ts'
import { useText } from '../../texts/language.tsx'
import type { Entry } from './entry.ts'

const minLength = 2
const anyone = 'anyone'

type PersonFilterProps = {
  id: string | null
  /** The listed entries. They contain the names of people whom the caller cannot open, such as removed members. */
  entries: readonly Entry[]
  onChange: (id: string | null) => void
}

export function PersonFilter({ id, entries, onChange }: PersonFilterProps): ReactNode {
  const t = useText()
  const [search, onSearch] = useState('')
  const text = useDebounced(search.trim())
  const { data, isFetching } = useRead(
    pickPeopleDocument,
    { text },
    { isEnabled: text.length >= minLength, keepsPrevious: true },
  )
  const me = useRead(shellMeDocument, {}).data?.me
  const chosen = useRead(personDocument, { user: id ?? '' }, { isEnabled: id !== null })
  const isSearching = search.trim().length >= minLength
  const usual: readonly PickerOption[] = [
    { id: anyone, text: t('audit.anyone') },
    ...(me === undefined ? [] : [{ id: me.id, text: t('audit.me', namePerson(me)) }]),
  ]
  const people = (data?.userProviderSearch ?? []).map(({ id: userId, displayName, username, email }) => ({
    id: userId,
    text: displayName === '' ? username : displayName,
    hint: email,
  }))
  const user = chosen.data?.user ?? entries.find((entry) => entry.user?.id === id)?.user
  const name = user === undefined || user === null ? shortenId(id ?? '') : namePerson(user)
  return (
    <Picker
      isChip
      label={t('audit.person')}
      value={id === null ? { id: anyone, text: t('audit.anyone') } : { id, text: name }}
      placeholder={t('audit.anyone')}
      options={isSearching ? people : usual}
      isLoading={isFetching || search.trim() !== text}
      search={search}
      onSearch={onSearch}
      onChange={(option) => onChange(option.id === anyone ? null : option.id)}
      note={isSearching ? undefined : t('audit.personHint')}
    />
  )
}
