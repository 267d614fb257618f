// The details of a personal access token beside its list.
import { type ReactNode, useState } from 'react'
import { Button } from '../kit/button.tsx'
import { SidePanel } from '../kit/side-panel.tsx'
import { type Fact, Facts, Id } from '../kit/values.tsx'
import { useFormat } from '../texts/format.ts'
import { useText } from '../texts/language.tsx'
import { useNow } from './now.ts'
import { DeleteTokenDialog, RevokeTokenDialog } from './token-dialogs.tsx'
import { type AccessToken, isUsable } from './token-state.ts'
import { TokenStatus, formatPrefix } from './token-status.tsx'
import { useSystemMay } from './use-system-may.ts'

type TokenPanelProps = {
  /** Null while the token is loading, or if it does not exist. The panel then shows `children`. */
  token: AccessToken | null
  /** More facts, such as the owner. */
  facts?: readonly Fact[]
  actions?: ReactNode
  onClose: () => void
  children?: ReactNode
}

const noFacts: readonly Fact[] = []

export function TokenPanel({
  token,
  facts = noFacts,
  actions,
  onClose,
  children,
}: TokenPanelProps): ReactNode {
  const t = useText()
  return (
    <SidePanel
      title={token?.name ?? t('token.one')}
      subtitle={token !== null && <code className="truncate">{formatPrefix(token)}</code>}
      actions={actions}
      foot={token !== null && <Foot token={token} onDeleted={onClose} />}
      onClose={onClose}
    >
      {token === null ? children : <TokenFacts token={token} facts={facts} />}
    </SidePanel>
  )
}

function TokenFacts({ token, facts }: { token: AccessToken; facts: readonly Fact[] }): ReactNode {
  const t = useText()
  const { id, expiresAt, lastUsedAt, createdAt } = token
  return (
    <Facts
      items={[
        { label: t('token.status'), value: <TokenStatus token={token} /> },
        ...facts,
        { label: t('token.expires'), value: <Moment at={expiresAt} /> },
        { label: t('token.lastUsed'), value: <Moment at={lastUsedAt} /> },
        { label: t('token.created'), value: <Moment at={createdAt} /> },
        { label: t('token.id'), value: <Id value={id} /> },
      ]}
    />
  )
}

/** A date with its relative time, and the exact time on hover. */
export function Moment({ at }: { at: string | null }): ReactNode {
  const t = useText()
  const { date, exact, relative } = useFormat()
  if (at === null) return <span className="muted">{t('kit.never')}</span>
  return (
    <time dateTime={at} title={exact(at)}>
      {date(at)} <span className="muted">· {relative(at)}</span>
    </time>
  )
}

function Foot({ token, onDeleted }: { token: AccessToken; onDeleted: () => void }): ReactNode {
  const t = useText()
  const now = useNow()
  const mayRevoke = useSystemMay('tokens.revoke')
  const mayDelete = useSystemMay('tokens.delete')
  const [dialog, setDialog] = useState<'revoke' | 'delete' | null>(null)
  const close = (): void => setDialog(null)
  return (
    <>
      {mayRevoke && isUsable(token, now) && (
        <Button action="tokens.revoke" onPress={() => setDialog('revoke')}>
          {t('token.revoke')}
        </Button>
      )}
      {mayDelete && (
        <span className="side-panel-foot-end">
          <Button
            variant="quietDanger"
            icon="delete"
            action="tokens.delete"
            onPress={() => setDialog('delete')}
          >
            {t('kit.delete')}
          </Button>
        </span>
      )}
      {dialog === 'revoke' && <RevokeTokenDialog token={token} onClose={close} />}
      {dialog === 'delete' && <DeleteTokenDialog token={token} onClose={close} onDeleted={onDeleted} />}
    </>
  )
}
