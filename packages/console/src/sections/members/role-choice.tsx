// The choice of a role. Each role is shown with its permissions. Roles that the caller may not grant are disabled,
// with the reason.
import './role-choice.css'
import { type ReactNode, useId } from 'react'
import { FieldError, Label, Radio, RadioGroup } from 'react-aria-components'
import { Icon } from '../../kit/icon.tsx'
import { Skeleton } from '../../kit/state.tsx'
import { useText } from '../../texts/language.tsx'
import type { Role } from './roles.ts'

type RoleChoiceProps = {
  /** The name of the API's input field. */
  name: string
  roles: readonly Role[] | undefined
  value: string | null
  onChange: (role: string) => void
}

export function RoleChoice({ name, roles, value, onChange }: RoleChoiceProps): ReactNode {
  const t = useText()
  if (roles === undefined) return <Skeleton rows={3} />
  return (
    <RadioGroup className="field" name={name} value={value} onChange={onChange}>
      <Label className="label">{t('members.role')}</Label>
      <div className="role-choice">
        {roles.map((role) => (
          <RoleRadio key={role.name} role={role} />
        ))}
      </div>
      <FieldError className="field-error">
        {({ validationErrors }) => (
          <>
            <Icon name="danger" size={12} /> {validationErrors.join(' ')}
          </>
        )}
      </FieldError>
    </RadioGroup>
  )
}

function RoleRadio({ role: { name, hint, problem } }: { role: Role }): ReactNode {
  const id = useId()
  return (
    <Radio className="role-radio" value={name} isDisabled={problem !== null} aria-describedby={id}>
      <span className="radio-mark" />
      <span className="role-text">
        <span className="role-name">{name}</span>
        <span id={id} className="role-hint">
          {problem ?? hint}
        </span>
      </span>
    </Radio>
  )
}
