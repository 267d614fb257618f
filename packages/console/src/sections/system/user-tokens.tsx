// The personal access tokens of one person.
import { type ReactNode, useState } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useNow } from '../../app/now.ts'
import { RevokeTokenDialog } from '../../app/token-dialogs.tsx'
import { type OwnedToken, isUsable } from '../../app/token-state.ts'
import { TokenStatus, formatPrefix } from '../../app/token-status.tsx'
import { useSystemMay } from '../../app/use-system-may.ts'
import { Button } from '../../kit/button.tsx'
import { TwoLines } from '../../kit/data-table.tsx'
import { Section, SectionRow, SectionText } from '../../kit/section.tsx'
import { FailureState, Skeleton } from '../../kit/state.tsx'
import { Facts, Time } from '../../kit/values.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { useAllTokens } from './all-tokens.ts'
import { MoreTokens } from './more-tokens.tsx'

const findLastUse = (tokens: readonly OwnedToken[]): string | null =>
  tokens.flatMap(({ lastUsedAt }) => lastUsedAt ?? []).toSorted((a, b) => Date.parse(b) - Date.parse(a))[0] ??
  null

export function UserTokens({ userId }: { userId: string }): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const tokens = useAllTokens()
  const [revoked, setRevoked] = useState<OwnedToken | null>(null)
  const { rows, error, retry } = tokens
  if (rows === undefined)
    return error === null ? <Skeleton /> : <FailureState failure={describeFailure(error)} onRetry={retry} />
  const own = rows.filter(({ user }) => user.id === userId)
  return (
    <>
      <MoreTokens tokens={tokens} />
      <Facts items={[{ label: t('system.lastTokenUse'), value: <Time at={findLastUse(own)} /> }]} />
      <Section title={t('system.personalTokens')} note={number(own.length)}>
        {own.length === 0 && <SectionText>{t('system.noTokensOfPerson')}</SectionText>}
        {own.map((token) => (
          <TokenRow key={token.id} token={token} onRevoke={() => setRevoked(token)} />
        ))}
      </Section>
      {revoked !== null && <RevokeTokenDialog token={revoked} onClose={() => setRevoked(null)} />}
    </>
  )
}

function TokenRow({ token, onRevoke }: { token: OwnedToken; onRevoke: () => void }): ReactNode {
  const t = useText()
  const now = useNow()
  const mayRevoke = useSystemMay('tokens.revoke')
  return (
    <SectionRow
      isTall
      end={
        <>
          <TokenStatus token={token} />
          {mayRevoke && isUsable(token, now) && (
            <Button size="small" action="tokens.revoke" onPress={onRevoke}>
              {t('token.revoke')}
            </Button>
          )}
        </>
      }
    >
      <TwoLines first={token.name} second={formatPrefix(token)} />
    </SectionRow>
  )
}
