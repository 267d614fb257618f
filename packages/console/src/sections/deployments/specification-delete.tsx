// Deletes the specification of a deployment. The workload itself does not change.
import type { ReactNode } from 'react'
import { ChangeFailure } from '../../app/change-failure.tsx'
import type { CurrentEnvironment } from '../../app/project.tsx'
import { useSubmit } from '../../app/use-submit.ts'
import { deploymentDeleteDocument } from '../../generated/documents.ts'
import { EnvironmentBadge } from '../../kit/badge.tsx'
import { DeleteDialog } from '../../kit/dialog.tsx'
import { showToast } from '../../kit/toast.tsx'
import { useText } from '../../texts/language.tsx'
import type { Specification } from './deployment-types.ts'

type DeleteSpecificationProps = {
  environment: CurrentEnvironment
  specification: Specification
  onClose: () => void
}

export function DeleteSpecification({
  environment,
  specification: { id, workload, revision },
  onClose,
}: DeleteSpecificationProps): ReactNode {
  const t = useText()
  const { send, isPending, failure } = useSubmit(deploymentDeleteDocument)
  return (
    <DeleteDialog
      title={t('deployments.deleteTitle', workload)}
      isOpen
      confirmation={environment.protected ? workload : null}
      isPending={isPending}
      failure={<ChangeFailure failure={failure} onReload={onClose} />}
      onClose={onClose}
      onDelete={() =>
        send({ id, revision }, () => {
          showToast(t('app.deleted', workload))
          onClose()
        })
      }
    >
      <p>
        {t('app.deleteFinal')} {t('deployments.deleteHint')} {t('deployments.inEnvironment')}{' '}
        <EnvironmentBadge name={environment.name} isProtected={environment.protected} />
      </p>
    </DeleteDialog>
  )
}
