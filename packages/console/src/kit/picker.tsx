// A choice among many objects: a button that opens a search. The caller runs the search, so that no picker loads all
// objects.
import './picker.css'
import { type ReactNode, useId, useState } from 'react'
import {
  Button as AriaButton,
  Autocomplete,
  Dialog,
  DialogTrigger,
  ListBox,
  ListBoxItem,
  Popover,
} from 'react-aria-components'
import { useText } from '../texts/language.tsx'
import { ChipLabel, SearchField } from './form.tsx'
import { Icon } from './icon.tsx'

export type PickerOption = { readonly id: string; readonly text: string; readonly hint?: string }

export type PickerProps = {
  label: string
  /** The chosen option; null if nothing is chosen. */
  value: PickerOption | null
  placeholder: string
  options: readonly PickerOption[]
  isLoading: boolean
  search: string
  onSearch: (text: string) => void
  onChange: (option: PickerOption) => void
  isRequired?: boolean
  /** Whether more options exist than the list shows. */
  note?: string | undefined
  /** Shows the label inside a small button, before the value, for filters. */
  isChip?: boolean
}

export function Picker({
  label,
  value,
  placeholder,
  isChip = false,
  isRequired = false,
  onChange,
  ...list
}: PickerProps): ReactNode {
  const t = useText()
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  return (
    <div className={isChip ? 'picker-chip' : 'picker'}>
      {!isChip && (
        <span className="picker-label" id={id}>
          {label}
          {isRequired && <span className="label-note"> {t('kit.required')}</span>}
        </span>
      )}
      <DialogTrigger isOpen={isOpen} onOpenChange={setOpen}>
        <AriaButton
          className={isChip ? 'input select' : 'input select picker-button'}
          data-size={isChip ? 'small' : undefined}
          data-chip={isChip ? '' : undefined}
          aria-labelledby={`${id} ${id}-value`}
        >
          {isChip && <ChipLabel label={label} id={id} />}
          <span id={`${id}-value`} className={value === null && !isChip ? 'truncate muted' : 'truncate'}>
            {value?.text ?? placeholder}
          </span>
          <Icon name="chevronDown" size={12} />
        </AriaButton>
        <Popover className="popover picker-popover" placement="bottom start">
          <Dialog className="picker-dialog" aria-label={label}>
            <PickerList
              {...list}
              label={label}
              chosenId={value?.id ?? null}
              onChange={(option) => {
                setOpen(false)
                list.onSearch('')
                onChange(option)
              }}
            />
          </Dialog>
        </Popover>
      </DialogTrigger>
    </div>
  )
}

type ListProps = Omit<PickerProps, 'value' | 'placeholder' | 'isChip' | 'isRequired'> & {
  chosenId: string | null
}

function PickerList({ label, chosenId, options, isLoading, note, ...props }: ListProps): ReactNode {
  const { search, onSearch, onChange } = props
  const t = useText()
  return (
    <Autocomplete inputValue={search} onInputChange={onSearch}>
      <SearchField label={t('kit.searchIn', label)} isWide hasAutoFocus />
      <ListBox
        className="menu"
        aria-label={label}
        items={options}
        dependencies={[chosenId, onChange]}
        selectionMode="single"
        // Otherwise Escape would clear the selection instead of closing the list.
        disallowEmptySelection
        selectedKeys={chosenId === null ? [] : [chosenId]}
        onSelectionChange={(keys) => {
          const [key] = keys
          const option = options.find(({ id }) => id === key)
          if (option !== undefined) onChange(option)
        }}
        renderEmptyState={() => (
          <div className="menu-empty">{isLoading ? t('kit.loading') : t('kit.noMatch')}</div>
        )}
      >
        {(option) => (
          <ListBoxItem
            id={option.id}
            textValue={option.text}
            className="menu-item"
            // Choosing the selected option changes no selection, but it closes the list.
            {...(option.id === chosenId ? { onPress: () => onChange(option) } : {})}
          >
            {/* Without slots, the name of the option is everything that it shows. */}
            <span className="truncate">{option.text}</span>
            {option.hint !== undefined && <span className="muted truncate mono">{option.hint}</span>}
          </ListBoxItem>
        )}
      </ListBox>
      {note !== undefined && <div className="menu-note">{note}</div>}
    </Autocomplete>
  )
}
