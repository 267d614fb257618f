// The details of an item, next to its list. The item is part of the address; Escape or the close button returns to the
// list.
import './side-panel.css'
import { type KeyboardEvent, type ReactNode, type RefObject, useEffect, useRef } from 'react'
import { useText } from '../texts/language.tsx'
import { IconButton } from './button.tsx'
import { returnFocus } from './return-focus.ts'

export type SidePanelProps = {
  title: ReactNode
  /** The name of the panel for screen readers. The default is the title, if the title is text. */
  label?: string
  subtitle?: ReactNode
  /** Buttons in the header, before the close button. */
  actions?: ReactNode
  tabs?: ReactNode
  foot?: ReactNode
  width?: 320 | 400 | 440
  /**
   * The content that the panel follows. It keeps the focus when the panel opens, and gets the focus back when the panel
   * closes.
   */
  follows?: RefObject<HTMLElement | null>
  onClose: () => void
  children: ReactNode
}

export function SidePanel({
  title,
  label,
  subtitle,
  actions,
  tabs,
  foot,
  width = 440,
  ...props
}: SidePanelProps): ReactNode {
  const { follows, onClose, children } = props
  const t = useText()
  const panel = useRef<HTMLElement>(null)
  // Focus moves into the panel when it opens, and back to where it was when it closes.
  useEffect(() => {
    const element = panel.current
    const followed = follows?.current
    const enter = (): void => {
      if (follows !== undefined || element?.contains(document.activeElement) === true) return
      element?.focus({ preventScroll: true })
    }
    enter()
    // A press opens the panel on `pointerdown`; the `mousedown` after it moves the focus to the pressed row again.
    const frame = requestAnimationFrame(enter)
    return () => {
      cancelAnimationFrame(frame)
      returnFocus(element, followed)
    }
  }, [follows])
  // React also delivers events from dialogs that the panel's controls opened, although the dialogs are outside the
  // panel.
  const closeOnEscape = (event: KeyboardEvent): void => {
    const isInside = event.target instanceof Node && event.currentTarget.contains(event.target)
    if (event.key === 'Escape' && !event.defaultPrevented && isInside) onClose()
  }
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- Escape closes the panel from any control in it
    <aside
      ref={panel}
      className="side-panel"
      data-width={width}
      tabIndex={-1}
      aria-label={label ?? (typeof title === 'string' ? title : undefined)}
      onKeyDown={closeOnEscape}
    >
      <header className="side-panel-head">
        <div className="side-panel-title-row">
          <h2 className="side-panel-title truncate">{title}</h2>
          <div className="side-panel-actions">
            {actions}
            <IconButton icon="close" size="small" label={t('kit.close')} onPress={onClose} />
          </div>
        </div>
        {subtitle !== undefined && <div className="side-panel-subtitle">{subtitle}</div>}
      </header>
      {tabs}
      <div className="side-panel-body">{children}</div>
      {foot !== undefined && foot !== false && <footer className="side-panel-foot">{foot}</footer>}
    </aside>
  )
}
