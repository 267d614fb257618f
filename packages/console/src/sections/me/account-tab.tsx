// Shows the identity of the caller and all of their roles.
import type { ReactNode } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { type ShellMeResult, shellMeDocument } from '../../generated/documents.ts'
import { Badge } from '../../kit/badge.tsx'
import { FailureState, Skeleton } from '../../kit/state.tsx'
import { Avatar, Facts, Id } from '../../kit/values.tsx'
import { useText } from '../../texts/language.tsx'
import { namePerson } from '../../app/person-name.ts'
import { kinds } from '../members/kinds.ts'
import { MembershipList } from '../members/membership-list.tsx'

export function AccountTab(): ReactNode {
  const { data, error, refetch } = useRead(shellMeDocument, {})
  if (data === undefined)
    return error === null ? (
      <Skeleton />
    ) : (
      <FailureState failure={describeFailure(error)} onRetry={() => void refetch()} />
    )
  return (
    <div className="me-account">
      <Profile me={data.me} />
      <div>
        {kinds.map((kind) => (
          <MembershipList key={kind} kind={kind} userId={data.me.id} linkTo="object" />
        ))}
      </div>
    </div>
  )
}

function Profile({ me }: { me: ShellMeResult['me'] }): ReactNode {
  const t = useText()
  const name = namePerson(me)
  return (
    <section aria-label={t('me.profile')}>
      <div className="me-person">
        <Avatar name={name} />
        <div className="me-person-text">
          <h2 className="me-name truncate" title={name}>
            {name}
          </h2>
          <div className="truncate muted" title={me.externalEmail}>
            {me.externalEmail}
          </div>
        </div>
      </div>
      <Facts
        items={[
          { label: t('members.userName'), value: me.externalUsername },
          { label: t('members.systemRole'), value: <Badge tone="outline">{me.role}</Badge> },
          { label: t('members.id'), value: <Id value={me.id} /> },
        ]}
      />
      <p className="me-hint">
        {t('me.profileHint')} {me.role === 'administrator' ? t('me.administratorHint') : t('me.userHint')}
      </p>
    </section>
  )
}
