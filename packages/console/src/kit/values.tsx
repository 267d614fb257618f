// Times and ids as every page shows them.
import './values.css'
import type { ReactNode } from 'react'
import { Button as AriaButton } from 'react-aria-components'
import { useFormat } from '../texts/format.ts'
import { useText } from '../texts/language.tsx'
import { Icon } from './icon.tsx'
import { shortenId } from './short-id.ts'
import { showToast } from './toast.tsx'

/** A relative time with the exact time on hover. */
export function Time({ at }: { at: string | null }): ReactNode {
  const { relative, exact } = useFormat()
  const t = useText()
  if (at === null) return <span className="muted">{t('kit.never')}</span>
  return (
    <time dateTime={at} title={exact(at)}>
      {relative(at)}
    </time>
  )
}

/** An id, shown with its middle part omitted but copied completely. */
export function Id({ value, isWhole = false }: { value: string; isWhole?: boolean }): ReactNode {
  const t = useText()
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(value)
    showToast(t('kit.copied'))
  }
  const text = isWhole ? value : shortenId(value)
  return (
    <span className="id">
      <code className="truncate" title={value}>
        {text}
      </code>
      <AriaButton className="id-copy" aria-label={t('kit.copyId')} onPress={() => void copy()}>
        <Icon name="copy" size={12} />
      </AriaButton>
    </span>
  )
}

export type Fact = { readonly label: string; readonly value: ReactNode }

/** Labels and their values. */
export const Facts = ({ items }: { items: readonly Fact[] }): ReactNode => (
  <dl className="facts">
    {items.map(({ label, value }) => (
      <div key={label} className="fact">
        <dt className="fact-label">{label}</dt>
        <dd className="fact-value">{value}</dd>
      </div>
    ))}
  </dl>
)

/** The initials of a person in a circle, as decoration next to the name. */
export const Avatar = ({ name }: { name: string }): ReactNode => {
  const words = name.split(/\s+/).filter((word) => word !== '')
  const initials = [words[0], words.length > 1 ? words.at(-1) : undefined]
    .map((word) => /^./u.exec(word ?? '')?.[0] ?? '')
    .join('')
  // The style sheet draws the initials: as text, they would contradict the name of a button that contains the avatar.
  return <span className="avatar" aria-hidden="true" data-initials={initials.toUpperCase()} />
}
