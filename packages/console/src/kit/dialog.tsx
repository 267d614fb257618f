// Dialogs. When a dialog closes, the focus returns to the button that opened it.
import './dialog.css'
import { type ReactNode, useRef, useState } from 'react'
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from 'react-aria-components'
import { useText } from '../texts/language.tsx'
import { Button } from './button.tsx'
import { Check, TextField } from './form.tsx'
import { Icon, type IconName, type Tone } from './icon.tsx'
import { Note } from './note.tsx'
import { useReturnFocus } from './return-focus.ts'

export type DialogProps = {
  title: string
  /** An icon before the title that shows the kind of dialog. */
  icon?: IconName
  iconTone?: Tone
  isOpen: boolean
  onClose: () => void
  /** Width in pixels: 480 for a decision, 640 with a list, 1216 for a comparison. */
  width?: 480 | 640 | 1216
  /** False for a dialog that neither Escape nor a click outside it may close. */
  isDismissable?: boolean
  /** Buttons; the main action is the last one. */
  foot: ReactNode
  children: ReactNode
}

export const Dialog = ({
  title,
  icon,
  iconTone,
  isOpen,
  onClose,
  width = 480,
  isDismissable = true,
  foot,
  children,
}: DialogProps): ReactNode => (
  <ModalOverlay
    className="dialog-backdrop"
    isOpen={isOpen}
    isDismissable={isDismissable}
    isKeyboardDismissDisabled={!isDismissable}
    onOpenChange={(open) => {
      if (!open) onClose()
    }}
  >
    <Modal className="dialog-frame" data-width={width}>
      <AriaDialog className="dialog">
        <Heading slot="title" className="dialog-title">
          {icon !== undefined && <Icon name={icon} {...(iconTone === undefined ? {} : { tone: iconTone })} />}
          {title}
        </Heading>
        <div className="dialog-body">{children}</div>
        <div className="dialog-foot">{foot}</div>
        <FocusReturn />
      </AriaDialog>
    </Modal>
  </ModalOverlay>
)

/** The button that opened the dialog may be gone, because it was in a menu or because the dialog has removed it. */
function FocusReturn(): ReactNode {
  useReturnFocus()
  return null
}

type DeleteDialogProps = {
  title: string
  /** The text of the main button, if the action is not a deletion. */
  submitText?: string
  isOpen: boolean
  /** The consequences of the deletion, such as the numbers of dependent objects. */
  children: ReactNode
  /** The text to type before the button is enabled; null if a click is enough. */
  confirmation: string | null
  failure?: ReactNode
  isPending: boolean
  onDelete: () => void
  onClose: () => void
}

/** Asks for confirmation of a deletion. If more than one row is deleted, the person must type the name. */
export function DeleteDialog({
  submitText,
  confirmation,
  children,
  failure,
  isPending,
  onDelete,
  ...props
}: DeleteDialogProps): ReactNode {
  const t = useText()
  const [typed, setTyped] = useState('')
  const isConfirmed = confirmation === null || typed === confirmation
  return (
    <Dialog
      {...props}
      icon={submitText === undefined ? 'delete' : 'warning'}
      iconTone="danger"
      foot={
        <>
          <Button onPress={props.onClose}>{t('kit.cancel')}</Button>
          <Button
            variant="danger"
            {...(submitText === undefined ? { icon: 'delete' } : {})}
            isPending={isPending}
            disabledReason={isConfirmed ? null : t('kit.typeToConfirm', confirmation)}
            onPress={onDelete}
          >
            {submitText ?? t('kit.delete')}
          </Button>
        </>
      }
    >
      {children}
      {confirmation !== null && (
        <TextField
          label={t('kit.typeToConfirm', confirmation)}
          isMono
          value={typed}
          onChange={setTyped}
          hasAutoFocus
        />
      )}
      {failure}
    </Dialog>
  )
}

export type SecretDialogProps = {
  title: string
  secret: string
  /** Names the secret for screen readers, such as `Token`. */
  label: string
  /** Where the secret belongs. */
  hint: ReactNode
  onClose: () => void
}

/**
 * Shows a secret once. Only its button closes the dialog, after the person has confirmed that the secret is stored.
 */
export function SecretDialog({ title, secret, label, hint, onClose }: SecretDialogProps): ReactNode {
  const t = useText()
  const [isStored, setStored] = useState(false)
  const { value, state, copy } = useCopy(secret)
  return (
    <Dialog
      title={title}
      icon="key"
      isOpen
      isDismissable={false}
      onClose={onClose}
      foot={
        <Button disabledReason={isStored ? null : t('kit.secretConfirmFirst')} onPress={onClose}>
          {t('kit.done')}
        </Button>
      }
    >
      <div>{hint}</div>
      <div className="secret" role="group" aria-label={label}>
        <code ref={value} className="secret-value">
          {secret}
        </code>
        <Button
          variant="primary"
          icon={state === 'copied' ? 'check' : 'copy'}
          hasAutoFocus
          onPress={() => void copy()}
        >
          {state === 'copied' ? t('kit.copied') : t('kit.copy')}
        </Button>
      </div>
      {state === 'failed' && <Note tone="danger">{t('kit.copyFailed')}</Note>}
      <Note tone="warn">{t('kit.secretOnce')}</Note>
      <Check label={t('kit.secretStored')} isSelected={isStored} onChange={setStored} />
    </Dialog>
  )
}

/** Copies a text. If the browser does not allow it, the text is selected, so that the keyboard can copy it. */
function useCopy(text: string) {
  const value = useRef<HTMLElement>(null)
  const [state, setState] = useState<'copied' | 'failed' | null>(null)
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text)
      setState('copied')
    } catch {
      if (value.current !== null) getSelection()?.selectAllChildren(value.current)
      setState('failed')
    }
  }
  return { value, state, copy }
}
