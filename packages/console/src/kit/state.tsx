// States of a page or panel that has no data to show: loading, empty, failed.
import './state.css'
import { type ReactNode, useEffect, useEffectEvent, useState } from 'react'
import type { Failure, FailureKind } from '../api/failures.ts'
import { useText } from '../texts/language.tsx'
import type { TextKey } from '../texts/texts.ts'
import { Button } from './button.tsx'
import { Icon, type IconName } from './icon.tsx'
import { useDocumentTitle } from './document-title.ts'
import { Id } from './values.tsx'

type StateProps = {
  icon: IconName
  title: string
  /** Replaces a whole page. The title becomes the title of the page. */
  isPage?: boolean
  children?: ReactNode
  actions?: ReactNode
}

export const State = ({ icon, title, isPage = false, children, actions }: StateProps): ReactNode => (
  <div className="state">
    <span className="state-icon">
      <Icon name={icon} />
    </span>
    {isPage ? <PageTitle title={title} /> : <h2 className="state-title">{title}</h2>}
    {children !== undefined && <div className="state-text">{children}</div>}
    {actions !== undefined && <div className="state-actions">{actions}</div>}
  </div>
)

function PageTitle({ title }: { title: string }): ReactNode {
  useDocumentTitle(title)
  return <h1 className="state-title">{title}</h1>
}

/** Bars in place of rows that are loading. */
export const Skeleton = ({ rows = 6 }: { rows?: number }): ReactNode => {
  const t = useText()
  return (
    <div className="skeleton" role="status" aria-label={t('kit.loading')}>
      {Array.from({ length: rows }, (_, index) => (
        <div key={index} className="skeleton-bar" />
      ))}
    </div>
  )
}

/** A bar in a cell whose value is loading. */
export const CellSkeleton = (): ReactNode => <span className="cell-skeleton" aria-hidden="true" />

type Design = { readonly icon: IconName; readonly title: TextKey; readonly hint: TextKey | null }

const designs: Record<FailureKind, Design> = {
  sessionEnded: { icon: 'lock', title: 'failure.sessionEnded', hint: 'failure.sessionEndedHint' },
  notFound: { icon: 'lock', title: 'failure.notFound', hint: 'failure.notFoundHint' },
  forbidden: { icon: 'lock', title: 'failure.notFound', hint: 'failure.notFoundHint' },
  invalid: { icon: 'warning', title: 'failure.unexpected', hint: null },
  conflict: { icon: 'warning', title: 'failure.conflict', hint: null },
  rateLimited: { icon: 'clock', title: 'failure.rateLimited', hint: 'failure.rateLimitedHint' },
  unavailable: { icon: 'warning', title: 'failure.unavailable', hint: 'failure.unavailableHint' },
  offline: { icon: 'offline', title: 'failure.offline', hint: 'failure.offlineHint' },
  unreachable: { icon: 'offline', title: 'failure.unreachable', hint: 'failure.unreachableHint' },
  unknownOutcome: { icon: 'warning', title: 'failure.unknownOutcome', hint: 'failure.unknownOutcomeHint' },
  unexpected: { icon: 'warning', title: 'failure.unexpected', hint: null },
}

/** Delay before a temporary failure is retried, if the response contains none. */
const defaultRetryMs = 15_000
const temporaryKinds: ReadonlySet<FailureKind> = new Set(['rateLimited', 'unavailable', 'unreachable'])

type FailureStateProps = {
  failure: Failure
  onRetry?: () => void
  /** Additional actions next to the retry button, such as a link to another page. */
  actions?: ReactNode
  isPage?: boolean
}

