// Buttons. The reason for disabling a button is shown next to it or in its tooltip.
import './button.css'
import { type ReactNode, useState } from 'react'
import { Button as AriaButton, Tooltip, TooltipTrigger } from 'react-aria-components'
import { Icon, type IconName } from './icon.tsx'

export type ButtonProps = {
  children: ReactNode
  /** `link` looks like a link, inside text and headers; `quietDanger` is for a deletion that asks for confirmation. */
  variant?: 'primary' | 'default' | 'quiet' | 'danger' | 'link' | 'quietDanger'
  size?: 'normal' | 'small'
  icon?: IconName
  type?: 'button' | 'submit'
  /** The id of the form to submit, for a button outside the form. */
  form?: string
  /** Disables the button. The reason is shown when the button has the focus or the pointer is over it. */
  disabledReason?: string | null
  isPending?: boolean
  /** The name of the action in `app/actions.ts` that decides whether the button is shown. */
  action?: string
  hasAutoFocus?: boolean
  onPress?: () => void
}

export function Button({
  children,
  variant = 'default',
  size = 'normal',
  icon,
  ...props
}: ButtonProps): ReactNode {
  const { type = 'button', form, disabledReason = null, isPending = false, hasAutoFocus = false } = props
  const button = (
    <AriaButton
      className="button"
      data-variant={variant}
      data-size={size}
      data-disabled-reason={disabledReason ?? undefined}
      data-action={props.action}
      aria-disabled={disabledReason !== null || undefined}
      type={disabledReason === null ? type : 'button'}
      {...(form === undefined ? {} : { form })}
      isPending={isPending}
      autoFocus={hasAutoFocus}
      onPress={() => {
        if (disabledReason === null) props.onPress?.()
      }}
    >
      {icon !== undefined && <Icon name={icon} />}
      {children}
    </AriaButton>
  )
  if (disabledReason === null) return button
  return (
    <TooltipTrigger delay={0}>
      {button}
      <Tooltip className="tooltip">{disabledReason}</Tooltip>
    </TooltipTrigger>
  )
}

type IconButtonProps = {
  icon: IconName
  label: string
  size?: 'normal' | 'small'
  isDisabled?: boolean
  /** Disables the button. The reason replaces the label in the tooltip. */
  disabledReason?: string | null
  action?: string
  hasAutoFocus?: boolean
  onPress?: () => void
}

/** A square button. Screen readers read its label, and a tooltip shows it. */
export function IconButton({
  icon,
  label,
  size = 'normal',
  isDisabled = false,
  disabledReason = null,
  action,
  hasAutoFocus = false,
  onPress,
}: IconButtonProps): ReactNode {
  const [hasFocus, setFocus] = useState(false)
  const isUnavailable = isDisabled || disabledReason !== null
  return (
    <TooltipTrigger delay={400}>
      <AriaButton
        className="button"
        data-variant="quiet"
        data-size={size}
        data-square=""
        data-action={action}
        data-unavailable={isUnavailable ? '' : undefined}
        aria-label={label}
        aria-disabled={isUnavailable || undefined}
        // A button that is disabled while it has the focus, such as "Next page" on the last page, would lose it.
        isDisabled={isDisabled && !hasFocus}
        autoFocus={hasAutoFocus}
        onFocusChange={setFocus}
        onPress={() => {
          if (!isUnavailable) onPress?.()
        }}
      >
        <Icon name={icon} />
      </AriaButton>
      <Tooltip className="tooltip">{disabledReason ?? label}</Tooltip>
    </TooltipTrigger>
  )
}
