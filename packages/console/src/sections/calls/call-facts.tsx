// Who called what, when, and how often with the same request id.
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useRead } from '../../api/requests.ts'
import { useNow } from '../../app/now.ts'
import { useCan, useProject } from '../../app/project.tsx'
import { callAttemptsDocument } from '../../generated/documents.ts'
import { Section, SectionRow } from '../../kit/section.tsx'
import { Facts, Id } from '../../kit/values.tsx'
import { VisibleText } from '../../kit/visible-text.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { CallStatus, Duration } from './call-texts.tsx'
import { type CallDetail, toCallKey } from './call.ts'

type FactsProps = { call: CallDetail; application: string }

export function CallFacts({ call, application }: FactsProps): ReactNode {
  const t = useText()
  const { exact } = useFormat()
  return (
    <>
      <Facts
        items={[
          { label: t('calls.started'), value: exact(call.timestamp) },
          { label: t('calls.duration'), value: <Duration ms={call.durationMs} /> },
          {
            label: t('calls.requestId'),
            value: call.requestId === null ? '–' : <Id value={call.requestId} isWhole />,
          },
          { label: t('calls.machineUser'), value: <MachineUserLink call={call} /> },
          { label: t('calls.sourceIp'), value: <code>{call.sourceIP}</code> },
          { label: t('calls.path'), value: <Address text={call.path} /> },
          { label: t('calls.target'), value: <Address text={call.targetURL} /> },
        ]}
      />
      {call.requestId !== null && (
        <Attempts call={call} application={application} requestId={call.requestId} />
      )}
    </>
  )
}

const Address = ({ text }: { text: string }): ReactNode =>
  text === '' ? (
    <span className="muted">–</span>
  ) : (
    <code>
      <VisibleText text={text} />
    </code>
  )

function MachineUserLink({ call: { machineUser } }: { call: CallDetail }): ReactNode {
  const { slug } = useProject()
  const canOpen = useCan('MACHINE_USER_READ')
  if (!canOpen) return machineUser.name
  return (
    <Link
      to="/p/$project/machine-users"
      params={{ project: slug }}
      search={{ open: machineUser.id } as never}
    >
      {machineUser.name}
    </Link>
  )
}

type AttemptsProps = FactsProps & { requestId: string }

/** A caller that repeats a call can send its request id again. A call without repetitions has no list. */
function Attempts({ call, application, requestId }: AttemptsProps): ReactNode {
  const t = useText()
  const now = useNow()
  const { slug } = useProject()
  const { precise, number } = useFormat()
  const { data } = useRead(callAttemptsDocument, { application, requestId })
  const attempts = data?.esbAuditLogs ?? []
  if (attempts.length < 2) return null
  return (
    <Section title={t('calls.attempts')} note={number(attempts.length)}>
      {attempts.map((attempt) => (
        <SectionRow key={attempt.id} end={<Duration ms={attempt.durationMs} />}>
          {attempt.id === call.id ? (
            <strong>{precise(attempt.timestamp)}</strong>
          ) : (
            <Link
              to="/p/$project/calls"
              params={{ project: slug }}
              search={{ application, q: requestId, open: toCallKey(attempt) } as never}
            >
              {precise(attempt.timestamp)}
            </Link>
          )}{' '}
          <CallStatus call={attempt} now={now} />
        </SectionRow>
      ))}
    </Section>
  )
}
