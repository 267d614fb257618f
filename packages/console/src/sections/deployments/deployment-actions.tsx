// Buttons that wake a deployment or change its specification, at the bottom of its panel.
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { may } from '../../app/actions.ts'
import { Button } from '../../kit/button.tsx'
import { useText } from '../../texts/language.tsx'
import type { Deployment } from './deployment-types.ts'
import { DeleteSpecification } from './specification-delete.tsx'
import { SpecificationDialog } from './specification-dialog.tsx'
import type { Readiness } from './use-readiness.ts'
import { isUnderway } from './wake-list.ts'
import { startWake, useWake } from './wakes.ts'

type DeploymentActionsProps = {
  deployment: Deployment
  readiness: Readiness | undefined
  /** Called when a wake starts, to show its progress. */
  onWake: () => void
}

export function DeploymentActions({ deployment, readiness, onWake }: DeploymentActionsProps): ReactNode {
  const t = useText()
  const [dialog, setDialog] = useState<'edit' | 'delete' | null>(null)
  const close = (): void => setDialog(null)
  const { application, specification } = deployment
  const canWake = may(application, 'deployments.wake')
  const save = specification === null ? 'deployments.create' : 'deployments.edit'
  const canSave = may(application, save)
  const canDelete = specification !== null && may(application, 'deployments.delete')
  if (!canWake && !canSave && !canDelete) return <span className="muted">{t('deployments.readOnly')}</span>
  return (
    <>
      {canWake && <WakeButton deployment={deployment} readiness={readiness} onWake={onWake} />}
      {canSave && (
        <Button action={save} onPress={() => setDialog('edit')}>
          {specification === null ? t('deployments.new') : t('kit.edit')}
        </Button>
      )}
      <span className="side-panel-foot-end">
        {canDelete && (
          <Button
            variant="quietDanger"
            icon="delete"
            action="deployments.delete"
            onPress={() => setDialog('delete')}
          >
            {t('kit.delete')}
          </Button>
        )}
      </span>
      {dialog === 'edit' && <SpecificationDialog deployment={deployment} onClose={close} />}
      {dialog === 'delete' && specification !== null && (
        <DeleteSpecification
          environment={deployment.environment}
          specification={specification}
          onClose={close}
        />
      )}
    </>
  )
}

/** Returns why the deployment cannot be woken; null if it can. */
function useWakeObstacle({ specification }: Deployment, readiness: Readiness | undefined): string | null {
  const t = useText()
  if (specification === null) return t('deployments.wakeNeedsSpecification')
  if (!specification.scaleToZero) return t('deployments.wakeNeedsFlag')
  return readiness?.ready === true ? t('deployments.wakeIsLive') : null
}

function WakeButton({ deployment, readiness, onWake }: DeploymentActionsProps): ReactNode {
  const t = useText()
  const client = useQueryClient()
  const { id, application, environment } = deployment
  const wake = useWake(id)
  const isAgain = wake !== null && (isUnderway(wake) || wake.phase === 'failed')
  return (
    <Button
      action="deployments.wake"
      isPending={wake?.phase === 'asking'}
      disabledReason={useWakeObstacle(deployment, readiness)}
      onPress={() => {
        onWake()
        void startWake(client, id, { application: application.id, environment: environment.id })
      }}
    >
      {isAgain ? t('deployments.wakeAgain') : t('deployments.wake')}
    </Button>
  )
}
