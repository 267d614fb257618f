// A short message inside a page, with an icon so that color is not the only indicator.
import './note.css'
import type { ReactNode } from 'react'
import { Icon, type IconName } from './icon.tsx'

export type NoteTone = 'info' | 'warn' | 'danger' | 'ok'
const icons: Record<NoteTone, IconName> = { info: 'info', warn: 'warning', danger: 'danger', ok: 'ok' }

export const Note = ({
  tone,
  actions,
  children,
}: {
  tone: NoteTone
  actions?: ReactNode
  children: ReactNode
}): ReactNode => (
  <div className="note" data-tone={tone} role={tone === 'danger' ? 'alert' : 'note'}>
    <Icon name={icons[tone]} tone={tone} />
    <div className="note-text">{children}</div>
    {actions}
  </div>
)
