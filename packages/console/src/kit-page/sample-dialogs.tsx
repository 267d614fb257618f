import { type ReactNode, useState } from 'react'
import { Button } from '../kit/button.tsx'
import { DeleteDialog, Dialog, SecretDialog } from '../kit/dialog.tsx'
import { SidePanel } from '../kit/side-panel.tsx'

type Shown = 'plain' | 'delete' | 'secret' | 'panel' | null

/** Buttons that open every kind of dialog, and a side panel. */
export function SampleDialogs(): ReactNode {
  const [shown, setShown] = useState<Shown>(null)
  const close = (): void => setShown(null)
  return (
    <div className="kit-row">
      <Button onPress={() => setShown('plain')}>Dialog</Button>
      <Button onPress={() => setShown('delete')}>Delete dialog</Button>
      <Button onPress={() => setShown('secret')}>Secret dialog</Button>
      <Button onPress={() => setShown('panel')}>Side panel</Button>
      <Dialog
        title="Disable the endpoint?"
        isOpen={shown === 'plain'}
        onClose={close}
        foot={
          <Button variant="primary" onPress={close}>
            Disable
          </Button>
        }
      >
        Calls of 3 machine users will be rejected with 404.
      </Dialog>
      <DeleteDialog
        title="Delete tenant Baltic Cargo Lines?"
        isOpen={shown === 'delete'}
        confirmation="baltic-cargo"
        isPending={false}
        onDelete={close}
        onClose={close}
      >
        This also deletes 5 enabled applications and 14 memberships.
      </DeleteDialog>
      {shown === 'secret' && (
        <SecretDialog
          title="Created machine user"
          label="Token"
          hint="Give it to the backend."
          secret="sample-token-of-the-kit"
          onClose={close}
        />
      )}
      {shown === 'panel' && (
        <SidePanel
          title="Baltic Cargo Lines"
          subtitle="baltic-cargo"
          foot={<Button>Edit</Button>}
          onClose={close}
        >
          Details of the tenant
        </SidePanel>
      )}
    </div>
  )
}
