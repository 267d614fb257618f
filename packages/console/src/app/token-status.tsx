// The state and the times of a personal access token.
import type { ReactNode } from 'react'
import { Status, type StatusKind } from '../kit/badge.tsx'
import { useFormat } from '../texts/format.ts'
import { useText } from '../texts/language.tsx'
import { useNow } from './now.ts'
import { type AccessToken, type TokenState, countDays, findTokenState } from './token-state.ts'

const kinds: Readonly<Record<TokenState, StatusKind>> = {
  active: 'ok',
  expiring: 'warn',
  expired: 'off',
  revoked: 'off',
}

export function TokenStatus({ token }: { token: AccessToken }): ReactNode {
  const t = useText()
  const now = useNow()
  const state = findTokenState(token, now)
  return (
    <Status kind={kinds[state]}>
      {state === 'expiring'
        ? t('token.expiresIn', countDays(token.expiresAt ?? '', now))
        : t(`token.state.${state}`)}
    </Status>
  )
}

/** The day on which a token expires, with the exact time on hover. */
export function TokenExpiry({ expiresAt }: { expiresAt: string | null }): ReactNode {
  const t = useText()
  const { date, exact } = useFormat()
  if (expiresAt === null) return <span className="muted">{t('kit.never')}</span>
  return (
    <time dateTime={expiresAt} title={exact(expiresAt)}>
      {date(expiresAt)}
    </time>
  )
}

/** The prefix of a token, which identifies the token without revealing it. */
export const formatPrefix = ({ tokenPrefix }: Pick<AccessToken, 'tokenPrefix'>): string =>
  `pat_${tokenPrefix}…`
