// Pins a version for a tenant, or for one application in a tenant.
import { type ReactNode, useState } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { FormDialog } from '../../app/form-dialog.tsx'
import { ApplicationPicker, TenantPicker } from '../../app/object-pickers.tsx'
import { useProject } from '../../app/project.tsx'
import { pickedTenantDocument, piletUsersDocument } from '../../generated/documents.ts'
import { Button } from '../../kit/button.tsx'
import { Note } from '../../kit/note.tsx'
import { FailureNote } from '../../kit/state.tsx'
import { showToast } from '../../kit/toast.tsx'
import { useText } from '../../texts/language.tsx'
import type { PiletVersion } from './pilet-types.ts'
import { type PinLayer, findPin, usePinChange, usePinTarget } from './pins.ts'

type PinDialogProps = { version: PiletVersion; onClose: () => void }

export function PinDialog({ version, onClose }: PinDialogProps): ReactNode {
  const t = useText()
  const [base] = useState(version)
  const [layer, setLayer] = useState<PinLayer>({ tenantId: null, applicationId: null })
  const { mutate, isPending, error, reset } = usePinChange()
  const { target, error: readError } = usePinTarget(layer, layer.tenantId !== null)
  const tenant = useTenantName(layer.tenantId)
  const change = (next: PinLayer): void => {
    reset()
    setLayer(next)
  }
  const disabledReason = ((): string | null => {
    if (layer.tenantId === null) return t('pilets.chooseTenant')
    if (target?.kind === 'missing') return t('pilets.neverEnabled')
    return target === undefined ? t('kit.loading') : null
  })()
  const pin = (): void => {
    if (target === undefined) return
    mutate(
      { target, name: base.name, version: base.version },
      {
        onSuccess: () => {
          showToast(t('pilets.wasPinned', base.name, base.version, tenant))
          onClose()
        },
      },
    )
  }
  return (
    <FormDialog
      title={t('pilets.pinTitle', base.name, base.version)}
      submitText={t('pilets.pin')}
      disabledReason={disabledReason}
      isDirty={false}
      isPending={isPending}
      failure={error === null ? null : describeFailure(error, { isChange: true })}
      onSubmit={pin}
      onClose={onClose}
    >
      <p>{t('pilets.pinHint')}</p>
      <TenantPicker
        label={t('pilets.tenant')}
        id={layer.tenantId}
        onChange={(tenantId) => change({ ...layer, tenantId })}
      />
      <div className="pilets-choice">
        <ApplicationPicker
          label={t('pilets.onlyApplication')}
          id={layer.applicationId}
          onChange={(applicationId) => change({ ...layer, applicationId })}
        />
        {layer.applicationId !== null && (
          <Button onPress={() => change({ ...layer, applicationId: null })}>
            {t('pilets.allApplications')}
          </Button>
        )}
      </div>
      {target?.kind === 'missing' && <Note tone="danger">{t('pilets.neverEnabledHint')}</Note>}
      {readError !== null && <FailureNote failure={describeFailure(readError)} />}
      <PinNotes version={base} layer={layer} />
    </FormDialog>
  )
}

function useTenantName(id: string | null): string {
  const { data } = useRead(pickedTenantDocument, { id: id ?? '' }, { isEnabled: id !== null })
  return data?.tenantById.name ?? ''
}

/** What the person must know about the chosen layer before pinning. */
function PinNotes({ version, layer }: { version: PiletVersion; layer: PinLayer }): ReactNode {
  const t = useText()
  const { id: project } = useProject()
  const usage = useRead(piletUsersDocument, { project, name: version.name }).data?.piletUsage
  const current = layer.tenantId === null ? null : findPin(usage?.entries ?? [], layer)
  return (
    <>
      {current !== null && (
        <Note tone="info">
          {current === version.version
            ? t('pilets.alreadyPinned', current)
            : t('pilets.replacesPin', current)}
        </Note>
      )}
      {!version.enabled && <Note tone="warn">{t('pilets.pinDisabled')}</Note>}
      <p className="secondary">{t('pilets.pinLayers')}</p>
    </>
  )
}
