// The open invitations to a project, a tenant or an application.
import { type ReactNode, useState } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { may } from '../../app/actions.ts'
import { ChangeFailure } from '../../app/change-failure.tsx'
import { useSubmit } from '../../app/use-submit.ts'
import { invitationRevokeDocument } from '../../generated/documents.ts'
import { Badge } from '../../kit/badge.tsx'
import { Button, IconButton } from '../../kit/button.tsx'
import { TwoLines } from '../../kit/data-table.tsx'
import { DeleteDialog } from '../../kit/dialog.tsx'
import type { PageSize } from '../../kit/page-sizes.ts'
import { Pager } from '../../kit/pager.tsx'
import { Section, SectionRow, SectionText } from '../../kit/section.tsx'
import { FailureState, Skeleton } from '../../kit/state.tsx'
import { showToast } from '../../kit/toast.tsx'
import { Time } from '../../kit/values.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { InviteDialog } from './invite-dialog.tsx'
import { type Invitation, type InvitationTarget, operations } from './kinds.ts'

export function OpenInvitations(target: InvitationTarget): ReactNode {
  const { kind, object, actions } = target
  const t = useText()
  const { number } = useFormat()
  const [page, setPage] = useState(1)
  const [size, setSize] = useState<PageSize>(25)
  const [isInviting, setInviting] = useState(false)
  const { data, error, refetch } = useRead(
    operations[kind].list,
    { object: object.id, pagination: { limit: size, offset: (page - 1) * size } },
    { keepsPrevious: true },
  )
  const result = data?.invitations
  return (
    <Section
      title={t('invitations.open')}
      note={result !== undefined && number(result.totalCount)}
      action={
        may(object, actions.invite) && (
          <Button size="small" icon="add" action={actions.invite} onPress={() => setInviting(true)}>
            {t('invitations.invite')}
          </Button>
        )
      }
    >
      {result === undefined && error !== null && (
        <FailureState failure={describeFailure(error)} onRetry={() => void refetch()} />
      )}
      {result === undefined && error === null && <Skeleton rows={3} />}
      {result?.nodes.length === 0 && <SectionText>{t('invitations.none')}</SectionText>}
      {result?.nodes.map((invitation) => (
        <InvitationRow key={invitation.id} target={target} invitation={invitation} />
      ))}
      {result !== undefined && result.totalCount > size && (
        <div className="section-pager">
          <Pager
            page={page}
            size={size}
            shown={result.nodes.length}
            total={result.totalCount}
            isTotalExact={result.isTotalExact}
            onPage={setPage}
            onSize={(next) => {
              setSize(next)
              setPage(1)
            }}
          />
        </div>
      )}
      {isInviting && <InviteDialog kind={kind} object={object} onClose={() => setInviting(false)} />}
    </Section>
  )
}

type InvitationRowProps = { target: InvitationTarget; invitation: Invitation }

function InvitationRow({ target: { object, actions }, invitation }: InvitationRowProps): ReactNode {
  const t = useText()
  const [isRevoking, setRevoking] = useState(false)
  const { email, role, expiresAt, inviter } = invitation
  return (
    <SectionRow
      isTall
      end={
        <>
          <Badge tone="outline">{role}</Badge>
          {may(object, actions.revoke) && (
            <IconButton
              icon="delete"
              size="small"
              action={actions.revoke}
              label={t('invitations.revokeOf', email)}
              onPress={() => setRevoking(true)}
            />
          )}
        </>
      }
    >
      <TwoLines
        first={<span title={email}>{email}</span>}
        second={
          <>
            {t('invitations.expires')} <Time at={expiresAt} /> · {t('invitations.by', inviter.externalName)}
          </>
        }
      />
      {isRevoking && <RevokeInvitation invitation={invitation} onClose={() => setRevoking(false)} />}
    </SectionRow>
  )
}

type RevokeInvitationProps = { invitation: Invitation; onClose: () => void }

function RevokeInvitation({
  invitation: { id, email, revision },
  onClose,
}: RevokeInvitationProps): ReactNode {
  const t = useText()
  const { send, isPending, failure } = useSubmit(invitationRevokeDocument)
  return (
    <DeleteDialog
      title={t('invitations.revokeTitle', email)}
      submitText={t('invitations.revoke')}
      isOpen
      confirmation={null}
      isPending={isPending}
      failure={<ChangeFailure failure={failure} onReload={onClose} />}
      onClose={onClose}
      onDelete={() =>
        send({ id, revision }, () => {
          showToast(t('invitations.revoked', email))
          onClose()
        })
      }
    >
      <p>{t('invitations.revokeHint')}</p>
    </DeleteDialog>
  )
}
