// The dialog that a popup button opens.
import type { ReactNode } from 'react'
import { Dialog as AriaDialog, Popover } from 'react-aria-components'
import type { Popup } from './popup-button.tsx'

type DialogPopupProps = {
  popup: Popup
  /** Null if the content has a heading with the slot `title`. */
  label: string | null
  placement: 'bottom start' | 'bottom end'
  className: string
  dialogClassName: string
  children: ReactNode
}

export const DialogPopup = ({
  popup,
  label,
  placement,
  className,
  dialogClassName,
  children,
}: DialogPopupProps): ReactNode => (
  <Popover
    triggerRef={popup.triggerRef}
    isOpen={popup.isOpen}
    onOpenChange={popup.close}
    className={className}
    placement={placement}
  >
    <AriaDialog className={dialogClassName} {...(label === null ? {} : { 'aria-label': label })}>
      {children}
    </AriaDialog>
  </Popover>
)
