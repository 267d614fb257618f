import { type ReactNode, useState } from 'react'
import { ChangeFailure } from '../../app/change-failure.tsx'
import { useSubmit } from '../../app/use-submit.ts'
import { esbUpdateEndpointDocument } from '../../generated/documents.ts'
import { Button } from '../../kit/button.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { showToast } from '../../kit/toast.tsx'
import { useText } from '../../texts/language.tsx'
import type { Endpoint } from './endpoint-types.ts'

type DisableEndpointProps = { endpoint: Endpoint; onClose: () => void }

/** Asks before an endpoint is disabled, because its callers fail immediately. */
export function DisableEndpoint({ endpoint, onClose }: DisableEndpointProps): ReactNode {
  const t = useText()
  const [{ id, name, revision }] = useState(endpoint)
  const { send, isPending, failure } = useSubmit(esbUpdateEndpointDocument)
  return (
    <Dialog
      title={t('esb.disableTitle', name)}
      isOpen
      onClose={isPending ? () => {} : onClose}
      foot={
        <>
          <Button onPress={onClose}>{t('kit.cancel')}</Button>
          <Button
            variant="primary"
            isPending={isPending}
            onPress={() =>
              send({ id, input: { enabled: false, expectedRevision: revision } }, () => {
                showToast(t('esb.wasDisabled', name))
                onClose()
              })
            }
          >
            {t('esb.disable')}
          </Button>
        </>
      }
    >
      <p>{t('esb.disableHint')}</p>
      <ChangeFailure failure={failure} onReload={onClose} />
    </Dialog>
  )
}
