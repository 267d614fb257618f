// The result of a call in words, for rows and for the panel.
import type { ReactNode } from 'react'
import { Badge, type BadgeTone, type StatusKind } from '../../kit/badge.tsx'
import type { IconName } from '../../kit/icon.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import type { Translate } from '../../texts/texts.ts'
import { type Call, type CallState, findStatusKind, isRunning } from './call.ts'
import { findReason } from './reasons.ts'

const looks: Record<StatusKind, readonly [BadgeTone, IconName]> = {
  ok: ['ok', 'check'],
  warn: ['warn', 'warning'],
  danger: ['danger', 'danger'],
  pending: ['info', 'clock'],
  off: ['neutral', 'minus'],
  asleep: ['neutral', 'asleep'],
}

/** Returns the status of the response, or a word if the caller received none. */
function nameStatus(call: CallState, now: number, t: Translate): string {
  if (call.responseStatus !== null) return String(call.responseStatus)
  if (call.durationMs !== null) return t('calls.noResponse')
  return t(isRunning(call, now) ? 'calls.running' : 'calls.unknownEnd')
}

export function CallStatus({ call, now }: { call: CallState; now: number }): ReactNode {
  const t = useText()
  const [tone, icon] = looks[findStatusKind(call)]
  return (
    <Badge tone={tone} icon={icon}>
      {nameStatus(call, now, t)}
    </Badge>
  )
}

/** Returns why a call failed; null if it did not fail. An unknown reason is shown as recorded. */
export function nameReason(call: Call, t: Translate): string | null {
  const reason = findReason(call)
  if (reason === null) return null
  return reason === 'other' ? call.failure : t(`calls.reason.${reason}`)
}

export function Duration({ ms }: { ms: number | null }): ReactNode {
  const t = useText()
  const { number } = useFormat()
  if (ms === null) return <span className="muted">–</span>
  return <span className="numbers">{t('calls.ms', number(ms))}</span>
}
