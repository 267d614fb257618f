import { type ReactNode, useState } from 'react'
import { Button } from '../../kit/button.tsx'
import { useText } from '../../texts/language.tsx'
import { RunDialog } from './run-dialog.tsx'
import type { Trigger } from './trigger-types.ts'

type RunNowProps = { trigger: Trigger; onStarted: (runId: string) => void }

/** The button that runs a trigger, with its dialog. */
export function RunNow({ trigger, onStarted }: RunNowProps): ReactNode {
  const t = useText()
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button action="triggers.run" onPress={() => setOpen(true)}>
        {t('triggers.runNow')}
      </Button>
      {isOpen && (
        <RunDialog
          trigger={trigger}
          onClose={() => setOpen(false)}
          onStarted={(runId) => {
            setOpen(false)
            onStarted(runId)
          }}
        />
      )}
    </>
  )
}
