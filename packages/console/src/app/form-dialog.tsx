// A dialog with a form. Closing it with unsaved input asks for confirmation.
import { type ReactNode, useId, useMemo, useState } from 'react'
import { type Failure, toFieldErrors } from '../api/failures.ts'
import { Button } from '../kit/button.tsx'
import { Dialog } from '../kit/dialog.tsx'
import { Form } from '../kit/form.tsx'
import { useText } from '../texts/language.tsx'
import { ChangeFailure } from './change-failure.tsx'

type FormDialogProps = {
  title: string
  width?: 480 | 640
  /** The label of the main button. */
  submitText: string
  /** Why the main button is disabled. */
  disabledReason?: string | null
  /** Whether closing the dialog would lose input. */
  isDirty: boolean
  isPending: boolean
  failure: Failure | null
  /** Field names whose errors are shown at the fields. */
  fieldNames?: readonly string[]
  onSubmit: () => void
  onClose: () => void
  children: ReactNode
}

export function FormDialog({
  title,
  width = 480,
  isDirty,
  isPending,
  failure,
  children,
  ...props
}: FormDialogProps): ReactNode {
  const { submitText, disabledReason = null, fieldNames, onSubmit, onClose } = props
  const t = useText()
  const id = useId()
  const [isAsking, setAsking] = useState(false)
  // A new object would bring back the error of a field that has been corrected while another field is edited.
  const errors = useMemo(() => toFieldErrors(failure), [failure])
  const close = (): void => {
    // Closing the form now would lose the result of the change.
    if (isPending) return
    if (isDirty && !isAsking) setAsking(true)
    else onClose()
  }
  return (
    <Dialog
      title={title}
      width={width}
      isOpen
      onClose={close}
      foot={
        isAsking ? (
          <>
            <span className="dialog-question" role="alert">
              {t('app.discardQuestion')}
            </span>
            <Button hasAutoFocus onPress={() => setAsking(false)}>
              {t('app.keepEditing')}
            </Button>
            <Button variant="danger" onPress={onClose}>
              {t('app.discard')}
            </Button>
          </>
        ) : (
          <>
            <Button onPress={close}>{t('kit.cancel')}</Button>
            <Button
              variant="primary"
              type="submit"
              form={id}
              isPending={isPending}
              disabledReason={disabledReason}
            >
              {submitText}
            </Button>
          </>
        )
      }
    >
      <Form
        id={id}
        errors={errors}
        onSubmit={() => {
          if (!isPending && disabledReason === null) onSubmit()
        }}
      >
        {children}
      </Form>
      <ChangeFailure
        failure={failure}
        {...(fieldNames === undefined ? {} : { fieldNames })}
        // If the outcome is unknown, the input is kept, because it may have to be sent again.
        {...(failure?.kind === 'conflict' ? { onReload: onClose } : {})}
      />
    </Dialog>
  )
}
