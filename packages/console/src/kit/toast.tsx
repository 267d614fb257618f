// Short confirmations in the lower right corner. A toast stays while it has the focus or the pointer is over it.
import './toast.css'
import type { ReactNode } from 'react'
import {
  Button as AriaButton,
  Text,
  UNSTABLE_Toast as AriaToast,
  UNSTABLE_ToastContent as ToastContent,
  UNSTABLE_ToastQueue as ToastQueue,
  UNSTABLE_ToastRegion as AriaToastRegion,
} from 'react-aria-components'
import { useText } from '../texts/language.tsx'
import { Icon } from './icon.tsx'

type Toast = { text: string; tone: 'ok' | 'danger'; undo?: { label: string; run: () => void } }

const queue = new ToastQueue<Toast>({ maxVisibleToasts: 3 })

/** Confirms a change that the person made. Failures are shown next to the control that failed. */
export function showToast(text: string, options: Partial<Omit<Toast, 'text'>> = {}): void {
  queue.add({ text, tone: 'ok', ...options }, { timeout: 6_000 })
}

export function ToastRegion(): ReactNode {
  const t = useText()
  return (
    <AriaToastRegion queue={queue} className="toast-region">
      {({ toast }) => (
        <AriaToast toast={toast} className="toast">
          <Icon name={toast.content.tone === 'ok' ? 'ok' : 'danger'} tone={toast.content.tone} />
          <ToastContent className="toast-text">
            <Text slot="title">{toast.content.text}</Text>
          </ToastContent>
          {toast.content.undo !== undefined && (
            <AriaButton
              className="button"
              data-variant="quiet"
              data-size="small"
              onPress={() => {
                toast.content.undo?.run()
                queue.close(toast.key)
              }}
            >
              <Icon name="undo" size={12} />
              {toast.content.undo.label}
            </AriaButton>
          )}
          <AriaButton
            slot="close"
            className="button"
            data-variant="quiet"
            data-size="small"
            data-square=""
            aria-label={t('kit.close')}
          >
            <Icon name="close" size={12} />
          </AriaButton>
        </AriaToast>
      )}
    </AriaToastRegion>
  )
}
