// The author of an entry: a person, a machine user, or a job or command of the Manager.
import type { ReactNode } from 'react'
import { namePerson } from '../../app/person-name.ts'
import { Icon } from '../../kit/icon.tsx'
import { shortenId } from '../../kit/short-id.ts'
import { useText } from '../../texts/language.tsx'
import type { Translate } from '../../texts/texts.ts'
import type { Entry } from './entry.ts'
import type { Names } from './use-names.ts'

type AuthorKind = 'user' | 'machineUser' | 'system'
export type Author = { readonly kind: AuthorKind; readonly name: string; readonly id: string | null }

/** Entries of older versions have no principal; without a user, they come from the command line. */
export function findAuthor({ user, principalType, principal }: Entry, names: Names, t: Translate): Author {
  if (user !== null) return { kind: 'user', name: namePerson(user), id: user.id }
  if (principal === null) return { kind: 'system', name: t('audit.commandLine'), id: null }
  if (principalType === 'system') return { kind: 'system', name: principal, id: null }
  const name = names?.get(principal)?.title ?? shortenId(principal)
  return { kind: principalType === 'machine_user' ? 'machineUser' : 'user', name, id: principal }
}

/** Returns the ids of authors whose names must be read separately. */
export const listAuthorIds = ({ user, principalType, principal }: Entry): readonly string[] =>
  user === null && principal !== null && principalType !== 'system' ? [principal] : []

export function Who({ entry, names }: { entry: Entry; names: Names }): ReactNode {
  const t = useText()
  const { kind, name } = findAuthor(entry, names, t)
  return (
    <span className="audit-who" title={name}>
      {kind !== 'user' && <Icon name={kind === 'system' ? 'screen' : 'machineUsers'} tone="muted" />}
      <span className="truncate">{name}</span>
    </span>
  )
}
