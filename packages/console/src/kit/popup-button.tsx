// A button that opens a menu or a dialog next to it. The code of the overlay is loaded when the pointer or the focus
// reaches the button.
import { type ReactNode, type RefObject, useRef, useState } from 'react'
import { Button as AriaButton } from 'react-aria-components'

/** The menu item that gets the focus; `true` focuses the menu itself. */
type MenuFocus = 'first' | 'last' | true

/** Connects a button to its overlay. */
export type Popup = {
  readonly triggerRef: RefObject<HTMLButtonElement | null>
  readonly isOpen: boolean
  readonly focus: MenuFocus
  readonly open: (focus: MenuFocus) => void
  readonly close: () => void
}

export function usePopup(): Popup {
  const triggerRef = useRef<HTMLButtonElement>(null)
  const [focus, setFocus] = useState<MenuFocus | null>(null)
  return {
    triggerRef,
    isOpen: focus !== null,
    focus: focus ?? true,
    open: setFocus,
    close: () => setFocus(null),
  }
}

type PopupButtonProps = {
  popup: Popup
  kind: 'menu' | 'dialog'
  className: string
  /** The accessible name, if the content of the button does not contain it. */
  label?: string
  /** Whether the button looks like the square buttons of the kit. */
  isSquare?: boolean
  /** Whether the button looks like the small buttons of filters. */
  isChip?: boolean
  /** Called when the pointer or the focus reaches the button. */
  onApproach: () => void
  children: ReactNode
}

export const PopupButton = ({
  popup: { triggerRef, isOpen, open, close },
  kind,
  className,
  label,
  isSquare = false,
  isChip = false,
  onApproach,
  children,
}: PopupButtonProps): ReactNode => (
  <AriaButton
    ref={triggerRef}
    className={className}
    {...(isSquare ? { 'data-variant': 'quiet', 'data-square': '' } : {})}
    {...(isChip ? { 'data-size': 'small', 'data-chip': '' } : {})}
    aria-label={label}
    aria-haspopup={kind}
    aria-expanded={isOpen}
    onHoverStart={onApproach}
    onFocus={onApproach}
    onPress={({ pointerType }) => {
      if (isOpen) close()
      else open(pointerType === 'keyboard' || pointerType === 'virtual' ? 'first' : true)
    }}
    onKeyDown={(event) => {
      if (kind === 'menu' && event.key === 'ArrowDown') open('first')
      else if (kind === 'menu' && event.key === 'ArrowUp') open('last')
      else event.continuePropagation()
    }}
  >
    {children}
  </AriaButton>
)
