// The page that is shown instead of a page that cannot be rendered.
import type { ErrorComponentProps } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useOnline } from '../api/connection-state.ts'
import { describeFailure } from '../api/failures.ts'
import { Button } from '../kit/button.tsx'
import { FailureState, State } from '../kit/state.tsx'
import { useText } from '../texts/language.tsx'
import { MissingPageError } from './lazy-route.ts'

export function RouteError({ error }: ErrorComponentProps): ReactNode {
  const t = useText()
  const isOnline = useOnline()
  const reload = (
    <Button
      icon="refresh"
      // A reload without a connection would lose the page.
      disabledReason={isOnline ? null : t('app.offline')}
      onPress={() => location.reload()}
    >
      {t('app.reload')}
    </Button>
  )
  if (error instanceof MissingPageError && !isOnline)
    return (
      <State isPage icon="offline" title={t('failure.offline')} actions={reload}>
        {t('failure.offlinePageHint')}
      </State>
    )
  if (!(error instanceof MissingPageError))
    return <FailureState isPage failure={describeFailure(error)} actions={reload} />
  return (
    <State isPage icon="refresh" title={t('app.outdated')} actions={reload}>
      {t('app.outdatedHint')}
    </State>
  )
}
