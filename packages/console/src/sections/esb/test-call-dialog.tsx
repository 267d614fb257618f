// Makes a test call in three steps: the request, a confirmation that names the partner, and the response.
import './esb.css'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useId, useState } from 'react'
import { type Failure, describeFailure, toFieldErrors } from '../../api/failures.ts'
import { ChangeFailure } from '../../app/change-failure.tsx'
import { useProject } from '../../app/project.tsx'
import { EnvironmentBadge } from '../../kit/badge.tsx'
import { Button } from '../../kit/button.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { Form } from '../../kit/form.tsx'
import { Note } from '../../kit/note.tsx'
import { FailureNote, Skeleton } from '../../kit/state.tsx'
import { Facts } from '../../kit/values.tsx'
import { useText } from '../../texts/language.tsx'
import { AllowMachineUser } from './allow-machine-user.tsx'
import { type AccessRow, type Endpoint, findHost } from './endpoint-types.ts'
import { TestCallFields } from './test-call-fields.tsx'
import { TestCallResult } from './test-call-result.tsx'
import { type TestRequest, createTestRequest, parseHeaders, toTestInput } from './test-request.ts'
import { useCallers, useTestCall } from './use-test-call.ts'

type TestCallDialogProps = {
  endpoint: Endpoint
  /** The host of the partner. */
  host: string
  body: string
  hasUnsavedTemplate: boolean
  onClose: () => void
}
type MachineUser = AccessRow['machineUser']

const noRows: readonly AccessRow[] = []

export function TestCallDialog(props: TestCallDialogProps): ReactNode {
  const { endpoint, body, onClose } = props
  const t = useText()
  /** The endpoint as the confirmation names it; null in the first step. */
  const [confirmed, setConfirmed] = useState<Endpoint | null>(null)
  const [changes, setChanges] = useState<Partial<TestRequest>>({})
  const { rows = noRows, callers, error } = useCallers(endpoint.id)
  const only = callers?.length === 1 ? (callers[0]?.id ?? null) : null
  const request = { ...createTestRequest(endpoint.inputMessageType, body, only), ...changes }
  const caller = callers?.find(({ id }) => id === request.machineUserId) ?? null
  const { send, secret: result, isPending, failure, forget } = useTestCall(confirmed ?? endpoint)
  const back = (): void => {
    forget()
    setConfirmed(null)
  }
  if (result !== null)
    return (
      <TestCallResult
        endpoint={endpoint}
        host={props.host}
        result={result}
        onAgain={back}
        onClose={onClose}
      />
    )
  if (confirmed !== null && caller !== null)
    return (
      <Confirmation
        endpoint={confirmed}
        host={findHost(confirmed.url) ?? props.host}
        request={request}
        caller={caller}
        isPending={isPending}
        failure={failure}
        onBack={back}
        onSend={() => send({ id: endpoint.id, input: toTestInput(request, caller.id) })}
      />
    )
  return (
    <RequestStep
      title={t('esb.testTitle', endpoint.name)}
      request={request}
      callers={callers}
      failure={error === null ? null : describeFailure(error)}
      allowance={<AllowMachineUser endpoint={endpoint} rows={rows} />}
      hasUnsavedTemplate={props.hasUnsavedTemplate}
      onChange={(next) => setChanges({ ...changes, ...next })}
      onNext={() => setConfirmed(endpoint)}
      onClose={onClose}
    />
  )
}

type RequestStepProps = {
  title: string
  request: TestRequest
  callers: readonly MachineUser[] | undefined
  /** Why the machine users cannot be read; null if they can. */
  failure: Failure | null
  /** Lets the person allow a machine user, if they may. */
  allowance: ReactNode
  hasUnsavedTemplate: boolean
  onChange: (changes: Partial<TestRequest>) => void
  onNext: () => void
  onClose: () => void
}

