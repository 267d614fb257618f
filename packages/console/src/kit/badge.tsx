// Badges name a state or a kind in one word. A status has an icon and a word, so that color is never the only
// indicator.
import './badge.css'
import type { ReactNode } from 'react'
import { Icon, type IconName } from './icon.tsx'

export type BadgeTone = 'ok' | 'warn' | 'danger' | 'info' | 'neutral' | 'outline' | 'accent'

export const Badge = ({
  tone = 'neutral',
  icon,
  children,
}: {
  tone?: BadgeTone
  icon?: IconName
  children: ReactNode
}): ReactNode => (
  <span className="badge" data-tone={tone}>
    {icon !== undefined && <Icon name={icon} size={12} />}
    <span className="truncate">{children}</span>
  </span>
)

/** The badge of an environment. Protected environments stand out everywhere. */
export const EnvironmentBadge = ({
  name,
  isProtected,
}: {
  name: string
  isProtected: boolean
}): ReactNode => (
  <span className="badge" data-tone={isProtected ? 'inverse' : 'environment'}>
    {isProtected && <Icon name="lock" size={12} />}
    {name}
  </span>
)

export type StatusKind = 'ok' | 'warn' | 'danger' | 'pending' | 'off' | 'asleep'
const statusIcons = {
  ok: ['ok', 'ok'],
  warn: ['warning', 'warn'],
  danger: ['danger', 'danger'],
  pending: ['clock', 'info'],
  off: ['minus', 'muted'],
  asleep: ['asleep', 'muted'],
} as const

/** An icon and a word, without a background; for table cells. */
export const Status = ({ kind, children }: { kind: StatusKind; children: ReactNode }): ReactNode => (
  <span className="status">
    <Icon name={statusIcons[kind][0]} tone={statusIcons[kind][1]} />
    <span className="truncate">{children}</span>
  </span>
)
