// The details of a token beside the list. The list may not show it, for example because it is on another page.
import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { ChangeFailure } from '../../app/change-failure.tsx'
import { ItemActions } from '../../app/item-actions.tsx'
import type { ListSearch } from '../../app/list-search.ts'
import { useNow } from '../../app/now.ts'
import { namePerson } from '../../app/person-name.ts'
import { RecentUse } from '../../app/token-dialogs.tsx'
import { Moment } from '../../app/token-panel.tsx'
import { isUsable } from '../../app/token-state.ts'
import { TokenStatus } from '../../app/token-status.tsx'
import { useSubmit } from '../../app/use-submit.ts'
import { useSystemMay } from '../../app/use-system-may.ts'
import { provisioningRevokeTokenDocument, provisioningTokenDocument } from '../../generated/documents.ts'
import { Button } from '../../kit/button.tsx'
import { DeleteDialog } from '../../kit/dialog.tsx'
import { SidePanel } from '../../kit/side-panel.tsx'
import { FailureState, Skeleton, State } from '../../kit/state.tsx'
import { showToast } from '../../kit/toast.tsx'
import { Facts, Id } from '../../kit/values.tsx'
import { useText } from '../../texts/language.tsx'
import { type ListedToken, type ScimToken, formatScimPrefix, toListedToken } from './scim-token.ts'

type ScimTokenPanelProps = { id: string; ids: readonly string[]; list: ListSearch }

export function ScimTokenPanel({ id, ids, list }: ScimTokenPanelProps): ReactNode {
  const t = useText()
  const { data, error, refetch } = useRead(provisioningTokenDocument, { id })
  const token = data?.tokens.nodes[0]
  const listed = token === undefined ? null : toListedToken(token)
  return (
    <SidePanel
      title={token?.name ?? t('token.one')}
      subtitle={token !== undefined && <code className="truncate">{formatScimPrefix(token)}</code>}
      actions={<ItemActions ids={ids} openId={id} onOpen={(next) => list.setOpen(next)} />}
      foot={listed !== null && <Foot token={listed} />}
      onClose={() => list.setOpen(null)}
    >
      {token !== undefined && <TokenFacts token={token} />}
      {data === undefined && error === null && <Skeleton />}
      {data === undefined && error !== null && (
        <FailureState failure={describeFailure(error)} onRetry={() => void refetch()} />
      )}
      {data !== undefined && token === undefined && (
        <State icon="key" title={t('token.notFound')}>
          {t('provisioning.tokenNotFoundHint')}
        </State>
      )}
    </SidePanel>
  )
}

function TokenFacts({ token }: { token: ScimToken }): ReactNode {
  const t = useText()
  const { id, creator, expiresAt, lastUsedAt, createdAt, revokedAt } = token
  return (
    <Facts
      items={[
        { label: t('token.status'), value: <TokenStatus token={toListedToken(token)} /> },
        ...(revokedAt === null
          ? []
          : [{ label: t('provisioning.revokedAt'), value: <Moment at={revokedAt} /> }]),
        {
          label: t('provisioning.creator'),
          value: (
            <Link to="/system/users" search={{ open: creator.id } as never} title={creator.externalEmail}>
              {namePerson(creator)}
            </Link>
          ),
        },
        { label: t('token.expires'), value: <Moment at={expiresAt} /> },
        { label: t('token.lastUsed'), value: <Moment at={lastUsedAt} /> },
        { label: t('token.created'), value: <Moment at={createdAt} /> },
        { label: t('token.id'), value: <Id value={id} /> },
      ]}
    />
  )
}

function Foot({ token }: { token: ListedToken }): ReactNode {
  const t = useText()
  const now = useNow()
  const mayRevoke = useSystemMay('provisioning.revokeToken')
  const [isRevoking, setRevoking] = useState(false)
  return (
    <>
      {mayRevoke && isUsable(token, now) && (
        <Button action="provisioning.revokeToken" onPress={() => setRevoking(true)}>
          {t('token.revoke')}
        </Button>
      )}
      {isRevoking && <RevokeDialog token={token} onClose={() => setRevoking(false)} />}
    </>
  )
}

function RevokeDialog({ token, onClose }: { token: ListedToken; onClose: () => void }): ReactNode {
  const { id, name, revision } = token
  const t = useText()
  const { send, isPending, failure } = useSubmit(provisioningRevokeTokenDocument)
  return (
    <DeleteDialog
      title={t('token.revokeTitle', name)}
      submitText={t('token.revoke')}
      isOpen
      confirmation={null}
      isPending={isPending}
      failure={<ChangeFailure failure={failure} onReload={onClose} />}
      onClose={onClose}
      onDelete={() =>
        send({ id, expectedRevision: revision }, () => {
          showToast(t('token.revokedToast', name))
          onClose()
        })
      }
    >
      <p>{t('provisioning.revokeHint')}</p>
      <RecentUse token={token} />
    </DeleteDialog>
  )
}
