// The action of an audit entry.
import type { ReactNode } from 'react'
import { Icon, type IconName } from '../../kit/icon.tsx'
import { useText } from '../../texts/language.tsx'
import type { Translate } from '../../texts/texts.ts'
import { type Action, isAction } from './entry.ts'

const actionIcons: Record<Action, IconName> = {
  create: 'add',
  update: 'settings',
  delete: 'delete',
  grant: 'members',
  revoke: 'minusSign',
  rotate: 'refresh',
  wake: 'asleep',
  run: 'triggers',
  retry: 'undo',
  test: 'check',
  accept: 'ok',
}
const removals: ReadonlySet<string> = new Set(['delete', 'revoke'])

/** Returns the word for an action. The API may know more actions than the console. */
export const nameAction = (action: string, t: Translate): string =>
  isAction(action) ? t(`audit.action.${action}`) : action

/** The action as an icon and a word. */
export function ActionText({ action }: { action: string }): ReactNode {
  const t = useText()
  return (
    <span className="audit-action">
      <Icon
        name={isAction(action) ? actionIcons[action] : 'info'}
        tone={removals.has(action) ? 'danger' : 'muted'}
      />
      <span className="truncate">{nameAction(action, t)}</span>
    </span>
  )
}
