import { type ReactNode, useState } from 'react'
import { Select } from '../kit/form.tsx'
import { Picker, type PickerOption } from '../kit/picker.tsx'

const kinds = ['Any', 'Tenant', 'Settings'].map((text) => ({ id: text.toLowerCase(), text }))
const people: readonly PickerOption[] = [
  { id: 'anyone', text: 'Anyone' },
  { id: 'anna', text: 'Anna Vogt', hint: 'anna@acme.example' },
]

/** Filters with their label inside, and a picker with its label beside it. */
export function SampleFilters(): ReactNode {
  const [kind, setKind] = useState('any')
  const [person, setPerson] = useState(people[0] ?? null)
  const [search, setSearch] = useState('')
  const picker = {
    label: 'Person',
    value: person,
    placeholder: 'Choose …',
    options: people.filter(({ text }) => text.toLowerCase().includes(search.toLowerCase())),
    isLoading: false,
    search,
    onSearch: setSearch,
    onChange: setPerson,
  }
  return (
    <div className="kit-row">
      <Select isChip label="Object" value={kind} options={kinds} onChange={setKind} />
      <Picker isChip {...picker} />
      <Picker {...picker} />
    </div>
  )
}
