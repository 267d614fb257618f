// Finds a person in the user directory.
import './person-picker.css'
import { type ReactNode, use, useState } from 'react'
import { ComboBox, FormValidationContext, Input, ListBox, ListBoxItem, Popover } from 'react-aria-components'
import { describeFailure } from '../api/failures.ts'
import { useRead } from '../api/requests.ts'
import { type PickPeopleResult, pickPeopleDocument } from '../generated/documents.ts'
import { IconButton } from '../kit/button.tsx'
import { FieldLabel, FieldMessages } from '../kit/form.tsx'
import { Icon } from '../kit/icon.tsx'
import { useFailureText } from '../kit/state.tsx'
import { Avatar } from '../kit/values.tsx'
import { useText } from '../texts/language.tsx'
import { useDebounced } from './debounced.ts'

const minLength = 2

export type Person = { readonly id: string; readonly name: string; readonly email: string }
type Found = PickPeopleResult['userProviderSearch'][number]

type PersonPickerProps = {
  /** The name of the API's input field, so that its errors are shown here. */
  name?: string
  label?: string
  value: Person | null
  onChange: (person: Person | null) => void
}

const toPerson = ({ id, displayName, username, email }: Found): Person => ({
  id,
  name: displayName === '' ? username : displayName,
  email,
})

/** A search in the directory. The chosen person replaces the field until the choice is cleared. */
export function PersonPicker({ name, label, value, onChange }: PersonPickerProps): ReactNode {
  const t = useText()
  const title = label ?? t('app.person')
  // The chosen person is not shown in an input element, so this component reads the form errors itself.
  const problem = use(FormValidationContext)?.[name ?? '']
  return value === null ? (
    <PersonSearch name={name} label={title} onChange={onChange} />
  ) : (
    <div className="field" data-invalid={problem === undefined ? undefined : ''}>
      <span className="label">{title}</span>
      <div className="person">
        <Avatar name={value.name} />
        <PersonText {...value} />
        <IconButton
          icon="close"
          size="small"
          label={t('app.personClear')}
          hasAutoFocus
          onPress={() => onChange(null)}
        />
      </div>
      {problem !== undefined && (
        <span className="field-error" role="alert">
          <Icon name="danger" size={12} /> {problem}
        </span>
      )}
    </div>
  )
}

const PersonText = ({ name, email }: { name: string; email: string }): ReactNode => (
  <div className="person-text">
    <div className="truncate">{name}</div>
    <div className="truncate person-email">{email}</div>
  </div>
)

type SearchProps = { name: string | undefined; label: string; onChange: (person: Person) => void }

function PersonSearch({ name, label, onChange }: SearchProps): ReactNode {
  const t = useText()
  const describe = useFailureText()
  const [text, setText] = useState('')
  const settled = useDebounced(text.trim())
  const { data, error, isFetching } = useRead(
    pickPeopleDocument,
    { text: settled },
    { isEnabled: settled.length >= minLength, keepsPrevious: true },
  )
  const found = text.trim().length < minLength ? [] : (data?.userProviderSearch ?? [])
  const emptyText = (): string => {
    if (text.trim().length < minLength) return t('app.personMinimum')
    if (error !== null) return describe(describeFailure(error))
    return isFetching || settled !== text.trim() ? t('app.personSearching') : t('app.personNone')
  }
  return (
    <ComboBox
      className="field"
      {...(name === undefined ? {} : { name })}
      items={found}
      inputValue={text}
      onInputChange={setText}
      onSelectionChange={(key) => {
        const person = found.find(({ id }) => id === key)
        if (person !== undefined) onChange(toPerson(person))
      }}
      disabledKeys={found.filter(({ disabled }) => disabled).map(({ id }) => id)}
      allowsEmptyCollection
      allowsCustomValue
      isRequired
    >
      <FieldLabel label={label} isRequired={false} />
      <Input className="input" placeholder={t('app.personPlaceholder')} autoFocus />
      <FieldMessages hint={undefined} />
      <Popover className="popover">
        <ListBox<Found>
          className="menu"
          renderEmptyState={() => <div className="menu-empty">{emptyText()}</div>}
        >
          {(person) => <PersonOption person={person} />}
        </ListBox>
      </Popover>
    </ComboBox>
  )
}

function PersonOption({ person }: { person: Found }): ReactNode {
  const t = useText()
  const { id, name, email } = toPerson(person)
  return (
    <ListBoxItem id={id} textValue={name} className="menu-item">
      <div className="person-option">
        <Avatar name={name} />
        <div className="person-text">
          <span className="truncate">{name}</span>
          <span className="truncate person-email">
            {person.disabled ? `${email} · ${t('app.personDisabled')}` : email}
          </span>
        </div>
      </div>
    </ListBoxItem>
  )
}
