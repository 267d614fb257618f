// The numbers of objects that a deletion removes.
import './consequences.css'
import { Fragment, type ReactNode } from 'react'
import { EnvironmentBadge } from '../kit/badge.tsx'
import { useFormat } from '../texts/format.ts'
import { useText } from '../texts/language.tsx'
import { useProject } from './project.tsx'

export type Consequence = { readonly id: string; readonly count: number | string; readonly text: string }

export function Consequences({ items }: { items: readonly Consequence[] }): ReactNode {
  const { number } = useFormat()
  return (
    <ul className="consequences">
      {items.map(({ id, count, text }) => (
        <li key={id} className="consequence">
          <span className="consequence-count">{typeof count === 'number' ? number(count) : count}</span>
          <span>{text}</span>
        </li>
      ))}
    </ul>
  )
}

/** Says that a deletion is final and that it applies to all environments. Protected environments have a badge. */
export function DeletionScope(): ReactNode {
  const t = useText()
  const protectedEnvironments = useProject().environments.filter((environment) => environment.protected)
  return (
    <p>
      {t('app.deleteFinal')}{' '}
      {protectedEnvironments.length > 0 && (
        <>
          {t('app.deleteEverywhere')}{' '}
          {protectedEnvironments.map(({ id, name }) => (
            <Fragment key={id}>
              <EnvironmentBadge name={name} isProtected />{' '}
            </Fragment>
          ))}
        </>
      )}
    </p>
  )
}