/** Shows a failed read: the reason, what is not affected, and the next step. */
export function FailureState({ failure, onRetry, actions, isPage = false }: FailureStateProps): ReactNode {
  const t = useText()
  const { icon, title, hint } = designs[failure.kind]
  const isTemporary = onRetry !== undefined && temporaryKinds.has(failure.kind)
  return (
    <State
      icon={icon}
      title={t(title)}
      isPage={isPage}
      actions={
        <>
          {failure.kind === 'sessionEnded' && <SignInLink />}
          {onRetry !== undefined && failure.kind !== 'sessionEnded' && (
            <Button icon="refresh" onPress={onRetry}>
              {t('kit.retry')}
            </Button>
          )}
          {isTemporary && <RetryCountdown failure={failure} onRetry={onRetry} />}
          {actions}
        </>
      }
    >
      <p>{hint === null ? failure.message : t(hint as 'failure.notFoundHint')}</p>
      <FailureRequestId failure={failure} />
    </State>
  )
}

const FailureRequestId = ({ failure }: { failure: Failure }): ReactNode => {
  const t = useText()
  if (failure.requestId === null) return null
  return (
    <p className="state-request">
      {t('failure.requestIdLabel')} <Id value={failure.requestId} isWhole />
    </p>
  )
}

type SignInProps = {
  isSmall?: boolean
  /** Opens a new tab, so that the input in this tab is kept. */
  isNewTab?: boolean
}

/** Loads the same address again. The proxy then asks the person to sign in and returns to it. */
export const SignInLink = ({ isSmall = false, isNewTab = false }: SignInProps): ReactNode => {
  const t = useText()
  return (
    <a
      className="button"
      data-variant="primary"
      data-size={isSmall ? 'small' : undefined}
      href={location.href}
      target={isNewTab ? '_blank' : undefined}
      rel="noreferrer"
      // The address may have changed since the link was drawn.
      onClick={({ currentTarget }) => currentTarget.setAttribute('href', location.href)}
    >
      {t('failure.signIn')}
    </a>
  )
}

/** Returns the text of a failure as one paragraph, for places that are too small for the failure state. */
export function useFailureText(): (failure: Failure) => string {
  const t = useText()
  return (failure) => {
    const { title, hint } = designs[failure.kind]
    // If the Manager refuses a request, its message is more precise.
    if (hint === null || failure.kind === 'notFound' || failure.kind === 'forbidden') return failure.message
    return `${t(title as 'failure.notFound')}. ${t(hint as 'failure.notFoundHint')}`
  }
}

/** Retries after the delay that the response requests, and shows the remaining seconds. */
function RetryCountdown({ failure, onRetry }: { failure: Failure; onRetry: () => void }): ReactNode {
  const t = useText()
  const waitMs = failure.retryAfterMs ?? defaultRetryMs
  const [remaining, setRemaining] = useState(Math.ceil(waitMs / 1_000))
  const retry = useEffectEvent(onRetry)
  useEffect(() => {
    let end = Date.now() + waitMs
    const timer = setInterval(() => {
      const next = Math.max(0, Math.ceil((end - Date.now()) / 1_000))
      setRemaining(next)
      if (next > 0 || document.hidden) return
      end = Date.now() + waitMs
      retry()
    }, 1_000)
    return () => clearInterval(timer)
  }, [waitMs])
  return <span className="state-note">{t('failure.retryIn', remaining)}</span>
}

/** A failure in a small space, such as a card or the area above the buttons of a form. */
export const FailureNote = ({ failure, onRetry }: { failure: Failure; onRetry?: () => void }): ReactNode => {
  const t = useText()
  const { title, hint } = designs[failure.kind]
  return (
    <div className="note" data-tone="danger" role="alert">
      <Icon name="danger" tone="danger" />
      <div className="note-text">
        <strong>{t(title as 'failure.notFound')}</strong>{' '}
        {hint === null ? failure.message : t(hint as 'failure.notFoundHint')}
        <FailureRequestId failure={failure} />
      </div>
      {onRetry !== undefined && (
        <Button size="small" onPress={onRetry}>
          {t('kit.retry')}
        </Button>
      )}
    </div>
  )
}