function RequestStep({ title, request, callers, hasUnsavedTemplate, ...props }: RequestStepProps): ReactNode {
  const t = useText()
  const { slug } = useProject()
  const id = useId()
  const { wrongLine } = parseHeaders(request.headers)
  const hasCaller = callers?.some((caller) => caller.id === request.machineUserId) ?? false
  const reason = hasCaller
    ? wrongLine === null
      ? null
      : t('esb.wrongHeader', wrongLine)
    : t('esb.chooseCaller')
  return (
    <Dialog
      title={title}
      width={640}
      isOpen
      onClose={props.onClose}
      foot={
        <>
          <Button onPress={props.onClose}>{t('kit.cancel')}</Button>
          <Button variant="primary" type="submit" form={id} disabledReason={reason}>
            {t('esb.next')}
          </Button>
        </>
      }
    >
      {hasUnsavedTemplate && <Note tone="warn">{t('esb.testUsesSaved')}</Note>}
      {callers === undefined ? (
        props.failure === null ? (
          <Skeleton rows={6} />
        ) : (
          <FailureNote failure={props.failure} />
        )
      ) : callers.length === 0 ? (
        <>
          <Note
            tone="warn"
            actions={
              <Link to="/p/$project/machine-users" params={{ project: slug }}>
                {t('section.machineUsers')}
              </Link>
            }
          >
            {t('esb.testNeedsCaller')}
          </Note>
          {props.allowance}
        </>
      ) : (
        <Form
          id={id}
          errors={wrongLine === null ? {} : { headers: t('esb.wrongHeader', wrongLine) }}
          onSubmit={() => {
            if (reason === null) props.onNext()
          }}
        >
          <TestCallFields request={request} callers={callers} onChange={props.onChange} />
        </Form>
      )}
    </Dialog>
  )
}

type ConfirmationProps = {
  endpoint: Endpoint
  host: string
  request: TestRequest
  caller: MachineUser
  isPending: boolean
  failure: Failure | null
  onBack: () => void
  onSend: () => void
}

/** Names the partner before anything is sent, because a test call is a real call. */
function Confirmation({ endpoint, host, request, caller, ...props }: ConfirmationProps): ReactNode {
  const t = useText()
  const { isPending, failure, onBack, onSend } = props
  const { environment } = caller
  const query = request.query === '' ? '' : `?${request.query}`
  return (
    <Dialog
      title={t('esb.confirmTitle', host)}
      icon="warning"
      iconTone="warn"
      width={640}
      isOpen
      // The result of a call that runs would be lost.
      onClose={isPending ? () => {} : onBack}
      foot={
        <>
          <Button onPress={onBack} disabledReason={isPending ? t('esb.calling') : null}>
            {t('esb.back')}
          </Button>
          <Button variant="primary" isPending={isPending} hasAutoFocus onPress={onSend}>
            {isPending ? t('esb.calling') : t('esb.send', host)}
          </Button>
        </>
      }
    >
      <p>{t('esb.confirmHint')}</p>
      <Facts
        items={[
          {
            label: t('esb.request'),
            value: <code className="esb-address">{`${request.method} ${endpoint.url ?? ''}${query}`}</code>,
          },
          { label: t('esb.authentication'), value: t(`esb.auth.${endpoint.authType}`) },
          {
            label: t('esb.caller'),
            value: (
              <span className="esb-caller">
                {caller.name}
                <EnvironmentBadge name={environment.name} isProtected={environment.protected} />
              </span>
            ),
          },
          {
            label: t('esb.template'),
            value: t(endpoint.transformationTemplate === '' ? 'esb.sentUnchanged' : 'esb.sentRendered'),
          },
        ]}
      />
      <TestCallFailure failure={failure} onBack={onBack} />
    </Dialog>
  )
}

/** The API names the field that it rejects, which belongs to the previous step. */
function TestCallFailure({ failure, onBack }: Pick<ConfirmationProps, 'failure' | 'onBack'>): ReactNode {
  const t = useText()
  const messages = Object.values(toFieldErrors(failure))
  if (messages.length > 0) return <Note tone="danger">{messages.join(' ')}</Note>
  if (failure?.kind !== 'conflict') return <ChangeFailure failure={failure} />
  return (
    <Note
      tone="danger"
      actions={
        <Button size="small" onPress={onBack}>
          {t('esb.back')}
        </Button>
      }
    >
      {t('esb.changedSince')}
    </Note>
  )
}
