// One call beside the list: why it failed, how far it got, and its headers and bodies as they were logged.
import { type ReactNode, useMemo } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { ItemActions } from '../../app/item-actions.tsx'
import type { ListSearch } from '../../app/list-search.ts'
import { useNow } from '../../app/now.ts'
import { type CallDetailResult, callDetailDocument } from '../../generated/documents.ts'
import { Badge, EnvironmentBadge } from '../../kit/badge.tsx'
import { SidePanel } from '../../kit/side-panel.tsx'
import { FailureState, Skeleton, State } from '../../kit/state.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { CallContents } from './call-contents.tsx'
import { CallFacts } from './call-facts.tsx'
import { CallSteps } from './call-steps.tsx'
import { CallStatus } from './call-texts.tsx'
import { CallWhy } from './call-why.tsx'
import { type Call, type CallDetail, readCallKey } from './call.ts'

type PanelProps = { application: string; list: ListSearch; calls: readonly Call[] }

const none = { id: '', from: '', to: '' }

/** Returns whether a call can still change, so that the panel reads it again. */
const isOpenEnded = (result: CallDetailResult | undefined, now: number): boolean => {
  const [call] = result?.esbAuditLogs ?? []
  return call !== undefined && call.durationMs === null && now - Date.parse(call.timestamp) < 120_000
}

export function CallPanel({ application, list, calls }: PanelProps): ReactNode {
  const t = useText()
  const keyText = list.open ?? ''
  const key = useMemo(() => readCallKey(keyText), [keyText])
  const { data, error, refetch } = useRead(
    callDetailDocument,
    { application, ...(key ?? none) },
    { isEnabled: key !== null, isSensitive: true, isLiveWhile: (result) => isOpenEnded(result, Date.now()) },
  )
  const call = data?.esbAuditLogs[0]
  const ids = useMemo(() => calls.map(({ id }) => id), [calls])
  const title = call === undefined ? t('calls.call') : `${call.method} ${call.endpoint.name}`
  return (
    <SidePanel
      label={t('calls.call')}
      title={title}
      subtitle={call !== undefined && <Subtitle call={call} />}
      actions={<ItemActions ids={ids} openId={keyText} onOpen={(next) => list.setOpen(next)} />}
      onClose={() => list.setOpen(null)}
    >
      {call !== undefined ? (
        <>
          <CallWhy call={call} />
          <CallFacts call={call} application={application} />
          <CallSteps call={call} />
          <CallContents call={call} />
        </>
      ) : error !== null ? (
        <FailureState failure={describeFailure(error)} onRetry={() => void refetch()} />
      ) : data === undefined && key !== null ? (
        <Skeleton rows={10} />
      ) : (
        <State icon="search" title={t('calls.noCall')}>
          {t('calls.noCallHint')}
        </State>
      )}
    </SidePanel>
  )
}

function Subtitle({ call }: { call: CallDetail }): ReactNode {
  const t = useText()
  const { precise } = useFormat()
  const { name, protected: isProtected } = call.machineUser.environment
  return (
    <>
      <CallStatus call={call} now={useNow()} />
      <EnvironmentBadge name={name} isProtected={isProtected} />
      {call.test && <Badge tone="outline">{t('calls.test')}</Badge>}
      <time className="truncate" dateTime={call.timestamp}>
        {precise(call.timestamp)}
      </time>
    </>
  )
}
