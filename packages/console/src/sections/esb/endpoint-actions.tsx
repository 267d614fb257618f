// Buttons that change an endpoint, at the bottom of its panel.
import { type ReactNode, useState } from 'react'
import { useChange } from '../../api/requests.ts'
import { useMay } from '../../app/project.tsx'
import { useFailureToast } from '../../app/use-failure-toast.ts'
import { esbUpdateEndpointDocument } from '../../generated/documents.ts'
import { Button } from '../../kit/button.tsx'
import { showToast } from '../../kit/toast.tsx'
import { useText } from '../../texts/language.tsx'
import { DisableEndpoint } from './disable-dialog.tsx'
import { DeleteEndpoint } from './endpoint-delete.tsx'
import { EndpointDialog } from './endpoint-dialog.tsx'
import type { Endpoint } from './endpoint-types.ts'
import { TestCallButton } from './test-call-button.tsx'

type EndpointActionsProps = { endpoint: Endpoint; onDeleted: () => void }

export function EndpointActions({ endpoint, onDeleted }: EndpointActionsProps): ReactNode {
  const t = useText()
  const [dialog, setDialog] = useState<'edit' | 'disable' | 'delete' | null>(null)
  const close = (): void => setDialog(null)
  const canEdit = useMay('esb.edit')
  const canToggle = useMay('esb.toggle')
  const canDelete = useMay('esb.delete')
  const canTest = useMay('esb.test')
  if (!canEdit && !canToggle && !canDelete && !canTest)
    return <span className="muted">{t('esb.readOnly')}</span>
  return (
    <>
      {canEdit && (
        <Button action="esb.edit" onPress={() => setDialog('edit')}>
          {t('kit.edit')}
        </Button>
      )}
      {canTest && <TestCallButton endpoint={endpoint} />}
      {canToggle && <Toggle endpoint={endpoint} onDisable={() => setDialog('disable')} />}
      <span className="side-panel-foot-end">
        {canDelete && (
          <Button variant="quietDanger" icon="delete" action="esb.delete" onPress={() => setDialog('delete')}>
            {t('kit.delete')}
          </Button>
        )}
      </span>
      {dialog === 'edit' && <EndpointDialog endpoint={endpoint} onClose={close} onSaved={close} />}
      {dialog === 'disable' && <DisableEndpoint endpoint={endpoint} onClose={close} />}
      {dialog === 'delete' && (
        <DeleteEndpoint
          endpoint={endpoint}
          onClose={close}
          onDeleted={onDeleted}
          onDisable={() => setDialog('disable')}
        />
      )}
    </>
  )
}

type ToggleProps = { endpoint: Endpoint; onDisable: () => void }

/** One button in both states, so that it keeps the focus. Enabling needs no confirmation, because it breaks nothing. */
function Toggle({ endpoint: { id, name, enabled, revision }, onDisable }: ToggleProps): ReactNode {
  const t = useText()
  const { mutate, isPending } = useChange(esbUpdateEndpointDocument)
  const onError = useFailureToast()
  const enable = (): void =>
    mutate(
      { id, input: { enabled: true, expectedRevision: revision } },
      { onError, onSuccess: () => showToast(t('esb.wasEnabled', name)) },
    )
  return (
    <Button action="esb.toggle" isPending={isPending} onPress={enabled ? onDisable : enable}>
      {t(enabled ? 'esb.disable' : 'esb.enable')}
    </Button>
  )
}
