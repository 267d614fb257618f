import { type ReactNode, useState } from 'react'
import { Button } from '../../kit/button.tsx'
import { useText } from '../../texts/language.tsx'
import { type Endpoint, findHost } from './endpoint-types.ts'
import { TestCallDialog } from './test-call-dialog.tsx'

type TestCallButtonProps = {
  endpoint: Endpoint
  /** The body that the form starts with. */
  body?: string
  /** Whether the page shows a template that is not saved, which the call would not use. */
  hasUnsavedTemplate?: boolean
}

/** Opens the form of a test call. A call without a partner could only fail. */
export function TestCallButton({
  endpoint,
  body = '',
  hasUnsavedTemplate = false,
}: TestCallButtonProps): ReactNode {
  const t = useText()
  const [isOpen, setOpen] = useState(false)
  const host = findHost(endpoint.url)
  const reason = endpoint.enabled ? t('esb.testNeedsTarget') : t('esb.testNeedsEnabled')
  const canCall = endpoint.enabled && host !== null
  return (
    <>
      <Button
        icon="play"
        action="esb.test"
        disabledReason={canCall ? null : reason}
        onPress={() => setOpen(true)}
      >
        {t('esb.test')}
      </Button>
      {isOpen && host !== null && (
        <TestCallDialog
          endpoint={endpoint}
          host={host}
          body={body}
          hasUnsavedTemplate={hasUnsavedTemplate}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  )
}
