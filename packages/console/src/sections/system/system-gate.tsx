// Pages of the installation are for administrators. The API decides again with every request.
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useRead } from '../../api/requests.ts'
import { describeFailure } from '../../api/failures.ts'
import { type ActionName, may } from '../../app/actions.ts'
import { shellMeDocument } from '../../generated/documents.ts'
import { Page } from '../../kit/page.tsx'
import { FailureState, Skeleton, State } from '../../kit/state.tsx'
import { useText } from '../../texts/language.tsx'

type SystemGateProps = {
  title: string
  /** The action that the page is for; by default, to manage the users of the installation. */
  action?: ActionName
  children: ReactNode
}

/** Shows a page only to people who may use it. */
export function SystemGate({ title, action = 'users.changeRole', children }: SystemGateProps): ReactNode {
  const t = useText()
  const { data, error, refetch } = useRead(shellMeDocument, {})
  if (may(data?.me, action)) return children
  return (
    <Page title={title}>
      {data !== undefined && (
        <State
          icon="lock"
          title={t('system.noAccessTitle')}
          actions={
            <Link to="/" className="button" data-variant="default">
              {t('app.allProjects')}
            </Link>
          }
        >
          {t('system.noAccess')}
        </State>
      )}
      {data === undefined && error === null && <Skeleton />}
      {data === undefined && error !== null && (
        <FailureState failure={describeFailure(error)} onRetry={() => void refetch()} />
      )}
    </Page>
  )
}
