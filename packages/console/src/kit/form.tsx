// Forms. All errors are shown together at their fields, including those that the API reports.
import './form.css'
import { type FormEvent, type ReactNode, useId } from 'react'
import {
  Button as AriaButton,
  Form as AriaForm,
  Select as AriaSelect,
  Switch as AriaSwitch,
  TextField as AriaTextField,
  Checkbox,
  FieldError,
  Input,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
  SearchField as AriaSearchField,
  SelectValue,
  Text,
  TextArea,
} from 'react-aria-components'
import { useText } from '../texts/language.tsx'
import { Icon } from './icon.tsx'

type FormProps = {
  id: string
  /** Messages by field name. */
  errors?: Readonly<Record<string, string>>
  onSubmit: () => void
  children: ReactNode
}

/** A form whose submit button can be outside the form, with `form={id}`. */
export const Form = ({ id, errors, onSubmit, children }: FormProps): ReactNode => (
  <AriaForm
    id={id}
    className="form"
    validationErrors={errors ?? {}}
    onSubmit={(event: FormEvent) => {
      event.preventDefault()
      onSubmit()
    }}
  >
    {children}
  </AriaForm>
)

type FieldProps = {
  /** The name of the API's input field, so that its errors are shown here. */
  name?: string
  label: string
  hint?: string
  isRequired?: boolean
}

type TextFieldProps = FieldProps & {
  value: string
  onChange: (value: string) => void
  isMono?: boolean
  isReadOnly?: boolean
  /** Shows a text area with this number of lines. */
  lines?: number
  type?: 'text' | 'email' | 'url' | 'date' | 'password'
  hasAutoFocus?: boolean
  placeholder?: string
  maxLength?: number
}

export const TextField = ({
  label,
  hint,
  lines,
  isMono = false,
  placeholder,
  hasAutoFocus = false,
  ...props
}: TextFieldProps): ReactNode => (
  <AriaTextField className="field" autoComplete="off" autoFocus={hasAutoFocus} {...props}>
    <FieldLabel label={label} isRequired={props.isRequired ?? false} />
    {lines === undefined ? (
      <Input className="input" data-mono={isMono ? '' : undefined} placeholder={placeholder} />
    ) : (
      <TextArea
        className="input"
        data-mono={isMono ? '' : undefined}
        rows={lines}
        placeholder={placeholder}
      />
    )}
    <FieldMessages hint={hint} />
  </AriaTextField>
)

export const FieldLabel = ({ label, isRequired }: { label: string; isRequired: boolean }): ReactNode => {
  const t = useText()
  return (
    <Label className="label">
      {label}
      {isRequired && <span className="label-note"> {t('kit.required')}</span>}
    </Label>
  )
}

export const FieldMessages = ({ hint }: { hint: string | undefined }): ReactNode => (
  <>
    {hint !== undefined && (
      <Text slot="description" className="hint">
        {hint}
      </Text>
    )}
    <FieldError className="field-error">
      {({ validationErrors }) => (
        <>
          <Icon name="danger" size={12} /> {validationErrors.join(' ')}
        </>
      )}
    </FieldError>
  </>
)

type Option = { readonly id: string; readonly text: string; readonly hint?: string }
type SelectProps = FieldProps & {
  value: string | null
  options: readonly Option[]
  onChange: (value: string) => void
  isLabelHidden?: boolean
  isSmall?: boolean
  /** Shows the label inside a small select, before the value, for filters. */
  isChip?: boolean
  isDisabled?: boolean
  /** Shown while nothing is chosen. */
  placeholder?: string
  /** The name of the action in `app/actions.ts` that decides whether the choice is shown. */
  action?: string
}

export const Select = ({
  label,
  hint,
  value,
  options,
  onChange,
  isLabelHidden = false,
  isSmall = false,
  isChip = false,
  action,
  ...props
}: SelectProps): ReactNode => {
  const id = useId()
  return (
    <AriaSelect
      className="field"
      aria-label={isLabelHidden || isChip ? label : undefined}
      selectedKey={value}
      onSelectionChange={(key) => onChange(String(key))}
      {...props}
    >
      {!isLabelHidden && !isChip && <FieldLabel label={label} isRequired={props.isRequired ?? false} />}
      <AriaButton
        className="input select"
        data-size={isSmall || isChip ? 'small' : undefined}
        data-chip={isChip ? '' : undefined}
        data-action={action}
        // React Aria names the button by its value, then by its label. A chip shows them in the other order.
        {...(isChip ? { 'aria-labelledby': `${id} ${id}-value` } : {})}
      >
        {isChip && <ChipLabel label={label} id={id} />}
        <span id={`${id}-value`} className="truncate">
          <SelectValue />
        </span>
        <Icon name="chevronDown" size={12} />
      </AriaButton>
      <FieldMessages hint={hint} />
      <Popover className="popover">
        <ListBox className="menu" items={options}>
          {({ id, text, hint: note }) => (
            <ListBoxItem id={id} textValue={text} className="menu-item">
              {/* Without slots, the name of the option is everything that it shows. */}
              <span className="truncate">{text}</span>
              {note !== undefined && <span className="muted">{note}</span>}
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </AriaSelect>
  )
}

/** The label inside a filter, before its value. */
export const ChipLabel = ({ label, id }: { label: string; id?: string }): ReactNode => (
  <span id={id} className="chip-label">
    {label}:
  </span>
)

type SwitchProps = {
  label: ReactNode
  isSelected: boolean
  onChange: (isSelected: boolean) => void
  isDisabled?: boolean
}

export const Switch = ({ label, action, ...props }: SwitchProps & { action?: string }): ReactNode => (
  <AriaSwitch className="switch" data-action={action} {...props}>
    <span className="switch-track" />
    <span className="truncate">{label}</span>
  </AriaSwitch>
)

export const Check = ({ label, ...props }: SwitchProps): ReactNode => (
  <Checkbox className="check" {...props}>
    <span className="check-box">
      <Icon name="check" size={12} />
    </span>
    <span>{label}</span>
  </Checkbox>
)

type SearchProps = {
  label: string
  /** A field inside an Autocomplete gets its value and its handler from the Autocomplete. */
  value?: string
  onChange?: (value: string) => void
  isWide?: boolean
  hasAutoFocus?: boolean
}

/** A search field whose label is shown as its placeholder. */
export const SearchField = ({
  label,
  isWide = false,
  hasAutoFocus = false,
  ...props
}: SearchProps): ReactNode => (
  <AriaSearchField
    className="search-field"
    data-wide={isWide ? '' : undefined}
    aria-label={label}
    autoFocus={hasAutoFocus}
    {...props}
  >
    <Icon name="search" />
    <Input className="search-input" placeholder={label} />
  </AriaSearchField>
)
