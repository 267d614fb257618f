// The menu that a popup button opens.
import { type ReactNode, useRef } from 'react'
import { Menu, type MenuProps, Popover } from 'react-aria-components'
import type { Popup } from './popup-button.tsx'

type MenuPopupProps = Pick<
  MenuProps<object>,
  'children' | 'selectionMode' | 'selectedKeys' | 'disallowEmptySelection'
> & {
  popup: Popup
  label: string
  placement: 'bottom start' | 'bottom end'
  className?: string
  /** Content above the items. */
  head?: ReactNode
  onAction: (id: string) => void
}

export function MenuPopup({
  popup,
  label,
  placement,
  className = 'popover',
  head,
  ...props
}: MenuPopupProps): ReactNode {
  const { onAction, children, ...selection } = props
  const scrollRef = useRef<HTMLDivElement>(null)
  return (
    <Popover
      triggerRef={popup.triggerRef}
      scrollRef={scrollRef}
      isOpen={popup.isOpen}
      onOpenChange={popup.close}
      className={className}
      placement={placement}
      aria-label={label}
    >
      {head}
      <Menu
        ref={scrollRef}
        className="menu"
        aria-label={label}
        autoFocus={popup.focus}
        onClose={popup.close}
        onAction={(key) => onAction(String(key))}
        {...selection}
      >
        {children}
      </Menu>
    </Popover>
  )
}
