// The page behind the link of an invitation: it shows who invites the person to what, and lets the person accept.
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { type Failure, describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { useSecretChange } from '../../api/secret-change.ts'
import { ChangeFailure } from '../../app/change-failure.tsx'
import { useSystemMay } from '../../app/use-system-may.ts'
import {
  type InvitationAcceptResult,
  type InvitationPreviewResult,
  invitationAcceptDocument,
  invitationPreviewDocument,
  shellMeDocument,
} from '../../generated/documents.ts'
import { Badge } from '../../kit/badge.tsx'
import { Button } from '../../kit/button.tsx'
import { Card } from '../../kit/card.tsx'
import { Page } from '../../kit/page.tsx'
import { FailureState, Skeleton, State } from '../../kit/state.tsx'
import { Facts, Time } from '../../kit/values.tsx'
import { useText } from '../../texts/language.tsx'
import { useInvitationToken } from './invitation-link.ts'

export function InvitationPage(): ReactNode {
  const t = useText()
  const token = useInvitationToken()
  return (
    <Page title={t('invitations.one')}>
      {token === null ? (
        <State icon="link" title={t('invitations.noToken')}>
          {t('invitations.noTokenHint')}
        </State>
      ) : (
        // Another link starts again.
        <LinkedInvitation key={token} token={token} />
      )}
    </Page>
  )
}

function LinkedInvitation({ token }: { token: string }): ReactNode {
  // The mutation bypasses the cache, which would keep the token.
  const { send, secret, isPending, failure } = useSecretChange(
    invitationAcceptDocument,
    ({ accepted }) => accepted,
  )
  if (secret !== null) return <Accepted accepted={secret} />
  return <Preview token={token} isPending={isPending} failure={failure} onAccept={() => send({ token })} />
}

type PreviewProps = { token: string; isPending: boolean; failure: Failure | null; onAccept: () => void }

function Preview({ token, isPending, failure, onAccept }: PreviewProps): ReactNode {
  // An accepted invitation cannot be read again.
  const options = { isEnabled: !isPending, isSensitive: true }
  const { data, error, refetch } = useRead(invitationPreviewDocument, { token }, options)
  if (data === undefined) {
    if (error === null) return <Skeleton rows={5} />
    const problem = describeFailure(error)
    if (problem.kind === 'notFound') return <Unusable />
    return <FailureState failure={problem} onRetry={() => void refetch()} />
  }
  return (
    <Offer invitation={data.invitation} isPending={isPending} onAccept={onAccept}>
      <ChangeFailure failure={failure} onReload={() => void refetch()} />
    </Offer>
  )
}

type OfferProps = Pick<PreviewProps, 'isPending' | 'onAccept'> & {
  invitation: InvitationPreviewResult['invitation']
  children: ReactNode
}

function Offer({ invitation, isPending, onAccept, children }: OfferProps): ReactNode {
  const t = useText()
  const mayAccept = useSystemMay('invitations.accept')
  const { projectName, tenantName, applicationName, role, inviterName, inviterEmail, expiresAt } = invitation
  return (
    <Card title={t('invitations.invitedTo', tenantName ?? applicationName ?? projectName)}>
      <Facts
        items={[
          { label: t('invitations.inviter'), value: formatInviter(inviterName, inviterEmail) },
          { label: t('invitations.kind.project'), value: projectName },
          ...optionalFact(t('invitations.kind.tenant'), tenantName),
          ...optionalFact(t('invitations.kind.application'), applicationName),
          { label: t('members.role'), value: <Badge tone="outline">{role}</Badge> },
          { label: t('invitations.expires'), value: <Time at={expiresAt} /> },
        ]}
      />
      {children}
      {mayAccept && (
        <p>
          <Button variant="primary" action="invitations.accept" isPending={isPending} onPress={onAccept}>
            {t('invitations.accept')}
          </Button>
        </p>
      )}
    </Card>
  )
}

const optionalFact = (label: string, value: string | null) => (value === null ? [] : [{ label, value }])

const formatInviter = (name: string, email: string): string =>
  email === '' || email === name ? name : `${name} (${email})`

const sections = { project: 'overview', tenant: 'tenants', application: 'applications' } as const

function Accepted({ accepted }: { accepted: InvitationAcceptResult['accepted'] }): ReactNode {
  const t = useText()
  const { kind, projectSlug, projectName, tenantName, applicationName, role } = accepted
  const section = kind === 'tenant' || kind === 'application' ? sections[kind] : sections.project
  return (
    <State
      icon="ok"
      title={t('invitations.accepted')}
      actions={
        <Link
          to={`/p/${projectSlug}/${section}` as '/'}
          className="button"
          data-variant="primary"
          data-size="default"
        >
          {t('invitations.openProject', projectName)}
        </Link>
      }
    >
      {t('invitations.acceptedHint', tenantName ?? applicationName ?? projectName, role)}
    </State>
  )
}

/** The response does not say why a link cannot be used, so the text names all possible reasons. */
function Unusable(): ReactNode {
  const t = useText()
  const { data } = useRead(shellMeDocument, {})
  const email = data?.me.externalEmail ?? ''
  return (
    <State icon="lock" title={t('invitations.unusable')}>
      <p>{t('invitations.unusableHint')}</p>
      {email !== '' && <p>{t('invitations.signedInAs', email)}</p>}
    </State>
  )
}
